"""How changes are followed up and windows refitted: settings only, without the kernels that do it.

The kernels of refit and search take most of a minute to compile once on a fresh machine; a joint without nonlinear
parameters never loads them.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from estimators.quantities import Settings

POINTS: Final = 6  # of one interpolation over the lattice


class RefitSettings(Settings):
    """How a window is refitted."""

    nodes: Annotated[int, Field(ge=0, le=4096)] = 128  # of the velocity; 0: none, an evaluation costs the window
    lattice: Annotated[int, Field(ge=POINTS, le=64)] = 16  # points a side over the box of η
    minima: Annotated[int, Field(ge=1, le=16)] = 3  # that are polished, at most
    search: str = "mcs"  # where columns depend on several η and the lattice would cost too much
    budget: Annotated[int, Field(ge=50)] = 1000  # evaluations of that search
    bounds: dict[str, tuple[float, float]] = Field(
        default={}, description="of η by name, where not its plausible range"
    )
    ambiguity: Annotated[float, Field(ge=0)] = 9.0  # χ² by which a runner-up must be worse: a likelihood ratio of 90


class MonitorSettings(Settings):
    """How changes are followed up."""

    design: Literal["fast"] = "fast"
    period: Annotated[float, Field(gt=0, le=60)] | None = None  # s of the motion; found when left out
    refit: RefitSettings = RefitSettings()
