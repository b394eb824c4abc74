"""A learnt compensation of one joint: what it sees, within which range, and how a model file holds it.

    τ_u = f(θ_m − θ_l, d/dt of it, tanh(q̇/ε)),   every input held inside of what was seen

Nothing learnt says anything beyond what it has seen. Liu et al. 2023, loop 3, with the direction as third input.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from estimators.models.compensation.bases import RadialBases
from estimators.models.compensation.mixture import GaussianMixtureRegression
from estimators.quantities import Floats

DIRECTION: Final = 0.05  # rad/s (m/s), ε
COMPONENTS: Final = 8  # of a mixture

Kind = Literal["mixture", "bases"]
KINDS: Final[tuple[Kind, ...]] = ("mixture", "bases")


def inputs(twist: Floats, rate: Floats, dq: Floats | None = None) -> Floats:
    """(rows, 2) as published: twist (rad) and its rate (rad/s); with the speed dq of the joint (rows, 3)."""
    columns = [twist, rate] if dq is None else [twist, rate, np.tanh(dq / DIRECTION)]
    return np.ascontiguousarray(np.column_stack(columns))


class Learned(NamedTuple):
    """Fitted to one joint's residual."""

    kind: Kind
    model: GaussianMixtureRegression | RadialBases
    lower: Floats  # (d,) of the inputs seen
    upper: Floats  # (d,)

    @classmethod
    def fit(cls, kind: Kind, u: Floats, y: Floats) -> "Learned":
        """u (rows, 3) as `inputs` gives them, y (rows,) N·m (N). Raises MixtureError."""
        if kind == "mixture":
            found: GaussianMixtureRegression | RadialBases = GaussianMixtureRegression.fit(u, y, COMPONENTS)
        else:
            found = RadialBases.fit(u, y, average=False)
        return cls(kind, found, u.min(axis=0), u.max(axis=0))

    def predict(self, u: Floats) -> Floats:
        """(rows,) N·m (N)."""
        return self.model.predict(np.clip(u, self.lower, self.upper))

    def document(self) -> dict[str, Any]:
        """Everything as plain data, for a file."""
        values = {
            name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in self.model._asdict().items()
        }
        return {"kind": self.kind, "lower": self.lower.tolist(), "upper": self.upper.tolist()} | values


def read(document: Mapping[str, Any]) -> Learned:
    """What `document` gave. Raises KeyError, TypeError, ValueError."""
    kind: Kind = document["kind"]
    fields = {"mixture": GaussianMixtureRegression._fields, "bases": RadialBases._fields}[kind]
    values: dict[str, Any] = {
        name: np.array(document[name], np.float64) if isinstance(document[name], list) else document[name]
        for name in fields
    }
    model = GaussianMixtureRegression(**values) if kind == "mixture" else RadialBases(**values)
    if not (np.all(model.scale > 0.0) and (not isinstance(model, RadialBases) or model.width > 0.0)):
        raise ValueError("found a learnt compensation whose scale or width is not above zero")
    found = Learned(kind, model, *(np.array(document[name], np.float64) for name in ("lower", "upper")))
    if not all(np.isfinite(one).all() for one in (*values.values(), found.lower, found.upper)):
        raise ValueError("found a learnt compensation that is not finite")
    if not np.isfinite(found.predict(0.5 * (found.lower + found.upper)[np.newaxis])).all():
        raise ValueError("found a learnt compensation that gives no number")
    return found
