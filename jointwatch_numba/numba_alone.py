"""Imports numba without what it supports of other programs' work: import this module before numba.

Where coverage is installed numba imports all of it, 0.05 s and 2 MB in every process, to say which lines of a kernel a
test has passed.
"""

import sys

OTHERS = [name for name in ("coverage",) if name not in sys.modules]

for name in OTHERS:
    sys.modules[name] = None  # type: ignore[assignment]  # an import of it fails, as where it is not installed
try:
    import numba  # noqa: F401
finally:
    for name in OTHERS:
        del sys.modules[name]
