"""Joint models, one file each: the catalogue."""

from typing import Annotated

from pydantic import Field

from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.joints.rigid import RigidSettings
from estimators.models.joints.transmission import TransmissionSettings
from estimators.models.joints.two_mass import TwoMassSettings

JointModelSettings = Annotated[
    RigidSettings | TwoMassSettings | FrictionOnlySettings | TransmissionSettings, Field(discriminator="kind")
]
