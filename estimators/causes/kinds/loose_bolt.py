"""Loose bolts or a loose coupling behind the gear: what is mounted there swings by itself at some hertz.

Play and a soft seat have no shape over the motion; ringing.py finds the swinging in what no other column explains.
"""

from collections.abc import Sequence

from estimators.causes.base import CauseKind, FaultWindow, Shape


def torque(_window: FaultWindow) -> Sequence[Shape]:
    """Any torque, as far as it swings."""
    return ()


CAUSE = CauseKind(
    "loose_bolt",
    "loose bolts or a loose coupling",
    "Stop the joint, secure it, and tighten the bolts of flange, tool and coupling with their torque.",
    torque,
    sudden=True,
    rings=True,
)
