"""Imports numba without what it supports of other programs' work: import this module before numba.

Where coverage and yaml are installed numba imports both, 0.1 s and 3 MB in every process: to say which lines of a
kernel a test has passed, and to read settings from a file in the present folder.
"""

import sys

OTHERS = [name for name in ("coverage", "yaml") if name not in sys.modules]

for name in OTHERS:
    sys.modules[name] = None  # type: ignore[assignment]  # an import of it fails, as where it is not installed
try:
    import numba  # noqa: F401
finally:
    for name in OTHERS:
        del sys.modules[name]
