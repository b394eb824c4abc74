"""The parameters of a model as a table, and the differences between two models of one robot, with deviations.

Coefficients of two friction laws are not the same quantity, even if they have the same name: if a joint's laws differ,
its friction torque is compared instead, at speeds and poses that occur in both recordings.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.whole_robot import DEFAULT
from estimators.quantities import Floats
from estimators.thresholds import AT_REST

#: 1, argued: Standard deviations of the difference from which a parameter is said to have changed; 1 of 370 that did
#: not change is above it.
CHANGED: Final = 3.0
#: 1, argued: Slow, middle and fast, as shares of the largest speed in both recordings: a law has two to four
#: coefficients that are distinguished by speed.
SPEEDS: Final = (0.1, 0.4, 0.9)
POSES: Final = 20  # in the common range of both recordings, over which friction by position and load is averaged


class ModelParameter(NamedTuple):
    """One parameter of a model."""

    name: str
    meaning: str
    unit: str
    value: float
    deviation: float


class Change(NamedTuple):
    """One parameter in two models."""

    name: str
    unit: str
    before: float
    after: float
    deviation: float  # of the difference

    @property
    def sigmas(self) -> float:
        """The difference divided by its standard deviation."""
        return (self.after - self.before) / self.deviation if self.deviation > 0 else 0.0

    @property
    def changed(self) -> bool:
        """Whether the difference is significant."""
        return abs(self.sigmas) >= CHANGED


def parameters(found: IdentifiedRobot) -> list[ModelParameter]:
    """Every parameter in the order of θ; a base parameter has the name of its leading standard parameter."""
    model = found.model()
    units = [*(_unit(name) for name in model.short[: model.base]), *(term.unit for term in model.terms)]
    return [
        ModelParameter(name, meaning, unit, float(value), float(deviation))
        for name, meaning, unit, value, deviation in zip(
            model.short, model.meanings, units, found.theta, found.spread(), strict=True
        )
    ]


def _unit(name: str) -> str:
    """The unit of a standard parameter by its first letters: m, mx, Ixx."""
    first = name.partition(".")[0].lstrip()
    return "kg·m²" if first.lower().startswith("i") else "kg·m" if len(first) > 1 else "kg"


def differences(before: IdentifiedRobot, after: IdentifiedRobot) -> tuple[list[Change], list[str]]:
    """Differences of both models, and sentences about what only one has or what is compared in another way."""
    first = {one.name: one for one in parameters(before)}
    second = {one.name: one for one in parameters(after)}
    found, words, apart = [], dict[str, list[str]](), set[str]()
    for name in before.robot.names:
        if name in after.robot.names and (why := _laws_differ(before, after, name)):
            words.setdefault(why, []).append(name)
            apart |= {*_coefficients(before, name), *_coefficients(after, name)}
            found += _friction(before, after, name)
    said = [f"{', '.join(names)}: {why}" for why, names in words.items()]
    found = [
        Change(name, one.unit, one.value, second[name].value, float(np.hypot(one.deviation, second[name].deviation)))
        for name, one in first.items()
        if name in second and name not in apart
    ] + found
    said += [f"only the first has {name}" for name in first if name not in second and name not in apart]
    said += [f"only the second has {name}" for name in second if name not in first and name not in apart]
    return [*found, *_lags(before, after)], said


def _law(found: IdentifiedRobot, name: str) -> dict[str, Any]:
    """The settings that determine the columns of a joint's friction law, without those of its prior."""
    law: dict[str, Any] = found.laws[found.robot.names.index(name)].model_dump(mode="json", exclude={"spread"})
    return law


def _laws_differ(before: IdentifiedRobot, after: IdentifiedRobot, name: str) -> str:
    """Words for why a joint's friction coefficients are different quantities in both models; "" if they are not."""
    first, second = _law(before, name), _law(after, name)
    if first == second and first["kind"] == DEFAULT.kind:
        return ""
    if first["kind"] != second["kind"]:
        what = f"friction is {first['kind']} in the first and {second['kind']} in the second"
    elif first == second:
        what = f"friction is {first['kind']}, whose coefficients can stand in for each other"
    else:
        others = ", ".join(key for key in first if first[key] != second[key])
        what = f"friction is {first['kind']} in both, but not of the same {others}"
    if _fastest(before, after, name) < AT_REST:
        return f"{what}, and it does not move in one recording: it is not compared"
    return f"{what}: its torque is compared at speeds that occur in both recordings"


