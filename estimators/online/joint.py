"""Identification of one joint: its model, its conditioning, and the phases around recursive least squares."""

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any, Final, NamedTuple

import numpy as np

from estimators.base import Estimate, Event, Phase, Spectrum, Status
from estimators.conditioning.bandwidth_check import BandwidthCheck
from estimators.conditioning.preprocessing import Preprocessor
from estimators.conditioning.row_kernels import CHUNK
from estimators.conditioning.stop import DONE, DRAIN, ENCODER, LIMITS, SPAN, UNEVEN
from estimators.misfit import sampled_motion
from estimators.models.friction.base import FrictionSettings
from estimators.models.memory import thresholds
from estimators.online import assembly
from estimators.online.checkpoint import NotTheSameError
from estimators.online.compiled import CompiledSoFar
from estimators.online.joint_pass import EstimatorState, Intervals, advance_samples
from estimators.online.judgement.standstill import Standstill
from estimators.online.reporting.inspection import Inspection, Inspector
from estimators.online.settings import JointIdentification
from estimators.online.start.plausibility_look import PlausibilityLook
from estimators.quantisation.effect import EncoderGrid
from estimators.quantisation.encoder_steps import (
    WIDEST,
    EncoderSteps,
    UnevenTime,
    accelerates,
    half_width,
    kernels_of,
    noise_of,
    one_step,
    slopes_of,
)
from estimators.quantisation.errors_in_variables import Steps
from estimators.quantisation.shifted_quantiser import EncoderReading
from estimators.quantities import Axis, Floats, Nanoseconds
from estimators.reasons import Reason

#: 1, argued: A kernel that is wider by less than this factor does not justify a new start.
WORTH_A_START: Final = 1.05
#: 1, tuned: The same where a search ends the start, for which every second counts; 18 bits at 1 kHz ask for 1.2
#: (decision 014, point 5).
SEARCHED: Final = 1.5
KERNEL: Final = "kernel"  # key of the kept state


class UpdateWords(NamedTuple):
    """The words of an update in normal mode: two updates with equal words differ in numbers only."""

    phase: Phase
    resting: bool
    spectrum: Spectrum
    changes: int  # how often the state of any value (valid, uncertain, …) has changed so far
    reasons: tuple[Reason, ...]  # why values may not be used


