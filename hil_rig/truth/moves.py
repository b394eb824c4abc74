"""Rigid joints of any size and rate that go from place to place and stop there, as industrial robots do.

Speeds are trapezoids, each of its own height, so most of the time a joint has a constant speed. The motion is given,
and the torque follows from it exactly; at rest friction holds half of what it was, as after a stop it may be anything.
"""

import numpy as np

from hil_rig.plants.base import Floats, encoder
from hil_rig.truth.trial import Sampled, Trial

SECONDS = 150.0
RATES = (250.0, 500.0, 1000.0, 2000.0)  # Hz
SPEEDS = {"moves": (0.4, 1.2), "scans": (0.08, 0.3)}  # rad/s
RAMP = {"moves": 0.25, "scans": 0.05}  # of a move's time, either


def moves(seed: int, bits: int, kind: str = "moves", rate: float | None = None) -> Trial:
    """One such joint; bits: of its encoder; kind: of SPEEDS; rate: Hz, any of RATES where it is left out."""
    rng = np.random.default_rng([seed, 77])
    drawn = float(rng.choice(RATES))
    rate = rate or drawn
    place, speed, acceleration = _motion(rng, rate, kind)
    size = 10.0 ** rng.uniform(-1.5, 1.7)
    truth = {
        "inertia": size * rng.uniform(0.5, 2.0),
        "viscous": size * rng.uniform(0.3, 4.0),
        "coulomb": size * rng.uniform(0.3, 3.0),
        "offset": size * rng.uniform(-0.5, 0.5),
        "gravity_sin": size * rng.uniform(0.0, 6.0),
        "gravity_cos": size * rng.uniform(-2.0, 2.0),
    }
    last = np.maximum.accumulate(np.where(speed != 0.0, np.arange(len(speed)), 0))
    side = np.where(speed != 0.0, np.sign(speed), 0.5 * np.sign(speed[last]))
    torque = truth["inertia"] * acceleration + truth["viscous"] * speed + truth["coulomb"] * side + truth["offset"]
    torque += truth["gravity_sin"] * np.sin(place) + truth["gravity_cos"] * np.cos(place)
    torque += 0.02 * rng.uniform(0.5, 2.0) * torque.std() * rng.standard_normal(len(torque))
    readings, state = encoder(place, bits), {"count": 0}

    def sample(count: int) -> Sampled:
        first = state["count"]
        state["count"] += count
        part = slice(first, first + count)
        return Sampled(np.column_stack((readings[part], torque[part])), np.arange(first, first + count) / rate)

    model = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}
    return Trial(model, sample, lambda: truth, SECONDS - 1.0, rate=rate)


def _motion(rng: np.random.Generator, rate: float, kind: str) -> tuple[Floats, Floats, Floats]:
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
        s, top = np.arange(count) / count, 1.0 / (1.0 - ramp)
        profile = top * np.clip(np.minimum(s, 1.0 - s) / ramp, 0.0, 1.0)
        slope = top / ramp * ((s < ramp).astype(float) - (s >= 1.0 - ramp))
        before = np.where(s < ramp, s**2 / (2.0 * ramp), s - ramp / 2.0)
        gone = top * np.where(s < 1.0 - ramp, before, 1.0 - ramp - (1.0 - s) ** 2 / (2.0 * ramp))
        end, seconds = min(length, at + count), count / rate
        place[at:end] = (here + way * gone)[: end - at]
        speed[at:end] = (way * profile / seconds)[: end - at]
        acceleration[at:end] = (way * slope / seconds**2)[: end - at]
        at, here = min(length, end + round(float(rest) * rate)), there
        place[end:at] = here
        if at == length:
            break
    return place, speed, acceleration
