"""The rows of `jointwatch bench truth`: joints whose model is right, and joints whose model is wrong."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from hil_rig.plants.base import Jump, encoder
from hil_rig.plants.joints.gear import GearPlantSettings
from hil_rig.plants.joints.imperfect import STOPS, Imperfect, ImperfectSettings
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings
from hil_rig.plants.trajectory import Trajectory
from hil_rig.truth import robot, unseen_rows
from hil_rig.truth.moves import moves
from hil_rig.truth.trial import Sampled, Trial, TruthRow

RIGID: Final = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}
MEMORY: Final = RIGID | {"friction": {"kind": "prandtl_ishlinskii"}}
LUGRE: Final = RIGID | {"friction": {"kind": "lugre"}}
SPRINGS: Final = RIGID | {"friction": {"kind": "prandtl_ishlinskii", "thresholds": [reach for _, reach in STOPS]}}
STRIBECK: Final = RIGID | {"friction": {"kind": "tanh_stribeck"}}
NOISE: Final = 0.2  # N·m, standard deviation of the torque, white
SECONDS: Final = 150.0


def rigid(
    seed: int,
    bits: int = 20,
    late: float = 0.0,
    jitter: float = 0.0,
    dropouts: float = 0.0,
    backlash: float = 0.0,
    wild: bool = False,
    jumps: tuple[Jump, ...] = (),
    seconds: float = SECONDS,
    model: Mapping[str, Any] = RIGID,
    judged: tuple[str, ...] = (),
    trial: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Trial:
    """A rigid joint.

    late: s, delay of the torque; jitter: s, of the sampling instants, which are stamped; dropouts: share of frames that
    are lost; backlash: rad between encoder and joint; wild: fields of ±1e30 for some seconds; judged: parameters that
    have a truth (default: all).
    """
    rng = np.random.default_rng([seed, 14])
    motion = Trajectory(speed=rng.uniform(0.8, 1.2), period=rng.uniform(6.0, 9.0), dither=settings.pop("dither", 0.0))
    plant = Imperfect(ImperfectSettings(trajectory=motion, **settings), jumps)
    lag = round(late * plant.rate)
    state: dict[str, Any] = {"count": 0, "before": plant.exact(1 + lag), "side": 0.0}

    def sample(count: int) -> Sampled:
        exact = np.concatenate((state["before"], plant.exact(count)))
        state["before"] = exact[-(1 + lag) :]
        torque, now = exact[1 : 1 + count, 3] if lag else exact[lag + 1 :, 3], exact[lag + 1 :]
        ticks = (state["count"] + np.arange(count)) / plant.rate
        off = rng.uniform(-jitter, jitter, count) if jitter else np.zeros(count)
        place = now[:, 0] + now[:, 1] * off + 0.5 * now[:, 2] * off**2
        if backlash:
            for i in range(count):
                state["side"] = min(max(state["side"], place[i] - backlash), place[i] + backlash)
                place[i] = state["side"]
        values = np.column_stack((encoder(place, bits), torque + NOISE * rng.standard_normal(count)))
        if dropouts:
            values[rng.random(count) < dropouts] = np.nan
            if (state["count"] // count) % 300 == 299:  # half a second, every half minute
                state["gap"] = 5
            if state.get("gap", 0) > 0:
                state["gap"] -= 1
                values[:] = np.nan
        if wild and 40.0 <= ticks[0] < 43.0:
            values[:, int(ticks[0]) % 2] = rng.choice([-1e30, 1e30], count)
        state["count"] += count
        return Sampled(values, ticks + off)

    def truth() -> dict[str, float]:
        found = plant.truth()
        return {name: found[name] for name in judged} if judged else found

    return Trial(model, sample, truth, seconds, stamped=jitter > 0, **(trial or {}))


def elastic(
    seed: int, identify: str, assumed: Mapping[str, float] | None = None, seconds: float = SECONDS, **settings: Any
) -> Trial:
    """An elastic joint. identify: as in the rig; assumed: factors of constants that the model gets wrong."""
    rng = np.random.default_rng([seed, 15])
    motion = Trajectory(speed=rng.uniform(0.8, 1.2), period=rng.uniform(6.0, 9.0))
    one = TwoMassPlantSettings.model_validate({"identify": identify, "trajectory": motion, **settings})
    plant = one.build(1, seed, [])
    model = dict(plant.model)
    for name, factor in (assumed or {}).items():
        model[name] *= factor
    fields = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    order = tuple(plant.roles)
    places = [(fields.index(role.signal), role.scale) for role in plant.roles.values()]
    state = {"count": 0}

    def sample(count: int) -> Sampled:
        found = plant.rows(count)
        values = np.column_stack([scale * found[:, place] for place, scale in places])
        ticks = (state["count"] + np.arange(count)) / plant.rate
        state["count"] += count
        return Sampled(values, ticks)

    names = ("stiffness", "motor_viscous", "motor_coulomb", "coulomb", "viscous", "stribeck", "link_viscous")

    def truth() -> dict[str, float]:
        return {name: value for name, value in plant.truth().items() if name in names or identify != "elastic"}

    return Trial(model, sample, truth, seconds, order=order)


def payload(seed: int) -> Trial:
    """A trial in which inertia and gravity grow by 30 % at 80 s."""
    return rigid(seed, jumps=(Jump(80.0, "payload", 1.3),), trial={"changes": (80.0,)})


def stribeck(seed: int, bits: int) -> Trial:
    """Friction with a peak of 2.4 N·m above Coulomb friction at 0.13 rad/s, and a model that searches for its shape."""
    return rigid(seed, bits=bits, friction="stribeck", smooth=0.06, stribeck=0.13, extra=50.0, model=STRIBECK)


def friction_jump(seed: int) -> Trial:
    """A trial in which Coulomb and viscous friction grow by half at 80 s."""
    both = (Jump(80.0, "coulomb", 1.5), Jump(80.0, "viscous", 1.5))
    return rigid(seed, jumps=both, trial={"changes": (80.0,)})


def rippling(seed: int, ripples: float) -> Trial:
    """A torque ripple of 1.5 N·m, and a model that has it."""
    model, name = RIGID | {"ripple": (ripples,)}, f"ripple{ripples:g}"
    trial = rigid(seed, ripple=1.5, ripples=ripples, model=model)
    return replace(trial, truth=lambda: dict(trial.truth()) | {f"{name}_sin": 1.5, f"{name}_cos": 0.0})


def warming(seed: int, seconds: float = 1800.0) -> Trial:
    """Friction that falls by 40 % while the joint warms by 20 °C, and a thermometer with steps of 0.1 °C."""
    model = RIGID | {"temperature": 20.0}
    trial, state = rigid(seed, warming=0.4, seconds=seconds, model=model), {"count": 0}

    def sample(count: int) -> Sampled:
        values, stamps = trial.sample(count)
        t = (state["count"] + np.arange(count)) / trial.rate
        state["count"] += count
        warm = 20.0 + np.round(200.0 * np.minimum(t / 1800.0, 1.0)) / 10.0
        return Sampled(np.column_stack((values, warm)), stamps)

    def truth() -> dict[str, float]:
        return dict(trial.truth()) | {"coulomb": 5.0, "coulomb_temperature": -0.1, "viscous_temperature": 0.0}

    return replace(trial, sample=sample, truth=truth, order=("position", "torque", "temperature"))


def ratio(seed: int, seconds: float = SECONDS) -> Trial:
    """A gear with lost motion, gear error and a late second encoder, whose configured ratio is 0.1 % too small."""
    settings = {"identify": "transmission", "ratio": 100.1, "ratio_told": 100.0, "skew": 0.0}
    plant = GearPlantSettings.model_validate(settings).build(1, seed, [])
    state = {"count": 0}

    def sample(count: int) -> Sampled:
        motor, current, link = plant.rows(count).T
        stamps = (state["count"] + np.arange(count)) / plant.rate
        state["count"] += count
        position, torque = plant.roles["position"].scale * motor, plant.roles["torque"].scale * current
        return Sampled(np.column_stack((position, link, torque)), stamps)

    return Trial(plant.model, sample, plant.truth, seconds, order=("position", "link_position", "torque"))


# The same motion, read by an encoder with shifted steps, gives values that differ by more than the limit.
TOO_COARSE: Final = {
    "valid": "the position of such coarse steps changes a value by more than its limit, as is reported"
}
NOT_FRICTION: Final = ("inertia", "viscous", "offset", "gravity_sin", "gravity_cos")
ROWS: Final[dict[str, TruthRow]] = {
    "rigid": TruthRow(True, rigid),
    "rigid shaken": TruthRow(True, lambda seed: rigid(seed, dither=1.0)),
    "encoder 16 bits": TruthRow(True, lambda seed: rigid(seed, bits=16)),
    "encoder 14 bits": TruthRow(True, lambda seed: rigid(seed, bits=14)),
    "encoder 12 bits": TruthRow(True, lambda seed: rigid(seed, bits=12), unseen_rows.WIDE),
    "moves and stops": TruthRow(True, lambda seed: moves(seed, 20)),
    "moves, 16 bits": TruthRow(True, lambda seed: moves(seed, 16)),
    "moves, 14 bits, 1 kHz": TruthRow(True, lambda seed: moves(seed, 14, rate=1000.0)),
    "scans": TruthRow(True, lambda seed: moves(seed, 20, "scans"), unseen_rows.WIDE),
    "Stribeck": TruthRow(True, lambda seed: stribeck(seed, 20)),
    "Stribeck, 14 bits": TruthRow(True, lambda seed: stribeck(seed, 14)),
    "Stribeck, 12 bits": TruthRow(True, lambda seed: stribeck(seed, 12), TOO_COARSE),
    "dropouts": TruthRow(True, lambda seed: rigid(seed, dropouts=0.02)),
    "jitter 0.3 ms stamped": TruthRow(True, lambda seed: rigid(seed, jitter=0.3e-3)),
    "payload": TruthRow(True, payload),
    "friction jump": TruthRow(True, friction_jump),
    "warming": TruthRow(True, lambda seed: rigid(seed, warming=0.4, seconds=1800.0)),
    "warming, told": TruthRow(True, warming),
    "rest 10 min": TruthRow(True, lambda seed: rigid(seed, rest=(60.0, 660.0), seconds=720.0)),
    "fields of 1e30": TruthRow(True, lambda seed: rigid(seed, wild=True, seconds=300.0)),
    "torque 4 ms late": TruthRow(False, lambda seed: rigid(seed, late=0.004)),
    "torque 4 ms late, told": TruthRow(True, lambda seed: rigid(seed, late=0.004, trial={"delays": {"torque": 0.004}})),
    "skew wrong by 2 ms": TruthRow(False, lambda seed: rigid(seed, trial={"delays": {"position": 0.002}})),
    "LuGre": TruthRow(False, lambda seed: rigid(seed, friction="lugre", judged=NOT_FRICTION)),
    "hysteresis": TruthRow(False, lambda seed: rigid(seed, friction="stops", judged=NOT_FRICTION)),
    "LuGre, with memory": TruthRow(
        False, lambda seed: rigid(seed, friction="lugre", judged=NOT_FRICTION, model=MEMORY)
    ),
    "LuGre, as it is": TruthRow(True, lambda seed: rigid(seed, friction="lugre", judged=NOT_FRICTION, model=LUGRE)),
    "hysteresis, with memory": TruthRow(
        False, lambda seed: rigid(seed, friction="stops", judged=NOT_FRICTION, model=MEMORY)
    ),  # the springs of its model slip at other reaches
    "hysteresis, its springs": TruthRow(
        True, lambda seed: rigid(seed, friction="stops", judged=NOT_FRICTION, model=SPRINGS)
    ),
    "ripple 2 a turn": TruthRow(False, lambda seed: rigid(seed, ripple=1.5)),
    "ripple 50 a turn": TruthRow(False, lambda seed: rigid(seed, ripple=1.5, ripples=50.0)),
    "ripple 2, told": TruthRow(True, lambda seed: rippling(seed, 2.0)),
    "ripple 50, told": TruthRow(True, lambda seed: rippling(seed, 50.0)),
    "backlash 1 mrad": TruthRow(False, lambda seed: rigid(seed, backlash=0.5e-3)),
    "friction only": TruthRow(True, lambda seed: elastic(seed, "friction")),
    "drive, torque 10 % off": TruthRow(True, lambda seed: elastic(seed, "drive", torque_scale=1.1)),
    "friction only, 14 bits": TruthRow(True, lambda seed: elastic(seed, "friction", motor_bits=14)),
    "friction only, 12 bits": TruthRow(True, lambda seed: elastic(seed, "friction", motor_bits=12), TOO_COARSE),
    "drive, 14 bits": TruthRow(True, lambda seed: elastic(seed, "drive", motor_bits=14)),
    "ratio of a gear": TruthRow(True, ratio),
    "two_mass": TruthRow(True, lambda seed: elastic(seed, "elastic")),
    "two_mass, 16 bits": TruthRow(True, lambda seed: elastic(seed, "elastic", motor_bits=16, link_bits=16)),
    "two_mass, 14 bits": TruthRow(True, lambda seed: elastic(seed, "elastic", motor_bits=14, link_bits=14), TOO_COARSE),
    "two_mass inertia +2 %": TruthRow(False, lambda seed: elastic(seed, "elastic", {"inertia_link": 1.02})),
    "two_mass inertia -4 %": TruthRow(False, lambda seed: elastic(seed, "elastic", {"inertia_link": 0.96})),
    "two_mass inertia /3": TruthRow(False, lambda seed: elastic(seed, "elastic", {"inertia_link": 1 / 3})),
    "two_mass inertia x3": TruthRow(False, lambda seed: elastic(seed, "elastic", {"inertia_link": 3.0})),
    "two_mass backlash": TruthRow(False, lambda seed: elastic(seed, "elastic", gap=2e-4)),
    **unseen_rows.ROWS,
    "whole robot": TruthRow(True, robot.whole),
    "whole robot, 14 bits": TruthRow(True, lambda seed: robot.whole(seed, bits=14)),
    "whole robot, payload": TruthRow(True, lambda seed: robot.whole(seed, ("payload.mass", 1.0, True))),  # kg
    "whole robot, joint 3": TruthRow(True, lambda seed: robot.whole(seed, ("joint3.coulomb", 1.5, False))),  # factor
    "whole robot, bend": TruthRow(False, lambda seed: robot.whole(seed, bend=1.0)),
    "whole robot, bend x 3": TruthRow(False, lambda seed: robot.whole(seed, bend=3.0)),
}
