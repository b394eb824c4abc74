"""`jointwatch identify`: `command.py` runs it, `summary.py` and `report.py` show the result, `both_ways.py` is the
option --bidirectional.

The matrices are small: the threads of a linear algebra library take more time than they save, ten times as much on a
busy machine.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is first imported
