"""Motion programs of industrial joints: pick-and-place with dwell, indexing one way, scanning, one sine."""

from collections.abc import Iterable
from itertools import cycle, repeat
from typing import Final, NamedTuple

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.truth.given import GivenMotion, drawn, joint, measured
from hil_rig.truth.trial import Trial

SECONDS: Final = 120.0
SHAPES: Final = ("trapezoid", "smooth")


class Move(NamedTuple):
    """One move and the rest after it."""

    way: float  # rad
    seconds: float
    rest: float  # s


def profile(s: Floats, shape: str, ramp: float = 0.25) -> tuple[Floats, Floats, Floats]:
    """Position, speed and acceleration of a unit move from rest to rest at shares s of its time.

    A smooth move has minimum jerk; ramp: share of the time that each ramp of a trapezoidal speed takes.
    """
    if shape == "smooth":
        speed, acceleration = 30.0 * s**2 * (1.0 - s) ** 2, 60.0 * s * (1.0 - 3.0 * s + 2.0 * s**2)
        return s**3 * (10.0 - 15.0 * s + 6.0 * s**2), speed, acceleration
    top = 1.0 / (1.0 - ramp)
    speed = top * np.clip(np.minimum(s, 1.0 - s) / ramp, 0.0, 1.0)
    acceleration = top / ramp * ((s < ramp).astype(float) - (s >= 1.0 - ramp))
    before = np.where(s < ramp, s**2 / (2.0 * ramp), s - ramp / 2.0)
    return top * np.where(s < 1.0 - ramp, before, 1.0 - ramp - (1.0 - s) ** 2 / (2.0 * ramp)), speed, acceleration


def moved(start: float, moves: Iterable[Move], rate: float, seconds: float, shape: str) -> GivenMotion:
    """Make moves one after the other from a position until the time is over. They begin and end between samples."""
    t = np.arange(round(seconds * rate)) / rate
    motion, at, here = GivenMotion(np.full(len(t), start), np.zeros(len(t)), np.zeros(len(t))), 0.3, start
    for way, length, rest in moves:
        if at >= seconds:
            break
        inside = slice(int(np.searchsorted(t, at)), int(np.searchsorted(t, at + length)))
        share, speed, acceleration = profile((t[inside] - at) / length, shape)
        motion.place[inside.start :] = here + way
        motion.place[inside] = here + way * share
        motion.speed[inside], motion.acceleration[inside] = way * speed / length, way * acceleration / length**2
        at, here = at + length + rest, here + way
    return motion


def pick_motion(rng: np.random.Generator, rate: float) -> GivenMotion:
    """A repeated program of three to six stations, each with its own speed and dwell, equal in every cycle."""
    count, shape = int(rng.integers(3, 7)), str(rng.choice(SHAPES))
    stations = rng.uniform(-1.2, 1.2, count)
    while np.abs(np.diff(stations, append=stations[0])).min() < 0.15:
        stations = rng.uniform(-1.2, 1.2, count)
    speeds, dwells = rng.uniform(0.4, 1.5, count), rng.choice([0.0, 0.2, 0.5, 1.0], count)
    ways = np.diff(stations, append=stations[0])
    round_trip = [Move(*one) for one in zip(ways, np.maximum(0.3, np.abs(ways) / speeds), dwells, strict=True)]
    return moved(float(stations[0]), cycle(round_trip), rate, SECONDS, shape)


def pick(seed: int, rate: float, bits: int) -> Trial:
    """A random program of pick-and-place with dwell."""
    rng = np.random.default_rng([seed, 31, round(rate)])
    motion = pick_motion(rng, rate)
    return measured(rng, motion, joint(rng, motion, drawn(rng)), rate, bits)


def index(seed: int) -> Trial:
    """A table that is indexed in one direction with the same step and dwell every time."""
    rng, rate = np.random.default_rng([seed, 32]), 500.0
    step, length, dwell = 2.0 * np.pi / int(rng.integers(5, 13)), rng.uniform(0.5, 1.5), rng.uniform(0.2, 1.0)
    motion = moved(0.0, repeat(Move(step, length, dwell)), rate, SECONDS, "smooth")
    return measured(rng, motion, joint(rng, motion, drawn(rng)), rate, 19)


def sine(seed: int) -> Trial:
    """A joint that moves along one sine."""
    rng, rate = np.random.default_rng([seed, 33]), 1000.0
    size, w, phase = rng.uniform(0.4, 1.2), rng.uniform(0.6, 3.0), rng.uniform(0.0, 6.28)
    t = np.arange(round(SECONDS * rate)) / rate
    x = w * t + phase
    motion = GivenMotion(rng.uniform(-0.5, 0.5) + size * np.sin(x), size * w * np.cos(x), -size * w * w * np.sin(x))
    return measured(rng, motion, joint(rng, motion, drawn(rng)), rate, 19)


def scan(seed: int) -> Trial:
    """A joint that scans to and fro at 0.01 rad/s, as a telescope or an antenna does."""
    rng, rate = np.random.default_rng([seed, 34]), 250.0
    width = rng.uniform(0.05, 0.1)
    to_and_fro = cycle([Move(way, width / 0.01, 0.5) for way in (width, -width)])
    motion = moved(float(rng.uniform(-1.0, 1.0)), to_and_fro, rate, SECONDS, "trapezoid")
    return measured(rng, motion, joint(rng, motion, drawn(rng)), rate, 22)
