"""The clearance of a joint from recordings, with the siblings that say whether there is anything to it.

Everything is filtered alike and both ways in time: what decides where the pin lies at PIN Hz, every column and the
torque at ROWS Hz; above that the pin swings on its circle and no longer follows the load. A held torque belongs to the
middle of its tick. The clearance's deviation has three parts: blocks of time, how far half the band moves it, and the
share by which the quasi-static law itself is off. It is reported only when it is several of its deviations.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.models.mechanisms.clearance import (
    CLEARANCE,
    FRICTION,
    NAMES,
    SIBLINGS,
    Known,
    Path,
    Sibling,
    columns,
    direction,
)
from estimators.numerics.splines import zero_phase_low_pass
from estimators.quantities import Floats
from estimators.recursive.blocks import Blocks, spread

PIN: Final = 40.0  # Hz
ROWS: Final = 15.0  # Hz
PASSES: Final = 4
START: Final = 0.1  # μ of the first pass
BLOCK: Final = 0.5  # s
EDGE: Final = 0.3  # s at either end that the filters have not settled in
EXTREME: Final = 1e-3  # of the rows, at either end
SIGNIFICANT: Final = 2.0  # deviations
#: 1, tuned: The pin lags behind its load: on the rig +5 to +14 % at 20 to 200 µm, vertical and horizontal, 1 to 3 Hz;
#: +0 to +25 % on 42 draws of mass, friction, clearance, speed and noise not seen before, most with a μ of 0.15 to 0.2.
LAGS: Final = 0.1  # of the clearance from torque, one deviation
#: 1, tuned: The ring sees where the pin is, and only its direction is the law's: on the rig +0.1 to +1.7 %.
SEEN: Final = 0.01  # of the clearance from a ring
IMPLAUSIBLE: Final = 5e-3  # m: no bearing has more


class ClearanceRun(NamedTuple):
    """One recording: equidistant ticks of a controller that holds its torque."""

    angle: Floats  # (ticks,) rad, at the tick's begin
    torque: Floats  # (ticks,) N·m, held during the tick
    known: Known
    ring: Floats | None = None  # (ticks,) rad, an encoder on the link with one read head


class FilteredRun(NamedTuple):
    """A run, filtered."""

    path: Path
    torque: Floats
    known: Known


class FittedSibling(NamedTuple):
    """One sibling."""

    sibling: Sibling
    theta: Floats  # (7,) 0 where it has no column
    deviations: Floats  # (7,) from blocks
    insignificant: float = 0.0  # m, the clearance that was found but is not significant, and not in theta

    def significant(self) -> bool:
        """Whether the clearance is more than what may come of nothing."""
        c, deviation = self.theta[CLEARANCE], self.deviations[CLEARANCE]
        return bool(self.sibling == "clearance" and 0.0 < c < IMPLAUSIBLE and c > SIGNIFICANT * deviation)

    def verdict(self) -> str:
        """The verdict as a sentence."""
        if self.sibling != "clearance":
            return ""
        c, deviation = 1e6 * self.theta[CLEARANCE], 1e6 * self.deviations[CLEARANCE]
        if self.significant():
            return f"clearance {c:.1f} ± {deviation:.1f} µm"
        return f"clearance not identifiable from this motion ({1e6 * self.insignificant:.0f} ± {deviation:.0f} µm)"


def prepare(run: ClearanceRun, period: float) -> FilteredRun:
    """Filtered at PIN Hz, with exact central differences; torque at the middle of what it is held for."""
    angle = _low_pass(run.angle, PIN, period)
    held = run.torque.copy()
    held[1:] = 0.5 * (run.torque[1:] + run.torque[:-1])
    speed, acceleration = np.zeros((2, len(angle)))
    speed[1:-1] = (angle[2:] - angle[:-2]) / (2 * period)
    acceleration[1:-1] = np.diff(angle, 2) / period**2
    return FilteredRun(Path(angle, speed, acceleration), held, run.known)


def rows(run: FilteredRun, sibling: Sibling, theta: Floats, period: float, band: float = ROWS) -> tuple[Floats, Floats]:
    """(rows, 7) and (rows,), filtered at `band` Hz and thinned to some 100 Hz, ends left out."""
    table = np.column_stack([columns(run.path, run.known, sibling, theta, period), run.torque])
    table = _low_pass(table, band, period)
    edge, step = round(EDGE / period), max(1, round(0.01 / period))
    table = table[edge:-edge:step]
    return table[:, :-1], table[:, -1]


def fit(runs: Sequence[FilteredRun], sibling: Sibling, period: float) -> FittedSibling:
    """Least squares over all runs; the clearance only where it is significant."""
    theta, deviations = _fit(runs, sibling, period, ROWS)
    if sibling != "clearance":
        return FittedSibling(sibling, theta, deviations)
    c = theta[CLEARANCE]
    moved = _fit(runs, sibling, period, ROWS / 2.0)[0][CLEARANCE] - c
    deviations[CLEARANCE] = np.sqrt(deviations[CLEARANCE] ** 2 + moved**2 + (LAGS * c) ** 2)
    found = FittedSibling(sibling, theta, deviations)
    if found.significant():
        return found
    without = fit(runs, "load", period)  # what is not significant is not used either; a negative clearance is none
    insignificant, deviation = max(c, 0.0), max(abs(c), deviations[CLEARANCE])
    without.deviations[CLEARANCE] = deviation
    return FittedSibling(sibling, without.theta, without.deviations, insignificant)


def _fit(runs: Sequence[FilteredRun], sibling: Sibling, period: float, band: float) -> tuple[Floats, Floats]:
    """θ and deviations by blocks, PASSES times because the pin's place depends on the friction."""
    theta = np.zeros(len(NAMES))
    theta[FRICTION] = START
    used = np.array([sibling == "clearance" or name != "clearance" for name in NAMES])
    block = round(BLOCK / 0.01)
    deviations = np.zeros(len(NAMES))
    for number in range(PASSES):
        parts = [rows(run, sibling, theta, period, band) for run in runs]
        cuts = [(p[i : i + block], y[i : i + block]) for p, y in parts for i in range(0, len(y), block)]
        blocks = Blocks(len(NAMES), len(cuts), block)
        scale = np.sqrt(np.mean(np.concatenate([p for p, _ in parts]) ** 2, axis=0))
        scale[~used | ~(scale > 0.0)] = np.inf
        for p, y in cuts:
            blocks.add((p / scale).T @ (p / scale), (p / scale).T @ y)
        found, left_out = blocks.solve(blocks.last())
        theta = np.nan_to_num(found) / scale
        deviations = spread(np.nan_to_num(left_out)) / scale
        if number == 0:
            theta[CLEARANCE] = 0.0
    return theta, deviations


