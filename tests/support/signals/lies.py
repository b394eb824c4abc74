"""The signals that lie: each from an instant on, with the codes of the reasons that name it."""

from collections.abc import Callable
from typing import Final

import numpy as np

from tests.support.signals.lying_signals import LyingSignal, Table, frames

Lie = Callable[[float, float], Table]


def _at(rate: float) -> Lie:
    return lambda begin, end: frames(begin, end, rate)


def _changed(change: Callable[[Table], Table]) -> Lie:
    return lambda begin, end: change(frames(begin, end))


def _lossy(table: Table) -> Table:
    return table[np.arange(len(table)) % 60 >= 3]


def _scarce(table: Table) -> Table:
    return table[np.arange(len(table)) % 100 >= 20]


def _stuck(table: Table) -> Table:
    table["value"][:, 2] = table["value"][0, 2]
    return table


def _down(table: Table) -> Table:
    table["value"][:, 2] = (table["value"][0, 2] - np.arange(len(table))) % 65536
    return table


def _random(table: Table) -> Table:
    table["value"][:, 2] = np.random.default_rng(3).integers(0, 65536, len(table))
    return table


def _twice(table: Table) -> Table:
    return np.repeat(table, 2, axis=0)


def _counts(count: Callable[[np.ndarray], np.ndarray]) -> Callable[[Table], Table]:
    """Another counter, by the number of the frame."""

    def change(table: Table) -> Table:
        table["value"][:, 2] = count(round(table["value"][0, 2]) + np.arange(len(table)))
        return table

    return change


def _stays(column: int, value: float | None, first: int = 300, frames: int = 10_000) -> Callable[[Table], Table]:
    """A channel that says one value from a frame on; None: that of the frame."""

    def change(table: Table) -> Table:
        table["value"][first : first + frames, column] = table["value"][first, column] if value is None else value
        return table

    return change


def _leaps(table: Table) -> Table:
    """After a second the encoder counts from another zero."""
    table["value"][1000:, 0] += 1.0
    return table


def _frozen(table: Table) -> Table:
    """The encoder freezes after 0.3 s for 3 s, in motion."""
    table["value"][300:3300, 0] = table["value"][300, 0]
    return table


