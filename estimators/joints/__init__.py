"""Joint models, one file each: the catalogue."""

from typing import Annotated

from pydantic import Field

from estimators.joints.friction_only import FrictionOnlySettings
from estimators.joints.rigid import RigidSettings
from estimators.joints.two_mass import TwoMassSettings

JointModelSettings = Annotated[RigidSettings | TwoMassSettings | FrictionOnlySettings, Field(discriminator="kind")]
