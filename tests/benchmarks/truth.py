"""Whether valid means true: see hil_rig/truth/."""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a trial each of as many processes as there are processors

from hil_rig.truth.table import main

if __name__ == "__main__":
    sys.exit(main())
