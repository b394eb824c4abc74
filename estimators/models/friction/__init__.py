"""Friction laws, one file each: the catalogue."""

from typing import Annotated

from pydantic import Field

from estimators.models.friction.arctangent import ArctangentSettings
from estimators.models.friction.cubic_viscous import CubicViscousSettings
from estimators.models.friction.cyclic import CyclicSettings
from estimators.models.friction.directional import DirectionalSettings
from estimators.models.friction.load_dependent import LoadDependentSettings
from estimators.models.friction.lugre import LuGreSettings
from estimators.models.friction.position_dependent import PositionDependentSettings
from estimators.models.friction.prandtl_ishlinskii import PrandtlIshlinskiiSettings
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings

AnyFriction = Annotated[
    ViscousCoulombSettings
    | CubicViscousSettings
    | TanhStribeckSettings
    | ArctangentSettings
    | DirectionalSettings
    | PositionDependentSettings
    | CyclicSettings
    | LoadDependentSettings
    | PrandtlIshlinskiiSettings
    | LuGreSettings,
    Field(discriminator="kind"),
]
