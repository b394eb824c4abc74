"""Writes into docs/tutorial.md what its commands print now: PYTHONPATH=. python tests/support/tutorial_page.py [N …].

N: numbers of sections; all of them otherwise, which takes ten minutes. A line stays where the page has it, and gets the
numbers of the printed line with the same words; a line whose words are printed no longer stops it.
"""

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.deploy.test_tutorial import ROOT, SECTIONS, TUTORIAL, alike, filled, follow


def printed(shown: str, said: str) -> str:
    """The lines that are shown, as they were printed; of several with the same words, one after the other."""
    lines, new = said.splitlines(), []
    for line in shown.splitlines():
        found = next(one for one in lines if alike(line, one))
        new.append(found.rstrip())
        if sum(alike(line, one) for one in lines) > 1:
            lines.remove(found)
    return "\n".join(new)


def main() -> None:
    """Follow the sections, and write the page."""
    text = TUTORIAL
    with tempfile.TemporaryDirectory() as place:
        folder = filled(Path(place))
        for number in sys.argv[1:] or SECTIONS:
            with ExitStack() as running:
                for block in SECTIONS[number]:
                    said = follow(block, folder, running, alike)
                    if block.shown:
                        text = text.replace(
                            f"```text\n{block.shown}\n```", f"```text\n{printed(block.shown, said)}\n```"
                        )
                    print(f"section {number}: {block.action} {block.text.splitlines()[0]}", file=sys.stderr)
    (ROOT / "docs" / "tutorial.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
