"""Friction laws, one file each: the catalogue."""

from typing import Annotated

from pydantic import Field

from estimators.friction.arctangent import ArctangentSettings
from estimators.friction.cubic_viscous import CubicViscousSettings
from estimators.friction.cyclic import CyclicSettings
from estimators.friction.directional import DirectionalSettings
from estimators.friction.load_dependent import LoadDependentSettings
from estimators.friction.position_dependent import PositionDependentSettings
from estimators.friction.tanh_stribeck import TanhStribeckSettings
from estimators.friction.viscous_coulomb import ViscousCoulombSettings

AnyFriction = Annotated[
    ViscousCoulombSettings
    | CubicViscousSettings
    | TanhStribeckSettings
    | ArctangentSettings
    | DirectionalSettings
    | PositionDependentSettings
    | CyclicSettings
    | LoadDependentSettings,
    Field(discriminator="kind"),
]
