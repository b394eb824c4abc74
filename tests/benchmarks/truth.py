"""Whether valid means true: see hil_rig/experiments/truth/."""

import sys

from hil_rig.experiments.truth.table import main

if __name__ == "__main__":
    sys.exit(main())
