"""Errors in variables: the bias of θ by encoder steps, from what is known of the encoder and the kernel.

With noise N in the products of the rows, and n in those with y, least squares give θ = (G + N)⁻¹(Gθ₀ + n), where G
belongs to rows without noise. So θ₀ − θ = G⁻¹(Nθ − n). N and n of a row are those of encoder_steps.py.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.numerics.directions import Directions
from estimators.quantisation.shifted_quantiser import HALF, EncoderReading
from estimators.quantities import Floats

#: 1, tuned: Share of the squared correction that stays in the deviation: a third, since steps are not white near a
#: reversal (decision 014, point 2).
UNSURE: Final = 0.3**2


class Steps(NamedTuple):
    """Declares the steps of one encoder, and the noise that they add to a row."""

    size: float  # rad (m)
    since: int  # ns, from when they are known
    wanted: float  # s, half width of a kernel with which they would do no harm
    noise: Floats  # (outputs, parameters, parameters)
    own: Floats  # (outputs, parameters)
    reading: EncoderReading | None = None  # of the only joint's only row


def noise_of_rows(steps: Sequence[Steps], rows: Floats, time: int, p: int) -> tuple[Floats, Floats]:
    """Noise N (p, p), n (p,) in the products of weighted rows (outputs,), by the steps known at a time (ns)."""
    noise, own = np.zeros((p, p)), np.zeros(p)
    for one in steps:
        if time >= one.since:
            for row, its_noise, its_own in zip(rows.tolist(), one.noise, one.own, strict=True):
                noise += row * its_noise
                own += row * its_own
    return noise, own


class StepBias(NamedTuple):
    """What encoder steps do to θ, by direction."""

    bias: Floats  # (p,) θ₀ − θ, 0 along directions that are lost
    lost: Floats  # (p, k) θ along each direction of which steps may be most of the information, of Σ (φθ)² = 1


def bias_of(directions: Directions, noise: Floats, own: Floats, theta: Floats) -> StepBias:
    """Bias of θ by steps; directions: of G + N (p, p); noise, own: N and n.

    N is compared with G + N along each identifiable direction; where its share is beyond HALF, the direction is lost.
    """
    known = directions.identifiable
    ways = directions.ways[:, known] / directions.scale[:, None] / np.sqrt(directions.information[known])
    share, turned = np.linalg.eigh(ways.T @ noise @ ways)
    ways, lost = ways @ turned, share > HALF
    kept = ways[:, ~lost]
    return StepBias(kept @ ((kept.T @ (noise @ theta - own)) / (1.0 - share[~lost])), ways[:, lost])
