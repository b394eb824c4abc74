"""`make mutants`: small errors put into the code one at a time, and whether the tests notice.

python tests/support/mutants --only daq/state --each 30 --seed 1
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.support.mutants.command import main

if __name__ == "__main__":
    sys.exit(main())
