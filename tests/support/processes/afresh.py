"""Runs the text of a program with numba imported and our packages not: for tests of kernels whose source changes.

python -m afresh TEXT       (forked by program_server.py; the working folder is where packages are found first)
"""

import os
import sys

OURS = ("daq", "drivers", "estimators", "hil_rig")

if __name__ == "__main__":
    for name in [one for one in sys.modules if one.startswith("jointwatch_") or one.partition(".")[0] in OURS]:
        del sys.modules[name]
    sys.path.insert(0, os.getcwd())  # noqa: PTH109
    exec(sys.argv[1], {"__name__": "__main__"})
