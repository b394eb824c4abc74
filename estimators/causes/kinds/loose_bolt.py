"""Loose bolts or a loose coupling behind the gear: what is mounted there swings by itself at some hertz.

A base that swings under the joint gives it the same equation of motion, so that one joint cannot tell the two apart.
Play and a soft seat have no shape over the motion; ringing.py finds the swinging in what no other column explains.
"""

from collections.abc import Sequence

from estimators.causes.base import CauseKind, FaultWindow, Shape


def torque(_window: FaultWindow) -> Sequence[Shape]:
    """Any torque, as far as it swings."""
    return ()


CAUSE = CauseKind(
    "loose_bolt",
    "loose bolts or a loose coupling, of the joint or of its base",
    "Stop the joint, secure it, and tighten the bolts of flange, tool, coupling and base with their torque.",
    torque,
    sudden=True,
    rings=True,
)
