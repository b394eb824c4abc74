"""Motions with a known mistake of a person in them, for the plausibility look: joints of every rig, and what to name.

A joint is one of several machines and motions, drawn from a seed. A mistake changes what its channels say, never the
physics, and has the code that the look must give; where it cannot be told from such a joint's channels the code is
empty, and nothing may be named.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from estimators.plausibility.mistakes.base import KnownBodies, Motion
from estimators.quantities import Axis
from hil_rig.plants import RIGS
from hil_rig.plants.base import Plant
from hil_rig.plants.joints.rigid import RigidPlantSettings
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings
from hil_rig.plants.trajectory import Trajectory
from hil_rig.truth.moves import moves

SECONDS: Final = 12.0  # as much as a start takes
TURN: Final = 2.0 * math.pi
LATE: Final = 0.005  # s


class Made(NamedTuple):
    """A mistake: how to make it, and what is to be said of it on which machines."""

    make: Callable[[Motion], Motion]
    code: str
    told: Callable[[Motion], bool] = lambda _: True  # whether it can be told from what the motion has


def _drawn(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 29])


def _rigid(seed: int, rate: float = 1000.0, gravity: bool = True, **trajectory: float | str) -> Motion:
    """The rig's joint with its sizes drawn within a factor of two."""
    rng = _drawn(seed)
    sizes = {
        name: getattr(RigidPlantSettings(), name) * float(2.0 ** rng.uniform(-1.0, 1.0))
        for name in ("inertia", "viscous", "coulomb", "offset", "gravity_sin", "gravity_cos")
    }
    sizes |= {} if gravity else {"gravity_sin": 0.0, "gravity_cos": 0.0}
    path = Trajectory.model_validate({"period": float(rng.uniform(5.0, 9.0)), **trajectory})
    plant = RigidPlantSettings.model_validate(sizes | {"trajectory": path, "rate": rate}).build(1, seed, [])
    return motion_of(plant)


def _two_mass(seed: int, identify: str) -> Motion:
    """The elastic joint: seen behind its gear, or from its motor with its bodies known."""
    rng = _drawn(seed)
    path = Trajectory(
        kind="position", speed=float(rng.uniform(0.4, 0.9)), period=float(rng.uniform(3.0, 6.0)), dither=1
    )
    constant = float(rng.uniform(12.0, 70.0))  # N·m/A
    settings = TwoMassPlantSettings.model_validate(
        {"identify": identify, "trajectory": path, "torque_constant": constant}
    )
    return motion_of(settings.build(1, seed, []))


def _sliding(seed: int) -> Motion:
    """A linear axis that goes to and fro: the rig's joint without a weight that turns with it."""
    motion = _rigid(seed, gravity=False, kind="position", speed=0.3, dither=0.3)
    return motion._replace(axis=Axis.PRISMATIC)


def _moves(seed: int, kind: str, rate: float = 1000.0) -> Motion:
    trial = moves(seed, 20, kind, rate)
    values = trial.sample(round(SECONDS * trial.rate)).values
    return Motion(np.arange(len(values)) / trial.rate, values[:, 0], values[:, 1])


def motion_of(plant: Plant, seconds: float = SECONDS) -> Motion:
    """What the channels of a rig's joint say, as an estimator gets them."""
    names = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    rows = plant.rows(round(seconds * plant.rate))
    channel = {role: one.scale * rows[:, names.index(one.signal)] for role, one in plant.roles.items()}
    times = plant.times()
    time = np.arange(len(rows)) / plant.rate if times is None else times[: len(rows)]
    model, known = plant.model, None
    if model["kind"] == "two_mass":
        known = KnownBodies(model["inertia_motor"], model["inertia_link"], model["gravity"])
    effort = channel["torque"] if "torque" in channel else channel["force"]
    spring = bool(model.get("motor_friction", {}).get("stiffness"))
    return Motion(time, channel["position"], effort, link=channel.get("link_position"), known=known, spring=spring)


