"""The pipeline of one joint: from its readings, through the stops of its estimator, to the messages about it.

A compiled pass (estimators/online/joint_pass.py) aligns the readings and learns from them. It stops where Python has to
act. This file handles each stop: it publishes estimates at the end of each interval, gives samples to their followers,
lets validators check the frames, and reports a silent joint.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from daq.config.sections import JointSection
from daq.core.align import Aligner
from daq.core.batch_pass import DECISION, REPEATED_UPDATE, Readings, UneventfulTurn
from daq.core.changes.drift import Comparison
from daq.core.followers.joint_silence import STALE_EVERY, JointSilence
from daq.core.followers.joint_summary import JointSummary
from daq.core.followers.sample_followers import SampleFollowers, cause_watch_of
from daq.core.gear_pipeline import CLEARANCE_STATE, GEAR_STATE, clearance_pipeline_of, gear_pipeline_of
from daq.core.next_due import NEVER, foresee_next, next_due_of
from daq.state.baselines import Baseline
from daq.stream.update import Message, Publication
from estimators.base import Estimate, Phase, Status
from estimators.conditioning.preprocessing import clipped_from
from estimators.conditioning.stop import COLUMN, DONE, DRAIN, INTERVAL, REVIEW
from estimators.models.joints.lost_motion import PARAMETERS
from estimators.online.compiled import CompiledSoFar
from estimators.online.joint import JointEstimator, UpdateWords
from estimators.online.joint_pass import EstimatorState, Intervals, JointPassState, advance_readings
from estimators.plausibility.signals.watch import SignalWatch
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason, joined
from jointwatch_numba.direct import direct

_advance: Final = direct(advance_readings)


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
        listened: bool = True,
        place: float = 0.0,
        compiled: CompiledSoFar | None = None,
    ) -> None:
        """interval: ns between two updates; executor: runs refits; offset: ns from which intervals are counted; looks:
        runs the plausibility check of a start; listened: whether every update is needed, see Pipeline; place: of the
        joint among all, from 0 to 1, which spreads slow tasks; compiled: which kernels there are, by default all."""
        self.name = name
        self._build = partial(JointEstimator, joint, 1.0 / joint.rate, executor, looks, place, compiled)
        self.estimator = self._build()
        channels = self.estimator.channels
        self.gear = gear_pipeline_of(joint, channels, publication)
        self.aligner = Aligner(joint, channels, watched=True)
        aligner = self.aligner.resampler.aligner
        signals, limit = self.aligner.signals, clipped_from(joint.saturation)
        self._watch = SignalWatch(aligner, channels, signals, limit, 1.0 - place)
        self.refused: tuple[Reason, ...] = ()  # why the joint's frames are not used; empty if they are used
        self.skew = {role: channel.delay for role, channel in joint.channels.items() if channel.delay}  # s, subtracted
        self.updates = 0
        self._publication, self._listened = publication, listened
        self._interval, self.offset = interval, offset
        self._intervals = Intervals(length=interval, offset=offset)
        self.due = 0  # ns, arrival time from which the next update can be made; earlier readings may wait
        self.review_due = NEVER  # ns, the same for a review that is due before this update
        self._period = round(1e9 / joint.rate)
        self.silence = JointSilence(joint, channels)
        self._connect_aligner()
        arrivals = self.silence.last_arrivals
        self.state = JointPassState(aligner=aligner, estimator=self.estimator.state, last_arrivals=arrivals)
        self._connect_gear()
        self._last_update = 0  # ns
        self._last_words: UpdateWords | None = None  # words of the last update; None if a new form is needed
        model = joint.model.build()
        units = {one.name: one.unit for one in (*model.parameters, *model.nonlinear, *PARAMETERS)}
        self.comparison = Comparison(joint.model.kind, joint.drift, publication, units)
        self.clearance = clearance_pipeline_of(joint, channels, publication, self.comparison.records)
        extra = ((GEAR_STATE, self.gear), (CLEARANCE_STATE, self.clearance))  # their names in a checkpoint
        self.extra_pipelines = {name + ending: one for ending, one in extra if one is not None}
        self._unit = joint.model.unit()
        self._was_valid = False  # whether any estimate so far has been valid
        self.comparison.causes = causes = cause_watch_of(channels, self._period / 1e9, looks, place)
        self.followers = SampleFollowers(name, channels, 1e9 / self._period, self._unit, causes, self.clearance)
        use, records = self.followers.use, self.comparison.records
        self.uneventful = UneventfulTurn(
            followers=self.followers.state,
            rows=self.silence.rows,
            due=next_due_of(joint.rate, joint.stale),
            watches=self._watch.state,
            last_judged=np.zeros(len(self.estimator.phases.parts.names)),
        )
        self._summary = JointSummary(joint.model.kind, self._unit, units, publication, use, records)

    def absorb(
        self,
        times: Nanoseconds,
        values: Floats,
        columns: NDArray[np.int32],
        epoch: int,
        now: Callable[[], int],
        late: bool = False,
    ) -> list[Message]:
        """Align these readings and learn from them; returns the messages of every interval that ends.

        epoch: ns to add to get Unix time; now: the monotonic clock, ns; late: whether only the last interval is
        published.
        """
        self.state.taken, self.state.estimator.late, self.uneventful.last_sample = 0, late, 0
        readings = Readings(times, values, columns)
        advance_readings(*readings, self.state)
        return self.handle_stops(readings, epoch, now)

    def finish_turn(self, task: int, readings: Readings, epoch: int, now: Callable[[], int]) -> list[Message]:
        """Carry out the task that the pass has found in a turn (see batch_pass.py); returns the messages.

        readings: readings of the turn if the task is a decision; epoch, now: as in `absorb`.
        """
        if task >= DECISION:
            messages = self.handle_stops(readings, epoch, now)
        else:
            messages = self._repeat_update(epoch, now) if task == REPEATED_UPDATE else []
        due = self.uneventful.due
        self.due, self.review_due = due.update, due.review
        return messages

    def handle_stops(self, readings: Readings, epoch: int, now: Callable[[], int]) -> list[Message]:
        """Handle the stops of a pass over these readings until all of them are used; returns the messages.

        The pass stops where Python has to decide something; `state.stop` is the reason. Each turn of the loop gives new
        samples to the followers, lets the estimator decide, publishes if an interval has ended, and resumes the pass.
        """
        joint, state, messages = self.state, self.state.estimator, list[Message]()
        arrival = joint.arrival
        self.silence.note_rows(arrival, bool(self.refused), self.estimator)
        if self.silence.recovers(arrival, self.estimator):
            messages.append(self._publication.event("recovered", "data again", (arrival + epoch) / 1e9))
        before, last, skipped = 0, self.uneventful.last_sample, None
        while True:
            stop = state.stop
            if joint.aligned:
                before, last = 0, self._feed_followers(state) or last
            if stop == COLUMN:
                raise ValueError(f"expected columns of {self.estimator.channels}, found {set(readings.columns)}")
            self.estimator.answer(before)
            if stop == REVIEW:  # after a review an update may have other words
                self._intervals.no_update_before = 0
            if stop not in (INTERVAL, DONE, DRAIN):
                self.uneventful.may_repeat = False
            if stop == INTERVAL:
                skipped = self._intervals.tick if state.late and joint.taken < len(readings.times) else None
                if skipped is None:
                    messages += self._publish_interval(self._intervals.tick, arrival, epoch, now)
            elif stop in (DRAIN, DONE) and not joint.full and self._watch.due:
                refused = self._look_at_frames(epoch, now)
                messages += refused
                last = 0 if refused else last
                state = self._present_state(state)
            if stop == DONE or (stop == INTERVAL and not state.more):
                break
            before = state.next
            _advance(*readings, joint)
        if skipped is not None:  # no later interval began in these readings
            messages += self._publish_interval(skipped, arrival, epoch, now)
        messages += self._events(epoch, arrival)
        if self.followers.diagnosed:
            self.followers.diagnosed = False
            messages += self.comparison.diagnose(self._unit, epoch, (arrival + epoch) / 1e9)
        foresee_next(last, joint, self.uneventful.due)
        self._prepare_next_turn()
        return messages

    def _prepare_next_turn(self) -> None:
        """Tell the pass whether Python must handle the next turns, and give it the data to finish the others."""
        uneventful = self.uneventful
        if uneventful.needs_python or not uneventful.may_repeat:
            self._note_repeats()
        step = self.estimator.step_of(self.followers.use.position)
        given, lacks = self.followers.prepare(step, self._was_valid), self.faults or self.silence.stale
        uneventful.needs_python = given or bool(lacks) or self.estimator.needs_every_sample

    def _note_repeats(self) -> None:
        """Set the state of the pass: until when an update may repeat the last one with new numbers."""
        uneventful = self.uneventful
        words = self._last_words
        uneventful.may_repeat = self._listened and words is not None and self.estimator.would_repeat(words)
        if words is not None and uneventful.may_repeat:
            uneventful.last_resting, uneventful.last_changes = words.resting, words.changes
            uneventful.last_doubted = bool(words.reasons)
            uneventful.last_judged[:] = self.estimator.phases.parts.validity.state.values
            uneventful.summary_due = self._summary.next_due
            time = self.estimator.phases.report.time
            uneventful.comparison_due = self.comparison.next_due(time) if self._compares(words) else NEVER

    def _compares(self, words: UpdateWords | None) -> bool:
        """Whether an update with these words is compared with a baseline. If there are reasons to doubt its values it
        is not, unless the joint has a gear, whose values are always compared."""
        return self.gear is not None or (words is not None and not words.reasons)

    def _see_next_turn(self) -> None:
        """Let Python handle the next turn and make an update after a change that the joint's rows do not show."""
        self._intervals.no_update_before, self.uneventful.needs_python = 0, True

    def watch_channels(self, wanted: bool) -> None:
        """Begin or end the recording of raw samples for a person."""
        self.followers.watch_channels(wanted)
        self.uneventful.needs_python = self.uneventful.needs_python or wanted

    def _feed_followers(self, state: EstimatorState) -> int:
        """Give the aligned samples to the followers; returns the time of the last one (ns), or 0 if there is none."""
        step = self.estimator.step_of(self.followers.use.position)
        return self.followers.absorb(state.ticks, state.samples, state.count, step, self._was_valid)

    def _repeat_update(self, epoch: int, now: Callable[[], int]) -> list[Message]:
        """Return the messages of an update that repeats the last one with new numbers."""
        joint, state = self.state, self.state.estimator
        if self._publication.formed:
            return self._fill_form(state.learning.time, joint.arrival, epoch, now)
        self.estimator.answer(state.next)
        messages = self._publish_interval(state.intervals.tick, joint.arrival, epoch, now)
        self._prepare_next_turn()
        return messages

    def _publish_interval(self, tick: int, arrival: int, epoch: int, now: Callable[[], int]) -> list[Message]:
        """Return the messages at the end of an interval; tick: ns, the sample with which the next interval begins."""
        messages = self._events(epoch, arrival)
        words = None if self.faults else self.estimator.words()
        same = words is not None and words == self._last_words and not self._summary.due(tick)
        time = self.estimator.phases.report.time
        filled = same and self._publication.formed and not (self._compares(words) and self.comparison.due(time))
        computed = self.state.estimator.certain, self.state.estimator.resting
        if filled:
            messages += self._fill_form(time, arrival, epoch, now)
        else:
            messages += self._update(self.estimator.estimate(computed), tick, arrival, epoch, now())
        self._last_words, self.uneventful.may_repeat = words, False  # for how long they hold is computed again
        if not self._listened and not self.extra_pipelines:
            self._intervals.no_update_before = self._no_update_before()
        return messages + [message for one in self.extra_pipelines.values() for message in one.messages_due(epoch)]

    def _no_update_before(self) -> int:
        """Return the time (ns) before which no update influences a later comparison or judgement, unless a review
        comes.

        Without a listener, no update is made before it.
        """
        phases = self.estimator.phases
        if phases.phase is not Phase.NORMAL:
            return NEVER
        return self.comparison.next_due(phases.report.time) if self._was_valid and self.estimator.settled else 0

    def _fill_form(self, time: int, arrival: int, epoch: int, now: Callable[[], int]) -> list[Message]:
        """Return the messages of an update with the texts of the last one and new numbers. time: last row, ns."""
        numbers, measured, predicted = self.estimator.phases.report.numbers()
        self.updates, self._last_update = self.updates + 1, now()
        times = (time + epoch) / 1e9, (arrival + epoch) / 1e9, (self._last_update - arrival) / 1e9
        return self._publication.fill_forms(numbers, measured, predicted, times)

    @property
    def faults(self) -> tuple[Reason, ...]:
        """The reasons why the joint gives no rows: data are missing, or its frames are not used."""
        return self.silence.missing or self.refused

    def check_silence(self, now: int, epoch: int) -> list[Message]:
        """Return the messages of a joint without data, or with a missing channel. now: monotonic ns."""
        silence = self.silence
        if now < silence.due:
            return []
        silence.look(now, self.estimator)
        if not silence.missing:
            return []
        self.uneventful.needs_python = True
        messages: list[Message] = []
        if not silence.stale:
            silence.stale = True
            messages.append(self._publication.event("fault", joined(silence.missing), (now + epoch) / 1e9))
        if now - self._last_update < STALE_EVERY:
            return messages
        return messages + self._update(self.estimator.estimate(), now, silence.rows.last_arrival, epoch, now)

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from a stored state. If that fails, starts anew and raises (NotTheSameError if the settings
        differ)."""
        self._see_next_turn()
        try:
            self.estimator.resume(state)
        except Exception:
            self._build_anew()
            raise

    def _look_at_frames(self, epoch: int, now: Callable[[], int]) -> list[Message]:
        """Let the validators check frames before these are used; returns the messages about faults."""
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

    def _present_state(self, before: EstimatorState) -> EstimatorState:
        """Return the estimator's state; the pass continues at the same reading even if the estimator has begun anew."""
        state = self.state.estimator
        if state is not before:
            state.stop, state.late = before.stop, before.late
        return state

    def _start_anew(self) -> None:
        """Discard the states of the estimator and of the gear."""
        if self.gear is not None:
            self.gear.start_anew()
        self._build_anew()

    def _build_anew(self) -> None:
        """Discard the state of the estimator."""
        self.estimator = self._build()
        self._connect_aligner()
        self.state.estimator = self.estimator.state
        self._connect_gear()

    def _connect_aligner(self) -> None:
        """Let the estimator read samples from the buffers of the aligner, interval by interval."""
        resampler, state = self.aligner.resampler, self.estimator.state
        state.ticks, state.samples, state.bridged = resampler.ticks, resampler.rows, resampler.bridged
        state.intervals = self._intervals

    def _connect_gear(self) -> None:
        """Let the gear receive the same rows as the estimator."""
        if self.gear is not None:
            self.estimator.preprocessor.follower, self.estimator.state.followed = self.gear.absorb, True

    def set_baseline(self, baseline: Baseline) -> None:
        """Measure drift against this baseline from the next update on."""
        self._see_next_turn()
        self.comparison.set_baseline(baseline)
        if self.clearance is not None:
            self.clearance.watch.refer()

    def acknowledge(self, timestamp: float) -> list[Message]:
        """Acknowledge the changes for a person. timestamp: Unix s. Returns the messages."""
        self._see_next_turn()
        if self.clearance is not None:
            self.clearance.watch.refer()
        return self.comparison.acknowledge(timestamp)

    def _update(self, estimate: Estimate, tick: int, arrival: int, epoch: int, now: int) -> list[Message]:
        """Return the messages of an update with this estimate. tick: ns, time of its sample; arrival: ns, arrival of
        the last reading; now: monotonic ns; epoch: ns to add to get Unix time."""
        self.updates += 1
        self._last_update = now
        self._last_words, self.uneventful.may_repeat = None, False
        self._was_valid = self._was_valid or estimate.status is Status.VALID
        if self.silence.missing:
            estimate = self.silence.faulted(estimate, self.estimator.mistakes)
        elif self.refused:
            estimate = estimate._replace(phase=Phase.FAULTED, status=Status.FAULTED, reasons=self.refused)
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
        """Return the messages of the estimator's events since the last call.

        The event `resumed` gets the time of the first rows, not the time at which the core before the restart ended.
        """
        messages = list[Message]()
        for event in self.estimator.events():
            time = arrival if event.kind == "resumed" else event.time
            first, last = event.window or (0, 0)
            window = ((first + epoch) / 1e9, (last + epoch) / 1e9) if event.window else None
            if event.kind == "alarm":
                self.comparison.note_alarm(((first or time) + epoch) / 1e9)
            elif event.kind == "gradual" and self.comparison.records is not None:
                self.comparison.records.note_gradual((first + epoch) / 1e9)
            messages.append(
                self._publication.event(event.kind, event.text, (time + epoch) / 1e9, window, event.details)
            )
        return messages
