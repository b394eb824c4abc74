"""What η does to a friction law's columns, found by looking."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.friction.base import FrictionLaw, FrictionSettings
from estimators.quantities import Axis, Parameter


@dataclass(frozen=True, slots=True)
class RefitModel:
    """A joint model as a refit takes it: plain data, built anew in a worker."""

    fixed: tuple[Parameter, ...]  # of the columns that η does not move, in the window's order
    friction: FrictionSettings
    axis: Axis = Axis.ROTARY


class Structure(NamedTuple):
    """What η does to a law's columns, found by looking."""

    law: FrictionLaw
    moving: NDArray[np.int64]  # columns that η moves
    owner: NDArray[np.int64]  # see Problem
    alone: bool  # they depend on the velocity alone
    odd: bool  # and change its sign with it


@lru_cache(maxsize=64)
def law_structure(friction: FrictionSettings, axis: Axis) -> Structure:
    """What η does to the columns, from their values: nothing declared that could be wrong."""
    law = friction.law(axis)
    if not law.nonlinear:
        raise ValueError("the friction law has no nonlinear parameter: there is nothing to refit")
    speed = np.concatenate([np.geomspace(1e-4, 10.0, 24), -np.geomspace(1e-4, 10.0, 24)])
    places, loads = np.linspace(-2.0, 2.0, 48), np.linspace(5.0, -7.0, 48)
    lower, upper = (np.array([getattr(p, end) for p in law.nonlinear]) for end in ("low", "high"))
    tries = [law.start, *(np.clip(law.start * factor, lower, upper) for factor in (0.5, 2.0))]
    moves = np.zeros((len(law.parameters), len(law.nonlinear)), bool)
    alone = odd = True
    for eta in tries:
        base = law.columns(places, speed, loads, eta)
        for k in range(len(eta)):
            for other in tries:
                changed = eta.copy()
                changed[k] = other[k]
                moves[:, k] |= (law.columns(places, speed, loads, changed) != base).any(axis=0)
        elsewhere = law.columns(-places - 1.0, speed, 2.0 * loads, eta)
        back = law.columns(places, -speed, loads, eta)
        alone = alone and not (elsewhere != base)[:, moves.any(axis=1)].any()
        odd = odd and not (back != -base)[:, moves.any(axis=1)].any()
    moving = np.flatnonzero(moves.any(axis=1))
    separate = bool((moves[moving].sum(axis=1) == 1).all())
    owner = moves[moving].argmax(axis=1) if separate else np.repeat(np.arange(len(law.nonlinear)), len(moving))
    return Structure(law, moving, owner.astype(np.int64), alone, odd)
