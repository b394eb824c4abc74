"""Samples of one joint → regression rows: looked at, cleaned, observed; a compiled pass where nothing is odd.

    dead channels → physical range → held → spikes → saturation → conditioner

Whatever needs a decision (values beyond reason, a span of rows that is full, an encoder whose step is not known yet,
friction with a memory, a channel that is held) goes the same way step by step. Either way gives the same bits.
"""

from collections.abc import Callable
from typing import Annotated, Final

import numpy as np

from estimators.conditioning.conditioner import CHUNK, Conditioner, Conditioning
from estimators.conditioning.dead_channels import SLOW, Channels, Watched
from estimators.conditioning.encoder_steps import EncoderSteps, UnevenTime
from estimators.conditioning.held import Held
from estimators.conditioning.physical_range import Limits, PhysicalRange, beyond
from estimators.conditioning.row_kernels import RowFormer, take
from estimators.conditioning.spikes import SpikeFilter, Spikes, judge
from estimators.conditioning.stops import Stops
from estimators.models.base import Model
from estimators.models.memory import bristle, thresholds
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from estimators.rows import Rows
from jointwatch_layout import Integers, Layout, Matrix

NEAR: Final = 0.98  # of the saturation, from which a torque is not believed
ODD: Final = -1  # what a pass answers, having changed nothing, where it is not for it


class Preprocessing(Layout):
    """What stands between the samples of one joint and its regression rows, for a compiled pass."""

    limits: Limits
    watched: Watched
    spikes: SpikeFilter
    former: RowFormer
    times: Annotated[Integers, "chunk"]  # ns, of samples that have left the spikes
    values: Annotated[Matrix, "chunk", "channels"]
    passed: int  # of these, behind the last one
    effort: int  # channel of the torque (force)
    saturation: float  # N·m (N) from which it is not believed; NaN: none
    plain: bool  # whether nothing asks for single steps
    clipped: int = 0  # samples at saturation so far