MACHINES: Final[Mapping[str, Callable[[int], Motion]]] = {
    "rigid, slow": lambda seed: _rigid(seed),
    "rigid, shaken": lambda seed: _rigid(seed, dither=1.0),
    "rigid, to and fro": lambda seed: _rigid(seed, kind="position", speed=0.5),
    "pick and place": lambda seed: _moves(seed, "moves"),
    "scans": lambda seed: _moves(seed, "scans"),
    "moves at 250 Hz": lambda seed: _moves(seed, "moves", 250.0),
    "shaken at 200 Hz": lambda seed: _rigid(seed, 200.0, dither=1.0),
    "slide": _sliding,
    "two-mass, link": lambda seed: _two_mass(seed, "link"),
    "two-mass, motor": lambda seed: _two_mass(seed, "elastic"),
}


def with_velocity(motion: Motion) -> Motion:
    """Motion from a drive that gives a velocity, too: the difference of its encoder, one sample late."""
    velocity = np.gradient(motion.position, motion.time)
    return motion._replace(velocity=np.concatenate([velocity[:1], velocity[:-1]]))


def _shifted(values: np.ndarray, time: np.ndarray, seconds: float) -> np.ndarray:
    return np.asarray(np.interp(time - seconds, time, values))


def _wrapped(motion: Motion) -> Motion:
    """The encoder's end lies amid the motion."""
    q = motion.position
    return motion._replace(position=(q - np.median(q)) % TURN - math.pi + 0.0)


def _both(motion: Motion, factor: float) -> Motion:
    """Position, and the encoder behind the gear, by a factor."""
    return motion._replace(
        position=factor * motion.position, link=None if motion.link is None else factor * motion.link
    )


def _slower(motion: Motion, factor: float) -> Motion:
    return motion._replace(time=factor * motion.time)


def _known(motion: Motion) -> bool:
    return motion.known is not None


def _turns(motion: Motion) -> bool:
    return motion.axis is Axis.ROTARY


MADE: Final[Mapping[str, Made]] = {
    "none": Made(lambda m: m, "", lambda _: False),
    "degrees for radians": Made(lambda m: _both(m, 180.0 / math.pi), "position_in_degrees", _turns),
    "position and torque exchanged": Made(
        lambda m: m._replace(position=m.effort, effort=m.position), "channels_exchanged"
    ),
    "sign of the torque": Made(lambda m: m._replace(effort=-m.effort), "torque_sign_reversed"),
    "sign of the position, a velocity": Made(lambda m: _both(with_velocity(m), -1.0), "position_sign_reversed"),
    "sign of the velocity": Made(
        lambda m: (w := with_velocity(m))._replace(velocity=-w.velocity), "velocity_sign_reversed"
    ),
    "encoder wraps at ±π": Made(_wrapped, "position_wraps", _turns),
    "mN·m, limit known": Made(
        lambda m: m._replace(effort=1e3 * m.effort, limit=1.5 * float(np.abs(m.effort).max())), "torque_scale"
    ),
    "mN·m": Made(lambda m: m._replace(effort=1e3 * m.effort), "torque_scale", _known),
    "torque 5 ms late": Made(lambda m: m._replace(effort=_shifted(m.effort, m.time, LATE)), "torque_misaligned"),
    "torque 5 ms early": Made(lambda m: m._replace(effort=_shifted(m.effort, m.time, -LATE)), "torque_misaligned"),
    "rate × 2, a velocity": Made(lambda m: _slower(with_velocity(m), 0.5), "time_factor"),
    "rate × ½, a velocity": Made(lambda m: _slower(with_velocity(m), 2.0), "time_factor"),
    "rate × 2": Made(lambda m: _slower(m, 0.5), "time_factor", _known),
    "current for torque, column named": Made(
        lambda m: m._replace(effort=m.effort / 17.0, source="motor_current"), "current_as_torque"
    ),
    "current for torque": Made(lambda m: m._replace(effort=m.effort / 17.0), "current_as_torque", _known),
    "ms read as s": Made(lambda m: _slower(m, 1000.0), "time_in_milliseconds"),
}


def every_rig(seed: int) -> Iterator[tuple[str, dict[str, Motion]]]:
    """Every joint with position and torque of every rig: rig → joint → motion."""
    for name, rig in RIGS.items():
        if name == "recording":
            continue
        joints = rig.settings().robot(rig.joints, seed, [])
        found = {}
        for joint, plant in joints.items():
            if {"torque", "force"} & set(plant.roles) and "position" in plant.roles:
                found[joint] = motion_of(plant)
        yield name, found
