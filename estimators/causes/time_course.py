"""How what has changed came about: at once or slowly, and whether it was there for some seconds only."""

from typing import Final, NamedTuple

import numpy as np

from estimators.causes.healthy_joint import BURST, DAY, WARMER, HealthyJoint, rolling
from estimators.causes.sample_rows import SignatureRows
from estimators.quantities import Floats

#: s, argued: Length of a block of the course: half a move, so that a minute has thirty.
BLOCK: Final = 2.0
#: 1, argued: Ridge of the change's regression, share of a column's square: only its course counts, not its parts.
RIDGE: Final = 0.01
#: 1, argued: Share of the power below which what a step or a ramp leaves is nothing: 1 % of the amplitude.
FLOOR: Final = 1e-4
#: nats, argued: What the course may say at most: causes that usually grow may come at once.
MOST: Final = 3.0
#: nats, argued: The same where physics forbids it: what has kilograms does not warm within a block.
FORBIDDEN: Final = 15.0
#: s, argued: A collision and its swinging are over by then.
LONGEST: Final = 6.0
#: s, argued: After which quiet it is over.
QUIET: Final = 6.0
#: 1, argued: Times the mean square of the reference's strongest fifth of a second and of what an ordinary day does:
#: three times as far off as any of hundreds. Faults that grow pass twice of it now and then.
STRONG: Final = 9.0
#: 1, argued: Times the dry friction's rms that a collision pushes: what is less is a touch, or play that rattles.
PUSH: Final = 1.5
#: nats, argued: What each row says from which such a fifth of a second begins: they overlap.
ROW_SAYS: Final = 3.0


NO_BURST: Final = (-np.inf, -np.inf, -np.inf)


class TimeCourse(NamedTuple):
    """What the time says."""

    sudden: float  # nats for a step over a ramp
    collision: float  # nats for a burst over nothing; −inf: there is none
    onset: float  # s
    burst_end: float = -np.inf  # s, of such a burst

    def growth(self, time: Floats) -> Floats:
        """How large the change is at these times (s), of mean one: the same all the time, or as a ramp grows."""
        ramp = np.maximum(time - self.onset, 0.0)
        if self.sudden >= 0.0 or not ramp.any():
            return np.ones(len(time))
        return np.asarray(ramp / ramp.mean())

    def evidence(self, sudden: bool | None, most: float = MOST) -> float:
        """ln p of the course under a cause that comes at once, slowly, or (None) either way; most: nats it may say."""
        gain = float(np.clip(self.sudden, -most, most))
        both = float(np.logaddexp(0.0, gain))
        step, ramp = gain - both, -both
        return float(np.logaddexp(step, ramp) + np.log(0.5)) if sudden is None else (step if sudden else ramp)


def time_course(healthy: HealthyJoint, rows: SignatureRows, begin: float) -> TimeCourse:
    """How it came about, by all rows that are kept; begin: s, of the window in which causes are compared."""
    now = float(rows.time[-1])
    rows = healthy.sliding(rows)
    residual = rows.y - healthy.predicted(rows)
    blocks = ((now - rows.time) / BLOCK).astype(np.int64)
    window = rows.time > begin
    columns = healthy.columns(rows)
    size = np.sqrt((columns[window] ** 2).mean(axis=0))
    scaled = columns / np.where(size > 0.0, size, 1.0)
    own = scaled[window]
    change = scaled @ np.linalg.solve(own.T @ own + RIDGE * len(own) * np.eye(own.shape[1]), own.T @ residual[window])
    power = np.bincount(blocks, change**2)
    amplitude = np.bincount(blocks, change * residual) / np.where(power > 0.0, power, 1.0)
    amplitude, weight = amplitude[::-1], power[::-1]
    sudden, onset = _step_or_ramp(amplitude, weight / max(weight.max(), 1e-300))
    nats, first, last = _burst(healthy, rows, residual)
    if np.isfinite(nats):  # what stays came with it; a collision before the window has been reported and is over
        return TimeCourse(MOST, nats if last > begin else -np.inf, first, last)
    return TimeCourse(sudden, nats, now - BLOCK * (len(amplitude) - onset))


def _step_or_ramp(amplitude: Floats, weight: Floats) -> tuple[float, int]:
    """Nats for a step over a ramp, and the block of the better one's onset; amplitude: (blocks,) of the change."""
    n, best = len(amplitude), dict[str, tuple[float, int]]()
    for begin in range(1, n):
        after = np.arange(n) >= begin
        ramp = np.maximum(np.arange(n) - begin + 0.5, 0.0)
        for kind, course in (("step", after.astype(np.float64)), ("ramp", ramp)):
            power = float(weight @ course**2)
            scale = float(weight @ (course * amplitude)) / power if power > 0.0 else 0.0
            left = float(weight @ (amplitude - scale * course) ** 2)
            if kind not in best or left < best[kind][0]:
                best[kind] = (left, begin)
    if not best:
        return 0.0, 0
    floor = FLOOR * float(weight.sum())
    gain = 0.5 * n * np.log((best["ramp"][0] + floor) / (best["step"][0] + floor))
    better = best["step"] if gain > 0.0 else best["ramp"]
    return float(gain), better[1]


def _burst(healthy: HealthyJoint, rows: SignatureRows, residual: Floats) -> tuple[float, float, float]:
    """Nats for strong errors within some seconds and usual ones since, and when these errors began and ended, s.

    NO_BURST where there are none, or where they may go on.
    """
    if len(residual) < BURST:
        return NO_BURST
    _, viscous, dry, _ = healthy.parts(rows)
    ordinary = (WARMER * viscous) ** 2 + (DAY * healthy.torque.rms) ** 2
    least = np.maximum(STRONG * (healthy.torque.worst + rolling(ordinary)), PUSH**2 * float((dry**2).mean()))
    strong = np.flatnonzero(rolling(residual**2) > least)
    if not len(strong):
        return NO_BURST
    begin, end = rows.time[strong[0]], rows.time[strong[-1] + BURST - 1]
    if end - begin > LONGEST or rows.time[-1] - end < QUIET:
        return NO_BURST
    return float(ROW_SAYS * len(strong)), float(begin), float(end)
