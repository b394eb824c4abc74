"""Identification of a whole robot.

Its matrices are small: threads of a linear algebra library cost more than they give, ten times so beside other work.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is first imported
