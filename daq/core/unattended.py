"""Passes of a joint that end without a decision, where nobody wants its updates: a replay that prints results only.

A joint of a recording makes fifty updates a second, and at each turn of the loop Python asks what its pass has stopped
for. Where no update is wanted and nothing is to be decided, the compiled pass goes on by itself: it keeps the samples
for those that read along, and notes when rows came. What Python computes afterwards is the same to the bit.
"""

import numpy as np

from estimators.conditioning.stop import DONE
from estimators.numerics.jit import inline
from estimators.online.joint_pass import JointPassState
from estimators.plausibility.signals.watch import any_is_full
from jointwatch_layout import Integers, Layout, Matrix

#: samples, argued: Samples that are kept at most until Python reads along: those of a fifth of a second, after which
#: frames are looked at in any case, at 5 kHz.
ROOM = 1024


class Unattended(Layout):
    """What passes have left for Python to note."""

    ticks: Integers  # ns, of the samples that were aligned meanwhile
    samples: Matrix  # (samples, channels)
    count: int = 0  # of them
    room: int = 0  # as many may be kept; 0: Python attends to every pass
    newest: int = 0  # ns, last sample of the newest window without a gap, …
    row_arrival: int = 0  # … when it came …
    clipped: int = 0  # … and the samples at saturation until then


def unattended(channels: int) -> Unattended:
    """Nothing yet, of a joint with so many channels."""
    return Unattended(ticks=np.zeros(ROOM, np.int64), samples=np.zeros((ROOM, channels)))


@inline
def settle(joint: JointPassState, own: Unattended) -> bool:
    """Note what a pass has done; returns False where Python has to attend to it."""
    state = joint.estimator
    if own.room == 0 or state.stop != DONE or joint.full or any_is_full(joint.aligner):
        return False
    count = state.count if joint.aligned else 0
    if own.count + count > own.room:
        return False
    for i in range(count):
        own.ticks[own.count + i] = state.ticks[i]
        for channel in range(own.samples.shape[1]):
            own.samples[own.count + i, channel] = state.samples[i, channel]
    own.count += count
    former = state.front.former
    if former.newest != own.newest:
        own.newest, own.row_arrival, own.clipped = former.newest, joint.arrival, state.front.clipped
    return True
