"""η in force: its value and covariance, and the columns of rows under it, with the encoders' zeros corrected."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from estimators.models.base import Model, SpringPlace
from estimators.models.friction.base import FrictionSettings
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.quantisation.effect import EncoderGrid, beyond
from estimators.quantities import Floats
from estimators.reasons import Reason
from estimators.refit.acceptance import DEFAULT
from estimators.refit.outcome import RefitOutcome
from estimators.refit.settings import AcceptanceSettings
from estimators.rows import Rows
from estimators.window.row_history import RowHistory


@dataclass(slots=True)
class EtaState:
    """State of an EtaInForce."""

    VERSION: ClassVar[int] = 3

    eta: Floats  # (nonlinear,)
    sigma: Floats  # (nonlinear,) deviations of s, of the last accepted refit
    covariance: Floats  # (nonlinear, nonlinear) of s, likewise
    steps: Floats  # (nonlinear, nonlinear) covariance of s that is owed to an encoder's steps
    white: Floats  # (nonlinear,) variances of s by such steps that are shifted anew at each instant
    law: dict[str, Any]  # settings of the law
    basis: int = 0  # rows that η rests on
    zero: float = 0.0  # rad, of the spring's twist: the difference of the encoders' zeros


class EtaInForce:
    """The nonlinear parameters of one block of a model that are in force now."""

    def __init__(self, model: Model, taps: Floats, overlap: float, limits: AcceptanceSettings = DEFAULT) -> None:
        """taps: of the kernel that smoothed the rows, of which `overlap` say the same; limits: of a refit."""
        self.limits = limits
        self.block = NonlinearBlock(model, taps)
        self.other_law: FrictionSettings | None = None  # where another than the configured one was found
        self.encoder_grids: dict[int, EncoderGrid] = {}  # of encoders, by channel, once their steps are known
        self.overlap = overlap
        self.spring = model.springs[0] if model.springs else None
        count = len(self.block.nonlinear)
        law = self.block.settings.model_dump()
        start = np.array(self.block.law.start, np.float64)
        none = np.zeros((count, count))
        self.state = EtaState(start, np.full(count, np.inf), none, none.copy(), np.zeros(count), law)

    def shaped(self, rows: Rows) -> Rows:
        """Return rows with the law's columns for η in force, and with the encoders' zeros corrected."""
        rows = rows._replace(phi=rows.phi.copy())
        self.block.refill(rows, self.state.eta)
        self.recentre(rows)
        return rows

    def recentre(self, rows: Rows) -> None:
        """Subtract the difference of the encoders' zeros from the spring's twist, in place."""
        self.move_zero(rows, self.state.zero)

    def move_zero(self, rows: Rows, zero: float) -> None:
        """Move the zero of the spring's twist in the rows' phi, in place; zero: rad."""
        if self.spring is not None and zero:
            recentre(self.spring, rows, zero)

    def refill(self) -> Callable[[Rows], None]:
        """Return a function that writes the law's columns for the present η into rows, in place."""
        return partial(self.block.refill, eta=self.state.eta)

    def write(self, columns: Floats, first: int, last: int, history: RowHistory, slopes: Floats | None = None) -> None:
        """Write the law's columns under the present η into the history, and their slopes where they are known.

        columns (rows, moving), slopes (rows, moving, nonlinear): of numbers first to last.
        """
        rows = history.since(first, last)
        gone = len(columns) - len(rows.time)
        rows.phi[:, self.block.place.output, self.block.moving] = columns[gone:]
        if slopes is not None:
            history.take_slopes(slopes[gone:], last - len(rows.time), self.block, self.state.eta)
        self.block.refill(history.since(last), self.state.eta)
        history.outdate(first, self.refill())

    def of_s(self, outcome: RefitOutcome) -> Floats:
        """Deviations of s (nonlinear,) by a refit."""
        q = len(self.state.eta)
        return self.block.deviations(outcome.eta, np.sqrt(np.diag(outcome.covariance))[-q:])

    def noise(self, noise: Floats) -> float:
        """Variance of the output that holds the law; noise: (outputs,)."""
        return float(noise[self.block.place.output])

    def accept(self, outcome: RefitOutcome, basis: int) -> str:
        """Put the η of a refit in force; basis: rows of its window. Returns in words by how much it moved."""
        state, q = self.state, len(self.state.eta)
        words = ", ".join(
            f"{parameter.name} {before:.4g} → {after:.4g} {parameter.unit}"
            for parameter, before, after in zip(self.block.nonlinear, state.eta, outcome.eta, strict=True)
        )
        state.eta = outcome.eta.copy()
        # a search counts rows that overlap as if they did not
        state.sigma = self.of_s(outcome) * math.sqrt(self.overlap)
        per_s = self.block.deviations(state.eta, np.ones(q))
        state.covariance = outcome.covariance[-q:, -q:] * np.outer(per_s, per_s)
        state.covariance *= self.overlap
        state.basis = basis
        return words

    def step(self, s: Floats, sigma: Floats, covariance: Floats, basis: int) -> str:
        """Move η by s (nonlinear,), with these deviations and covariance of s; returns in words where to."""
        state = self.state
        state.eta = self.block.shift(state.eta, s)
        state.sigma, state.covariance, state.basis = sigma, covariance, basis
        return ", ".join(
            f"{parameter.name} {value:.4g} {parameter.unit} ± {100 * one:.1g} %"
            for parameter, value, one in zip(self.block.nonlinear, state.eta, sigma, strict=True)
        )

    def adopt(self, law: FrictionSettings) -> str:
        """Use another law with the same columns; returns in words how it differs."""
        ours, theirs = self.block.settings.model_dump(), law.model_dump()
        self.block = self.block.with_law(law)
        self.other_law, self.state.law = law, theirs
        return ", ".join(f"{key} = {value}" for key, value in theirs.items() if value != ours[key])

    @property
    def encoders(self) -> tuple[EncoderGrid | None, EncoderGrid | None]:
        """Encoder of the law and the other encoder, as far as their steps are known."""
        place = self.block.place.position
        return self.encoder_grids.get(place), next((one for i, one in self.encoder_grids.items() if i != place), None)

    @property
    def steps(self) -> Floats:
        """Covariance of s (nonlinear, nonlinear) by the encoders' steps, beyond what residuals contain of them."""
        return beyond(self.state.steps, self.state.white, np.diag(self.state.covariance))

    @property
    def covariance(self) -> Floats:
        """Covariance of s (nonlinear, nonlinear), with that of the encoders' steps."""
        return self.state.covariance + self.steps

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reason where η depends too much on where within its steps an encoder turns."""
        steps = np.sqrt(np.diag(self.steps))
        return tuple(
            Reason("nonlinear_encoder_steps", one.name, {"value": value, "percent": 100.0 * step}, {"unit": one.unit})
            for one, value, step in zip(self.block.nonlinear, self.state.eta.tolist(), steps.tolist(), strict=True)
            if step > self.limits.certain
        )

    @property
    def deviations(self) -> Floats:
        """Standard deviations of η (nonlinear,), NaN while they are not known."""
        if not np.isfinite(self.state.sigma).all():
            return np.full(len(self.state.eta), np.nan)
        return self.block.absolute(self.state.eta, np.sqrt(self.state.sigma**2 + np.diag(self.steps)))


def recentre(spring: SpringPlace, rows: Rows, zero: float) -> None:
    """Move the zero of the spring's twist in the rows' phi, in place; zero: rad."""
    linear, cubic = spring.columns
    for output, sign in enumerate(spring.signs):
        twist = sign * rows.phi[:, output, linear]
        rows.phi[:, output, linear] -= sign * zero
        rows.phi[:, output, cubic] -= sign * (3.0 * zero * twist * (twist - zero) + zero**3)
