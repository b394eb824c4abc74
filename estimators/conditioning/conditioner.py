"""Equidistant raw rows in, whole regression rows out: every column with the same delay and the same frequency response.

At the full rate a row [Φ y] is formed at the instant m from what a model may see of a channel x (T: period):

    exact      x[m]    ẋ = (x[m+1] − x[m−1]) / 2T    ẍ = (x[m+1] − 2x[m] + x[m−1]) / T²
    smoothed   s = f ∗ x, ṡ = (s[m+1] − s[m−1]) / 2T              (arguments of sign, tanh, sin, …)

A kernel of few taps, as slow rates have, leaves what these differences are off by, of the order T². There they are
taken over T and 2T so that it cancels (Richardson): ẋ = (4 ẋ_T − ẋ_2T) / 3, ẍ = (4 ẍ_T − ẍ_2T) / 3.

Then the whole row passes the same g and is decimated: Φ_j = Σ_k g[k] Φ(j+k), y_j = Σ_k g[k] y(j+k), |k| ≤ K.
g is a Hann window: symmetric (first moment zero) and of sum one; f is g, or for an elastic joint, for friction alone
and where an encoder's steps want g wide, as long a kernel whose second moment is zero too. An output row is a function
of the 4K+3 raw rows around its instant and of nothing else, so results do not depend on how rows are cut into batches.
Why this formulation, with figures: docs/decisions/002-conditioning.md, docs/decisions/007-what-noise-allows.md.
"""

import math
from typing import Annotated, Final

import numpy as np
from pydantic import Field

from estimators.conditioning.row_kernels import CHUNK, RowFormer, form_rows, take_rows
from estimators.models.base import Model
from estimators.models.memory import thresholds
from estimators.quantisation import rounding
from estimators.quantities import Floats, Nanoseconds
from estimators.quantities import Settings as BaseSettings
from estimators.reasons import Reason
from estimators.rows import SIGNALS, FormedRows, Rows, RowStore, joined
from jointwatch_numba.matrix import contiguous

#: s, tuned: Half width of the row kernel; EMPS and simulated encoders of 14 to 20 bits (decision 002).
USUAL: Final = 0.020
#: samples, argued: Half width of a usual kernel at least: a single tap would let all noise of slow samples pass.
FEWEST: Final = 2.0
#: taps, derived: K from which a difference over three rows is less than 1 % off at the frequency that the kernel
#: halves, which has ωT = π/h under a Hann window of half width h: (ωT)²/12 = 0.01.
FINE: Final = 9
#: Hz, tuned: Rate of regression rows at most; on the joint of decision 007 rows at 200 Hz identified nothing more.
MOST: Final = 100.0
#: rows, tuned: Rows that share a half width; with more the alarm rang once a trial under a 127 ms kernel (decision 014,
#: point 1).
OVERLAP: Final = 4.0
#: 1, argued: Share of windows without a gap below which rows are few: everything takes twice as long.
FEW: Final = 0.5
#: rows, argued: Rows that one pass forms at once; bounds memory and changes no result.
ROOM: Final = 64


class Conditioning(BaseSettings):
    """How raw rows become regression rows; the defaults suit a joint sampled at 1 kHz."""

    # s from the kernel's middle to where it is zero; left out: USUAL, or what an encoder's steps ask for
    half_width: Annotated[float, Field(ge=0, le=1)] | None = None
    # Hz at which regression rows leave, at most; left out: MOST, or OVERLAP rows in a wider kernel's half width
    row_rate: Annotated[float, Field(gt=0, le=20_000)] | None = None


