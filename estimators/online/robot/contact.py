"""Contact: residual torque is compared with a threshold for each joint, within a few hundredths of a second.

    T_j = max(1.5 · max|r_j| of what was undisturbed,  4.75 ν_j)

The largest torque that encoder steps imitate is added (robot_errors_in_variables.py). A joint that hardly moves, or
moves more slowly than its encoder resolves, may hold any torque up to its friction. Then the friction is added to the
threshold as soon as the quick speed shows this, and afterwards the part of it that the low-passes still contain,
√2 e^(−ωt/√2), for SETTLING at most. A gear at rest may hold more than its friction in motion: where a joint did so in
the start, MARGIN times the torque beyond its friction is the threshold at rest.
Between two rows of a slow bus the step of friction at a reversal is spread over the interpolated rows: such a joint
counts as slow from one bus period before the reversal, and everything lasts one period longer.
ν is the part of the residual that is white before the low-passes, found from its changes within 10 ms. Gaussian noise
after them crosses 4.75 ν 1.3e-4 times a second and joint, for 16 ms on average. Because a contact must last 30 ms,
that is less than once an hour for seven joints. Other unexplained torque is slower, bounded, and was seen during the
start; the factor 1.5 covers it.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.numerics.jit import inline, kernel
from estimators.online.robot.motion import QUICK
from estimators.online.robot.motion import SLOW as SLOW_PASS
from estimators.quantities import Floats
from estimators.thresholds import AT_REST, MEDIAN_SQUARE
from jointwatch_numba.direct import direct

#: 1, argued: Times the largest residual of the start: the least threshold of a contact.
MARGIN: Final = 1.5
#: deviations, derived: Deviations that white noise exceeds once in 5e5 chunks.
GAUSSIAN: Final = 4.75
#: s, derived: White noise after both low-passes: its deviation over that of its change within this time.
ROUGH: Final = 0.0205
#: deviations, argued: Robust deviations beyond which a residual of the start is a push.
OUTLIER: Final = 8.0
#: 1, argued: Times its friction that a joint at rest may hold beyond it: static friction is up to twice that of motion,
#: and the law may have the other sign. More than that in a start is a push.
HOLDS: Final = 2.0
#: chunks, argued: Chunks in a row above the threshold that make a contact: 30 ms (decision 019, point 5).
LASTING: Final = 3
#: 1, argued: Share of the threshold below which a contact ends (hysteresis).
RELEASE: Final = 0.7
#: s, argued: Time below RELEASE after which a contact is over.
QUIET: Final = 0.2
#: s, tuned: Time below the threshold after which a robot is valid again, and the longest wait (decision 019, point 1).
SOON: Final = 3.0
#: s, argued: Age of the residual that the present one is compared with: a push reaches its size within a second.
EARLIER: Final = (5.0, 2.0)
#: s, argued: Least motion in that time for a comparison: the low-passes have settled several times.
SHOWN: Final = 0.5
#: 1, argued: A residual of at most so many times its value EARLIER has drifted past its threshold: from zero to the
#: threshold that takes five seconds at least.
GROWN: Final = 3.0
#: s, argued: Time until the low-passes have forgotten a reversal at most (decision 019, point 4).
SETTLING: Final = 0.1
#: 1, derived: Slack that keeps a whole number of chunks whole when float64 rounds it up.
WHOLE: Final = 1e-9
#: N·m, derived: Keeps the outlier test from rejecting everything where a residual is exactly zero.
NO_NOISE: Final = 1e-12

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


class ContactWatch:
    """Sets the thresholds, and finds which joints exceed them and which of those are reported as contacts."""

    def __init__(
        self,
        peaks: Floats | None,
        deviations: Floats,
        chunk: float,
        slow_pass: float = SLOW_PASS,
        between: float = 0.0,
        quick: float = QUICK,
    ) -> None:
        """peaks: (n,) largest residual of teaching, if known; deviations: (n,) of the residual; chunk: s.

        slow_pass: Hz, cut-off of the low-pass that teaches; between: s between two rows of a slow bus, where rows are
        put between them; 0 where none are; quick: Hz, cut-off of the low-pass that decides.
        """
        n = len(deviations)
        self._taught = np.zeros(n) if peaks is None else peaks
        self.deviations = deviations
        self.thresholds, self.steps = np.full(n, np.nan), np.zeros(n)  # steps: what encoders' add to them
        self.unknown = np.zeros(n)  # added to them: the uncertainty of the model's own torque
        if peaks is not None:
            self.thresholds = np.maximum(MARGIN * peaks, GAUSSIAN * deviations)
        self.slow = np.full(n, AT_REST)
        self.beyond: NDArray[np.bool_] = np.zeros(n, np.bool_)  # by now: such rows teach nothing
        self.reported: NDArray[np.bool_] = np.zeros(n, np.bool_)  # in contact, short pauses included
        self.moving: NDArray[np.bool_] = np.zeros(n, np.bool_)  # joints whose friction is that of motion
        self.sliding: NDArray[np.bool_] = np.zeros(n, np.bool_)  # those of them for which every low-pass has settled
        self._above, self._below = np.zeros((2, n), np.int64)
        quiet, self._soon = math.ceil(QUIET / chunk - WHOLE), round(SOON / chunk)
        later = (1.0 / quick - 1.0 / QUICK) / (math.sqrt(2.0) * math.pi)  # s that a quicker low-pass is earlier
        self._settling = (SETTLING * SLOW_PASS / slow_pass + between + later) / chunk
        self.remembered = math.ceil(self._settling - WHOLE)  # chunks for which the low-passes remember
        self._smeared, self._speeds = between / chunk, np.full(n, np.nan)  # chunks; quick speeds of the last row
        self._wait = np.full(n, quiet)  # quiet chunks after which a contact is over
        self._quiet, self._rested = quiet, np.full(n, self._soon)  # chunks since the last one was over
        self._moved, self._slid = np.zeros((2, n))  # chunks since it was slow, after and before the slow low-pass
        self._turned = np.zeros(n)  # chunks since either was
        self.held = np.zeros(n)
        """(n,) what a joint at rest holds beyond its friction and the threshold."""
        since = chunk * np.arange(self.remembered) - 1.0 / (math.sqrt(2.0) * math.pi * quick)
        decay = math.sqrt(2.0) * np.exp(-math.sqrt(2.0) * math.pi * slow_pass * (since - between))
        self._decay = np.concatenate(([1.0], np.minimum(decay, 1.0)))  # share of friction in the limit, by `_turned`
        self._roughness = ROUGH / chunk
        self._mean = np.full(n, np.nan)  # of the last chunk's residual, where the joint moved
        first, last = (round(one / chunk) for one in EARLIER)
        self._past, self._at = np.full((first, n), np.nan), 0  # of each chunk, where the joint moved; the oldest
        self._compared, self._shown = first - last, round(SHOWN / chunk)
        self._quickly = np.zeros(n, np.int64)  # chunks in a row beyond the threshold that no drift explains
        self.drifting: NDArray[np.bool_] = np.zeros(n, np.bool_)  # joints that pass their threshold slowly
        self.drifted: NDArray[np.bool_] = np.zeros(n, np.bool_)  # drifted since all was last explained
        self.ready = bool(np.isfinite(self.thresholds).all())  # whether the thresholds are set
        self.calm = True  # no joint exceeds its threshold
        self._nothing = np.full(n, np.nan)
        self._learnt = np.zeros(n)  # largest residual that learning has caused since the thresholds were set
        self._gathered: list[Floats] = []  # of each chunk of the start (3, n): squared change, peak, mean square
        self._resting = np.zeros(n)  # largest residual of the start beyond friction, where a joint was at rest

    @property
    def recent(self) -> Flags:
        """Joints (n,) in contact now or within the last SOON, whose cause may not be known yet."""
        return self._rested < self._soon

    @property
    def limits(self) -> Floats:
        """Thresholds (n,), with the effect of the encoders' steps and of the uncertainty of θ."""
        return self.thresholds + self.steps + self.unknown

    def explained(self) -> None:
        """Judge all joints anew: the cause of the residual that exceeded a threshold has been found."""
        self.beyond[:], self.reported[:], self.drifted[:], self.calm = False, False, False, True
        self._above[:], self._below[:] = 0, 0

    def notice(self, quick: Floats, dq: Floats) -> None:
        """Take the speeds of the next chunk, (rows, n): quick before the slow low-pass, dq after it."""
        _notice_speeds(dq, quick, *self._motion)

    @property
    def _motion(self) -> tuple[Floats, float, float, Floats, Floats, Floats, Floats, Flags, Flags]:
        """The state of the motion that `notice` follows, as arguments of kernels."""
        return (
            self.slow, self._settling, self._smeared, self._speeds, self._moved, self._slid, self._turned, self.moving,
            self.sliding,
        )  # fmt: skip

    def pass_within(self, quick: Floats, dq: Floats, residual: Floats, friction: Floats) -> Floats | None:
        """Notice and judge a chunk in one call where no joint exceeds a threshold, or did just before; else do nothing.

        This is the usual chunk: nothing that is reported changes, whatever is added to the thresholds. Returns the mean
        residual (n,) of the chunk, None where nothing was done; arguments as of `notice` and `judge`.
        """
        mean = np.empty(len(friction))
        within = self.ready and _within(
            dq, quick, *self._motion, residual, friction, self.held, self.thresholds, self.steps, self._decay,
            self.beyond, self.reported, self._above, self._quickly, self.drifting, self._rested, self._past[self._at],
            mean,
        )  # fmt: skip
        if not within:
            return None
        self._at = (self._at + 1) % len(self._past)
        self.calm = True
        return mean

    def gather(self, residual: Floats, friction: Floats) -> None:
        """Take the residual of a chunk (rows, n) of the start; joints that hardly move show their torque at rest only.

        friction: as of `judge`.
        """
        found = np.empty((3, len(self.moving)))
        _gather_residual(residual, friction, self.moving, self._turned, self._mean, self._resting, found)
        self._gathered.append(found)

    def gather_anew(self) -> None:
        """Forget the residuals so far: they belong to another robot, or to another model of it."""
        self._gathered, self._resting = [], np.zeros_like(self._resting)

    def gathered(self) -> tuple[Floats, Floats]:
        """Largest residual and rms of the start so far, (n,) each, without outliers. Raises ValueError without any."""
        if not self._have_moved().any():
            raise ValueError("nothing has moved since the start")
        return self._of_start()

    def _have_moved(self) -> NDArray[np.bool_]:
        """Which joints have moved during the start."""
        return np.asarray(np.isfinite([one[1] for one in self._gathered] or [self._nothing]).any(axis=0), np.bool_)

    def _of_start(self) -> tuple[Floats, Floats]:
        """As `gathered`, with the taught values for joints that have not moved."""
        moved = self._have_moved()
        if not moved.any():  # never calm, or always turning around
            return self._taught, self.deviations
        _, peaks, squares = np.array(self._gathered).transpose(1, 0, 2)
        typical = np.array([np.median(one[np.isfinite(one)]) if np.isfinite(one).any() else 0.0 for one in squares.T])
        usual = peaks < OUTLIER * (np.sqrt(typical) + NO_NOISE)
        deviations = np.sqrt(np.where(usual, squares, 0.0).sum(axis=0) / np.maximum(usual.sum(axis=0), 1))
        peaks = np.where(usual, peaks, 0.0).max(axis=0)
        return np.where(moved, peaks, self._taught), np.where(moved, deviations, self.deviations)

    def resume(self, thresholds: Floats, deviations: Floats, held: Floats | None = None) -> None:
        """Continue with earlier thresholds, deviations, and torques that joints held at rest, (n,) each."""
        self.thresholds, self.deviations, self.ready = thresholds, deviations, True
        self.held = self.held if held is None else held

    def settle(self) -> None:
        """End the start: set thresholds from its residuals and from the taught ones."""
        peaks, self.deviations = self._of_start()
        self.thresholds = np.maximum(MARGIN * np.maximum(peaks, self._taught), GAUSSIAN * self._noise())
        self.held = np.maximum(MARGIN * self._resting - self.thresholds, 0.0)
        self._gathered, self.ready = [], bool(np.isfinite(self.thresholds).all())

    def grow(self) -> None:
        """Raise thresholds to the residuals that learning itself has caused."""
        self.thresholds = np.maximum(self.thresholds, MARGIN * self._learnt - self.steps)
        self._learnt = np.zeros_like(self._learnt)

    def words(
        self, fresh: NDArray[np.bool_], residual: Floats, friction: Floats, names: Sequence[str], units: Sequence[str]
    ) -> str:
        """Sentence about joints in contact from now on; residual: (rows, n) of the chunk; friction: as of `judge`."""
        size, limits = np.abs(residual).mean(axis=0), self.limits + self.stuck(friction)
        return "; ".join(
            f"{names[j]}: {size[j]:.3g} {units[j]} that the model does not explain, threshold {limits[j]:.3g}"
            for j in map(int, np.flatnonzero(fresh))
        )

    def _noise(self) -> Floats:
        """Noise ν of the residual (n,), from the median, which a single step in between does not move."""
        changes = np.array([one[0] for one in self._gathered] or [self._nothing])
        typical = [np.median(one[np.isfinite(one)]) if np.isfinite(one).any() else np.nan for one in changes.T]
        noise = self._roughness * np.sqrt(np.array(typical) / MEDIAN_SQUARE)
        return np.where(np.isfinite(noise), np.minimum(noise, self.deviations), self.deviations)

    def exceeded(self, residual: Floats, friction: Floats) -> bool:
        """Whether this chunk exceeds a threshold; arguments as of `judge`."""
        return bool(_exceeded(residual, friction + self.held, self.limits, self._turned, self._decay))

    def stuck(self, friction: Floats) -> Floats:
        """Torque (n,) that each joint's friction may hold now, as the low-passes still contain it."""
        since = np.minimum(self._turned.astype(np.int64), len(self._decay))
        return np.asarray((friction + self.held) * np.append(self._decay, 0.0)[since])

    def judge(
        self, residual: Floats, friction: Floats, before: Floats | None = None
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Joints in contact from now on, and those whose contact is over, (n,) each; None where neither changes.

        residual: (rows, n) of the chunk; friction: (n,) torque that a joint may hold at rest; before: where
        `residual` exceeds a threshold, the residual by what was known when these were set: the smaller one counts.
        """
        fresh, over = np.zeros((2, len(self.beyond)), np.bool_)
        limits, counts = self.limits, (self._above, self._below)
        before = residual if before is None else before
        self.calm = _judge(
            residual,
            before,
            friction + self.held,
            limits,
            self._turned,
            self._decay,
            self._quiet,
            *counts,
            self.beyond,
            self._learnt,
        )
        self._follow_drift(residual.mean(axis=0))
        changes = _update_reported(
            self.beyond & ~self.drifting,
            self._below,
            (self._quiet, self._soon),
            self._wait,
            self._rested,
            self.reported,
            fresh,
            over,
        )
        return (fresh, over) if changes else None

    def _follow_drift(self, mean: Floats) -> None:
        """Find joints whose residual has passed its threshold slowly; mean: (n,) of the chunk."""
        past, at, chunks = self._past, self._at, len(self._past)
        past[at] = np.where(self.moving & ~self.reported, mean, np.nan)
        self._at = at = (at + 1) % chunks
        new = self.beyond & ~self.reported
        if not (self._above.any() or new.any()):
            self._quickly[:], self.drifting[:] = 0, False
            return
        earlier = np.take(past, range(at, at + self._compared), axis=0, mode="wrap")
        count = np.isfinite(earlier).sum(axis=0)
        then = np.sign(mean) * np.nansum(earlier, axis=0) / np.maximum(count, 1)
        slowly = (count >= self._shown) & (np.abs(mean) < GROWN * then)
        self._quickly = np.where(slowly | (self._above == 0), 0, self._quickly + 1)
        self.drifting = new & (self._quickly < LASTING)
        self.drifted |= self.drifting


@inline
def _size(residual: Floats, j: int) -> float:
    size = 0.0
    for row in range(len(residual)):
        size += np.abs(residual[row, j])
    return size / len(residual)


@inline
def _mean(residual: Floats, mean: Floats) -> None:
    for j in range(len(mean)):
        total = residual[0, j]
        for row in range(1, len(residual)):
            total += residual[row, j]
        mean[j] = total / len(residual)


@inline
def _follow_speeds(
    dq: Floats, quick: Floats, slow: Floats, settling: float, smeared: float, speeds: Floats, moved: Floats,
    slid: Floats, turned: Floats, moving: Flags, sliding: Flags,
) -> None:  # fmt: skip
    for j in range(len(moved)):
        moved[j] += 1.0
        slid[j] += 1.0
        for row in range(len(dq)):
            if np.abs(dq[row, j]) < slow[j]:
                moved[j] = 0.0
            if np.abs(quick[row, j]) < slow[j]:
                slid[j] = 0.0
                if slow[j] < AT_REST:
                    moved[j] = 0.0
        turned[j] = min(moved[j], slid[j])
        moving[j] = moved[j] > settling
        sliding[j] = moving[j] and slid[j] > settling
        if smeared > 0.0:
            now, before = quick[len(quick) - 1, j], speeds[j] if np.isfinite(speeds[j]) else quick[0, j]
            if np.abs(now) < smeared * np.abs(now - before):
                moved[j] = turned[j] = 0.0
            speeds[j] = now


@kernel("void(f8[:, ::1], f8[:, ::1], f8[::1], f8, f8, f8[::1], f8[::1], f8[::1], f8[::1], b1[::1], b1[::1])")
def _notice(
    dq: Floats, quick: Floats, slow: Floats, settling: float, smeared: float, speeds: Floats, moved: Floats,
    slid: Floats, turned: Floats, moving: Flags, sliding: Flags,
) -> None:  # fmt: skip
    _follow_speeds(dq, quick, slow, settling, smeared, speeds, moved, slid, turned, moving, sliding)


@kernel(
    "b1(f8[:, ::1], f8[:, ::1], f8[::1], f8, f8, f8[::1], f8[::1], f8[::1], f8[::1], b1[::1], b1[::1],"
    " f8[:, ::1], f8[::1], f8[::1], f8[::1], f8[::1], f8[::1], b1[::1], b1[::1], i8[::1], i8[::1], b1[::1], i8[::1],"
    " f8[::1], f8[::1])"
)
def _pass_within(
    dq: Floats, quick: Floats, slow: Floats, settling: float, smeared: float, speeds: Floats, moved: Floats,
    slid: Floats, turned: Floats, moving: Flags, sliding: Flags, residual: Floats, friction: Floats, held: Floats,
    thresholds: Floats, steps: Floats, decay: Floats, beyond: Flags, reported: Flags, above: Counts, quickly: Counts,
    drifting: Flags, rested: Counts, past: Floats, mean: Floats,
) -> bool:  # fmt: skip
    """Does what `_notice`, `_judge`, `_follow_drift` and `_update_reported` do where no joint exceeds its threshold.

    How long a residual has been below RELEASE is used only for joints that exceed a threshold or are reported: it
    begins anew with each chunk above the threshold, so it is not changed here.
    """
    for j in range(len(beyond)):
        if beyond[j] or reported[j]:
            return False
    before = speeds.copy(), moved.copy(), slid.copy(), turned.copy()
    moved_before, slid_before = moving.copy(), sliding.copy()
    _follow_speeds(dq, quick, slow, settling, smeared, speeds, moved, slid, turned, moving, sliding)
    for j in range(len(beyond)):
        k = int(turned[j])
        stuck = (friction[j] + held[j]) * decay[k] if k < len(decay) else 0.0
        if _size(residual, j) > thresholds[j] + steps[j] + stuck:
            speeds[:], moved[:], slid[:], turned[:] = before
            moving[:], sliding[:] = moved_before, slid_before
            return False
    _mean(residual, mean)
    for j in range(len(beyond)):
        above[j] = quickly[j] = 0
        drifting[j] = False
        rested[j] += 1
        past[j] = mean[j] if moving[j] else np.nan
    return True


@kernel("void(f8[:, ::1], f8[::1], b1[::1], f8[::1], f8[::1], f8[::1], f8[:, ::1])")
def _gather(
    residual: Floats, friction: Floats, moving: Flags, turned: Floats, last: Floats, resting: Floats, found: Floats
) -> None:
    for j in range(len(last)):
        total, peak, square = 0.0, 0.0, 0.0
        for row in range(len(residual)):
            total += residual[row, j]
            peak = max(peak, np.abs(residual[row, j]))
            square += residual[row, j] ** 2
        mean = total / len(residual)
        if moving[j]:
            found[0, j], found[1, j], found[2, j] = (mean - last[j]) ** 2, peak, square / len(residual)
            last[j] = mean
        else:
            found[0, j] = found[1, j] = found[2, j] = last[j] = np.nan
        beyond = _size(residual, j) - friction[j]
        if turned[j] == 0.0 and beyond <= HOLDS * friction[j]:
            resting[j] = max(resting[j], beyond)


@inline
def _stuck(friction: Floats, turned: Floats, decay: Floats, j: int) -> float:
    """Torque that friction may hold, as the low-passes still contain it."""
    k = int(turned[j])
    return float(friction[j] * decay[k]) if k < len(decay) else 0.0


@kernel("b1(f8[:, ::1], f8[::1], f8[::1], f8[::1], f8[::1])")
def _exceeded(residual: Floats, friction: Floats, thresholds: Floats, turned: Floats, decay: Floats) -> bool:
    over = False
    for j in range(len(thresholds)):
        over |= _size(residual, j) > thresholds[j] + _stuck(friction, turned, decay, j)
    return over


@kernel("b1(f8[:, ::1], f8[:, ::1], f8[::1], f8[::1], f8[::1], f8[::1], i8, i8[::1], i8[::1], b1[::1], f8[::1])")
def _judge(
    residual: Floats, before: Floats, friction: Floats, thresholds: Floats, turned: Floats, decay: Floats, quiet: int,
    above: Counts, below: Counts, beyond: Flags, learnt: Floats,
) -> bool:  # fmt: skip
    calm = True
    for j in range(len(beyond)):
        stuck, now = _stuck(friction, turned, decay, j), _size(residual, j)
        limit, size = thresholds[j] + stuck, min(now, _size(before, j))
        if now > limit >= size:
            learnt[j] = max(learnt[j], now - stuck)
        above[j] = above[j] + 1 if size > limit else 0
        below[j] = below[j] + 1 if size < RELEASE * limit else 0
        beyond[j] = (beyond[j] or above[j] >= LASTING) and below[j] < quiet
        calm &= not beyond[j]
    return calm


@kernel("b1(b1[::1], i8[::1], UniTuple(i8, 2), i8[::1], i8[::1], b1[::1], b1[::1], b1[::1])")
def _update_reported(
    beyond: Flags, below: Counts, limits: tuple[int, int], wait: Counts, rested: Counts, reported: Flags, fresh: Flags,
    over: Flags,
) -> bool:  # fmt: skip
    quiet, soon = limits
    changes = False
    for j in range(len(beyond)):
        fresh[j] = beyond[j] and not reported[j]
        if fresh[j]:
            wait[j] = min(2 * wait[j], soon) if rested[j] < soon else quiet
        over[j] = reported[j] and not beyond[j] and below[j] >= wait[j]
        reported[j] = (reported[j] or fresh[j]) and not over[j]
        rested[j] = 0 if reported[j] else rested[j] + 1
        changes |= fresh[j] or over[j]
    return changes


_notice_speeds: Final = direct(_notice)
_within: Final = direct(_pass_within)
_gather_residual: Final = direct(_gather)
