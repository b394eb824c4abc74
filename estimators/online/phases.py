"""What an estimator of one joint goes through: waiting → starting → normal ⇄ transient, rows in, parameters out.

    waiting    until one second of motion is there: it gives the columns' scale
    starting   λ = 1 from a wide prior; ends when every parameter is certain enough over enough motion, or, when one is
               not, after five times as much; then whitening, alarm and memory are set from this window (calibration)
    normal     the forgetting law rules; at standstill nothing is taught and the phase reads held
    transient  an alarm stands: the values from before it are published until the new ones are covered and quiet

All decisions fall at fixed row counts, so results do not depend on how rows are cut into batches.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from estimators.base import UNKNOWN, Estimate, Event, Phase, Status
from estimators.online import checkpoint as keeping
from estimators.online import normal_loop as course
from estimators.online.gate import Gate
from estimators.online.start.rows import Window
from estimators.online.validity import DEVIATIONS, Validity, sick
from estimators.quantities import Floats, Parameter, Settings
from estimators.recursive import state as at
from estimators.recursive.cusum import calibrate
from estimators.recursive.estimator import LARGEST, RecursiveLeastSquares
from estimators.recursive.forgetting import ONSET, Forgetting, Threshold
from estimators.recursive.unexcited import Untold
from estimators.rows import Rows
from estimators.window.instants import Instants
from estimators.window.spectrum import spectrum

LOOK_BACK: Final = 64.0  # s of motion
REVIEW: Final = 0.1  # s between two decisions
SCALE_WINDOW: Final = 1.0  # s of motion that give the columns' scale
PATIENCE: Final = 5.0  # times the start's length, after which it ends without its uncertain parameters
PERIODS: Final = 2.0  # the start lasts, and the memory reaches, at least this many motion periods
RECOVERY: Final = 0.3  # s of motion that a transient lasts at least
TOLD: Final = 0.5  # of the rms of y: a direction of θ less certain than this is left at 0 when the start ends
ENDLESS: Final = 1 << 40  # rows
QUIET: Final = 2.0  # times the usual variance, below which the residual is quiet again


class Procedure:
    """Phases around one recursive least-squares estimator."""

    # here and in those who derive: built anew, or of no use without the rows that are not kept
    UNKEPT: ClassVar[frozenset[str]] = frozenset(
        {"_events", "_window", "_instants", "_shape", "_history", "_slopes"}
        | {"_executor", "_monitor", "_pending", "_suspects", "law"}
    )

    def __init__(
        self,
        parameters: Sequence[Parameter],
        outputs: int,
        period: float,
        forgetting: Forgetting,
        start: float,
        standstill: float,
    ) -> None:
        """period: s between rows; start: s of motion; standstill: rad/s (m/s)."""
        self.phase = Phase.WAITING
        self.law: Settings | None = None  # of friction, where another than the configured one was found
        self.restarts = 0
        self.rls = RecursiveLeastSquares(len(parameters), outputs, period, forgetting)
        self._names = tuple(parameter.name for parameter in parameters)
        self._period = period
        self._start = start
        self._gate = Gate(standstill, period)
        self._validity = Validity(parameters)
        self._untold = Untold(len(parameters), LARGEST)
        self._block = max(1, round(REVIEW / period))
        self._filled = 0  # rows of the current block
        self._counts = np.zeros(course.COUNTS, np.int64)
        self._window = Window()
        self._instants = Instants(round(LOOK_BACK / period))  # of the rows that taught
        self._spectrum = UNKNOWN
        self._motion = 0  # rows that taught since the phase began
        self._cycle = 0  # rows in one motion period, 0 when there is none
        self._alarms = 0.0
        self._changed = 0  # ns, when what the last alarm was about began
        self._quiet = 0.0  # residual variance below which a transient may end
        self._anchor = np.zeros(len(parameters))  # where the wide prior stands: it pulls weak directions towards itself
        self._weights = np.ones((course.WEIGHTS, len(parameters)))
        self._weights[course.UNTOLD] = 0.0
        # rms of each column, whitened; see course.py
        self._leverage, self._honesty, self._inflation, self._untold_variance = self._weights
        self._signal = 0.0  # rms of y, whitened
        self._deviations = np.full(len(parameters), np.inf)
        self._good = np.array([self.rls.theta, self._deviations])
        self._wanted = np.ones(len(parameters), np.bool_)  # what was valid when the alarm came, and must be again
        self._time = 0
        self._last = (np.zeros((outputs, len(parameters))), np.full(outputs, np.nan))
        self._held = True
        self._events: list[Event] = []

    def absorb(self, rows: Rows) -> None:
        """Learn from rows."""
        first, count = 0, len(rows.time)
        while first < count:
            due = self._due_in() if self.phase is Phase.NORMAL and not self._untold.open else 0
            room = self._block - self._filled
            part = rows.part(slice(first, first + max(due, room)))
            if due:
                first += self._go_on(part)
                if self._counts[course.REVIEW]:
                    self._review()
                continue
            self._learn(part)
            first += len(part.time)
            self._filled += len(part.time)
            if self._filled == self._block:
                self._filled = 0
                self._review()

    def estimate(self) -> Estimate:
        """Report; never learns."""
        values, deviations = self._published()
        phase, status, reasons = self._verdict()
        error, signal = self.rls.state[at.ERROR], self.rls.state[at.SIGNAL]
        return Estimate(
            time=self._time,
            phase=phase,
            status=status,
            reasons=reasons,
            names=self._names,
            values=values,
            deviations=deviations,
            error=float(np.sqrt(error / signal)) if signal > 0 else np.nan,
            forgetting=float(self.rls.state[at.LAMBDA]),
            measured=float(self._last[1][0]),
            predicted=float(self._last[0][0] @ values),
            progress=self._progress(),
            spectrum=self._spectrum,
        )

    def events(self) -> list[Event]:
        """What happened since the last call."""
        events, self._events = self._events, []
        return events

    def keep(self) -> dict[str, Any] | None:
        """What another start of the program needs to go on from here; None while there is nothing to go on from."""
        return keeping.keep(self, self.UNKEPT) if self.phase is Phase.NORMAL else None

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from what a procedure with the same settings has kept. Raises NotTheSameError, then not to be used."""
        keeping.resume(self, kept)
        self._say("resumed", "the values of before the restart go on")

    def recentre(self, rows: Rows) -> None:
        """Change rows of the conditioner to what the parameters are for: nothing to do without a spring."""

    def counters(self) -> dict[str, int]:
        """Totals: rows learnt from since the start, refused (not finite), clipped innovations, alarms, restarts."""
        state = self.rls.state
        named = {"learnt": at.ROWS, "refused": at.REFUSED, "clipped": at.CLIPPED, "alarms": at.ALARMS}
        return {name: int(state[place]) for name, place in named.items()} | {"restarts": self.restarts}

    # --- rows in, decisions at the ends of blocks

    def _due_in(self) -> int:
        """Rows of normal mode until a review may have something to decide; 0 when the next one may."""
        return ENDLESS

    def _course(self, rows: Rows, least: float, due: int, kept: NDArray[np.bool_], snapshot: Floats) -> int:
        """Go on in normal mode until a review has something to decide; returns how many rows were taken.

        See course.py; kept: filled.
        """
        gate, validity, counts = self._gate, self._validity, self._counts
        counts[course.FILLED], counts[course.BLOCK], counts[course.TAUGHT] = self._filled, self._block, 0
        counts[course.ALARMS], counts[course.HELD], counts[course.DUE] = int(self._alarms), self._held, due
        self._good = self._good.copy()
        taken = course.course(
            self.rls.state,
            gate.state,
            gate.limits,
            rows.phi,
            rows.y,
            rows.speed,
            least,
            kept,
            counts,
            self._weights,
            self._signal,
            validity.judged,
            validity.valid,
            self._good,
            snapshot,
        )
        self._deviations = validity.judged[DEVIATIONS] * self._inflation
        self._filled = int(counts[course.FILLED])
        self._motion += int(counts[course.TAUGHT])
        self._instants.add(rows.time[:taken][kept[:taken]])
        self._time = int(rows.time[taken - 1])
        self._last = (rows.phi[taken - 1].copy(), rows.y[taken - 1].copy())
        return int(taken)

    def _go_on(self, rows: Rows) -> int:
        """Learn from rows of normal mode until a review has something to decide; returns how many were taken."""
        return self._course(rows, 0.0, ENDLESS, np.empty(len(rows.time), np.bool_), np.zeros(0))

    def _learn(self, rows: Rows) -> None:
        moving = self._gate.moving(rows.speed)
        self._time = int(rows.time[-1])
        self._last = (rows.phi[-1].copy(), rows.y[-1].copy())
        self._teach(rows if moving.all() else rows.part(moving))

    def _teach(self, rows: Rows) -> None:
        """Learn from rows in motion."""
        phi, y = rows.phi, rows.y
        self._motion += len(y)
        self._instants.add(rows.time[rows.finite()])
        waiting = self.phase in (Phase.WAITING, Phase.FAULTED)
        if len(y) and (waiting or self.phase is Phase.STARTING):
            refused = self._window.add(rows.time, phi, y)
            self.rls.state[at.REFUSED] += refused if waiting else 0  # else the kernel counts
        if not waiting:
            self._untold.add(phi, self.rls.noise)
            self.rls.absorb(phi, y)

    def _review(self) -> None:
        if self.phase in (Phase.WAITING, Phase.FAULTED):
            if self._motion * self._period >= SCALE_WINDOW:
                self._begin()
            return
        cause = sick(self.rls.theta, self.rls.d, self.rls.bound, self._signal)
        if cause:
            self._restart(cause)
            return
        self._judge()
        if self.phase is Phase.STARTING:
            self._continue_start()
        elif self.phase is Phase.TRANSIENT:
            self._continue_transient()
        elif self.rls.state[at.ALARMS] > self._alarms:
            self._alarm()
        elif self.rls.state[at.CUSUM] == 0.0:
            self._good = np.array([self.rls.theta, self._deviations])
        if self.phase is Phase.NORMAL and self._held != self._gate.resting:
            self._held = self._gate.resting
            self._say("held" if self._held else "moving", "standstill" if self._held else "the joint moves again")

    def _judge(self) -> None:
        """Deviations as published, and what they allow."""
        validity = self._validity
        self._untold_variance[:] = self._untold.variances(self.rls.variance())
        course.judge_state(self.rls.state, self._weights, self._signal, validity.judged, validity.valid)
        self._deviations = validity.judged[DEVIATIONS] * self._inflation

    # --- waiting and starting

    def _begin(self) -> None:
        """The first look at the scale of things; learn from what is there already."""
        if len(self._window) * self._period < 0.5 * SCALE_WINDOW:  # the rest is not finite
            self._window.clear()
            self._motion = 0
            return
        self._learn_window(self._window.power())
        self._look(self._window.noise(self.rls.theta))
        self.phase = Phase.STARTING
        self._judge()

    def _learn_window(self, noise: Floats) -> None:
        """θ and P from the whole window, with these variances of the outputs."""
        self._leverage[:], self._signal = self._window.scale(noise)
        self.rls.begin(noise, self._leverage)
        self.rls.theta[:] = self._anchor
        for phi, y in self._window.parts:
            self.rls.absorb(phi, y)
        self._untold.begin(np.concatenate([phi for phi, _ in self._window.parts]), noise, self._leverage, self._signal)

    def _look(self, noise: Floats) -> None:
        """What the start's window tells apart; noise: (outputs,) variances."""
        self._spectrum = spectrum(self._window.products(noise), self._names)

    def _continue_start(self) -> None:
        if self._motion % max(1, round(SCALE_WINDOW / self._period)) < self._block and not self._gate.resting:
            self._look(self._window.noise(self.rls.theta))
            self._cycle = self._window.cycle()
            self._honesty[:] = self._window.honesty(self.rls)
        ready = self._motion >= self._needed() and not self._validity.reasons
        if ready or self._motion * self._period >= PATIENCE * self._start:
            least = self.rls.variance() / (TOLD * self._signal) ** 2 if self._signal > 0 else np.inf
            self._anchor = self._window.solution(self.rls.noise, self._leverage, least)
            self._calibrate()

    def _needed(self) -> float:
        """Rows of motion that the start takes at least."""
        return max(self._start / self._period, PERIODS * self._cycle)

    def _calibrate(self) -> None:
        """End the start: whiten, learn the window again, set alarm and memory from its residual over whole periods."""
        window = self._window
        self._learn_window(window.noise(self.rls.theta))
        squared = window.squared(self.rls)
        whole = len(squared) // self._cycle * self._cycle if self._cycle else len(squared)
        threshold = self._threshold(squared[-whole:])
        self.rls.settle(threshold, PERIODS * self._cycle)
        self._quiet = QUIET * threshold.noise
        self._honesty[:] = window.honesty(self.rls)
        self._look(self.rls.noise)
        self._judge()
        self._good = np.array([self.rls.theta, self._deviations])
        self._alarms = self.rls.state[at.ALARMS]
        self.phase = Phase.NORMAL
        self._held = False
        weak = "; ".join((*self._validity.reasons, *self._accused()))
        text = f"from {len(window) * self._period:.1f} s of motion, {self._spectrum}"
        self._say("started", text + (f"; but {weak}" if weak else ""), window.span)
        window.clear()

    def _threshold(self, squared: Floats) -> Threshold:
        """Of the alarm, from the start's squared residuals, whitened: (rows,)."""
        return calibrate(squared)

    def _accused(self) -> tuple[str, ...]:
        """Known constants that the start's residual shows to be wrong, in words."""
        return ()

    # --- normal and transient

    def _alarm(self) -> None:
        self.phase = Phase.TRANSIENT
        self._motion = 0
        self._wanted = self._validity.valid.copy()
        window = self._instants.span(int(self.rls.state[at.SINCE]) + int(self.rls.state[ONSET]))
        self._changed = window[0] if window else self._time
        self._say("alarm", "the residual left what it was at the start: relearning, last good values stand", window)

    def _continue_transient(self) -> None:
        """New values count when they are covered and the residual is quiet; a residual that stays is the new usual."""
        state = self.rls.state
        elapsed = state[at.SINCE] * self._period
        quiet = self.rls.recent_variance() <= self._quiet
        if elapsed >= RECOVERY and quiet and (self._validity.valid | ~self._wanted).all():
            self._recover(f"new values after {self._motion * self._period:.1f} s of motion")
        elif self._motion >= self._needed():
            self.rls.accept_noise()
            self._quiet = max(self._quiet, QUIET * self.rls.variance())
            self._recover(
                "new values; " + ("some lack excitation" if quiet else "the residual stays larger than before")
            )

    def _recover(self, text: str, window: tuple[int, int] | None = None) -> None:
        """window: of the new values; else all since what the alarm was about began."""
        self.phase = Phase.NORMAL
        self._alarms = self.rls.state[at.ALARMS]
        self._good = np.array([self.rls.theta, self._deviations])
        self._say("recovered", text, window or (self._changed, self._time))

    def _restart(self, cause: str) -> None:
        self.phase = Phase.FAULTED
        self.restarts += 1
        self._window.clear()
        self._motion = 0
        self._cycle = 0
        self._anchor = np.zeros(self.rls.p)
        self._spectrum = UNKNOWN
        self._say("fault", f"{cause}: starting again (restart {self.restarts})")

    # --- reporting

    def _published(self) -> tuple[Floats, Floats]:
        if self.phase in (Phase.WAITING, Phase.FAULTED):
            nothing = np.full(self.rls.p, np.nan)
            return nothing, nothing
        if self.phase is Phase.TRANSIENT:
            return self._good[0], self._good[1]
        return self.rls.theta.copy(), self._deviations

    def _verdict(self) -> tuple[Phase, Status, tuple[str, ...]]:
        if self.phase is Phase.WAITING:
            return Phase.WAITING, Status.UNESTIMATED, ("waiting for motion",)
        if self.phase is Phase.FAULTED:
            return Phase.FAULTED, Status.FAULTED, ("the estimator starts again", "waiting for motion")
        rest = ("at standstill",) if self._gate.resting else ()
        if self.phase is Phase.STARTING:
            return Phase.STARTING, Status.LEARNING, (*rest, *self._validity.reasons)
        if self.phase is Phase.TRANSIENT:
            return Phase.TRANSIENT, Status.LEARNING, ("an alarm stands: values from before it", *rest)
        if self._validity.reasons:
            return (Phase.HELD if rest else Phase.NORMAL), Status.LEARNING, (*rest, *self._validity.reasons)
        return (Phase.HELD, Status.HELD, rest) if rest else (Phase.NORMAL, Status.VALID, ())

    def _progress(self) -> float:
        if self.phase in (Phase.WAITING, Phase.FAULTED):
            return 0.0
        if self.phase is not Phase.STARTING:
            return 100.0
        share = min(self._motion / self._needed(), self._validity.readiness)
        return float(100.0 * min(1.0, max(share, self._motion * self._period / (PATIENCE * self._start))))

    def _say(self, kind: str, text: str, window: tuple[int, int] | None = None) -> None:
        self._events.append(Event(self._time, kind, text, window))
