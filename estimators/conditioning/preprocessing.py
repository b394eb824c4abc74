"""Samples of one joint → regression rows: watched, cleaned, observed, in one compiled pass.

    encoder steps → dead channels → physical range → zero-order hold of slow channels → uneven time → spikes →
    saturation → stops → row former

The pass takes samples up to the first at which Python has something to decide (`stop`); how samples are cut does not
matter.
"""

import math
from collections.abc import Callable
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from estimators.conditioning.conditioner import Conditioner, Conditioning
from estimators.conditioning.dead_channels import SLOW, Channels, Watched
from estimators.conditioning.physical_range import PhysicalRange, Ranges, clean
from estimators.conditioning.row_kernels import CHUNK, RowFormer, take
from estimators.conditioning.spikes import SpikeFilter, Spikes, judge
from estimators.conditioning.stop import DONE, ENCODER, SPAN, UNEVEN
from estimators.conditioning.stops import Springs, Stops, follow
from estimators.models.base import Model
from estimators.models.memory import bristle, thresholds
from estimators.numerics.jit import inline
from estimators.quantisation.encoder_steps import EncoderMoves, EncoderSteps, Unevenness, UnevenTime, move, sample
from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.layout import Integers, Layout, Matrix, Vector

#: 1, argued: Share of the drive's saturation from which a torque is not believed: the drive may clip.
NEAR: Final = 0.98


def clipped_from(saturation: float | None) -> float:
    """N·m (N) from which a torque is not believed; saturation: of the drive, None: not known."""
    return math.inf if saturation is None else NEAR * saturation


class Preprocessing(Layout):
    """What stands between the samples of one joint and its regression rows."""

    encoders: tuple[EncoderMoves, ...]  # of positions and torque, as long as their steps are not known
    unevenness: tuple[Unevenness, ...]  # of the positions
    watched: Watched
    ranges: Ranges
    slow: Integers  # channels that change slowly: a missing value is the one before it
    slow_values: Vector  # the last one of each
    spikes: SpikeFilter
    springs: Springs
    former: RowFormer
    work: Annotated[Matrix, "chunk", "channels"]  # samples on their way
    times: Annotated[Integers, "chunk"]  # ns, of samples that have left the spikes, …
    values: Annotated[Matrix, "chunk", "channels"]  # … up to `passed`
    wide: Annotated[Matrix, "chunk", "springs_too"]  # the same and their springs, where there are some
    own: int  # channels that the model has
    effort: int  # channel of the torque (force)
    saturation: float  # N·m (N) from which it is not believed; infinite: none
    passed: int = 0  # of them, in this pass
    clipped: int = 0  # samples at saturation so far
    stop: int = DONE  # what is to be decided after the last sample


class Preprocessor:
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
        self.follower: Callable[[Nanoseconds, Floats], None] | None = None  # gets samples without wild ones
        self.channels = Channels(channels, period, standstill)
        self.spikes = Spikes(channels, period)
        self.range = PhysicalRange(channels, period)
        positions = [i for i, role in enumerate(model.channels) if role.endswith("position")]
        effort = next((i for i, role in enumerate(model.channels) if role in ("torque", "force")), -1)
        self._steps = {channel: EncoderSteps(channel) for channel in (*positions, effort) if channel >= 0}
        self._timed = {channel: UnevenTime(period, channel) for channel in positions}
        self._returned: set[object] = set()  # of these, what was asked for already
        slow = np.array([i for i, role in enumerate(channels) if role.endswith(SLOW)], np.int64)
        stops = Stops(thresholds(model), period=period, bristle=bristle(model))
        springs = len(stops.state.deflections)
        self.state = Preprocessing(
            encoders=tuple(one.state for one in self._steps.values()),
            unevenness=tuple(one.state for one in self._timed.values()),
            watched=self.channels.watched,
            ranges=self.range.state,
            slow=slow,
            slow_values=np.full(len(slow), np.nan),
            spikes=self.spikes.state,
            springs=stops.state,
            former=self.conditioner.former,
            work=np.empty((CHUNK, len(channels))),
            times=np.empty(CHUNK, np.int64),
            values=np.empty((CHUNK, len(channels))),
            wide=np.empty((CHUNK, len(model.channels) + springs if springs else 0)),
            own=len(model.channels),
            effort=effort,
            saturation=clipped_from(saturation),
        )

    def feed_follower(self) -> None:
        """Give the follower the samples that have gone through in the last pass."""
        if self.follower is not None and (passed := self.state.passed):
            self.follower(self.state.times[:passed].copy(), self.state.values[:passed].copy())

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

    def found(self) -> tuple[tuple[int, EncoderSteps], ...]:
        """Encoders, and torques, whose step is known since the last call: channel, and what was found."""
        known = tuple(
            (channel, one) for channel, one in self._steps.items() if one.judged() and one not in self._returned
        )
        self._returned.update(one for _, one in known)
        return known

    def timed(self) -> tuple[tuple[int, UnevenTime], ...]:
        """Positions of which it is known since the last call how unevenly they are sampled."""
        known = tuple(
            (channel, one) for channel, one in self._timed.items() if one.judged() and one not in self._returned
        )
        self._returned.update(one for _, one in known)
        return known


@inline
def preprocess(time: Nanoseconds, values: Floats, bridged: NDArray[np.bool_], state: Preprocessing) -> int:
    """Take samples up to the first with something to decide; returns how many; `former.windows` are then due.

    time (n,) ns; values (n, channels) SI, NaN where missing; bridged (n,): whether a value is interpolated across
    missing ones, which tells nothing of an encoder's steps. Takes none where those that have passed leave no room.
    """
    watched, former, work = state.watched, state.former, state.work
    room = min(len(state.times) - state.passed, len(former.due) * former.decimation)
    count, stop = 0, DONE
    while count < min(len(time), room) and stop == DONE:
        for i in range(len(state.encoders)):
            encoder = state.encoders[i]
            if not bridged[count] and move(time[count], values[count, encoder.channel], encoder):
                stop = ENCODER
        for channel in range(work.shape[1]):
            watched.values[watched.count, channel] = values[count, channel]
            work[count, channel] = values[count, channel]
        watched.count += 1
        if watched.count == len(watched.values):
            stop = max(stop, SPAN)
        clean(work[count], state.ranges)
        for i in range(len(state.slow)):
            channel = state.slow[i]
            if np.isfinite(work[count, channel]):
                state.slow_values[i] = work[count, channel]
            work[count, channel] = state.slow_values[i]
        for i in range(len(state.unevenness)):
            uneven = state.unevenness[i]
            if sample(time[count], work[count, uneven.channel], uneven):
                stop = max(stop, UNEVEN)
        count += 1
    state.stop = stop
    times, out = state.times[state.passed :], state.values[state.passed :]
    passed = judge(time[:count], work[:count], state.spikes, times, out)
    state.passed += passed
    for row in range(passed):
        if abs(out[row, state.effort]) >= state.saturation:
            out[row, state.effort] = np.nan
            state.clipped += 1
    springs = len(state.springs.deflections)
    if springs == 0:
        former.windows = take(times[:passed], out[:passed], former)
        return count
    for row in range(passed):
        for channel in range(state.own):
            state.wide[row, channel] = out[row, channel]
        follow(state.wide[row], state.own, state.springs)
    former.windows = take(times[:passed], state.wide[:passed], former)
    return count
