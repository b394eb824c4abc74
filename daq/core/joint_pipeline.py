"""The pipeline of one joint: aligns readings, estimates, publishes at the end of each interval, notices silence."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daq.config.sections import JointSection
from daq.core.align import Aligner
from daq.core.batch_pass import Readings
from daq.core.changes.drift import EVERY as COMPARED_EVERY
from daq.core.changes.drift import Comparison
from daq.core.followers.channel_watch import ChannelWatch
from daq.core.followers.joint_summary import JointSummary
from daq.core.followers.joint_use import JointUse
from daq.core.gear_pipeline import gear_pipeline_of
from daq.core.mechanisms.clearance_pipeline import clearance_pipeline_of
from daq.core.reading_buffer import NEVER
from daq.core.unattended import unattended
from daq.state.baselines import Baseline
from daq.stream.update import Map, Publication
from estimators.base import Estimate, Phase, Status
from estimators.causes.watch import CauseWatch
from estimators.conditioning.preprocessing import clipped_from
from estimators.conditioning.stop import COLUMN, DONE, DRAIN, INTERVAL, ROOM, TAUGHT
from estimators.models.joints.lost_motion import PARAMETERS
from estimators.online.gear.two_encoders import gear_of
from estimators.online.joint import JointEstimator
from estimators.online.joint_pass import EstimatorState, Intervals, JointState, advance_readings
from estimators.plausibility.signals.watch import SignalWatch
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason, joined

Message = tuple[bytes, bytes]  # topic, msgpack map

#: ns, argued: Time between two updates of a joint that has no data.
STALE_EVERY = 500_000_000
#: ns, argued: Readings that are worth waiting for, at most.
LONGEST_WAIT = 20_000_000
#: 1, argued: The same as a share of the silence that makes a channel stale.
WAIT_OF_STALE = 0.1
UNDECIDED = (DONE, DRAIN, INTERVAL, TAUGHT, ROOM)  # stops after which nothing is decided
ROWLESS = ("no_rows", "channel_dead")  # codes of readings that arrive, and of which no row can be formed
#: rows, argued: Rows that a joint's silence about rows covers at least, where `stale` is shorter than that.
FEWEST_ROWS = 3


class JointPipeline:
    """One joint: its aligner, its estimator, and the time of its next update."""

    def __init__(
        self,
        name: str,
        joint: JointSection,
        publication: Publication,
        interval: int,
        executor: Executor | None,
        offset: int = 0,
        looks: Executor | None = None,
    ) -> None:
        """interval: ns between two updates; executor: runs refits; offset: ns from which intervals are counted; looks:
        runs the plausibility look of a start."""
        self.name = name
        self._build = partial(JointEstimator, joint, 1.0 / joint.rate, executor, looks)
        self.estimator = self._build()
        self.gear = gear_pipeline_of(joint, self.estimator.channels, publication)
        self.aligner = Aligner(joint, self.estimator.channels, watched=True)
        self._watch = SignalWatch(
            self.aligner.resampler.aligner,
            self.estimator.channels,
            self.aligner.signals,
            clipped_from(joint.saturation),
        )
        self.refused: tuple[Reason, ...] = ()  # why the joint's frames are not used
        self.skew = {role: channel.delay for role, channel in joint.channels.items() if channel.delay}  # s, subtracted
        self.quiet = False  # whether only events are wanted, and where the joint stands at the end
        self.unattended = unattended(len(self.estimator.channels))
        self._samples = 0
        self.updates = 0
        self._publication = publication
        self.offset = offset
        self._intervals = Intervals(length=interval, offset=offset)
        self.due = 0  # ns, arrival time from which the next update can be made: earlier readings may wait
        self._period = round(1e9 / joint.rate)
        self._longest_wait = min(LONGEST_WAIT, round(WAIT_OF_STALE * joint.stale * 1e9))
        self._stale = False
        self._missing: tuple[Reason, ...] = ()  # what does not come although it should
        self._sources = [(role, joint.channels[role].signal) for role in self.estimator.channels]
        rates = [joint.channels[role].rate or joint.rate for role in self.estimator.channels]
        self._stale_after = np.array([max(joint.stale, 3 / rate) * 1e9 for rate in rates])  # ns
        self._seen = np.zeros(len(self._sources) + 1, np.int64)  # ns, last arrival of each column
        self._connect_aligner()
        self.state = JointState(aligner=self.aligner.resampler.aligner, estimator=self.estimator.state, seen=self._seen)
        self._connect_gear()
        self.silence_due = 0  # monotonic ns before which no channel can have been silent for too long
        self._last_arrival = 0  # ns
        self._newest = 0  # ns, last sample of the newest window without a gap, and when that came
        self._row_arrival = 0
        self._clipped = 0  # samples at saturation until then
        self._last_update = 0  # ns
        self._words: Any = None  # of the last update: what its texts depend on; None where a new form is needed
        model = joint.model.build()
        units = {one.name: one.unit for one in (*model.parameters, *model.nonlinear, *PARAMETERS)}
        self.comparison = Comparison(joint.model.kind, joint.drift, publication, units)
        self.clearance = clearance_pipeline_of(joint, self.estimator.channels, publication, self.comparison.records)
        self._unit = joint.model.unit()
        self._trusted, self._diagnosed = False, False  # whether it has been valid; whether a diagnosis is new
        self._connect_causes(looks)
        self.use = JointUse(self.estimator.channels, joint.model.unit())
        self._summary = JointSummary(
            joint.model.kind, joint.model.unit(), units, publication, self.use, self.comparison.records
        )
        self.channel_watch: ChannelWatch | None = None  # gets the samples while somebody asks for them
        self.followers: tuple[Callable[[str, Nanoseconds, Floats], None], ...] = ()  # get the samples, too

    def absorb(
        self,
        times: Nanoseconds,
        values: Floats,
        columns: NDArray[np.int32],
        epoch: int,
        now: Callable[[], int],
        late: bool = False,
    ) -> list[Message]:
        """Align and estimate these readings; returns the messages of every interval that ends.

        epoch: ns to add to get Unix time; now: the monotonic clock, ns; late: publish only the last interval.
        """
        self.state.taken, self.state.estimator.late = 0, late
        readings = Readings(times, values, columns)
        advance_readings(*readings, self.state)
        return self.handle_stops(readings, epoch, now)

    def handle_stops(self, readings: Readings, epoch: int, now: Callable[[], int]) -> list[Message]:
        """Answer the stops of a pass over these readings, until it has used all of them; returns the messages."""
        joint, state, messages = self.state, self.state.estimator, list[Message]()
        self.catch_up()
        self._last_arrival = arrival = joint.arrival
        self._note_rows(arrival)
        if self._stale and not self._unusable(arrival):
            messages += self._recovered(arrival + epoch)
        before, last, skipped = 0, 0, None
        while True:
            if joint.aligned:
                before, last = 0, self._count_samples(state) or last
            if state.stop == COLUMN:
                raise ValueError(f"expected columns of {self.estimator.channels}, found {set(readings.columns)}")
            self.estimator.answer(before)
            if state.stop not in UNDECIDED:
                self._intervals.silent_until = 0  # something may have been decided that the next update says
            if state.stop == INTERVAL:
                skipped = self._intervals.tick if state.late and joint.taken < len(readings.times) else None
                if skipped is None:
                    messages += self._publish_interval(self._intervals.tick, arrival, epoch, now)
            elif state.stop in (DRAIN, DONE) and not joint.full and self._watch.due:
                refused = self._look_at_frames(epoch, now)
                messages += refused
                last = 0 if refused else last
                state = self._taken_over(state)
            if state.stop == DONE or (state.stop == INTERVAL and not state.more):
                break
            before = state.next
            advance_readings(*readings, joint)
        if skipped is not None:  # no later one began in these readings
            messages += self._publish_interval(skipped, arrival, epoch, now)
        messages += self._events(epoch, arrival)
        if self._diagnosed:
            self._diagnosed = False
            messages += self.comparison.diagnose(self._unit, epoch, (arrival + epoch) / 1e9)
        self.due = arrival + self._waiting_time(last) if last else arrival
        self._leave_alone()
        return messages

    @property
    def samples(self) -> int:
        """How many samples have been aligned."""
        return self._samples + self.unattended.count

    def _leave_alone(self) -> None:
        """Let the next passes settle by themselves, where nothing but samples and rows is to be noted of them."""
        own, faulted = self.unattended, self._stale or self._missing or self.refused
        alone = self.quiet and self._trusted and not faulted and self.channel_watch is None and self._undisturbed
        causes = self.comparison.causes
        own.room = 0 if not alone else len(own.ticks) if causes is None else min(len(own.ticks), causes.room)
        own.newest = self._newest

    def _silent_until(self) -> int:
        """ns, time of the first row whose update changes what is told at the end, if nothing is decided before."""
        if self.gear is not None or self.clearance is not None or self.channel_watch is not None:
            return 0
        if self.estimator.phases.phase in (Phase.WAITING, Phase.STARTING):
            return NEVER  # values are not compared before the end of a start, which is a decision
        time = self.estimator.phases.report.time
        if not self._trusted or self.comparison.due(time):
            return 0
        return (time // COMPARED_EVERY + 1) * COMPARED_EVERY

    @property
    def _undisturbed(self) -> bool:
        """Whether nobody reads the samples of each pass along."""
        return self.gear is None and self.clearance is None and self.estimator.undisturbed

    def catch_up(self) -> None:
        """Take what passes have noted that were not attended to."""
        own = self.unattended
        if own.room == 0:
            return
        count, own.count, own.room = own.count, 0, 0
        self._last_arrival = self.state.arrival
        if own.newest != self._newest:
            self._newest, self._row_arrival, self._clipped = own.newest, own.row_arrival, own.clipped
        if count:
            self._pass_on_samples(own.ticks[:count], own.samples[:count])

    def _pass_on_samples(self, ticks: Nanoseconds, samples: Floats) -> None:
        """Hand samples that were just aligned to those who read along."""
        self._samples += len(ticks)
        self.use.absorb(ticks, samples, self.estimator.step_of(self.use.position))
        if self.comparison.causes is not None and self._trusted:
            self._diagnosed |= self.comparison.causes.absorb(ticks, samples)
        if self.clearance is not None:
            self.clearance.absorb(ticks, samples)
        for follower in self.followers:
            follower(self.name, ticks, samples)
        if self.channel_watch is not None and len(ticks):
            self.channel_watch.absorb(ticks, samples)

    def _count_samples(self, state: EstimatorState) -> int:
        """Count samples that were just aligned; returns the time of the last one (ns), 0 where there is none."""
        count = state.count
        self._pass_on_samples(state.ticks[:count], state.samples[:count])
        return int(state.ticks[count - 1]) if count else 0

    def _publish_interval(self, tick: int, arrival: int, epoch: int, now: Callable[[], int]) -> list[Message]:
        """The messages at the end of an interval; tick: ns, the sample with which the next one begins."""
        messages = self._events(epoch, arrival)
        words = None if self._missing or self.refused else self.estimator.words()
        same = words is not None and words == self._words and not self._summary.due(tick)
        filled = self._fill_form(arrival, epoch, now) if same else []
        figured = self.state.estimator.certain, self.state.estimator.resting
        messages += filled or self._update(self.estimator.estimate(figured), tick, arrival, epoch, now())
        self._words = words
        if self.quiet:
            self._intervals.silent_until = self._silent_until()
        beside = [one for one in (self.gear, self.clearance) if one is not None]
        return messages + [message for one in beside for message in one.messages_due(epoch)]

    def _fill_form(self, arrival: int, epoch: int, now: Callable[[], int]) -> list[Message]:
        """An update with the texts of the last one and new numbers; none where it needs more than that."""
        report, publication = self.estimator.phases.report, self._publication
        if not publication.formed or self.comparison.due(report.time):
            return []
        numbers, measured, predicted = report.numbers()
        self.updates, self._last_update = self.updates + 1, now()
        times = (report.time + epoch) / 1e9, (arrival + epoch) / 1e9, (self._last_update - arrival) / 1e9
        return publication.fill_forms(numbers, measured, predicted, times)

    def watch_channels(self, wanted: bool) -> None:
        """Keep raw samples for a person from here on, or no longer."""
        if wanted != (self.channel_watch is not None):
            rate = 1e9 / self._period
            self.channel_watch = ChannelWatch(self.name, self.estimator.channels, rate) if wanted else None

    @property
    def faults(self) -> tuple[Reason, ...]:
        """Why the joint gives no rows: data are missing, or its frames are not used."""
        return self._missing or self.refused

    def check_silence(self, now: int, epoch: int) -> list[Message]:
        """The messages of a joint that gives no data, or lacks a channel. now: monotonic ns."""
        if now < self.silence_due:
            return []
        self.catch_up()
        if self._last_arrival == 0:
            self._last_arrival = now
        self._seen[self._seen == 0] = now
        self._missing = self._unusable(now)
        if not self._missing:
            rows_due = self._row_arrival + self._rowless_after
            self.silence_due = min(int((self._seen[:-1] + self._stale_after).min()), rows_due)
            self._leave_alone()
            return []
        messages: list[Message] = []
        if not self._stale:
            self._stale = True
            messages.append(self._publication.event("fault", joined(self._missing), (now + epoch) / 1e9))
        if now - self._last_update < STALE_EVERY:
            return messages
        return messages + self._update(self.estimator.estimate(), now, self._last_arrival, epoch, now)

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from a stored state. Raises NotTheSameError and what a damaged state raises, then starts anew."""
        try:
            self.estimator.resume(state)
        except Exception:
            self._build_anew()
            raise

    def _look_at_frames(self, epoch: int, now: Callable[[], int]) -> list[Message]:
        """Let the validators look at frames before anything is made of them; returns what is to be said of it."""
        arrival, reasons = self._watch.look()
        messages = self._events(epoch, arrival)
        if bool(reasons) != bool(self.refused):
            self.aligner.resampler.refuse(bool(reasons))
            kind, text = ("fault", joined(reasons)) if reasons else ("recovered", "signals are plausible again")
            messages.append(self._publication.event(kind, text, (arrival + epoch) / 1e9))
            if reasons:
                self._start_anew()
        self.refused = reasons
        if not reasons:
            return messages
        return messages + self._update(self.estimator.estimate(), arrival, arrival, epoch, now())

    def _taken_over(self, before: EstimatorState) -> EstimatorState:
        """The estimator's state, which may have begun anew: where it stands in the readings is as before."""
        state = self.state.estimator
        if state is not before:
            state.stop, state.late = before.stop, before.late
        return state

    def _start_anew(self) -> None:
        """Forget what the estimator and the gear have learnt."""
        if self.gear is not None:
            self.gear.start_anew()
        self._build_anew()

    def _build_anew(self) -> None:
        """Forget what the estimator has learnt."""
        self._intervals.silent_until = 0
        self.estimator = self._build()
        self._connect_aligner()
        self.state.estimator = self.estimator.state
        self._connect_gear()

    def _connect_aligner(self) -> None:
        """Let the estimator read the samples from the aligner's buffers, interval by interval."""
        resampler, state = self.aligner.resampler, self.estimator.state
        state.ticks, state.samples, state.bridged = resampler.ticks, resampler.rows, resampler.bridged
        state.intervals = self._intervals

    def _connect_causes(self, executor: Executor | None) -> None:
        """Watch the signature of a joint whose position and torque are measured; executor: ranks the causes."""
        channels = self.estimator.channels
        if "position" in channels and "torque" in channels:
            link = channels.index("link_position") if "link_position" in channels else None
            columns = channels.index("position"), channels.index("torque"), link
            self.comparison.causes = CauseWatch(self._period / 1e9, columns, executor)

    def _connect_gear(self) -> None:
        """Let the gear get the rows that the estimator gets."""
        if self.gear is not None:
            self.estimator.front.follower, self.estimator.state.followed = self.gear.absorb, True

    def set_baseline(self, baseline: Baseline) -> None:
        """Measure drift against this baseline from the next update on."""
        self._intervals.silent_until = 0
        self.comparison.set_baseline(baseline)
        if self.clearance is not None:
            self.clearance.watch.refer()

    def acknowledge(self, timestamp: float) -> list[Message]:
        """A person has seen what has changed. timestamp: Unix s. Returns the message about it."""
        self._intervals.silent_until = 0
        if self.clearance is not None:
            self.clearance.watch.refer()
        return self.comparison.acknowledge(timestamp)

    def _silent_channels(self, now: int) -> tuple[Reason, ...]:
        """Every channel that gives no data."""
        silence = now - self._seen[:-1]
        silent = (silence >= self._stale_after).nonzero()[0]
        if len(silent) == 0:
            return ()
        if len(silent) == len(silence):
            return (Reason("no_data", None, {"seconds": float(silence.min()) / 1e9}),)
        return tuple(
            Reason("channel_silent", role, {"seconds": float(silence[at]) / 1e9}, {"signal": signal})
            for at, (role, signal) in enumerate(self._sources)
            if at in silent
        )

    def _unusable(self, now: int) -> tuple[Reason, ...]:
        """Why nothing can be learnt: channels that give no data, or data that make no rows."""
        return self._silent_channels(now) or self._missing_rows()

    def _note_rows(self, arrival: int) -> None:
        """Note when the newest window of samples without a gap came."""
        newest = self.estimator.conditioner.former.newest
        silent = bool(self._missing) and self._missing[0].code not in ROWLESS  # no row is to be expected meanwhile
        if newest != self._newest or not self._row_arrival or silent or self.refused:
            self._newest, self._row_arrival = newest, arrival
            self._clipped = self.estimator.front.state.clipped

    @property
    def _rowless_after(self) -> int:
        """ns without a row after which the joint is faulted: as for its channels, and the time that a row spans."""
        own = self.estimator.conditioner
        spanned = 1e9 * own.support * own.period
        return round(max(float(self._stale_after.max()), FEWEST_ROWS * 1e9 * own.row_period) + spanned)

    def _missing_rows(self) -> tuple[Reason, ...]:
        """That readings arrive, and no row can be formed of them, if that is so."""
        waited = self._last_arrival - self._row_arrival
        if not self._row_arrival or waited < self._rowless_after:
            return ()
        support, former = self.estimator.conditioner.support, self.estimator.conditioner.former
        finite = np.isfinite(former.raw[max(0, former.filled - support) : former.filled])
        dead = [role for role, there in zip(self.estimator.channels, finite.T, strict=False) if not there.any()]
        clipped = self.estimator.front.state.clipped - self._clipped >= support  # left out, although they are numbers
        if dead and len(finite) == support and not clipped:
            return tuple(Reason("channel_dead", role, {"seconds": round(waited / 1e9, 1)}) for role in dead)
        return (Reason("no_rows", None, {"seconds": waited / 1e9, "samples": float(support)}),)

    def _waiting_time(self, tick: int) -> int:
        """ns that readings may wait: until just before the row that ends the interval, and after all rows before it."""
        intervals = self._intervals
        ahead = (intervals.last + 1) * intervals.length + intervals.offset - tick
        others = -(-ahead // self._period) - 1
        return min(self._longest_wait, others * self._period + self._period // 4) if others > 0 else 0

    def _update(self, estimate: Estimate, tick: int, arrival: int, epoch: int, now: int) -> list[Message]:
        self.updates += 1
        self._last_update = now
        self._words = None
        self._trusted = self._trusted or estimate.status is Status.VALID
        if self.refused and not self._missing:
            estimate = estimate._replace(phase=Phase.FAULTED, status=Status.FAULTED, reasons=self.refused)
        if self._missing:
            codes = {one.named for one in self._missing}
            more = tuple(one for one in estimate.reasons if one.code.startswith("channel_") and one.named not in codes)
            more += self.estimator.mistakes
            reasons = self._missing + more if self._missing[0].code in ROWLESS else self._missing
            estimate = estimate._replace(phase=Phase.FAULTED, status=Status.FAULTED, reasons=reasons)
        timestamp = ((estimate.time or tick) + epoch) / 1e9
        return [
            self._publication.estimate(estimate, timestamp, (arrival + epoch) / 1e9, (now - arrival) / 1e9),
            self._publication.residual(estimate, timestamp),
            *self.comparison.compare(
                estimate, self.estimator.friction, timestamp, None if self.gear is None else self.gear.extended
            ),
            *self._summary.messages(estimate, tick, (tick + epoch) / 1e9),
        ]

    def _events(self, epoch: int, arrival: int) -> list[Message]:
        """The estimator's events; `resumed` gets the time of the first rows, not that at which the old core ended."""
        messages = list[Message]()
        for event in self.estimator.events():
            time = arrival if event.kind == "resumed" else event.time
            first, last = event.window or (0, 0)
            window = ((first + epoch) / 1e9, (last + epoch) / 1e9) if event.window else None
            if event.kind == "alarm":
                self.comparison.note_alarm(((first or time) + epoch) / 1e9)
            messages.append(
                self._publication.event(event.kind, event.text, (time + epoch) / 1e9, window, event.details)
            )
        return messages

    def _recovered(self, time: int) -> list[Message]:
        self._stale, self._missing = False, ()
        return [self._publication.event("recovered", "data again", time / 1e9)]


def described(joint: JointSection) -> Map:
    """The content of `meta` about a joint: model, unit, rate and parameters."""
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
