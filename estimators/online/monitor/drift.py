"""Normal mode without an alarm: refits are confirmed, slow drift of η is looked for; design S lives here alone."""

import math
from functools import partial
from typing import Final

import numpy as np

from estimators.online.monitor.refits import DRIFT_EVERY
from estimators.online.phases import LOOK_BACK
from estimators.online.start.searched import Starting
from estimators.recursive import state as at
from estimators.recursive.prior import nothing
from estimators.refit.acceptance import CERTAIN, delta
from estimators.window.motion_period import motion_period
from estimators.window.score_test import Explanation

SIGNIFICANT: Final = 4.0  # σ
BENT: Final = 20.0  # χ² that another η must promise for η to have moved …
MOVED: Final = 0.03  # of ln η: less is not worth a search
SIMPLE_EVERY: Final = 0.25  # s
REST_BLOCKS: Final = 10  # blocks that are looked at together while the joint rests
LONGER: Final = 1.5  # times the rows that η rests on, when it is worth a step over all of them
HOLD: Final = 1.05  # motion periods that design S waits


class Watching(Starting):
    """The normal phase of monitor.py."""

    def _due_in(self) -> int:
        if self._pending is not None or self._monitor.design == "simple":
            return 0
        wait, room = self._decision() - self._history.total, self._block - self._filled
        if self._gate.resting:
            wait = max(wait, REST_BLOCKS * self._block)
        return room + max(0, -((room - wait) // self._block)) * self._block

    def _decision(self) -> int:
        return self._due if self._confirm is None else min(self._due, self._confirm)

    def _watch(self) -> None:
        now = self._history.total
        if self._pending is not None:
            return
        if not self._cycle and self._monitor.period is None and now >= self._due:
            rows = self._history.since(now - round(LOOK_BACK / self._period))
            self._find_cycle(motion_period(rows.y[:, 0]))
        if self._confirm is not None and now >= self._confirm:
            self._confirm = None
            first = max(self._onset, now - 2 * self._span())
            self._search("confirmation", first, self._history.since(first), self.rls.noise, self._around())
            return
        if now >= self._due:
            self._due = now + round(DRIFT_EVERY / self._period)
            if self._confirm is None:
                self._sharpen(now)
            self._drift(now)

    def _simple(self) -> None:
        """Design S: least squares over the last period, η frozen, off by more than δ for more than a period."""
        now, every = self._history.total, max(self._block, round(SIMPLE_EVERY / self._period))
        if self._pending is not None or now % every >= self._block:
            return
        first = now - self._span()
        explained = self._explain(first, nothing(self.rls.p))
        if explained.variance <= delta(self._usual, explained.signal):
            self._above = None
        elif self._above is None:
            self._above = now
        elif now - self._above > HOLD * self._span():
            self._above = None
            self._search("change", first, self._history.since(first), self.rls.noise, nothing(self.rls.p))

    def _sharpen(self, now: int) -> None:
        """One Gauss–Newton step of η over all rows since it holds, once they are many more than it was found from.

        No search: the minimum is known, its place becomes more certain. θ moves along with η, dθ/ds = −(ΦᵀΦ)⁻¹ΦᵀT.
        """
        first = max(self._onset, now - self._history.capacity)
        if now - first < LONGER * self._basis or self.rls.state[at.CUSUM] > 0.0:  # an alarm may be on its way
            return
        explained = self._explain(first, nothing(self.rls.p))
        noise = self._overlap * max(self._usual, explained.variance)
        sigma = explained.sigma * math.sqrt(noise)
        moved = np.abs(explained.step) > SIGNIFICANT * np.hypot(sigma, self._sigma)
        if moved.any() or explained.variance > delta(self._usual, explained.signal):
            return
        p = self.rls.p
        free = explained.inverse[p:, p:]
        self.rls.theta += explained.inverse[:p, p:] @ np.linalg.solve(free, explained.step)
        self.eta = self._shape.shift(self.eta, explained.step)
        self._sigma, self._uncertain, self._basis = sigma, noise * free, now - first
        self._snapshot[:], self._seen = self.rls.state, now
        self._history.outdate(now, partial(self._shape.refill, eta=self.eta))
        self._inflate(explained)
        words = ", ".join(
            f"{parameter.name} {value:.4g} {parameter.unit} ± {100 * one:.1g} %"
            for parameter, value, one in zip(self._shape.nonlinear, self.eta, sigma, strict=True)
        )
        self._say("sharpened", f"over {self._ago(first)} s of motion: {words}", self._since(first))

    def _drift(self, now: int) -> None:
        first = max(self._onset, now - self._span())
        if now - first < 0.5 * self._span():
            return
        explained = self._explain(first, self._around())
        noise = self._overlap * max(self._usual, explained.variance)
        sigma = np.hypot(explained.sigma * math.sqrt(noise), self._sigma)
        quiet = explained.variance <= delta(self._usual, explained.signal) or self._gain(explained, noise) > BENT
        bent = (np.abs(explained.step) > SIGNIFICANT * sigma) & (np.abs(explained.step) > MOVED) & (sigma <= CERTAIN)
        self._drifts = self._drifts + 1 if quiet and bent.any() else 0
        if self._drifts < 2:
            return
        self._drifts = 0
        words = ", ".join(
            f"{parameter.name} {100 * step:+.1f} %"
            for parameter, step, bends in zip(self._shape.nonlinear, explained.step, bent, strict=True)
            if bends
        )
        self._say("drift", f"over {self._ago(first)} s of motion: {words}", self._since(first))
        self._search("drift", first, self._history.since(first), self.rls.noise, self._around())

    def _gain(self, explained: Explanation, noise: float) -> float:
        """χ² of the step that explains a window better than η in force does, which is not known exactly either."""
        free = explained.inverse[self.rls.p :, self.rls.p :]
        return float(explained.step @ np.linalg.solve(noise * free + self._uncertain, explained.step))
