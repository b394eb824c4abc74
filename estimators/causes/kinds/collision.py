"""A collision: a torque from outside, strong and short, after which the joint is as it was.

It has no shape over the motion: time_course.py finds it in time.
"""

from collections.abc import Sequence

from estimators.causes.base import CauseKind, FaultWindow, Shape


def torque(_window: FaultWindow) -> Sequence[Shape]:
    """Nothing that stays."""
    return ()


CAUSE = CauseKind(
    "collision",
    "a collision",
    "Look at what the arm has hit, and whether tool and joint are still true: compare the zero and the page's values.",
    torque,
    sudden=True,
)
