"""Friction laws, one file each: the catalogue."""

from estimators.friction.viscous_coulomb import ViscousCoulombSettings

AnyFriction = ViscousCoulombSettings
