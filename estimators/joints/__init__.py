"""Joint models, one file each: the catalogue."""

from estimators.joints.rigid import RigidSettings

JointModelSettings = RigidSettings