def _reversed(many: int) -> Callable[[Table], Table]:
    """Each so many frames the other way round, at the instants at which they came."""

    def change(table: Table) -> Table:
        table = table[: len(table) // many * many]
        table["value"] = table["value"].reshape(-1, many, 3)[:, ::-1].reshape(-1, 3)
        return table

    return change


def _bursts(table: Table) -> Table:
    """5 % of the frames lost, three in a row."""
    first = np.random.default_rng(7).random(len(table)) < 0.05 / 3.0
    return table[~np.convolve(first, np.ones(3))[: len(table)].astype(bool)]


def _held(every: int, of: int, columns: slice) -> Callable[[Table], Table]:
    """Repeats frames: `every` of `of` frames have new values, the others repeat the one before."""

    def change(table: Table) -> Table:
        number = np.arange(len(table))
        fresh = number // of * of + (number % of) * every // of * of // every
        table["value"][:, columns] = table["value"][fresh, columns]
        return table

    return change


def _jitter(table: Table) -> Table:
    """Frames arrive up to 5 ms late, in order."""
    late = np.random.default_rng(5).integers(0, 5_000_000, len(table))
    table["time"] = np.maximum.accumulate(table["time"][:, 0] + late)[:, None]
    return table


def _saturated(table: Table) -> Table:
    """A torque sensor that clips at 60 % of the largest torque."""
    limit = 0.6 * np.abs(table["value"][:, 1]).max()
    table["value"][:, 1] = np.clip(table["value"][:, 1], -limit, limit)
    return table


def _dead_zone(table: Table) -> Table:
    """A torque that is zero below 2 N·m, and less by as much above."""
    torque = table["value"][:, 1]
    table["value"][:, 1] = np.sign(torque) * np.maximum(0.0, np.abs(torque) - 2.0)
    return table


def _dead_band(table: Table) -> Table:
    """A torque that is zero below 4 N·m, and right above."""
    torque = table["value"][:, 1]
    table["value"][:, 1] = np.where(np.abs(torque) < 4.0, 0.0, torque)
    return table


def _drops(table: Table) -> Table:
    """One torque in fifty is zero: the device has none."""
    table["value"][np.random.default_rng(11).random(len(table)) < 0.02, 1] = 0.0
    return table


def _coarse(table: Table) -> Table:
    """A torque of 8 bits over ±50 N·m."""
    step = 100.0 / 256.0
    table["value"][:, 1] = step * np.round(table["value"][:, 1] / step)
    return table


LIES: Final = (
    *(LyingSignal(f"device at {rate} Hz", _at(rate), ("wrong_rate",)) for rate in (400, 500, 800, 1010, 1250)),
    LyingSignal("3 of every 60 samples lost", _changed(_lossy), ()),
    LyingSignal("20 of every 100 samples lost", _changed(_scarce), ()),
    LyingSignal("counter stuck", _changed(_stuck), ("counter_stuck",), True),
    LyingSignal("counter counts down", _changed(_down), ("counter_backwards",), True),
    LyingSignal("counter at random", _changed(_random), ("counter_jumps",), True),
    LyingSignal("counter counts in twos", _changed(_counts(lambda n: 2 * n % 65536)), ("counter_fast",), True),
    LyingSignal("counter of 8 bits", _changed(_counts(lambda n: n % 256)), ("counter_smaller",), True),
    LyingSignal("counter of 12 bits", _changed(_counts(lambda n: n % 4096)), ("counter_smaller",), True, shows=4.096),
    LyingSignal("every frame twice", _changed(_twice), ("frames_repeated",), False),
    LyingSignal("every frame twice, counted", _changed(_twice), (), True),
    LyingSignal("encoder freezes and comes back", _changed(_frozen), ("encoder_frozen",)),
    LyingSignal("encoder leaps to zero and freezes there", _changed(_stays(0, 0.0, 300, 3000)), ("encoder_frozen",)),
    LyingSignal("encoder leaps by 1 rad", _changed(_leaps), ("encoder_leaps",)),
    LyingSignal("torque is not a number", _changed(_stays(1, np.nan)), ("channel_dead",)),
    LyingSignal("torque freezes", _changed(_stays(1, None)), ("torque_frozen",)),
    LyingSignal("torque stays at 40 N·m", _changed(_stays(1, 40.0)), ("torque_frozen",)),
    LyingSignal("frames reversed in threes", _changed(_reversed(3)), ("frames_zigzag",), False),
    LyingSignal("frames reversed in tens", _changed(_reversed(10)), ("frames_zigzag",), False),
    LyingSignal("frames reversed in forties", _changed(_reversed(40)), ("frames_zigzag",), False),
    LyingSignal("frames reversed in tens, counted", _changed(_reversed(10)), ("frames_disordered",), True),
)


FAULTS: Final = (
    LyingSignal("5 % lost in bursts of three", _changed(_bursts), ()),
    LyingSignal("values held, every second new", _changed(_held(1, 2, slice(0, 2))), ("values_held",)),
    LyingSignal("values held, four of five new", _changed(_held(4, 5, slice(0, 2))), ("values_held",)),
    LyingSignal("position held, every second new", _changed(_held(1, 2, slice(0, 1))), ("values_held",)),
    LyingSignal("torque held, every fifth new", _changed(_held(1, 5, slice(1, 2))), ("torque_held",)),
    LyingSignal("torque held, nine of ten new", _changed(_held(9, 10, slice(1, 2))), ("torque_held",)),
    LyingSignal("position held, every twentieth new", _changed(_held(1, 20, slice(0, 1))), ("values_held",)),
    LyingSignal("arrivals jitter by 5 ms", _changed(_jitter), ()),
    LyingSignal("torque saturates at 60 %", _changed(_saturated), ("torque_clipped",)),
    LyingSignal("torque has a dead zone of 2 N·m", _changed(_dead_zone), ("torque_dead_zone",)),
    LyingSignal("torque has a dead band of 4 N·m", _changed(_dead_band), ("torque_dead_zone",)),
    LyingSignal("torque drops to zero in 2 % of the frames", _changed(_drops), ("torque_drops",)),
    LyingSignal("torque of 8 bits", _changed(_coarse), ()),
)
