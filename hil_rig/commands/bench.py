"""`jointwatch bench [NAME …]`: run the benchmarks of a source checkout, one after the other."""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[2] / "tests" / "benchmarks"


def main() -> int:
    """Exit 0 when every benchmark ran."""
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    if not names:
        print(f"jointwatch bench: needs a source checkout; {FOLDER} is not there", file=sys.stderr)
        return 1
    parser = argparse.ArgumentParser(prog="jointwatch bench", description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*names, []], help="all of them when none is named")
    parser.add_argument("--json", action="store_true", help="one JSON object per benchmark")
    options = parser.parse_args()
    code = 0
    for name in options.name or names:
        print(f"== {name}", file=sys.stderr, flush=True)
        flags = ["--json"] if options.json else []
        code |= subprocess.call([sys.executable, str(FOLDER / f"{name}.py"), *flags])
    return code


if __name__ == "__main__":
    sys.exit(main())
