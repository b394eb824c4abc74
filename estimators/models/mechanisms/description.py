"""A mechanism as a file says it: links on joints, cut joints that close loops, and the bearing of each joint.

A mechanism that was identified also has the speed over which its friction turns its sign, and how large the residual
of each drive was where nothing disturbed it: the running service compares its residual with that.
"""

from typing import Annotated, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from estimators.quantities import Settings

Triple = tuple[float, float, float]
Number = Annotated[float, Field(allow_inf_nan=False)]
Arm = Annotated[float, Field(gt=0, allow_inf_nan=False)]
MOST_FRICTION: Final = 2.0  # of a coefficient; no dry pair of a machine rubs more


class MechanismError(Exception):
    """A mechanism that cannot be, or cannot move as asked; the text says why, one line a mistake."""


class Bearing(Settings):
    """Where a joint's bearing carries its load, and how it rubs there."""

    pin: Arm = 0.02  # R_p, m
    arm: Arm = 0.02  # R_n, m
    bending: Arm = 0.04  # R_b, m
    overlap: Arm = 0.1  # L, m, of a prismatic joint
    coulomb: Annotated[float, Field(ge=0, le=MOST_FRICTION)] = 0.0  # μ_c
    static: Annotated[float, Field(ge=0, le=MOST_FRICTION)] | None = None  # μ_s; none: no Stribeck effect
    stribeck: Arm = 0.1  # ω_s, rad/s (m/s)
    viscous: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0  # c_v, N·m·s/rad (N·s/m)

    def numbers(self, slides: bool) -> list[float]:
        """A row of `bearings`."""
        extra = 0.0 if self.static is None else self.static - self.coulomb
        across = self.overlap if slides else self.pin
        return [across, self.arm, self.bending, self.coulomb, extra, self.stribeck, self.viscous]


class MechanismLink(Settings):
    """One link and the joint that carries it; its frame is parallel to the base's when all joints are at zero."""

    name: str
    parent: str = ""  # "": the base
    kind: Literal["revolute", "prismatic"] = "revolute"
    axis: Triple = (0.0, 0.0, 1.0)
    origin: Triple = (0.0, 0.0, 0.0)  # m, in the parent's frame
    mass: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0  # kg
    centre: Triple = (0.0, 0.0, 0.0)  # m, of mass, from the joint's origin
    inertia: tuple[Number, Number, Number, Number, Number, Number] = (0.0,) * 6  # xx yy zz xy xz yz about the centre
    drive: bool = True
    bearing: Bearing = Bearing()

    @model_validator(mode="after")
    def _an_axis(self) -> Self:
        if not np.linalg.norm(self.axis) > 1e-9:
            raise ValueError("expected an axis with a direction, found zero")
        return self

    def parameters(self) -> list[float]:
        """m, m c, inertia about the joint's origin (Pinocchio's order)."""
        m, c = self.mass, np.array(self.centre)
        xx, yy, zz, xy, xz, yz = self.inertia
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + m * (c @ c * np.eye(3) - np.outer(c, c))  # noqa: E741
        return [m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]


class Cut(Settings):
    """A joint that closes a loop: a point of one link on a point of another."""

    name: str
    link: str  # a; "": the base
    point: Triple  # m, in its frame
    other: str  # b
    other_point: Triple
    axis: Triple = (0.0, 0.0, 1.0)  # in the base frame when all joints are at zero
    kind: Literal["planar", "revolute"] = "planar"
    bearing: Bearing = Bearing()


class DriveResidual(Settings):
    """How large the residual of one drive was where nothing disturbed it."""

    drive: str
    peak: Annotated[float, Field(ge=0, allow_inf_nan=False)]  # N·m (N), the largest
    deviation: Annotated[float, Field(ge=0, allow_inf_nan=False)]  # N·m (N), rms


class Description(Settings):
    """A whole mechanism as a file says it."""

    gravity: Triple = (0.0, 0.0, -9.81)  # m/s², in the base frame
    transition: Arm = 0.01  # rad/s (m/s), over which friction turns its sign
    links: Annotated[tuple[MechanismLink, ...], Field(min_length=1)]
    cuts: tuple[Cut, ...] = ()
    residuals: tuple[DriveResidual, ...] = ()  # of an identified mechanism

    @model_validator(mode="after")
    def _links_that_are_there(self) -> Self:
        known: list[str] = [""]
        wrong = []
        for link in self.links:
            if link.name in known:
                wrong.append(f'link "{link.name}": there are two of this name')
            if link.parent not in known:
                wrong.append(f'link "{link.name}": its parent "{link.parent}" is not among the links before it')
            known.append(link.name)
        for cut in self.cuts:
            wrong += [
                f'cut "{cut.name}": there is no link "{one}"' for one in (cut.link, cut.other) if one not in known
            ]
        if wrong:
            raise ValueError("; ".join(wrong))
        return self
