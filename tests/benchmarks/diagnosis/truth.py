"""Whether valid means true: see hil_rig/truth/."""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a trial each of as many processes as there are processors

from hil_rig.truth import table
from hil_rig.truth.robots import robot_table

if __name__ == "__main__":
    robots = "--robots" in sys.argv  # arms of four to seven axes and the causes that are told of them
    sys.exit(robot_table.main([one for one in sys.argv[1:] if one != "--robots"]) if robots else table.main())
