"""Rigid joints of any size and rate that move from position to position and stop there, as industrial robots do.

Speeds are trapezoids of various heights, so most of the time a joint has a constant speed.
"""

import numpy as np

from hil_rig.truth.given import GivenMotion, drawn, joint, measured
from hil_rig.truth.programs import profile
from hil_rig.truth.trial import Trial

SECONDS = 150.0
RATES = (250.0, 500.0, 1000.0, 2000.0)  # Hz
SPEEDS = {"moves": (0.4, 1.2), "scans": (0.08, 0.3)}  # rad/s
RAMP = {"moves": 0.25, "scans": 0.05}  # share of a move's time that each of its two ramps takes


def moves(seed: int, bits: int, kind: str = "moves", rate: float | None = None) -> Trial:
    """One such joint; bits: of its encoder; kind: a key of SPEEDS; rate: Hz (default: one of RATES at random)."""
    rng = np.random.default_rng([seed, 77])
    drawn_rate = float(rng.choice(RATES))
    rate = rate or drawn_rate
    motion = _motion(rng, rate, kind)
    return measured(rng, motion, joint(rng, motion, drawn(rng)), rate, bits)


def _motion(rng: np.random.Generator, rate: float, kind: str) -> GivenMotion:
    """Position, velocity and acceleration at every sample."""
    length = round(SECONDS * rate)
    place, speed, acceleration = np.zeros(length), np.zeros(length), np.zeros(length)
    here, at, ramp = rng.uniform(-1.0, 1.0), 0, RAMP[kind]
    ends = rng.uniform(0.3, 1.4, 2) * (-1.0, 1.0)
    for number in range(length):
        there = rng.uniform(-1.5, 1.5) if kind == "moves" else ends[number % 2] + rng.uniform(-0.2, 0.2)
        way = there - here
        count = max(round(0.5 * rate), round(abs(way) / rng.uniform(*SPEEDS[kind]) * rate))
        rest = rng.choice([0.0, 0.1, rng.uniform(0.5, 3.0)]) if kind == "moves" else 0.5
        gone, pace, slope = profile(np.arange(count) / count, "trapezoid", ramp)
        end, seconds = min(length, at + count), count / rate
        place[at:end] = (here + way * gone)[: end - at]
        speed[at:end] = (way * pace / seconds)[: end - at]
        acceleration[at:end] = (way * slope / seconds**2)[: end - at]
        at, here = min(length, end + round(float(rest) * rate)), there
        place[end:at] = here
        if at == length:
            break
    return GivenMotion(place, speed, acceleration)
