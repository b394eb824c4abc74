"""Frames of the template's joint in which a signal lies, and a judge of what the pipeline made of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import msgpack
import numpy as np

from daq.config.load import load
from daq.config.sections import Config
from daq.core.pipeline import Pipeline
from drivers.reading import READING

TRUTH: Final = {"inertia": 2.0, "viscous": 3.0, "coulomb": 1.5, "offset": 0.4, "gravity_sin": 5.0, "gravity_cos": -1.0}
BEGIN: Final = 1_000_000_000  # ns
ONSET: Final = 16.0  # s from which a signal lies; the joint is valid by then
LYING: Final = 6.0  # s for which it does
RATE: Final = 1000.0  # Hz, as configured
STEP: Final = 2.0 * np.pi / 2**19  # rad, of the encoder
NOISE: Final = 0.05  # N·m
WRONG: Final = 4.0  # deviations from the truth
TEMPLATE: Final = Path(__file__).parents[2] / "daq" / "jointwatch.toml"

Table = np.ndarray  # (frames, 3) readings: position, torque, counter of each frame


class Judged(NamedTuple):
    """What the pipeline made of a signal that lies from an instant on."""

    valid: bool  # whether the joint was valid before
    wrong: float  # s behind the onset of the last update that is valid and wrong; 0: none is
    blind: float  # s, longest time behind the onset without an update, or with one that is old and has no reason
    named: float  # s behind the onset of the first update that is faulted; infinite: none is
    codes: tuple[str, ...]  # of the reasons of faulted updates, the most frequent first
    last: str  # status of the last update


def motion(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, speed and acceleration at these seconds."""
    amplitude, omega = np.array([[0.5], [0.3]]), 2 * np.pi * np.array([[0.5], [1.3]])
    turn = omega * t
    return (
        np.sum(amplitude * np.sin(turn), axis=0),
        np.sum(amplitude * omega * np.cos(turn), axis=0),
        np.sum(-amplitude * omega**2 * np.sin(turn), axis=0),
    )


def frames(begin: float, end: float, rate: float = RATE, seed: int = 1) -> Table:
    """Frames sampled at this rate (Hz) between two instants (s), with a counter of frames."""
    t = begin + np.arange(round((end - begin) * rate)) / rate
    q, v, a = motion(t)
    torque = TRUTH["inertia"] * a + TRUTH["viscous"] * v + TRUTH["coulomb"] * np.sign(v) + TRUTH["offset"]
    torque += TRUTH["gravity_sin"] * np.sin(q) + TRUTH["gravity_cos"] * np.cos(q)
    torque += NOISE * np.random.default_rng([seed, round(begin * 1e3)]).standard_normal(len(t))
    table = np.zeros((len(t), 3), READING)
    table["time"] = BEGIN + np.round(t * 1e9).astype(np.int64)[:, None]
    table["channel"] = [0, 1, 2]
    count = round(begin * RATE) + np.arange(len(t))
    table["value"] = np.column_stack([STEP * np.round(q / STEP), torque, count % 65536])
    return table


def configuration(counted: bool = True) -> Config:
    """The template's, with or without its counter."""
    config = load(TEMPLATE)
    elbow = config.joints["elbow"]
    own = elbow if counted else elbow.model_copy(update={"counter": None})
    return config.model_copy(update={"joints": {"elbow": own}})


