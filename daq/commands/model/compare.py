"""What a model holds, as a table, and what differs between two models of one robot, with standard deviations."""

from typing import Final, NamedTuple

import numpy as np

from estimators.models.robots.files.identified import IdentifiedRobot

#: 1, argued: Standard deviations of the difference from which a parameter is said to have changed; 1 of 370 that did
#: not change is above it.
CHANGED: Final = 3.0


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
        """The difference in its standard deviations."""
        return (self.after - self.before) / self.deviation if self.deviation > 0 else 0.0

    @property
    def changed(self) -> bool:
        """Whether it differs beyond what the recordings leave open."""
        return abs(self.sigmas) >= CHANGED


def parameters(found: IdentifiedRobot) -> list[ModelParameter]:
    """Every parameter in the order of θ; base parameters are called after the standard one that leads them."""
    model = found.model()
    units = [*(_unit(name) for name in model.short[: model.base]), *(term.unit for term in model.terms)]
    deviations = np.sqrt(np.diag(found.covariance))
    return [
        ModelParameter(name, meaning, unit, float(value), float(deviation))
        for name, meaning, unit, value, deviation in zip(
            model.short, model.meanings, units, found.theta, deviations, strict=True
        )
    ]


def _unit(name: str) -> str:
    """The unit of a standard parameter by its first letters: m, mx, Ixx."""
    first = name.partition(".")[0].lstrip()
    return "kg·m²" if first.lower().startswith("i") else "kg·m" if len(first) > 1 else "kg"


def differences(before: IdentifiedRobot, after: IdentifiedRobot) -> tuple[list[Change], list[str]]:
    """Parameters that both have, and sentences about those that only one has."""
    first = {one.name: one for one in parameters(before)}
    second = {one.name: one for one in parameters(after)}
    found = [
        Change(name, one.unit, one.value, second[name].value, float(np.hypot(one.deviation, second[name].deviation)))
        for name, one in first.items()
        if name in second
    ]
    alone = [f"only the first has {name}" for name in first if name not in second]
    alone += [f"only the second has {name}" for name in second if name not in first]
    return found, alone