class Front:
    """All that stands between the samples of one joint and its estimator."""

    def __init__(
        self,
        model: Model,
        channels: tuple[str, ...],
        period: float,
        standstill: float,
        saturation: float | None,
        settings: Conditioning,
    ) -> None:
        """channels: of the samples, the model's own first; period: s between them; standstill: rad/s (m/s); saturation:
        N·m (N). Raises ValueError when the period is not a positive number."""
        self._build: Callable[[float | None], Conditioner] = lambda wide: Conditioner(model, period, settings, wide)
        self._before: dict[str, int] = {}  # totals of conditioners that were given up
        self.conditioner = self._build(None)
        self.follower: Callable[[Nanoseconds, Floats], None] | None = None  # gets rows without wild samples
        self.channels = Channels(channels, period, standstill)
        self.spikes = Spikes(channels, period)
        self.range = PhysicalRange(channels, period)
        self._unknown = {i: EncoderSteps() for i, role in enumerate(model.channels) if role.endswith("position")}
        self._untimed = {i: UnevenTime(period) for i in self._unknown}
        self._held = Held([i for i, role in enumerate(channels) if role.endswith(SLOW)])
        self._stops = Stops(thresholds(model), period=period, bristle=bristle(model))
        self._stepwise = bool(thresholds(model)) or self._held.any
        self._own = len(model.channels)
        self._effort = next((i for i, role in enumerate(model.channels) if role in ("torque", "force")), -1)
        self._saturation = np.nan if saturation is None else NEAR * saturation
        self.state = Preprocessing(
            limits=self.range.limits,
            watched=self.channels.watched,
            spikes=self.spikes.state,
            former=self.conditioner.former,
            times=np.empty(CHUNK, np.int64),
            values=np.empty((CHUNK, len(channels))),
            passed=0,
            effort=self._effort,
            saturation=self._saturation,
            plain=False,
        )
        self._look()

    def absorb(self, time: Nanoseconds, values: Floats) -> Rows:
        """Equidistant samples: time (n,) ns; values (n, channels) SI, NaN where missing → regression rows."""
        due = _pass(time, values, self.state) if len(time) <= self.conditioner.most else ODD
        if due == ODD:
            return self._step_by_step(time, values)
        self.follow(0, self.state.passed)
        return self.conditioner.formed(due)

    def follow(self, first: int, last: int) -> None:
        """The follower gets these of the rows that have passed."""
        if self.follower is not None:
            self.follower(self.state.times[first:last].copy(), self.state.values[first:last].copy())

    def _look(self) -> None:
        """Whether single steps are asked for."""
        self.state.plain = self.range.quiet and not (self._unknown or self._untimed or self._stepwise)

    def widen(self, half_width: float) -> None:
        """Another kernel (half_width: s) from the next samples on; what is under the old one is given up."""
        self._before = self._totals()
        self.conditioner = self._build(half_width)
        self.state.former = self.conditioner.former

    def counters(self) -> dict[str, int]:
        """Totals of conditioning (see Conditioner); samples wild, at saturation, and beyond what a joint may have."""
        own = {"spikes": self.spikes.count, "saturated": self.state.clipped, "implausible": self.range.count}
        return self._totals() | own

    def _totals(self) -> dict[str, int]:
        return {name: count + self._before.get(name, 0) for name, count in self.conditioner.counters().items()}

    def until_found(self, time: Nanoseconds, values: Floats) -> int:
        """How many of these samples there are up to that by which the step of an encoder is known; else all."""
        count = len(time)
        for channel, steps in self._unknown.items():
            if steps.absorb(time[:count], values[:count, channel]) or steps.known:
                count = min(count, int(np.searchsorted(time, steps.since, "right")))
        return count

    def found(self) -> tuple[tuple[int, EncoderSteps], ...]:
        """Encoders whose step is known since the last call: channel, and what was found."""
        if not self._unknown:
            return ()
        known = tuple((channel, steps) for channel, steps in self._unknown.items() if steps.known)
        for channel, _ in known:
            del self._unknown[channel]
        self._look()
        return known

    def timed(self) -> tuple[tuple[int, UnevenTime], ...]:
        """Positions of which it is known since the last call how unevenly they are sampled."""
        if not self._untimed:
            return ()
        known = tuple((channel, uneven) for channel, uneven in self._untimed.items() if uneven.known)
        for channel, _ in known:
            del self._untimed[channel]
        self._look()
        return known

    def _step_by_step(self, time: Nanoseconds, values: Floats) -> Rows:
        self.channels.absorb(values)
        values = self._held.absorb(self.range.absorb(values))
        self._look()
        for channel, uneven in self._untimed.items():
            uneven.absorb(time, values[:, channel])
        time, values = self.spikes.absorb(time, values)
        clipped = np.abs(values[:, self._effort]) >= self._saturation
        if clipped.any():
            self.state.clipped += int(np.count_nonzero(clipped))
            values[clipped, self._effort] = np.nan
        if self.follower is not None:
            self.follower(time, values)
        own = values if self._own == values.shape[1] else np.ascontiguousarray(values[:, : self._own])
        return self.conditioner.absorb(time, self._stops.absorb(own))


@inline
def through(time: Nanoseconds, values: Floats, first: int, state: Preprocessing) -> int:
    """Rows through every step; returns how many regression rows are due, or ODD.

    first: how many of before are still wanted, by who follows.
    """
    watched, former, seen = state.watched.values, state.former, state.watched.count
    many = first + len(time) > len(state.times) or len(time) > len(former.due) * former.decimation
    if not state.plain or many or seen + len(time) >= len(watched) or beyond(values, state.limits):
        return ODD
    for row in range(len(time)):
        for channel in range(watched.shape[1]):
            watched[seen + row, channel] = values[row, channel]
    state.watched.count += len(time)
    times, out = state.times[first:], state.values[first:]
    passed = judge(time, values, state.spikes, times, out)
    state.passed = first + passed
    for row in range(passed):
        if abs(out[row, state.effort]) >= state.saturation:
            out[row, state.effort] = np.nan
            state.clipped += 1
    return take(times[:passed], out[:passed], former)


@kernel(("Array(i8, 1, 'A', readonly=True)", "Array(f8, 2, 'A', readonly=True)", Preprocessing))
def _pass(time: Nanoseconds, values: Floats, state: Preprocessing) -> int:
    return through(time, values, 0, state)


@inline
def none_due(count: int, former: RowFormer) -> bool:
    """Whether so many more rows make no window due, whatever they are."""
    return (former.seen - former.support) % former.decimation + count < former.decimation
