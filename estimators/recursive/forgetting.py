"""Forgetting laws: how fast each row lets go of the past; memories are in seconds, so the row rate does not matter.

- ``alarm`` (default): rests at a long memory; an alarm by a CUSUM on the squared prior prediction error, in units of
  the start-up's own residual, cuts the memory to almost nothing and lets it grow again with the time since.
- ``variance_ratio``: λ = 1 − g·r/(1 + g·r), r = short/long residual variance − limit.
- ``fortescue``: λ = 1 − e²/((1 + z)·σ²·N₀) (Fortescue, Kershenbaum, Ydstie, Automatica 17:831–835, 1981).
- ``paleologu``: λ = σ_z σ_v/|σ_e − σ_v| (Paleologu, Benesty, Ciochină, IEEE Signal Process. Lett. 15:597–600, 2008).
- ``fixed``: one λ.
- ``random_walk``: no forgetting; the parameters walk, P += Q (Kalman filter).

Why the default is the default: docs/decisions/001-forgetting.md.
"""

import math
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from estimators.numerics.jit import inline, inline_always, kernel
from estimators.quantities import Settings
from estimators.recursive.state import RecursiveState

FIXED: Final = 0
ALARM: Final = 1
VARIANCE_RATIO: Final = 2
FORTESCUE: Final = 3
PALEOLOGU: Final = 4
RANDOM_WALK: Final = 5

#: v₀, tuned: One row counts at most this many v₀ in the CUSUM, so that no outlier is an alarm; EMPS (decision 001).
SATURATION: Final = 12.0
#: 1, argued: A squared error of this many times the start-up's largest, five times as large an error, is none that the
#: joint's own structure makes: what has changed has changed within this row.
SUDDEN: Final = 25.0
#: s, tuned: Shortest memory of the laws that may forget with every row; robustness bench, 20 seeds.
SHORTEST: Final = 0.05
#: rows, derived: Memory that the gain of the variance ratio is given for; for another one the gain scales with its
#: inverse.
GAIN_ROWS: Final = 50.0
#: 1, argued: Largest gain of the noise average of Paleologu's law, for slow rows.
FASTEST_NOISE: Final = 0.25

Seconds = Annotated[float, Field(gt=0)]


class Threshold(NamedTuple):
    """The CUSUM's constants, calibrated by cusum.py."""

    noise: float  # v₀, whitened
    allowance: float  # k
    limit: float  # h
    worst: float = 0.0  # v₀, largest squared error of a row of the start-up; 0: not known


class Alarm(Settings):
    """Long memory at rest, almost none after an alarm."""

    kind: Literal["alarm"] = "alarm"
    #: s, tuned: Memory at rest; robustness bench and EMPS with 20, 30 and 60 s (decision 001, point 1).
    memory: Seconds = 60.0
    #: s, tuned: Memory right after an alarm; robustness bench (decision 001, point 2).
    restart: Seconds = 0.005
    #: 1, argued: Memory is the time since the alarm over this, so the weight of what was before falls with its square
    #: (decision 001, point 2).
    growth: Annotated[float, Field(gt=1)] = 2.0

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law = ALARM
        state.resting, state.growth = self.memory / period, 1.0 / self.growth
        state.restart, state.memory = max(self.restart / period, 1.0), state.resting


class VarianceRatio(Settings):
    """Forget while the recent residual variance exceeds the usual one."""

    kind: Literal["variance_ratio"] = "variance_ratio"
    #: 1, tuned: Short over long variance from which the law forgets; robustness bench, 20 seeds.
    limit: Annotated[float, Field(gt=1)] = 1.6
    #: 1, tuned: How much it forgets for each unit of the ratio beyond the limit; robustness bench, 20 seeds.
    gain: Annotated[float, Field(gt=0)] = 0.02
    memory: Seconds = SHORTEST

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law = VARIANCE_RATIO
        rows = max(self.memory / period, 2.0)
        state.ratio, state.sharpness = self.limit, self.gain * GAIN_ROWS / rows
        state.least_forgetting = 1.0 - 1.0 / rows


class Fortescue(Settings):
    """Keep the information content constant."""

    kind: Literal["fortescue"] = "fortescue"
    #: s, tuned: N₀ of the law; robustness bench, 20 seeds.
    memory: Seconds = 1.0
    shortest: Seconds = SHORTEST

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law = FORTESCUE
        state.information, state.least_forgetting = period / self.memory, _rate(self.shortest, period)


class Paleologu(Settings):
    """Forget as much as the excess of the prediction error over the noise explains."""

    kind: Literal["paleologu"] = "paleologu"
    #: s, argued: Time constant of the averages of e² and z².
    short: Seconds = 0.1
    #: s, argued: Time constant of the noise's average, ten times the short one.
    long: Seconds = 1.0
    #: 1, tuned: γ: an error below γ times the noise is noise; robustness bench, 20 seeds.
    excess: Annotated[float, Field(gt=1)] = 1.5
    shortest: Seconds = SHORTEST

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law, state.excess = PALEOLOGU, self.excess
        state.rate_power, state.rate_noise = min(period / self.short, 0.5), min(period / self.long, FASTEST_NOISE)
        state.least_forgetting = _rate(self.shortest, period)


