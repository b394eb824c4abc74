"""The followers of one joint's samples: counters, watches, and the pipelines that all joints share."""

from concurrent.futures import Executor
from typing import Final

import numpy as np

from daq.core.followers.channel_watch import ChannelWatch
from daq.core.followers.joint_use import JointUse, JointUseState, absorb_use
from daq.core.gear_pipeline import ClearancePipeline
from estimators.alignment.common_clock import JointRows, push
from estimators.causes.sample_rows import StoredSamples, store_samples
from estimators.causes.watch import CauseWatch
from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.direct import direct
from jointwatch_numba.layout import Layout


class FollowersState(Layout):
    """The state that the compiled followers of one joint write."""

    use: JointUseState
    stored: StoredSamples  # samples stored for the watch of causes
    shared_rows: tuple[JointRows, ...] = ()  # rows of the pipelines that take the samples of all joints
    samples: int = 0  # number of samples that were taken
    step: float = 0.0  # step of the encoder, rad (m), 0 if unknown
    stores: bool = False  # whether samples are stored
    chunk: int = 0  # number of stored samples that the watch waits for


NOT_STORED: Final = StoredSamples(
    columns=np.zeros(0, np.int64), times=np.zeros(0, np.int64), values=np.zeros((0, 0))
)  # for a joint without that watch


class SampleFollowers:
    """The followers of one joint's samples."""

    def __init__(
        self,
        name: str,
        channels: tuple[str, ...],
        rate: float,
        unit: str,
        causes: CauseWatch | None,
        clearance: ClearancePipeline | None,
    ) -> None:
        """channels: names of the columns of the samples; rate: Hz; unit: unit of the joint's torque or force."""
        self.use = JointUse(channels, unit)
        self.channel_watch: ChannelWatch | None = None  # only while somebody asks for the samples
        self.diagnosed = False  # whether there is a new diagnosis of causes
        self._name, self._channels, self._rate = name, channels, rate
        self._causes, self._clearance = causes, clearance
        stored = NOT_STORED if causes is None else causes.former.state
        self.state = FollowersState(use=self.use.state, stored=stored)

    def absorb(self, ticks: Nanoseconds, samples: Floats, count: int, step: float, trusted: bool) -> int:
        """Take samples that were just aligned; returns the time of the last one (ns), or 0 if there is none.

        ticks: ns, samples: (…, channels), of which only the first `count` are used; step: step of the encoder, rad (m),
        0 if unknown; trusted: whether the joint's estimate has been valid.
        """
        self.state.samples += count
        causes = self._causes if trusted else None
        if causes is not None:
            causes.former.reserve(count)
        last = _follow(ticks, samples, count, step, causes is not None, self.state)
        if causes is not None and causes.due:
            self.diagnosed |= causes.look()
        if self._has_extra:
            self._absorb_extra(ticks[:count], samples[:count])
        return last

    def prepare(self, step: float, trusted: bool) -> bool:
        """Prepare `follow_on` to take samples, see `absorb`; returns whether a follower in Python needs all samples."""
        causes, state = self._causes if trusted else None, self.state
        state.step, state.stores, state.chunk = step, causes is not None, 0 if causes is None else causes.former.chunk
        return self._has_extra or (causes is not None and causes.due)

    @property
    def samples(self) -> int:
        """Number of samples so far."""
        return self.state.samples

    @property
    def _has_extra(self) -> bool:
        """Whether the joint has followers that most joints do not have."""
        return self._clearance is not None or self.channel_watch is not None

    def _absorb_extra(self, ticks: Nanoseconds, samples: Floats) -> None:
        """Give samples to the followers that most joints do not have."""
        if self._clearance is not None:
            self._clearance.absorb(ticks, samples)
        if self.channel_watch is not None and len(ticks):
            self.channel_watch.absorb(ticks, samples)

    def watch_channels(self, wanted: bool) -> None:
        """Keep raw samples for a person from now on, or no longer."""
        if wanted != (self.channel_watch is not None):
            self.channel_watch = ChannelWatch(self._name, self._channels, self._rate) if wanted else None


def cause_watch_of(
    channels: tuple[str, ...], period: float, executor: Executor | None, place: float = 0.0
) -> CauseWatch | None:
    """Return the watch of the signature of a joint if its position and torque are measured, else None.

    period: s between samples; executor: ranks the causes; place: of the joint among all, from 0 to 1.
    """
    if "position" not in channels or "torque" not in channels:
        return None
    link = channels.index("link_position") if "link_position" in channels else None
    return CauseWatch(period, (channels.index("position"), channels.index("torque"), link), executor, place)


@inline
def _hand_over(ticks: Nanoseconds, samples: Floats, step: float, stores: bool, state: FollowersState) -> None:
    absorb_use(ticks, samples, step, state.use)
    if stores:
        store_samples(ticks, samples, state.stored)
    for one in range(len(state.shared_rows)):
        push(ticks, samples, state.shared_rows[one])


@inline
def follow_on(ticks: Nanoseconds, samples: Floats, count: int, state: FollowersState) -> bool:
    """Take the first samples and return True, unless the watch of causes has to process them in Python."""
    if state.stores and state.stored.count + count >= state.chunk:
        return False
    if count > 0:
        _hand_over(ticks[:count], samples[:count], state.step, state.stores, state)
    state.samples += count
    return True


@kernel(("i8[::1]", "f8[:, ::1]", "i8", "f8", "b1", FollowersState))
def _follow_samples(
    ticks: Nanoseconds, samples: Floats, count: int, step: float, stores: bool, state: FollowersState
) -> int:
    """Give the first samples to all followers; returns the time of the last one (ns), or 0 if there is none."""
    if count == 0:
        return 0
    _hand_over(ticks[:count], samples[:count], step, stores, state)
    return int(ticks[count - 1])


_follow: Final = direct(_follow_samples)
