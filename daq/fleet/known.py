"""Which values of a joint count in a comparison of robots, by the joint's status.

A joint that is still learning counts where it tells a standard deviation. Without it a robot that moves less because
its friction is high would be left out, and it is odd for that very reason.
"""

from typing import Final

KNOWN: Final = ("valid", "held")  # in which every value counts
LEARNING: Final = "learning"  # in which those with a σ count