def _fastest(before: IdentifiedRobot, after: IdentifiedRobot, name: str) -> float:
    """The highest speed of a joint that occurs in both recordings, rad/s (m/s)."""
    return min(float(found.speed[found.robot.names.index(name)]) for found in (before, after))


def _coefficients(found: IdentifiedRobot, name: str) -> set[str]:
    """Names of a joint's friction coefficients, and of its offset, a part of which a law may include."""
    model, j = found.model(), found.robot.names.index(name)
    return {*(model.terms[k].name for k in model.friction_of(j)), f"offset.{name}"}


def _friction(before: IdentifiedRobot, after: IdentifiedRobot, name: str) -> list[Change]:
    """A joint's friction torque at SPEEDS, half the difference of the directions, and its offset, half their sum."""
    i, j = before.robot.names.index(name), after.robot.names.index(name)
    axis = before.robot.joints[i].axis
    fastest = _fastest(before, after, name)
    if fastest < AT_REST:
        return []
    speeds = np.array(SPEEDS) * fastest
    poses = _poses(before, after)
    load = before.model().load(before.loading, poses, 0.0 * poses, 0.0 * poses)[:, i]
    torques = [_torques(one, at, speeds, poses[:, i], load) for one, at in ((before, i), (after, j))]
    names = [*(f"friction.{name} at {speed:.3g} {axis.length}/s" for speed in speeds), f"offset.{name}"]
    return [
        Change(word, axis.effort, float(first), float(second), float(np.hypot(wide, wider)))
        for word, first, second, wide, wider in zip(
            names, torques[0][0], torques[1][0], torques[0][1], torques[1][1], strict=True
        )
    ]


def _poses(before: IdentifiedRobot, after: IdentifiedRobot) -> Floats:
    """Positions (POSES, n) of the first model's joints in the common range of both recordings."""
    lower, upper = before.lower.copy(), before.upper.copy()
    for i, name in enumerate(before.robot.names):
        if name in after.robot.names:
            j = after.robot.names.index(name)
            lower[i] = min(max(lower[i], after.lower[j]), upper[i])
            upper[i] = max(min(upper[i], after.upper[j]), lower[i])
    return np.random.default_rng(0).uniform(lower, upper, (POSES, len(lower)))


def _torques(found: IdentifiedRobot, j: int, speeds: Floats, positions: Floats, loads: Floats) -> tuple[Floats, Floats]:
    """Friction of a joint at each speed, then its offset, and their deviations: (speeds + 1,) each.

    The model states friction beyond the law at each speed; half the sum or difference of both directions, which are
    independent, has half its variance.
    """
    model = found.model()
    law, first = model.law_of(j), model.base + model.friction_of(j).start
    loads = loads.reshape(len(loads), -1)
    loads = np.concatenate([loads, np.zeros((len(loads), max(law.loads - loads.shape[1], 0)))], axis=1)
    forth, back = np.zeros((2, len(speeds), len(law.parameters)))
    for position, load in zip(positions, loads[:, : law.loads], strict=True):
        place, carried = np.full(len(speeds), position), np.tile(load, (len(speeds), 1))
        forth += law.columns(place, speeds, carried, law.start) / len(positions)
        back += law.columns(place, -speeds, carried, law.start) / len(positions)
    columns = np.zeros((len(speeds) + 1, model.size))
    own = slice(first, first + len(law.parameters))
    columns[:-1, own] = 0.5 * (forth - back)
    columns[-1, own], columns[-1, own.stop] = 0.5 * (forth + back).mean(axis=0), 1.0
    variance = np.einsum("kp,pq,kq->k", columns, found.covariance, columns)
    beyond = 0.0 if found.beyond is None else 0.5 * float(found.beyond[j]) ** 2
    return columns @ found.theta, np.sqrt(variance + beyond)


def _lags(before: IdentifiedRobot, after: IdentifiedRobot) -> list[Change]:
    """Changes of each joint's lag, s, by which its torque is ahead of its position, if both models have it."""
    if before.lag is None or after.lag is None:
        return []
    found = []
    for i, name in enumerate(before.robot.names):
        if name in after.robot.names:
            j = after.robot.names.index(name)
            wide = float(np.sqrt(before.lag.covariance[i, i] + after.lag.covariance[j, j]))
            found.append(Change(f"lead.{name}", "s", float(before.lag.values[i]), float(after.lag.values[j]), wide))
    return found
