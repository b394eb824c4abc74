"""What follows the samples of one joint beside its estimator: counters, watches and the pipelines of all joints."""

from collections.abc import Callable
from concurrent.futures import Executor

from daq.core.followers.channel_watch import ChannelWatch
from daq.core.followers.joint_use import JointUse
from daq.core.mechanisms.clearance_pipeline import ClearancePipeline
from estimators.causes.watch import CauseWatch
from estimators.quantities import Floats, Nanoseconds


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
        """channels: the columns of the samples; rate: Hz; unit: of the joint's torque or force."""
        self.samples = 0
        self.use = JointUse(channels, unit)
        self.channel_watch: ChannelWatch | None = None  # while somebody asks for the samples
        self.of_all_joints: tuple[Callable[[str, Nanoseconds, Floats], None], ...] = ()  # a robot's or mechanism's
        self.diagnosed = False  # whether a diagnosis of causes is new
        self._name, self._channels, self._rate = name, channels, rate
        self._causes, self._clearance = causes, clearance

    def absorb(self, ticks: Nanoseconds, samples: Floats, step: float, trusted: bool) -> int:
        """Take samples that were just aligned; returns the time of the last one (ns), 0 where there is none.

        ticks: (samples,) ns; samples: (samples, channels); step: of the encoder, rad (m), 0 if not known; trusted: the
        joint's estimate has been valid.
        """
        self.samples += len(ticks)
        self.use.absorb(ticks, samples, step)
        if self._causes is not None and trusted:
            self.diagnosed |= self._causes.absorb(ticks, samples)
        if self._clearance is not None:
            self._clearance.absorb(ticks, samples)
        for follower in self.of_all_joints:
            follower(self._name, ticks, samples)
        if self.channel_watch is not None and len(ticks):
            self.channel_watch.absorb(ticks, samples)
        return int(ticks[-1]) if len(ticks) else 0

    def watch_channels(self, wanted: bool) -> None:
        """Keep raw samples for a person from here on, or no longer."""
        if wanted != (self.channel_watch is not None):
            self.channel_watch = ChannelWatch(self._name, self._channels, self._rate) if wanted else None


def cause_watch_of(channels: tuple[str, ...], period: float, executor: Executor | None) -> CauseWatch | None:
    """The watch of the signature of a joint whose position and torque are measured, else None.

    period: s between samples; executor: ranks the causes.
    """
    if "position" not in channels or "torque" not in channels:
        return None
    link = channels.index("link_position") if "link_position" in channels else None
    return CauseWatch(period, (channels.index("position"), channels.index("torque"), link), executor)
