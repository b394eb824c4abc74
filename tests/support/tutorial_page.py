"""Writes into docs/tutorial.md what its commands print now: PYTHONPATH=. python tests/support/tutorial_page.py [N …].

N: numbers of sections; all of them otherwise, which takes ten minutes. A line stays where the page has it, and gets the
numbers of the printed line with the same words; a line whose words are printed no longer stops it.
"""

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.deploy.test_tutorial import ROOT, SECTIONS, TUTORIAL, Block, alike, filled, follow, missing, run

SETTLING: Final = 15.0  # s


def printed(shown: str, said: str) -> str:
    """The lines that are shown, as they were printed; of several with the same words, one after the other."""
    lines, new = said.splitlines(), []
    for line in shown.splitlines():
        found = next(one for one in lines if alike(line, one))
        new.append(found.rstrip())
        if sum(alike(line, one) for one in lines) > 1:
            lines.remove(found)
    return "\n".join(new)


def settled(block: Block, folder: Path, said: str) -> str:
    """What a live service says some seconds after it was first seen, where the words are still those: σ has settled."""
    time.sleep(SETTLING)
    later = run(block.text, folder)[1]
    return said if missing(block.shown, later, alike) else later


def main() -> None:
    """Follow the sections, and write the page."""
    text = TUTORIAL
    with tempfile.TemporaryDirectory() as place:
        folder = filled(Path(place))
        for number in sys.argv[1:] or SECTIONS:
            with ExitStack() as running:
                for block in SECTIONS[number]:
                    said = follow(block, folder, running, alike)
                    if block.shown and block.action == "again":
                        said = settled(block, folder, said)
                    if block.shown:
                        text = text.replace(
                            f"```text\n{block.shown}\n```", f"```text\n{printed(block.shown, said)}\n```"
                        )
                    print(f"section {number}: {block.action} {block.text.splitlines()[0]}", file=sys.stderr)
    (ROOT / "docs" / "tutorial.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