class Fixed(Settings):
    """One memory, always."""

    kind: Literal["fixed"] = "fixed"
    #: s, tuned: Memory that ends EMPS within 2.5 % of the published values (decision 001).
    memory: Seconds = 20.0

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law, state.least_forgetting = FIXED, _rate(self.memory, period)


class RandomWalk(Settings):
    """Let the parameters walk as fast as gives this memory under typical excitation."""

    kind: Literal["random_walk"] = "random_walk"
    #: s, tuned: Memory that the drift of θ is worth; EMPS (decision 001).
    memory: Seconds = 20.0

    def pack(self, state: RecursiveState, period: float) -> None:
        """Write the law's constants into a state."""
        state.law = RANDOM_WALK
        # steady state of P⁻¹ gain 1 and Q: P² = Q, and P = 1/N for a memory of N rows
        state.walk = (period / self.memory) ** 2


Forgetting = Annotated[Alarm | VarianceRatio | Fortescue | Paleologu | Fixed | RandomWalk, Field(discriminator="kind")]


def _rate(memory: float, period: float) -> float:
    """λ of an exponential memory, s, at a row period, s; never below 0.5."""
    return 1.0 - min(period / memory, 0.5)


def arm(state: RecursiveState, threshold: Threshold, memory: float) -> None:
    """Tell a law what the start-up found. memory: rows that a resting memory reaches at least."""
    state.alarm_noise, state.allowance, state.limit, state.worst = threshold
    state.cusum, state.sudden = 0.0, False
    if state.law == ALARM:
        state.memory = state.resting = max(state.resting, memory)


@inline
def _alarm(state: RecursiveState, q: float) -> float:
    """λ of the next row under the alarm law; q: the row's mean e²/(r + z)."""
    g = 0.0
    if state.alarm_noise > 0.0:
        s = q / state.alarm_noise
        if s > SUDDEN * state.worst > 0.0:
            state.sudden = True
        if not s < SATURATION:
            s = SATURATION
        g = state.cusum + s - state.allowance
        state.climbing += 1
        if g <= 0.0:
            g = 0.0
            state.climbing, state.sudden = 0, False
        if g > state.excursion:
            state.excursion = g
    state.since += 1
    memory = state.memory + state.growth
    if memory > state.resting:
        memory = state.resting
    if g > state.limit:
        g = 0.0
        state.onset, state.climbing = state.climbing, 0
        state.alarms += 1
        state.since = 0
        memory = state.restart
    state.cusum = g
    state.memory = memory
    return float(1.0 - 1.0 / (1.0 + memory))


@kernel((RecursiveState,))
def is_suspicious(state: RecursiveState) -> bool:
    """Whether an alarm may be on its way: two rows that could not be worse, or half of a limit that is larger.

    One row is enough where its error is far beyond all of the start-up.
    """
    worst = SATURATION - state.allowance
    climbed = state.cusum >= max(2.0 * worst, 0.5 * state.limit - SATURATION)
    return bool(state.cusum > 0.0 and (climbed or state.sudden))


@inline
def _paleologu(state: RecursiveState, e: float, z: float) -> float:
    """λ of the next row after Paleologu; e: the row's mean e²/r after clipping; z: mean z/r."""
    state.power += state.rate_power * (e - state.power)
    state.regressor_power += state.rate_power * (z * z - state.regressor_power)
    state.noise_power += state.rate_noise * (e - state.noise_power)
    sigma_e, sigma_v = math.sqrt(state.power), math.sqrt(state.noise_power)
    if sigma_e <= state.excess * sigma_v:
        return 1.0
    wanted = math.sqrt(state.regressor_power) * sigma_v / (sigma_e - sigma_v)
    return float(min(max(wanted, state.least_forgetting), 1.0))


@inline_always
def next_lambda(
    state: RecursiveState, long: float, short: float, q: float, clipped: float, e: float, z: float
) -> float:
    """λ of the next row.

    long, short: mean residual variances over the outputs; q: the row's mean e²/(r + z); clipped: the same after
    clipping; e: mean e²/r after clipping; z: mean z/r.
    """
    if state.law == ALARM:
        return _alarm(state, q)
    if state.law == VARIANCE_RATIO:
        r = short - state.ratio * long
        if not r > 0.0:
            return 1.0
        return float(max(1.0 / (1.0 + state.sharpness * r / long), state.least_forgetting))
    if state.law == FORTESCUE:
        level = state.alarm_noise if state.alarm_noise > 0.0 else long
        return float(max(1.0 - clipped / level * state.information, state.least_forgetting))
    if state.law == PALEOLOGU:
        return _paleologu(state, e, z)
    if state.law == RANDOM_WALK:
        return 1.0
    return float(state.least_forgetting)