def play(config: Config, table: Table, batch: int = 20_000_000) -> list[dict]:
    """Updates that a pipeline makes of these frames, `batch` ns at a time; `said`: s when."""
    pipeline, said = Pipeline(config, boot=1), []
    readings = table.reshape(-1)
    if config.joints["elbow"].counter is None:
        readings = readings[readings["channel"] < 2]
    for part in np.split(readings, np.flatnonzero(np.diff(readings["time"] // batch)) + 1):
        now = int(part["time"][-1])
        messages = pipeline.absorb(part, 0, lambda now=now: now) + pipeline.check_silence(now, 0)
        for topic, body in messages:
            if topic == b"estimate/elbow":
                said.append(msgpack.unpackb(body) | {"said": (now - BEGIN) / 1e9})
    return said


def wrong(update: dict) -> bool:
    """Whether an update that may be used says what is not so."""
    if update["health"]["status"] not in ("valid", "held"):
        return False
    values, deviations = update["parameters"], update["deviations"]
    return any(abs(values[name] - truth) > WRONG * deviations[name] for name, truth in TRUTH.items())


def judge(said: list[dict], onset: float, end: float) -> Judged:
    """What was said from the onset on."""
    before = [one for one in said if one["said"] < onset]
    behind = [one for one in said if one["said"] >= onset]
    faulted = [one for one in behind if one["health"]["status"] == "faulted"]
    codes = [reason["code"] for one in faulted for reason in one["health"]["reasons"][:1]]
    useful = [one["said"] for one in behind if one["health"]["reasons"] or one["said"] - one["timestamp"] + 1.0 < 1.0]
    times = np.array([onset, *useful, end])
    return Judged(
        valid=any(one["health"]["status"] == "valid" for one in before),
        wrong=max((one["said"] - onset for one in behind if wrong(one)), default=0.0),
        blind=float(np.diff(times).max()),
        named=faulted[0]["said"] - onset if faulted else np.inf,
        codes=tuple(sorted(set(codes), key=codes.count, reverse=True)),
        last=behind[-1]["health"]["status"] if behind else "",
    )


class LyingSignal(NamedTuple):
    """A signal that lies."""

    name: str
    lie: Callable[[float, float], Table]  # frames between two instants (s)
    codes: tuple[str, ...]  # of the reasons that name it; (): it is used rightly, or not at all
    counted: bool | None = None  # whether there is a counter; None: with and without


Lie = Callable[[float, float], Table]


def _at(rate: float) -> Lie:
    return lambda begin, end: frames(begin, end, rate)


def _changed(change: Callable[[Table], Table]) -> Lie:
    return lambda begin, end: change(frames(begin, end))


def _lossy(table: Table) -> Table:
    return table[np.arange(len(table)) % 60 >= 3]


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


def _frozen(table: Table) -> Table:
    """The encoder freezes after 0.3 s for 3 s, in motion."""
    table["value"][300:3300, 0] = table["value"][300, 0]
    return table


def _reversed(table: Table) -> Table:
    """Each ten frames the other way round, at the instants at which ten came."""
    table["value"] = table["value"].reshape(-1, 10, 3)[:, ::-1].reshape(-1, 3)
    return table


def _bursts(table: Table) -> Table:
    """5 % of the frames lost, three in a row."""
    first = np.random.default_rng(7).random(len(table)) < 0.05 / 3.0
    return table[~np.convolve(first, np.ones(3))[: len(table)].astype(bool)]


def _held(every: int, of: int, columns: slice) -> Callable[[Table], Table]:
    """Of `of` frames `every` have new values, the others repeat the one before."""

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


def _coarse(table: Table) -> Table:
    """A torque of 8 bits over ±50 N·m."""
    step = 100.0 / 256.0
    table["value"][:, 1] = step * np.round(table["value"][:, 1] / step)
    return table


LIES: Final = (
    *(LyingSignal(f"device at {rate} Hz", _at(rate), ("wrong_rate",)) for rate in (400, 500, 800, 1010, 1250)),
    LyingSignal("3 of every 60 samples lost", _changed(_lossy), ()),
    LyingSignal("counter stuck", _changed(_stuck), ("counter_stuck",), True),
    LyingSignal("counter counts down", _changed(_down), ("counter_backwards",), True),
    LyingSignal("counter at random", _changed(_random), ("counter_jumps",), True),
    LyingSignal("every frame twice", _changed(_twice), ("frames_repeated",), False),
    LyingSignal("every frame twice, counted", _changed(_twice), (), True),
    LyingSignal("encoder freezes and comes back", _changed(_frozen), ("encoder_frozen",)),
    LyingSignal("frames reversed in tens", _changed(_reversed), ("frames_zigzag",), False),
    LyingSignal("frames reversed in tens, counted", _changed(_reversed), ("frames_disordered",), True),
)


FAULTS: Final = (
    LyingSignal("5 % lost in bursts of three", _changed(_bursts), ()),
    LyingSignal("values held, every second new", _changed(_held(1, 2, slice(0, 2))), ("values_held",)),
    LyingSignal("values held, four of five new", _changed(_held(4, 5, slice(0, 2))), ("values_held",)),
    LyingSignal("position held, every second new", _changed(_held(1, 2, slice(0, 1))), ("values_held",)),
    LyingSignal("arrivals jitter by 5 ms", _changed(_jitter), ()),
    LyingSignal("torque saturates at 60 %", _changed(_saturated), ()),
    LyingSignal("torque has a dead zone of 2 N·m", _changed(_dead_zone), ("torque_dead_zone",)),
    LyingSignal("torque of 8 bits", _changed(_coarse), ()),
)


def cases(lies: tuple[LyingSignal, ...] = LIES) -> list[tuple[LyingSignal, bool, bool]]:
    """Every lie with and without a counter, from the start and in mid-run: (lie, counted, from the start)."""
    return [
        (lie, counted, early)
        for lie in lies
        for counted in ((True, False) if lie.counted is None else (lie.counted,))
        for early in (False, True)
    ]


def run(lie: LyingSignal, counted: bool, early: bool, lying: float = LYING) -> Judged:
    """Play a signal that lies for so long (s) through the pipeline."""
    onset = 0.0 if early else ONSET
    end = onset + lying
    table = lie.lie(onset, end)
    if not early:
        table = np.concatenate([frames(0.0, onset), table])
    return judge(play(configuration(counted), table), onset, end)
