"""The start of a joint with nonlinear parameters: it ends with a search that is certain of every parameter.

On the way the start finds out what is not as configured: the encoders' zeros (taken off), another friction law with
the same columns (used), and wrong known constants (named).
"""

from typing import Final

import numpy as np

from estimators.base import Phase
from estimators.models.friction.base import FrictionSettings
from estimators.models.nonlinear_block import Shape
from estimators.online.monitor.refits import Pending, Searching
from estimators.online.phases import PATIENCE, SCALE_WINDOW
from estimators.quantities import Floats
from estimators.recursive.cusum import calibrate
from estimators.recursive.forgetting import Threshold
from estimators.recursive.prior import nothing
from estimators.refit.acceptance import doubts
from estimators.refit.job import Outcome

ALLOWANCE: Final = 2.0  # k of the CUSUM: a false alarm costs little here, a late one more
LIMIT: Final = 25.0  # h, at least
GROWTH: Final = 1.2  # times the window of a rejected refit, before the next
RECENTRINGS: Final = 4  # of one start, at most
SMALL_ZERO: Final = 0.25  # of the largest twist, up to which a zero found in the residual is believed


class Starting(Searching):
    """The starting phase of monitor.py."""

    def _begin(self) -> None:
        self._try, self._onset = 0, self._history.total - self._motion
        super()._begin()

    def _continue_start(self) -> None:
        if self._motion % max(1, round(SCALE_WINDOW / self._period)) < self._block and not self._gate.resting:
            self._look(self._window.noise(self.rls.theta))
            self._find_cycle(self._window.cycle())
            self._honesty[:] = self._window.honesty(self.rls)
        if self._pending is None and self._motion >= max(self._needed(), self._try):
            rows = self._history.since(self._onset)
            noise = self._window.noise(self.rls.theta)
            self._search("start", self._onset, rows, noise, nothing(self.rls.p), again=True)

    def _found_start(self, outcome: Outcome | None, reason: str, pending: Pending) -> None:
        """The start ends when its refit is certain of every parameter, or when patience does."""
        patient = self._motion * self._period < PATIENCE * self._start
        if outcome is None:
            self._reject(pending, reason)
            self._try = round(GROWTH * self._motion)
            self._unsure = (reason,)
            if not patient:
                self._restart(f"no η was found in {self._motion * self._period:.0f} s of motion: {reason}")
            return
        if outcome.law is not None:
            self._adopt(outcome.law, pending)
        if self._recentred(outcome, pending):
            return
        sigma = self._of_s(outcome)
        leverage, signal = self._window.scale(outcome.noise)
        theta_sigma = np.sqrt(np.diag(outcome.covariance))[: self.rls.p]
        self._validity.judge(outcome.theta, theta_sigma, leverage, signal)
        self._unsure = doubts(self._shape, outcome, sigma)
        if (self._unsure or self._validity.reasons) and patient:
            self._reject(pending, "; ".join(self._unsure + self._validity.reasons))
            self._try = round(GROWTH * self._motion)
            return
        self._accept(outcome, pending)
        rows = self._history.since(pending.first)
        self._suspects = self._shape.suspected(rows, outcome.eta, outcome.theta, outcome.noise, self._overlap)
        self._window.clear()
        self._window.add(rows.time, rows.phi.copy(), rows.y.copy())
        self._anchor = outcome.theta
        self._learn_window(outcome.noise)
        self._calibrate()
        explained = self._explain(pending.first, nothing(self.rls.p))
        self._motions = explained.mean
        self._inflate(explained)
        self._onset = pending.first
        self._due = self._history.total

    def _recentred(self, outcome: Outcome, pending: Pending) -> bool:
        """Whether the residual shows the encoders' zero: then it is moved, and the window searched again."""
        spring, rows = self._shape.joint.spring, self._history.since(pending.first)
        if spring is None or self._recentrings >= RECENTRINGS:
            return False
        rows = rows._replace(phi=rows.phi.copy())
        self._shape.refill(rows, outcome.eta)
        found = self._shape.suspected(rows, outcome.eta, outcome.theta, outcome.noise, self._overlap)
        if not found or found[0].unit != "rad":
            return False
        zero, largest = found[0].error, float(np.nanmax(np.abs(rows.phi[:, :, spring.columns[0]])))
        if abs(zero) > SMALL_ZERO * largest:  # the cubic term is not known yet: the offsets know better
            offsets = [i for i, name in enumerate(self._names) if name in ("motor_offset", "link_offset")]
            if len(offsets) != 2:
                return False
            zero = float(outcome.theta[offsets] @ (0.5, -0.5) / outcome.theta[spring.columns[0]])
        if abs(zero) > largest:
            return False
        self._recentrings += 1
        self.zero += zero
        self._reject(pending, f"the encoders' zeros differ by {1e3 * self.zero:.3g} mrad, which is taken off")
        self._shape.recentre(self._history.since(0), zero)
        rows = self._history.since(pending.first)
        self._search("start", pending.first, rows, outcome.noise, nothing(self.rls.p), again=True)
        return True

    def _accused(self) -> tuple[str, ...]:
        if not self._suspects:
            return ()
        return (f"something taken as known is wrong, most likely {' or '.join(map(str, self._suspects))}",)

    def _adopt(self, law: FrictionSettings, pending: Pending) -> None:
        """Another friction law with the same columns explains the motion better."""
        ours, theirs = self._shape.settings.model_dump(), law.model_dump()
        words = ", ".join(f"{key} = {value}" for key, value in theirs.items() if value != ours[key])
        text = f"{words} explains the motion better than what is configured, and is used from here on"
        self._say("law", text, pending.window)
        self.law, self._shape = law, Shape(self._shape.joint, self._shape.taps, law)

    def _threshold(self, squared: Floats) -> Threshold:
        threshold = calibrate(squared, ALLOWANCE, LIMIT * self._overlap)
        self._usual = threshold.noise
        return threshold

    def _judge(self) -> None:
        spring = self._shape.joint.spring
        if spring is not None and self.phase in (Phase.WAITING, Phase.STARTING):
            linear, cubic = self.rls.theta[list(spring.columns)]
            twist = self._history.largest(spring.output, spring.columns[0])
            self._validity.peak = max(self._validity.peak, abs(linear * twist + cubic * twist**3))
        super()._judge()
