"""Counts the use of a joint from its positions: time in motion, way, reversals, starts.

A follower with play (the play operator of hysteresis) is dragged behind the position and stays where the position moves
within ± `band` around it, so noise and encoder steps at rest count for nothing:

    c ← c + sign(q − c)·max(0, |q − c| − band)

The way is that of the follower; at a reversal it loses the play once to each side, which is given back (2·band), so the
way of a motion is the sum of the distances between its turning points. What lasts longer than PAUSE without moving the
follower is rest. A motion after a rest counts, with all that it has counted so far, once it has come 2·band away from
where it began. A single wild sample is removed by the median of three.
"""

import math
from typing import Final, NamedTuple

from estimators.numerics.jit import inline, kernel
from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.layout import Layout

#: rad (m), argued: Half of the play of a joint whose encoder's step is not known, 0.03°: below what wears a gear, above
#: the noise of an encoder.
BAND: Final = 5e-4
#: 1, argued: Encoder steps that half of the play has at least: one is that of the rounding, one of its noise.
STEPS: Final = 2.0
#: s, argued: Time without motion that is rest. A reversal takes the time to cross the play, 2·√(2·2·BAND/a), which is
#: less from an acceleration a of 0.04 rad/s² on.
PAUSE: Final = 0.5


class UseCounts(NamedTuple):
    """How much a joint has been used."""

    seconds: float = 0.0  # in motion
    travel: float = 0.0  # rad (m)
    reversals: int = 0
    starts: int = 0  # motions after a rest


class UseState(Layout, version=1):
    """What was counted, and where the follower is."""

    band: float = BAND  # rad (m), half of the play
    begun: bool = False  # whether the follower has a place
    centre: float = 0.0  # rad (m), place of the follower
    last: float = math.nan  # rad (m), the last sample and the one before
    earlier: float = math.nan
    seen: int = 0  # ns, of the last sample
    moved: int = 0  # ns, when the follower moved last
    direction: int = 0  # of the last motion that counted: −1, 0 or 1
    counting: bool = False  # whether the present motion counts already
    origin: float = 0.0  # rad (m), where the present motion began
    heading: int = 0  # of the present motion
    new_seconds: float = 0.0  # of a motion that does not count yet
    new_travel: float = 0.0
    new_reversals: int = 0
    seconds: float = 0.0
    travel: float = 0.0
    reversals: int = 0
    starts: int = 0

    @property
    def counts(self) -> UseCounts:
        """What has been counted since the beginning."""
        return UseCounts(self.seconds, self.travel, self.reversals, self.starts)


@inline
def middle(a: float, b: float, c: float) -> float:
    """The median of three; of fewer where some are NaN: the newest, c."""
    if math.isnan(a) or math.isnan(b):
        return c
    return max(min(a, b), min(max(a, b), c))


@inline
def move(position: float, time: int, use: UseState) -> None:
    """Drag the follower to this position, and count its motion. time: ns."""
    distance = abs(position - use.centre) - use.band
    if distance <= 0.0:
        return
    heading = 1 if position > use.centre else -1
    elapsed = (time - use.moved) / 1e9
    if use.moved == 0 or elapsed > PAUSE:
        use.counting, use.origin, use.heading, elapsed = False, use.centre, use.direction, 0.0
        use.new_seconds, use.new_travel, use.new_reversals = 0.0, 0.0, 0
    turned = use.heading != 0 and heading != use.heading
    use.centre += heading * distance
    use.moved, use.heading = time, heading
    use.new_seconds += elapsed
    use.new_travel += distance + (2.0 * use.band if turned else 0.0)
    use.new_reversals += 1 if turned else 0
    if not use.counting and abs(use.centre - use.origin) > 2.0 * use.band:
        use.counting = True
        use.starts += 1
    if use.counting:
        use.seconds += use.new_seconds
        use.travel += use.new_travel
        use.reversals += use.new_reversals
        use.direction = heading
        use.new_seconds, use.new_travel, use.new_reversals = 0.0, 0.0, 0


@kernel(("i8[::1]", "f8[:,::1]", "i8", UseState))
def count_use(times: Nanoseconds, samples: Floats, channel: int, use: UseState) -> None:
    """Count samples: times (samples,) ns; samples (samples, channels), one of them the position, NaN where missing."""
    for row in range(len(times)):
        raw = samples[row, channel]
        if math.isnan(raw):
            continue
        if not use.begun or (times[row] - use.seen) / 1e9 > PAUSE:
            # the first sample, or the first after a time without any: what happened meanwhile is not known
            use.begun, use.counting, use.centre, use.moved = True, False, raw, 0
            use.earlier, use.last, use.seen = math.nan, raw, times[row]
            continue
        position = middle(use.earlier, use.last, raw)
        use.earlier, use.last, use.seen = use.last, raw, times[row]
        move(position, times[row], use)
