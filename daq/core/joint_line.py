"""The way of one joint: readings aligned, rows estimated, updates published where an interval ends; silence, drift."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daq.config.sections import Joint
from daq.core.align import Aligner
from daq.core.drift import Comparison
from daq.core.gear_line import line_of
from daq.core.walk import Passed, alone
from daq.state.baselines import Baseline
from daq.stream.update import Map, Publication
from estimators.base import Estimate, Phase, Status
from estimators.models.joints.lost_motion import PARAMETERS
from estimators.numerics.jit import kernel
from estimators.numerics.parcel import Parcel
from estimators.online.gear.two_encoders import gear_of
from estimators.online.joint import JointEstimator
from estimators.online.walk import BEGUN, COUNT, ESTIMATOR, HEARD, LAST, TAKEN, TICK
from estimators.quantities import Floats, Nanoseconds

Message = tuple[bytes, bytes]  # topic, msgpack map

STALE_EVERY = 500_000_000  # ns between two updates of a joint that has no data
HELD = 20_000_000  # ns of readings that are worth to wait for, at most
HELD_OF_STALE = 0.1  # … and of the silence that makes a channel stale


class JointLine:
    """One joint: aligner, estimator, and when its next update is due."""

    def __init__(
        self,
        name: str,
        joint: Joint,
        publication: Publication,
        interval: int,
        executor: Executor | None,
        offset: int = 0,
    ) -> None:
        """interval: ns between two updates; offset: ns from where on intervals are counted."""
        self.name = name
        self._build = partial(JointEstimator, joint, 1.0 / joint.rate, executor)
        self.estimator = self._build()
        self.gear = line_of(joint, self.estimator.channels, publication)
        self.aligner = Aligner(joint, self.estimator.channels)
        self.skew = {role: channel.delay for role, channel in joint.channels.items() if channel.delay}  # s, taken off
        self.samples = 0
        self.updates = 0
        self._publication = publication
        self.offset = offset
        self._intervals = np.array([-1, interval, offset], np.int64)  # see estimators.online.walk
        self._ends = np.empty(0, np.int64)  # room for where publishing intervals begin in a batch
        self.due = 0  # ns of arrival from which the next update can be made: what comes before may wait
        self._period = round(1e9 / joint.rate)
        self._held = min(HELD, round(HELD_OF_STALE * joint.stale * 1e9))
        self._stale = False
        self._missing: tuple[str, ...] = ()  # what does not come although it should, in words
        self._sources = [(role, joint.channels[role].signal) for role in self.estimator.channels]
        rates = [joint.channels[role].rate or joint.rate for role in self.estimator.channels]
        self._stale_after = np.array([max(joint.stale, 3 / rate) * 1e9 for rate in rates])  # ns
        self._seen = np.zeros(len(self._sources) + 1, np.int64)  # ns, last arrival of each column
        parcels = [self.aligner.resampler.parcel, self.estimator.parcel]
        self.parcel = Parcel(integers=[self._seen, self._intervals], parcels=parcels)
        self._follow()
        self.heard_until = 0  # ns, before which no channel can be silent for too long
        self._last_arrival = 0  # ns
        self._last_update = 0  # ns
        self._comparison = Comparison(joint.model.kind, joint.drift, publication)
        self.follower: Callable[[str, Nanoseconds, Floats], None] | None = None  # who else wants the samples

    def absorb(
        self,
        times: Nanoseconds,
        values: Floats,
        columns: NDArray[np.int32],
        epoch: int,
        now: Callable[[], int],
        late: bool = False,
    ) -> list[Message]:
        """Align, estimate, publish where an interval ends; of a core that is late, only where the last one does.

        epoch: ns to add to get Unix time.
        """
        return self.go_on(alone(times, values, columns, late, self.parcel), epoch, now, late)

    def go_on(self, passed: Passed, epoch: int, now: Callable[[], int], late: bool = False) -> list[Message]:
        """The same, behind a pass over the readings."""
        times, found, resampler = passed.times, passed.found, self.aligner.resampler
        self._last_arrival = arrival = int(times[-1])
        messages: list[Message] = []
        if self._stale and not self._silent(arrival):
            messages += self._recovered(arrival + epoch)
        count, taken = found[COUNT], found[TAKEN]
        ticks, samples = resampler.ticks[:count], resampler.rows[:count]
        if found[HEARD] < len(times) or count >= resampler.room:
            ticks, samples = resampler.gathered(times, passed.values, passed.columns, found[HEARD], count)
        self.samples += len(ticks)
        if self.follower is not None:
            self.follower(self.name, ticks, samples)
        if taken:
            self.estimator.walked(ticks[:taken], samples[:taken], found)
            messages += self._said(found[TICK], arrival, epoch, now if found[BEGUN] else None, found)
        last = int(ticks[-1]) if len(ticks) else 0
        if taken < len(ticks):
            ticks, samples = ticks[taken:].copy(), samples[taken:].copy()
            messages += self._step_by_step(ticks, samples, arrival, epoch, now, late)
        self.due = arrival + self._wait(last) if len(ticks) else arrival
        return messages

    def _said(
        self, tick: int, arrival: int, epoch: int, now: Callable[[], int] | None, found: Sequence[int] | None = None
    ) -> list[Message]:
        """What the samples up to a tick have to say; now: where an update is due; found: by a pass."""
        messages = self._events(epoch, arrival)
        if now is not None:
            messages += self._update(self.estimator.estimate(found), tick, arrival, epoch, now())
            messages += self.gear.settle(epoch) if self.gear is not None else []
        return messages

    def _step_by_step(
        self, ticks: Nanoseconds, samples: Floats, arrival: int, epoch: int, now: Callable[[], int], late: bool
    ) -> list[Message]:
        """What comes behind the begin of an interval, or is odd."""
        messages: list[Message] = []
        for start, end, due in self._cuts(ticks, late):
            self.estimator.absorb(ticks[start:end], samples[start:end])
            messages += self._said(int(ticks[end - 1]), arrival, epoch, now if due else None)
        return messages

    def watch(self, now: int, epoch: int) -> list[Message]:
        """What is to be said when the joint, or one of its channels, gives no data. now: monotonic ns."""
        if now < self.heard_until:
            return []
        if self._last_arrival == 0:
            self._last_arrival = now
        self._seen[self._seen == 0] = now
        self._missing = self._silent(now)
        if not self._missing:
            self.heard_until = int((self._seen[:-1] + self._stale_after).min())
            return []
        messages: list[Message] = []
        if not self._stale:
            self._stale = True
            messages.append(self._publication.event("fault", "; ".join(self._missing), (now + epoch) / 1e9))
        if now - self._last_update < STALE_EVERY:
            return messages
        return messages + self._update(self.estimator.estimate(), now, self._last_arrival, epoch, now)

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from what was kept. Raises NotTheSameError and what a damaged state raises, then starts anew."""
        try:
            self.estimator.resume(state)
        except Exception:
            self.estimator = self._build()
            self.parcel.put(ESTIMATOR, self.estimator.parcel)
            self._follow()
            raise

    def _follow(self) -> None:
        """The gear gets what the estimator gets."""
        if self.gear is not None:
            self.estimator.front.follower = self.gear.absorb

    def rebase(self, baseline: Baseline) -> None:
        """What drift is measured against from the next update on."""
        self._comparison.rebase(baseline)

    def _silent(self, now: int) -> tuple[str, ...]:
        """Every channel from which nothing comes, in words."""
        silence = now - self._seen[:-1]
        silent = (silence >= self._stale_after).nonzero()[0]
        if len(silent) == 0:
            return ()
        if len(silent) == len(silence):
            return (f"no data for {silence.min() / 1e9:.1f} s",)
        return tuple(
            f"no {role} ({signal}) for {silence[at] / 1e9:.1f} s"
            for at, (role, signal) in enumerate(self._sources)
            if at in silent
        )

    def _wait(self, tick: int) -> int:
        """ns from the last arrival to before that of the row that the next update is made of, and after all others."""
        slot, interval, offset = self._intervals.tolist()
        ahead = (slot + 1) * interval + offset - tick
        others = -(-ahead // self._period) - 1
        return min(self._held, others * self._period + self._period // 4) if others > 0 else 0

    def _cuts(self, ticks: Nanoseconds, late: bool) -> list[tuple[int, int, bool]]:
        """Cut a batch where publishing intervals begin: (start, end, whether an update is due at end)."""
        if not len(ticks):
            return []
        before, interval, offset = self._intervals.tolist()
        self._intervals[LAST] = (int(ticks[-1]) - offset) // interval
        if len(ticks) > len(self._ends):
            self._ends = np.empty(len(ticks), np.int64)
        fresh = self._ends[: _intervals(ticks, interval, offset, before, self._ends)].tolist()
        if late:
            del fresh[:-1]
        if not fresh:
            return [(0, len(ticks), False)]
        cuts = [(start, end, True) for start, end in zip([0, *fresh[:-1]], fresh, strict=True)]
        return [*cuts, (fresh[-1], len(ticks), False)] if fresh[-1] < len(ticks) else cuts

    def _update(self, estimate: Estimate, tick: int, arrival: int, epoch: int, now: int) -> list[Message]:
        self.updates += 1
        self._last_update = now
        if self._missing:
            estimate = estimate._replace(phase=Phase.FAULTED, status=Status.FAULTED, reasons=self._missing)
        timestamp = ((estimate.time or tick) + epoch) / 1e9
        return [
            self._publication.estimate(estimate, timestamp, (arrival + epoch) / 1e9, (now - arrival) / 1e9),
            self._publication.residual(estimate, timestamp),
            *self._comparison.look(
                estimate, self.estimator.friction, timestamp, None if self.gear is None else self.gear.beside
            ),
        ]

    def _events(self, epoch: int, arrival: int) -> list[Message]:
        """What the estimator has to say; it was resumed when its first rows came, not when the core before ended."""
        messages = []
        for event in self.estimator.events():
            time = arrival if event.kind == "resumed" else event.time
            first, last = event.window or (0, 0)
            window = ((first + epoch) / 1e9, (last + epoch) / 1e9) if event.window else None
            messages.append(self._publication.event(event.kind, event.text, (time + epoch) / 1e9, window))
        return messages

    def _recovered(self, time: int) -> list[Message]:
        self._stale, self._missing = False, ()
        return [self._publication.event("recovered", "data again", time / 1e9)]


@kernel("i8(i8[::1], i8, i8, i8, i8[::1])")
def _intervals(ticks: Nanoseconds, interval: int, offset: int, slot: int, ends: NDArray[np.int64]) -> int:
    """How many publishing intervals begin, the last one having been slot; ends (ticks,): behind the tick of each."""
    count = 0
    for row in range(len(ticks)):
        here = (ticks[row] - offset) // interval
        if here > slot:
            ends[count] = row + 1
            count += 1
        slot = here
    return count


def described(joint: Joint) -> Map:
    """What `meta` says of a joint."""
    model = joint.model.build()
    gear = PARAMETERS if gear_of(joint, joint.rate) is not None else ()
    return {
        "model": joint.model.kind,
        "unit": joint.model.unit(),
        "rate": joint.rate,
        "parameters": {
            one.name: {
                "unit": one.unit,
                "low": one.low,
                "high": one.high,
                "equation": one.equation,
                "meaning": one.meaning,
                "needs": one.needs,
            }
            for one in (*model.parameters, *model.nonlinear, *gear)
        },
    }
