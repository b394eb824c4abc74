"""The acceptance tables of mechanisms, clearance and lost motion, one reproduction after the other.

jointwatch bench mechanisms [--json] [--only NAME …]

What `jointwatch reproduce NAME` prints, with as many seeds as it has; a figure outside its limit is marked there.
"""

import argparse
import json
import subprocess
import sys
from typing import Any, Final

NAMES: Final = ("tree", "closed-chain", "pointing", "clearance", "lost-motion")


def reproduced(name: str) -> dict[str, Any]:
    """Its figures and words."""
    command = [sys.executable, "-m", "daq", "reproduce", name, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def printed(name: str, told: dict[str, Any]) -> str:
    """For people."""
    lines = [name]
    for one in told["figures"]:
        ours = "–" if one["ours"] is None else f"{one['ours']:.4g}"
        lines.append(
            f"  {one['name']:66} {ours:>10} {one['unit']:6} {one['asked']:>14}{'' if one['ok'] else '   MISSED'}"
        )
    return "\n".join([*lines, *(f"  {words}" for words in told["words"])])


def main() -> None:
    """Print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    options = parser.parse_args()
    found = {name: reproduced(name) for name in options.only}
    if options.json:
        print(json.dumps(found))
        return
    print("\n\n".join(printed(name, told) for name, told in found.items()))


if __name__ == "__main__":
    main()
