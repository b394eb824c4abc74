"""Whether the model fits: what its parameters would move by were it right, and what an encoder's steps have done to
them.

Over the rows that teach, in blocks of a second, the products of [Φ W y] are kept, W the witnesses of what the model
leaves out (models/witnesses.py), and faded as the learner's memory fades. Every block:

    misfit        witnesses, and the parameters' change over time, are taken in one after the other while one is
                  significant: χ² gained, over v·c, beyond k + 6·√2k + 12; c = 1 + 2Σρ of noise that passed the kernel
    bias          θ(Φ alone) − θ(Φ and what was taken in) at the present: added to the deviations, squared
    correlation   deviations from the blocks' own scores, P(Σ u u′)P, with those of neighbours: what 1 + 2Σρ is for
    each of θ
    steps         the noise of an encoder's steps in derivatives of position, N per row: least squares give (G +
    N)⁻¹(Gθ + n),
                  so θ ← θ + G⁻¹(Nθ − n), and three quarters of that are added to the deviations, squared

Newey & West, Econometrica 55:703–708, 1987; omitted variables: any econometrics; docs/decisions/016-adequacy.md.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.models.witnesses import ANGLE, DIRECTION, HARMONICS, LAG, MEMORY, SPEED
from estimators.quantities import Floats, Parameter
from estimators.rows import Rows

BLOCK: Final = 1.0  # s of rows
LEAST: Final = 8  # blocks
KNOWN: Final = 20.0  # blocks that the learner's own deviations weigh beside the blocks' scores
REACH: Final = 3  # memories that are kept
HARMLESS: Final = 0.03  # of the torque, rms: a misfit that is larger takes the trust away
REMAINDER: Final = 0.75  # of a correction, that is not believed
TIME: Final = "time"
CAUSES: Final = 6  # taken in, at most
LEVEL: Final = (6.0, 12.0)  # of √2k, and 1


class Verdict(NamedTuple):
    """What the rows so far say."""

    bias: Floats  # (parameters,) of what least squares find without the misfit
    deviations: Floats  # (parameters,) from the blocks' scores
    weight: float  # blocks that these rest on
    correction: Floats  # (parameters,) to be added for the encoder's steps
    misfit: float  # share of the torque, rms, that the model leaves and a witness explains
    causes: tuple[str, ...]  # in words
    drifting: bool  # whether the parameters move slowly
    slope: Floats  # (parameters,) 1/s
    noise: float  # residual variance


class Adequacy:
    """Of one joint with one output."""

    def __init__(
        self, parameters: Sequence[Parameter], groups: Sequence[str], correlation: float, row: float, memory: float
    ) -> None:
        """groups: of each witness; correlation: c of white noise through the kernel; row: s between rows; memory: s."""
        self._parameters = parameters
        self._p = len(parameters)
        places = [(name, self._p + i) for i, name in enumerate(groups) if name]
        angles = [place for name, place in places if name == ANGLE]
        self._causes: list[tuple[str, list[int]]] = [(name, [place]) for name, place in places if name != ANGLE]
        self._causes += [(ANGLE, angles[i : i + 2]) for i in range(0, len(angles), 2)]  # sine and cosine
        self._width = self._p + len(groups) + 1
        self._correlation = max(1.0, correlation)
        self._block = max(2, round(BLOCK / row))
        self._row, self._memory = row, memory / row
        self._rows = np.empty((self._block, self._width))
        self._filled, self._now = 0, 0.0
        self._last = 0
        keep = REACH * math.ceil(self._memory / self._block)
        self._blocks: deque[tuple[float, Floats]] = deque(maxlen=keep)  # s, products
        self.verdict: Verdict | None = None
        self.steps: tuple[Floats, Floats] | None = None  # N (parameters, parameters) and n (parameters,) per row

    def reset(self) -> None:
        """What was is over: a change, or a new start."""
        self._blocks.clear()
        self._filled = 0

    def absorb(self, rows: Rows, teaches: "np.typing.NDArray[np.bool_]", memory: float) -> bool:
        """Take rows with their witnesses; whether there is a new verdict. memory: rows, of the learner."""
        self._memory = memory
        told = False
        y, phi = rows.y[:, 0], rows.phi[:, 0]
        which = np.flatnonzero(teaches & np.isfinite(y) & np.isfinite(phi).all(axis=1))
        first = 0
        while first < len(which):
            part = which[first : first + self._block - self._filled]
            if self._filled and rows.time[part[0]] - self._last > 60_000_000_000:
                self._filled = 0
            end = self._filled + len(part)
            self._rows[self._filled : end, :-1], self._rows[self._filled : end, -1] = phi[part], y[part]
            self._filled, self._last = end, int(rows.time[part[-1]])
            first += len(part)
            if end == self._block:
                self._filled = 0
                self._now = 1e-9 * self._last
                self._blocks.append((self._now, self._rows.T @ self._rows))
                if len(self._blocks) >= LEAST:
                    self.verdict = self._look()
                    told = True
        return told

    def _look(self) -> Verdict:
        p, y = self._p, self._width - 1
        times = np.array([time for time, _ in self._blocks]) - self._now
        products = np.stack([one for _, one in self._blocks])
        age = np.arange(len(times))[::-1] * self._block
        fade = np.exp(-age / self._memory)
        rows = float(fade.sum()) * self._block
        t = times / 60.0
        whole = self._extended(products, fade, t)
        scale = np.sqrt(np.maximum(np.diag(whole), 0.0))
        scale[scale == 0.0] = 1.0
        unit = whole / np.outer(scale, scale)
        own = list(range(p))
        causes = list(self._causes)
        if len(times) >= 2 * LEAST:
            causes.append((TIME, list(range(self._width, self._width + p))))
        every = own + [column for _, columns in causes for column in columns]
        total = max(self._left(unit, every, y)[1], 1e-12)
        rest = self._left(unit, own, y)[1]
        chosen: list[tuple[str, list[int]]] = []
        columns = list(own)
        while len(chosen) < CAUSES:
            best, gained = -1, 0.0
            for index, (_, more) in enumerate(causes):
                k = len(more)
                gain = (rest - self._left(unit, columns + more, y)[1]) * rows / (total * self._correlation)
                over = gain - (k + LEVEL[0] * math.sqrt(2.0 * k) + LEVEL[1])
                if over > gained:
                    best, gained = index, over
            if best < 0:
                break
            chosen.append(causes.pop(best))
            columns += chosen[-1][1]
            rest = self._left(unit, columns, y)[1]
        short, _ = self._left(unit, own, y)
        long, left = self._left(unit, columns, y)
        theta = short * scale[y] / scale[own]
        found = long * scale[y] / scale[columns]
        bias = theta - found[:p]
        noise = left * scale[y] ** 2 / rows
        misfits = [one for one in chosen if one[0] != TIME]
        slow = [column for name, more in chosen if name == TIME for column in more]
        share = math.sqrt(max(self._left(unit, own + slow, y)[1] - left, 0.0)) if misfits else 0.0
        slope = np.zeros(p)
        if slow:
            slope = found[[columns.index(c) for c in slow]] / 60.0
            bias = bias - slope * float(fade @ (60.0 * t)) / float(fade.sum())
        deviations = self._scores(products, fade, t, columns, found, whole[:p, :p], scale[:p])
        return Verdict(
            bias,
            deviations,
            float(fade.sum() ** 2 / (fade**2).sum()),
            self._corrected(whole[:p, :p], scale[:p], rows, theta),
            share,
            tuple(
                dict.fromkeys(
                    self._words(name, found[[columns.index(c) for c in more]], more) for name, more in misfits
                )
            ),
            bool(slow),
            slope,
            noise,
        )

    def _extended(self, products: Floats, fade: Floats, t: Floats) -> Floats:
        """Products of [Φ W y tΦ], faded."""
        p, width = self._p, self._width
        whole = np.empty((width + p, width + p))
        whole[:width, :width] = np.tensordot(fade, products, 1)
        once = np.tensordot(fade * t, products, 1)
        whole[:width, width:], whole[width:, :width] = once[:, :p], once[:p]
        whole[width:, width:] = np.tensordot(fade * t**2, products, 1)[:p, :p]
        return whole

    @staticmethod
    def _left(unit: Floats, columns: list[int], y: int) -> tuple[Floats, float]:
        """Least squares of y on columns: weights, and the share of y² that is left; directions not told stay 0."""
        gram, right = unit[np.ix_(columns, columns)], unit[columns, y]
        values, vectors = np.linalg.eigh(gram)
        good = values > 1e-9 * values[-1]
        told = vectors[:, good]
        weights = told @ ((told.T @ right) / values[good])
        return weights, float(max(1.0 - right @ weights, 0.0))

    def _scores(
        self, products: Floats, fade: Floats, t: Floats, columns: list[int], found: Floats, gram: Floats, scale: Floats
    ) -> Floats:
        """Deviations of θ from the blocks' scores."""
        p, y, width = self._p, self._width - 1, self._width
        scores = products[:, :p, y].copy()
        for place, column in enumerate(columns):
            if column < width:
                scores -= products[:, :p, column] * found[place]
            else:
                scores -= t[:, None] * products[:, :p, column - width] * found[place]
        scores *= fade[:, None] / scale
        middle = scores.T @ scores
        cross = scores[1:].T @ scores[:-1]
        middle += 0.5 * (cross + cross.T)
        inverse = np.linalg.pinv(gram / np.outer(scale, scale), rcond=1e-10, hermitian=True)
        freedom = len(t) / max(len(t) - len(columns), 0.25 * len(t))
        return np.asarray(np.sqrt(np.maximum(np.diag(inverse @ middle @ inverse), 0.0) * freedom) / scale)

    def _corrected(self, gram: Floats, scale: Floats, rows: float, theta: Floats) -> Floats:
        if self.steps is None:
            return np.zeros(self._p)
        noise, own = self.steps
        clean = (gram - rows * noise) / np.outer(scale, scale)
        values = np.linalg.eigvalsh(clean)
        if values[0] <= 0.5 * np.linalg.eigvalsh(gram / np.outer(scale, scale))[0]:
            return np.full(self._p, np.inf)  # most of what tells a direction is the encoder's
        return np.asarray(np.linalg.solve(clean, rows * (noise @ theta - own) / scale) / scale)

    def _words(self, name: str, weights: Floats, columns: list[int]) -> str:
        """A cause, with its size."""
        if name == LAG:
            late = -1e3 * weights[0]
            return f"the torque is {abs(late):.2g} ms {'late' if late > 0 else 'early'} against the position"
        if name == ANGLE:
            turns = (columns[0] - self._causes[-HARMONICS][1][0]) // 2 + 1
            return f"a torque repeats {turns} times a turn, {math.hypot(*weights):.2g} N·m"
        if name == SPEED:
            return "friction has another shape over speed than the law's"
        if name == DIRECTION:
            return "friction differs between the directions"
        assert name == MEMORY
        return "friction remembers where the joint turned (a law with memory: prandtl_ishlinskii)"
