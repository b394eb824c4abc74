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
WRONG: Final = 4.0  # deviations from the truth …
SEEN: Final = 1e-3  # … and share of it: derivatives of rows at this rate are exact to 1e-4
TEMPLATE: Final = Path(__file__).parents[3] / "daq" / "jointwatch.toml"

Table = np.ndarray  # (frames, 3) readings: position, torque, counter of each frame


class Judged(NamedTuple):
    """What the pipeline made of a signal that lies from an instant on."""

    valid: bool  # whether the joint was valid before
    wrong: float  # s after the onset of the last update that is valid and wrong; 0: none is
    blind: float  # s, longest time after the onset without an update, or with one that is old and has no reason
    named: float  # s after the onset of the first update that is faulted; infinite: none is
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
    return measured(t, q, _torque(q, v, a), seed)


def resting(end: float, stop: float, go: float, load: float, frozen: bool) -> Table:
    """Frames up to `end` (s) of a joint that slows down at `stop` and moves again at `go`, within a second each.

    load: N·m, amplitude of what other joints do to it while it rests; frozen: its encoder stays from the rest on.
    """
    t = np.arange(round(end * RATE)) / RATE
    slower, faster = np.clip(t - stop, 0.0, 1.0), np.clip(t - go, 0.0, 1.0)
    pace = 1.0 - (3 - 2 * slower) * slower**2 + (3 - 2 * faster) * faster**2
    change = 6.0 * (faster - faster**2 - slower + slower**2)
    when = np.concatenate([[0.0], np.cumsum((pace[1:] + pace[:-1]) / 2)]) / RATE
    q, v, a = motion(when)
    torque = _torque(q, v * pace, a * pace**2 + v * change)
    torque += load * np.sin(4.0 * np.pi * t) * (pace == 0.0)
    return measured(t, np.where(frozen & (t >= go), q[round((go - 0.1) * RATE)], q), torque)


def _torque(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """N·m that moves the joint so."""
    torque = TRUTH["inertia"] * a + TRUTH["viscous"] * v + TRUTH["coulomb"] * np.sign(v) + TRUTH["offset"]
    return np.asarray(torque + TRUTH["gravity_sin"] * np.sin(q) + TRUTH["gravity_cos"] * np.cos(q))


def measured(t: np.ndarray, q: np.ndarray, torque: np.ndarray, seed: int = 1) -> Table:
    """Frames of these instants (s), positions and torques with the encoder's steps and noise, with a counter."""
    begin = t[0]
    torque = torque + NOISE * np.random.default_rng([seed, round(begin * 1e3)]).standard_normal(len(t))
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
    return any(
        abs(values[name] - truth) > max(WRONG * deviations[name], SEEN * abs(truth)) for name, truth in TRUTH.items()
    )


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
    shows: float = 0.0  # s for which what comes may be as it would without the lie


def cases(lies: tuple[LyingSignal, ...]) -> list[tuple[LyingSignal, bool, bool]]:
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