class JointEstimator:
    """Identifies one joint from equidistant rows of its channels."""

    def __init__(
        self,
        settings: JointIdentification,
        period: float,
        executor: Executor | None = None,
        looks: Executor | None = None,
        place: float = 0.0,
        compiled: CompiledSoFar | None = None,
    ) -> None:
        """period: s between raw rows; executor and looks: where refits and the plausibility look of a start run, by
        default inline; place: share of a block by which its first one is shorter, so that joints that begin together
        are not reviewed at once; compiled: which kernels there are, by default all. Raises ValueError when the period
        is not a positive number."""
        self._model = model = settings.model.build()
        self.channels = settings.roles()
        self.preprocessor = Preprocessor(
            model, self.channels, period, settings.rest, settings.saturation, settings.conditioning
        )
        self._settings, self._executor, self._place, self._compiled = settings, executor, place, compiled
        self._earlier_events: list[Event] = []  # of phases that were discarded
        self._steps: dict[int, EncoderSteps] = {}  # by channel, where there are some
        self._bandwidth_checks: dict[int, BandwidthCheck] = {}  # by channel, under a kernel that an encoder asked for
        self._faults: tuple[Reason, ...] = ()  # in the sampling of channels
        self._friction = model.blocks[0]
        self._law: FrictionSettings | None = None  # whose settings were last asked for, …
        self._fixed: dict[str, Any] = {}  # … and these
        self._look = PlausibilityLook(settings, self.channels, period, looks)
        self._begin(first=True)

    def _begin(self, first: bool = False) -> None:
        """Begin without any knowledge of the joint, with rows of the present conditioner."""
        settings, model, conditioner = self._settings, self._model, self.preprocessor.conditioner
        self.conditioner = conditioner
        row, taps = conditioner.row_period, conditioner.taps
        law, start, standstill = settings.forgetting, settings.start, settings.rest
        if model.nonlinear:
            self.phases = assembly.searched(
                model, taps, conditioner.decimation, row, law, start, standstill, settings.monitor, self._executor
            )
        else:
            hidden = sampled_motion.hidden(conditioner.period, conditioner.half_width, row) if conditioner.five else 0.0
            turns, remembers = model.blocks[0].axis is Axis.ROTARY, bool(thresholds(model))
            self.phases = assembly.linear(
                model.parameters, model.owners, row, law, start, standstill, turns, remembers, conditioner.period,
                assembly.rows_alike(taps, conditioner.decimation), hidden, self._compiled,
            )  # fmt: skip
        parts = self.phases.parts
        block = parts.loop.block
        earlier = round(self._place * parts.fit.block)
        parts.loop.state.filled = earlier % block
        whole = earlier - earlier % block
        parts.fit.earlier = whole if 2 * whole <= parts.fit.block else whole - parts.fit.block
        found = settings.standstill is None and len(model.joints) == 1
        self._standstill = Standstill(parts.gate, row, parts.log, model.blocks[0].axis) if found else None
        motion_range = None if self._standstill is None else self._standstill.motion_range
        learning = self.phases.attach(conditioner.former.formed, motion_range).state
        self._inspector = Inspector(model, taps, row)
        inspector, report = self._inspector.state, self.phases.report.state
        if first:
            self.state = EstimatorState(
                ticks=np.empty(CHUNK, np.int64),
                samples=np.empty((CHUNK, len(self.channels))),
                bridged=np.zeros(CHUNK, np.bool_),
                preprocessing=self.preprocessor.state,
                learning=learning,
                inspector=inspector,
                report=report,
                intervals=Intervals(length=0),
            )
        else:  # in the same arrays: compiled states refer to them
            self.state.learning, self.state.inspector, self.state.report = learning, inspector, report

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Learn from equidistant rows.

        time: (rows,) ns; values: (rows, channels) SI; a missing or invalid value is NaN and its row teaches nothing.
        """
        state = self.state
        for first in range(0, len(time), CHUNK):
            part = time[first : first + CHUNK]
            state.ticks[: len(part)], state.samples[: len(part)] = part, values[first : first + CHUNK]
            state.next, state.count, state.stop = 0, len(part), DRAIN
            while state.stop != DONE:
                before = state.next
                state.stop = advance_samples(state)
                self.answer(before)

    def answer(self, before: int) -> None:
        """Handle the stop of a pass, except an update; before: number of the sample at which that pass began."""
        state, stop = self.state, self.state.stop
        self.preprocessor.feed_follower()
        if self._look.open and state.next > before:
            self._look.gather(state.ticks[before : state.next], state.samples[before : state.next])
        if self._look.pending is not None:
            self._earlier_events += self._look.answer()
        if self._bandwidth_checks and state.next > before:
            self._check_bandwidth(state.ticks[before : state.next], state.samples[before : state.next])
        if stop in (DONE, DRAIN):
            return
        self.phases.answer(stop)
        if stop == LIMITS:
            assert self._standstill is not None
            self._standstill.decide()
        elif stop in (SPAN, ENCODER, UNEVEN):
            self.preprocessor.channels.look()
            for channel, uneven in self.preprocessor.timed():
                self._take_unevenness(channel, uneven)
            for channel, steps in self.preprocessor.found():
                self._take_steps(channel, steps)
            self._decide_look()
            self.phases.put_in_force()

    def step_of(self, channel: int) -> float:
        """The step of a channel's encoder, SI; 0 where none is known."""
        return self._steps[channel].step if channel in self._steps else 0.0

    def _decide_look(self) -> None:
        """Start the plausibility look where the start has come far enough."""
        phases = self.phases
        idle = phases.phase in (Phase.WAITING, Phase.FAULTED)
        self._look.decide(phases.parts.motion.seconds, idle, phases.state.restarts)
        self._earlier_events += self._look.answer()

    def _check_bandwidth(self, time: Nanoseconds, values: Floats) -> None:
        """Check whether a wide kernel damps the motion itself."""
        for channel, check in self._bandwidth_checks.items():
            for instant, words in check.absorb(time, values[:, channel]):
                self._earlier_events.append(Event(instant, "bandwidth", words))

    def _take_steps(self, channel: int, steps: EncoderSteps) -> None:
        """Take the step of an encoder; a kernel that is too narrow for it is replaced, and the joint is learnt anew."""
        if steps.step <= 0.0:
            return
        self._steps[channel] = steps
        if channel == self.preprocessor.state.effort:
            self._set_steps(channel, steps)
            return
        wanted, now = half_width(steps.step, self.conditioner.period), self.conditioner.half_width
        free = self._settings.conditioning.half_width is None
        worth = SEARCHED if self._model.nonlinear else WORTH_A_START
        if wanted <= worth * now or not free or not accelerates(self._model, channel):
            self._set_steps(channel, steps)
            return
        self._earlier_events += self.phases.events()
        self._widen(wanted)
        text = f"steps of {steps.step:.2g} in {self.channels[channel]}: half_width = {wanted:.2g} s, was {now:.2g}"
        self.phases.parts.log.state.time = steps.since
        self.phases.parts.log.add_event("kernel", text)

    def _widen(self, half_width: float) -> None:
        """Begin anew with a wider kernel (half width, s)."""
        self.preprocessor.widen(half_width)
        self._look.restart()
        self._begin()
        for channel, steps in self._steps.items():
            if channel != self.preprocessor.state.effort:
                self._bandwidth_checks[channel] = BandwidthCheck(
                    self.channels[channel], self.conditioner.taps, self.conditioner.period, steps.step
                )
                self.state.followed = True
            self._set_steps(channel, steps)

    def _set_steps(self, channel: int, steps: EncoderSteps) -> None:
        """Tell the parts the effect of an encoder's steps under the present kernel, or of the torque's."""
        if channel == self.preprocessor.state.effort:
            if len(self._model.outputs) == 1:
                self.phases.parts.fit.set_torque_step(0.5 * steps.step)
            return
        taps, period = self.conditioner.taps, self.conditioner.period
        self.conditioner.set_encoder_step(channel, steps.step)
        noise, own = noise_of(self._model, taps, period, steps.step, channel)
        wanted, reading = half_width(steps.step, period), self._reading(channel)
        self.phases.parts.fit.set_encoder_steps(Steps(steps.step, steps.since, wanted, noise, own, reading))
        if (nonlinear := self.phases.parts.nonlinear) is not None:
            nonlinear.eta.encoder_grids[channel] = EncoderGrid(
                steps.step, *slopes_of(self._model, channel), self.conditioner.arguments, period
            )
        if self._standstill is not None and channel == self._model.joints[0]:
            self._standstill.set_encoder_step(steps.since, one_step(taps, period, steps.step))

    def _reading(self, channel: int) -> EncoderReading | None:
        """How a row follows from the readings of an encoder; None for more than one joint or output."""
        if len(self._model.outputs) > 1 or tuple(self._model.joints) != (channel,):
            return None
        taps, period = self.conditioner.taps, self.conditioner.period
        slopes, own = slopes_of(self._model, channel)
        return EncoderReading(kernels_of(taps, period), np.ascontiguousarray(slopes[:, 0]), own[:, 0].copy(), period)

    def _take_unevenness(self, channel: int, uneven: UnevenTime) -> None:
        """Report a fault if a position is sampled too unevenly for the present kernel."""
        wide = 0.5 * self.conditioner.period * len(self.conditioner.taps)
        if half_width(uneven.step, self.conditioner.period) > wide:  # otherwise it has no effect
            self._faults += (Reason("channel_uneven", self.channels[channel]),)

    def estimate(self, certain_resting: tuple[bool, bool] | None = None) -> Estimate:
        """The estimate as of the last row. Learns nothing.

        certain_resting: where a pass has just written the figures: whether all are certain, and whether the joint
        rests.
        """
        estimate = self.phases.estimate(certain_resting)
        early = estimate.phase in (Phase.WAITING, Phase.STARTING)
        if early and (few := self.conditioner.few) is not None:
            moves = not self.phases.parts.gate.resting  # then the joint does not wait for motion
            others = tuple(one for one in estimate.reasons if not (moves and one.code == "waiting_for_motion"))
            estimate = estimate._replace(reasons=(few, *others))
        watch = self.preprocessor.channels
        if self._bandwidth_checks:
            too_fast = tuple(one.reason for one in self._bandwidth_checks.values() if one.lost)
            estimate = estimate._replace(reasons=(*estimate.reasons, *too_fast))
        wild = self.preprocessor.range.faults if certain_resting is None else self.preprocessor.range.faults_reported
        faults = (watch.faults if early else watch.certain) + wild + self._faults + self._look.reasons
        if not faults:
            return estimate
        usable = (Status.VALID, Status.HELD) if self._look.reasons else (Status.VALID,)
        status = Status.LEARNING if estimate.status in usable else estimate.status
        return estimate._replace(status=status, reasons=(*faults, *estimate.reasons))

    def words(self) -> UpdateWords | None:
        """The words of an update made now; None unless the joint is in normal mode and has no faults.

        To be called after a pass has stopped for an update, for which it has written the figures.
        """
        state, report = self.phases.state, self.phases.report
        if not self._normal_without_doubts or self.preprocessor.range.faults_reported:
            return None
        reasons: tuple[Reason, ...] = ()
        if not self.state.certain or report.doubted:
            reasons = report.reasons()
            if self.phases.parts.loop.alarm():
                return None
        changes = self.phases.parts.validity.state.changes
        return UpdateWords(state.phase, self.state.resting, state.spectrum, changes, reasons)

    def would_repeat(self, words: UpdateWords) -> bool:
        """Whether every update until the next decision has these words, while the joint keeps resting or moving and no
        state of a value changes."""
        report = self.phases.report
        if not self._normal_without_doubts or self.phases.state.spectrum != words.spectrum:
            return False
        return report.would_repeat(words.reasons) if words.reasons else not report.doubted

    @property
    def _normal_without_doubts(self) -> bool:
        """Whether the joint is in normal mode, and neither its channels nor a person's mistake cast doubt on values."""
        if self.phases.phase is not Phase.NORMAL:
            return False
        return not (self.preprocessor.channels.faults or self._faults or self._bandwidth_checks or self._look.reasons)

    @property
    def needs_every_sample(self) -> bool:
        """Whether a part in Python needs the samples of every pass."""
        look = self._look
        return (
            look.open
            or look.pending is not None
            or bool(self._bandwidth_checks)
            or self.preprocessor.follower is not None
        )

    @property
    def settled(self) -> bool:
        """Whether a plausibility look was made and has found nothing."""
        return self._look.settled

    @property
    def mistakes(self) -> tuple[Reason, ...]:
        """Mistakes of a person that the plausibility look of the start has found."""
        return self._look.reasons

    def friction(self) -> dict[str, Any]:
        """Settings of the friction law in use, without the searched ones."""
        law = self.phases.law() or self._friction.law
        assert isinstance(law, FrictionSettings)
        if law is not self._law:  # called once a second; the law changes only after a search
            self._law, self._fixed = law, law.fixed(self._friction.axis)
        return self._fixed

    def keep(self) -> dict[str, Any] | None:
        """State that a restart of the program keeps; None before normal mode, or where a mistake was found."""
        state = self.phases.keep() if self._look.settled else None
        return None if state is None else state | {KERNEL: {"half_width": self.conditioner.half_width}}

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on from a state of the same settings. Raises NotTheSameError; this object is unusable then."""
        kernel, now = saved.get(KERNEL), self.conditioner.half_width
        if kernel is None:
            raise NotTheSameError(f"parts: expected {KERNEL} among what is kept, found none")
        width = kernel.get("half_width") if isinstance(kernel, Mapping) else None
        if not isinstance(width, float) or not math.isfinite(width):
            raise NotTheSameError(f"{KERNEL}: expected a half width in seconds, found {width}")
        if width != now:
            if self._settings.conditioning.half_width is not None or not now < width <= WIDEST:
                raise NotTheSameError(f"{KERNEL}: expected a half width of {now:.2g} s or more, found {width:.2g}")
            self._widen(width)
        self.phases.resume({name: part for name, part in saved.items() if name != KERNEL})
        self._look.skip()
        self.phases.put_in_force()

    def counters(self) -> dict[str, int]:
        """Totals of the preprocessing (see Preprocessor) and of the phases (see Phases)."""
        return self.preprocessor.counters() | self.phases.counters()

    def inspect(self) -> Inspection | None:
        """Inspection of the rows since the last call, None if no row came."""
        phases = self.phases
        return self._inspector.report(phases.estimate(), phases.parts.learner, phases.recentre, phases.law())

    def events(self) -> list[Event]:
        """What happened since the last call."""
        earlier, self._earlier_events = self._earlier_events, []
        return sorted(earlier + self.phases.events(), key=lambda event: event.time) if earlier else self.phases.events()