class Conditioner:
    """Forms, smooths and decimates the rows of one model; columns that η moves are formed for the η it begins with."""

    def __init__(
        self, model: Model, period: float, settings: Conditioning | None = None, wide: float | None = None
    ) -> None:
        """period: s between raw rows; wide: s, half width that an encoder asks for where the settings say none.

        Raises ValueError when the period is not a positive number.
        """
        if not (math.isfinite(period) and period > 0):
            raise ValueError(f"expected a positive period in seconds, found {period}")
        settings = settings or Conditioning()
        self.period = period
        given = settings.half_width if settings.half_width is not None else wide
        self.half_width = max(USUAL, FEWEST * period) if given is None else given
        self.taps = taps(self.half_width / period)
        found = settings.half_width is None and wide is not None  # so wide that sin q would take a share of q̈
        self.arguments = straight(self.taps) if model.straight or found else self.taps
        half = len(self.taps) // 2
        rate = settings.row_rate or (min(MOST, OVERLAP / self.half_width) if found else MOST)
        self.decimation = max(1, round(1.0 / (rate * period)))
        self.row_period = self.decimation * period
        self.delay = (2 * half + 1) * period
        self.support = 4 * half + 3  # raw rows that one output row depends on
        self.most = min(CHUNK, ROOM * self.decimation)  # raw rows that are taken at once
        self.five = 1 <= half < FINE  # whether differences are over five raw rows
        channels, joints = len(model.channels) + len(thresholds(model)), len(model.joints)
        outputs, parameters, laws = len(model.outputs), len(model.parameters), len(model.blocks)
        blocks = np.array([(one.position, one.load, *one.scale) for one in model.blocks], np.float64).reshape(-1, 4)
        self.former = RowFormer.zeros(
            period=period,
            support=self.support,
            decimation=self.decimation,
            delay=round(self.delay * 1e9),
            five=int(self.five),
            slope_taps=np.convolve(self.taps, (1.0, 0.0, -1.0))[1:-1] / (2.0 * period),
            argument_taps=self.arguments,
            eta=np.array(model.start, np.float64),
            joints=np.array(model.joints, np.int64),
            blocks=blocks,
            fill=model.kernel,
            terms=model.terms,
            column=np.zeros(self.support + CHUNK),
            smoothed=np.zeros(2 * half + 3 + CHUNK),
            formed=FormedRows(
                rows=RowStore.room(ROOM, outputs, parameters, joints, laws, len(self.taps) if len(model.start) else 0),
                starts=np.zeros(ROOM, np.int64),
                signals=np.zeros((2 * half + 1 + CHUNK, channels, SIGNALS)),
                taps=self.taps,
                owners=np.array(model.owners, np.int64),
            ),
            bin_ends=rounding.ENDS,
            raw_rows=self.support + CHUNK,
            channels=channels,
            outputs=outputs,
            signal_rows=2 * half + 1 + CHUNK,
            windows=ROOM,
            parameters=parameters,
        )
        self.nothing = self.former.formed.rows.part(0, 0)

    def set_encoder_step(self, channel: int, step: float) -> None:
        """The readings of a channel have steps (rad, m): rows say from now on how white they are."""
        self.former.steps[self.former.joints == channel] = step
        self.former.beats[:] = rounding.beats(self.taps)

    def absorb(self, time: Nanoseconds, values: Floats) -> Rows:
        """Take raw rows and return the regression rows that became due.

        time: (n,) ns; values: (n, channels) SI, NaN where missing. A regression row is whole or dropped (and counted).
        """
        if values.shape != (len(time), self.former.raw.shape[1]):
            expected = f"({len(time)}, {self.former.raw.shape[1]})"
            raise ValueError(f"expected values of shape {expected}, found {values.shape}")
        if len(time) > self.most:
            starts = range(0, len(time), self.most)
            return joined([self.absorb(time[i : i + self.most], values[i : i + self.most]) for i in starts])
        return self.formed(take_rows(contiguous(time), contiguous(values), self.former))

    def formed(self, due: int) -> Rows:
        """Copies of the rows of windows that are due."""
        if due == 0:
            return self.nothing
        return self.former.formed.rows.part(0, form_rows(due, self.former)).copy()

    @property
    def few(self) -> Reason | None:
        """The reason that gaps leave few rows, where they do."""
        share = self.former.whole
        if share >= FEW:
            return None
        return Reason("few_rows", None, {"percent": 100.0 * share, "samples": float(self.support)})

    def counters(self) -> dict[str, int]:
        """Totals: rows out, dropped (a raw value is missing in the window), masked by the model, and gaps in time."""
        former = self.former
        return {"rows": former.left, "dropped": former.dropped, "masked": former.masked, "gaps": former.gaps}


def taps(half_width: float) -> Floats:
    """Hann window that reaches zero half_width samples from its middle: (2K+1,), symmetric, of sum one."""
    half = max(0, math.ceil(half_width) - 1)
    window = 1.0 + np.cos(np.pi * np.arange(-half, half + 1) / max(half_width, 1.0))
    g: Floats = window / math.fsum(window)
    g[half] += 1.0 - math.fsum(g)
    return g


def straight(g: Floats) -> Floats:
    """A kernel as long as g, symmetric, that leaves every cubic as it is: g·(a + b·k²), moments 1, 0, 0, 0."""
    square = (np.arange(len(g)) - len(g) // 2.0) ** 2
    second, fourth = float(g @ square), float(g @ square**2)
    if fourth <= second**2:  # three taps or one: there is no such kernel, or g is it
        return g.copy()
    b = second / (second**2 - fourth)
    f: Floats = g * (1.0 - b * second + b * square)
    return f
