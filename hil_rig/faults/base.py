"""Faults: a change of one part of a servo joint with a random size, and its development in time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from hil_rig.faults.servo_joint import ServoJoint, ServoJointSettings
from hil_rig.plants.base import Floats

CHUNK: Final = 0.05  # s between two updates of the parameters
PLACES: Final = frozenset(  # parameters for the place of a fault, which do not grow with it
    ("order", "cable_from", "wedge_at", "wedge_width", "phase", "b_phase", "spall_order", "hose_from", "wall_at")
    + ("wall_side", "flutter_at", "cogging_order", "wear_speed", "soft_twist", "poles")
)


class Push(NamedTuple):
    """An external torque for a limited time."""

    begin: float  # s after the onset of the fault
    seconds: float
    torque: float  # N·m, maximum of a half sine


@dataclass(frozen=True, slots=True)
class Drawn:
    """A fault with its size: the values of parameters and sensors at its limit, the size at which it must be
    repaired."""

    values: Mapping[str, float] = field(default_factory=dict)
    sensors: Mapping[str, float] = field(default_factory=dict)
    pushes: tuple[Push, ...] = ()
    follow: Callable[[ServoJoint, float], None] | None = None  # changes the joint by the seconds since the onset


def linear(share: float) -> float:
    """Growth at a constant rate."""
    return share


def steps(share: float) -> float:
    """Growth in four steps."""
    return float(np.ceil(4.0 * share) / 4.0)


def smooth(share: float) -> float:
    """Growth with a slow beginning and a slow end."""
    return share * share * (3.0 - 2.0 * share)


def saturating(share: float) -> float:
    """Growth that is fast at first, like the warming of a body."""
    return float((1.0 - np.exp(-3.0 * share)) / (1.0 - np.exp(-3.0)))


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault."""

    name: str
    sudden: bool  # whether it has its full size at once; otherwise it grows up to its limit
    draw: Callable[[ServoJoint, np.random.Generator], Drawn]
    law: Callable[[float], float] = linear  # law of growth: share of the time → share of the limit


@dataclass(frozen=True, slots=True)
class Course:
    """The onset of a fault, and the time until it reaches its limit if it is slow."""

    onset: float  # s
    growth: float  # s

    def severity(self, fault: Fault, time: float) -> float:
        """Return the share of the limit at this time (s), between 0 and 1."""
        if time < self.onset:
            return 0.0
        return 1.0 if fault.sudden else fault.law(min((time - self.onset) / self.growth, 1.0))


def play(
    settings: ServoJointSettings,
    fault: Fault | None,
    course: Course,
    seconds: float,
    seed: int,
    plant: type[ServoJoint] = ServoJoint,
) -> Floats:
    """Return the channels of a joint with a fault, (samples, 2 or 3) as in ServoJoint.rows; it warms by some kelvin."""
    joint = plant(settings, seed)
    rng = np.random.default_rng([seed, 7])
    warming = float(rng.uniform(-2.0, 2.0))  # K, change over the whole time
    drawn = Drawn() if fault is None else fault.draw(joint, rng)
    healthy, fine = dict(joint.values), dict(joint.sensors)
    parts, chunk = [], round(CHUNK * settings.rate)
    for first in range(0, round(seconds * settings.rate), chunk):
        time = first / settings.rate
        share = 0.0 if fault is None else course.severity(fault, time)
        for now, before, limit in ((joint.values, healthy, drawn.values), (joint.sensors, fine, drawn.sensors)):
            for name, value in limit.items():
                reached = float(share > 0.0) if name in PLACES else share
                now[name] = before[name] + reached * (value - before[name])
        joint.values["heat"] += warming * CHUNK / seconds if "heat" not in drawn.values else 0.0
        joint.values["push"] = sum(_torque(one, time + CHUNK / 2 - course.onset) for one in drawn.pushes)
        if drawn.follow is not None and time >= course.onset:
            drawn.follow(joint, time - course.onset)
        parts.append(joint.rows(chunk))
    return np.concatenate(parts)


def _torque(push: Push, time: float) -> float:
    """Return the torque of a push at a time (s) after the onset."""
    share = (time - push.begin) / push.seconds
    return float(push.torque * np.sin(np.pi * share)) if 0.0 < share < 1.0 else 0.0
