"""Errors in variables: the bias of θ due to encoder steps, computed from the encoder's step and the kernel.

With noise N in the products of the rows, and n in those with y, least squares give θ = (G + N)⁻¹(Gθ₀ + n), where G
belongs to rows without noise. So θ₀ − θ = G⁻¹(Nθ − n). N and n of a row are those of encoder_steps.py.
"""

from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

import numpy as np

from estimators.numerics.directions import Directions
from estimators.numerics.jit import inline
from estimators.numerics.symmetric import eigen, product
from estimators.quantisation.shifted_quantiser import HALF, EncoderReading
from estimators.quantities import Floats
from jointwatch_numba.layout import Cube, Layout, Matrix, Scratch

#: 1, tuned: Share of the squared correction that stays in the deviation: a third, since steps are not white near a
#: reversal (decision 014, point 2).
UNSURE: Final = 0.3**2


class Steps(NamedTuple):
    """The steps of one encoder, and the noise that they add to a row."""

    size: float  # rad (m)
    since: int  # ns, from when they are known
    wanted: float  # s, half width of a kernel with which their noise would be negligible
    noise: Floats  # (outputs, parameters, parameters)
    own: Floats  # (outputs, parameters)
    reading: EncoderReading | None = None  # of the only joint's only row


class StepNoise(Layout):
    """The noise that the steps of all encoders known so far add to a row with ρ = 1."""

    noise: Scratch[Annotated[Cube, "outputs", "parameters", "parameters"]]  # N, of each output
    own: Scratch[Annotated[Matrix, "outputs", "parameters"]]  # n
    known: Scratch[int]  # how many encoders they are

    def take(self, steps: Sequence[Steps], time: int) -> None:
        """Add up the steps that are known at a time (ns), where these are not the same ones as before."""
        known = [one for one in steps if time >= one.since]
        if len(known) == self.known:
            return
        self.noise[:], self.own[:], self.known = 0.0, 0.0, len(known)
        for one in known:
            self.noise[:], self.own[:] = self.noise + one.noise, self.own + one.own


@inline
def noise_of_rows(steps: StepNoise, rows: Floats, noise: Floats, own: Floats) -> None:
    """Write the noise N (p, p), n (p,) in the products of weighted rows (outputs,)."""
    noise[:], own[:] = 0.0, 0.0
    for output in range(len(rows)):
        for i in range(len(own)):
            own[i] += rows[output] * steps.own[output, i]
            for j in range(len(own)):
                noise[i, j] += rows[output] * steps.noise[output, i, j]


@inline
def score_of_noise(noise: Floats, own: Floats, theta: Floats, score: Floats) -> None:
    """Write Nθ − n (p,)."""
    for i in range(len(theta)):
        score[i] = -own[i]
        for j in range(len(theta)):
            score[i] += noise[i, j] * theta[j]


@inline
def bias_of(directions: Directions, noise: Floats, own: Floats, theta: Floats, bias: Floats, lost: Floats) -> None:
    """Write the bias of θ by steps, by direction; directions: of G + N (p, p); noise, own: N and n.

    N is compared with G + N along each identifiable direction; where its share is beyond HALF, the direction is lost.
    bias (p,): θ₀ − θ, 0 along directions that are lost; lost (p, p): sum of w wᵀ, for θ = w along each of these with
    Σ (φθ)² = 1.
    """
    p = len(theta)
    ways, score = np.zeros((p, p)), np.empty(p)
    score_of_noise(noise, own, theta, score)
    for k in range(p):
        for i in range(p if directions.identifiable[k] else 0):
            ways[i, k] = directions.ways[i, k] / (directions.scale[i] * np.sqrt(directions.information[k]))
    share, turned = eigen(product(product(ways.T, noise), ways))
    ways = product(ways, turned)
    bias[:], lost[:] = 0.0, 0.0
    for k in range(p):
        along = 0.0
        for i in range(p):
            along += ways[i, k] * score[i]
        for i in range(p):
            if share[k] > HALF:
                for j in range(p):
                    lost[i, j] += ways[i, k] * ways[j, k]
            else:
                bias[i] += ways[i, k] * along / (1.0 - share[k])