def siblings(runs: Sequence[ClearanceRun], period: float) -> dict[Sibling, FittedSibling]:
    """All four, always together."""
    prepared = [prepare(run, period) for run in runs]
    return {sibling: fit(prepared, sibling, period) for sibling in SIBLINGS}


def error(fitted: FittedSibling, run: ClearanceRun, period: float) -> float:
    """RMS of what it does not predict of a run, N·m."""
    phi, y = rows(prepare(run, period), fitted.sibling, fitted.theta, period)
    return float(np.sqrt(np.mean((y - phi @ fitted.theta) ** 2)))


def measured(runs: Sequence[ClearanceRun], fitted: FittedSibling, radius: float, period: float) -> tuple[float, float]:
    """Clearance and its deviation, m, from link rings of this radius with one read head: (link − motor) R = c u_y.

    Needs no motion that makes the load vary, only one that turns it; two heads that are averaged would see nothing.
    """
    c, deviation = _by_ring(runs, fitted, radius, period, ROWS)
    moved = _by_ring(runs, fitted, radius, period, ROWS / 2.0)[0] - c
    return c, float(np.sqrt(deviation**2 + moved**2 + (SEEN * c) ** 2))


def _by_ring(
    runs: Sequence[ClearanceRun], fitted: FittedSibling, radius: float, period: float, band: float
) -> tuple[float, float]:
    found = []
    for run in runs:
        if run.ring is None:
            raise ValueError("expected a ring encoder's angle in every run")
        path = prepare(run, period).path
        u, _ = direction(path, run.known, fitted.theta)
        edge, step = round(EDGE / period), max(1, round(0.01 / period))
        pair = _low_pass(np.column_stack([u[:, 1], (run.ring - run.angle) * radius]), band, period)[edge:-edge:step]
        found.append(np.column_stack([pair, np.ones(len(pair))]))
    size = round(BLOCK / 0.01)
    cuts = [one[i : i + size] for one in found for i in range(0, len(one), size)]
    blocks = Blocks(2, len(cuts), size)
    for cut in cuts:
        phi = cut[:, [2, 0]]
        blocks.add(phi.T @ phi, phi.T @ cut[:, 1])
    theta, left_out = blocks.solve(blocks.last())
    return float(theta[1]), float(spread(left_out)[1])


def least(runs: Sequence[ClearanceRun], radius: float, period: float) -> float:
    """What the clearance is at least, m: half of how far ring and motor go apart, whether the pin touches or flies.

    It is the clearance where the load turns past both sides of the read head; EXTREME of the rows at either end are
    left out, for spikes.
    """
    found = []
    for run in runs:
        if run.ring is None:
            raise ValueError("expected a ring encoder's angle in every run")
        low, high = np.quantile((run.ring - run.angle)[round(EDGE / period) :], (EXTREME, 1.0 - EXTREME))
        found.append(float(high - low) / 2 * radius)
    return max(found)


def _low_pass(values: Floats, cutoff: float, period: float) -> Floats:
    """Both ways in time, fourth order each way: steep, for what lies above is not in the model."""
    return zero_phase_low_pass(values, 4, cutoff, 1 / period)
