"""What samples of a motion hide of its acceleration: θ is fitted to differences, and the torque is of an instant.

A difference over samples is a mean of the acceleration over some of them, and the torque is that of one instant. Where
the acceleration changes within a few samples the two are not alike: under a mean of the acceleration the inertia is
found too large, and no residual shows it, since θ is fitted to just these means. The differences in use are exact up to
the order T² (conditioning/conditioner.py), so of a smooth motion next to nothing is left. An acceleration that jumps
has parts at all frequencies: at 25 samples a second the inertia is found 0.1 to 0.9 % too large. With Δa, the change of
the acceleration from row to row, the mean alone would take the share ΣΔa²/(12 Σa²) off it, since Σ aΔ²a is −ΣΔa² by
parts, and of that

    HIDDEN/h²        h: half width of the kernel, in samples

is left of an acceleration that jumps. σ of the inertia holds it. All rows count alike in both sums: steep ones, which
weigh less for θ, are those that show it.
"""

from typing import Final

from estimators.numerics.jit import inline
from estimators.quantities import Floats

#: 1, derived: Part of what a difference over two samples takes off an acceleration that jumps, times h², which the
#: differences in use leave: 0.5 where a ramp of speed has many samples, 0.9 where it has two (h from 2 to 5).
HIDDEN: Final = 1.0


def hidden(period: float, half_width: float, row: float) -> float:
    """Share of the inertia for ΣΔa²/Σa² of 1; period: s between samples; half_width: s of the kernel; row: s."""
    return HIDDEN / 12.0 * (period / half_width) ** 2 * (period / row) ** 2


@inline
def hidden_share(steep: Floats, factor: float) -> float:
    """Share of the inertia that may be due to it; steep: ΣΔa², Σa²; factor: hidden()."""
    return factor * float(steep[0]) / float(steep[1]) if steep[1] > 0.0 else 0.0
