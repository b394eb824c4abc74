"""How changes are followed up and windows refitted: settings only, without the kernels that do it.

The kernels of refit and search take most of a minute to compile once on a fresh machine; a joint without nonlinear
parameters never loads them.
"""

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from estimators.quantities import Settings

#: points, tuned: Points of one interpolation over the lattice of ln η; 600 draws of the published friction (decision
#: 004).
POINTS: Final = 6


LATTICE: Final = "lattice"
Searches = Literal["mcs", "cuckoo", "chaotic_cuckoo", "swarm", "bees", "cma", "lattice"]
SearchName = Annotated[
    Searches, BeforeValidator(lambda name: name.replace("-", "_") if isinstance(name, str) else name)
]


class RefitSettings(Settings):
    """How a window is refitted."""

    #: nodes, tuned: Nodes of the velocity: η is off by less than 6e-6 at 128, 5e-4 at 64 (decision 004, point 2).
    nodes: Annotated[int, Field(ge=0, le=4096)] = 128
    #: points, tuned: Points a side over the box of η; all valleys of 600 draws were found (decision 004, point 4).
    lattice: Annotated[int, Field(ge=POINTS, le=64)] = 16
    #: minima, tuned: Minima that are polished, at most (decision 004, point 5).
    minima: Annotated[int, Field(ge=1, le=16)] = 3
    search: SearchName = Field(default="mcs", description="the global search of η; lattice: all points of a lattice")
    budget: Annotated[int, Field(ge=50, le=100_000)] | None = Field(
        default=None,
        description="points at which the search looks, at most; left out: 50 n of n nonlinear parameters on a table, "
        "else 50 n² and at least 200; 1000 of any search but mcs",
    )
    bounds: dict[str, tuple[float, float]] = Field(
        default={}, description="of η by name, where not its plausible range"
    )
    #: χ², argued: Gain by which the runner-up must be worse: a likelihood ratio of 90 (decision 004, point 5).
    ambiguity: Annotated[float, Field(ge=0)] = 9.0


class AcceptanceSettings(Settings):
    """When a window counts as explained, and a refit as certain and plausible."""

    #: 1, tuned: Deviation of ln η up to which a window is covered and a refit accepted; Case 2 (decision 006, points 2
    #: and 5).
    certain: Annotated[float, Field(gt=0, le=1)] = 0.08
    #: 1, argued: Times the usual residual, rms, up to which a window is explained.
    noise: Annotated[float, Field(ge=1, le=10)] = 1.2
    #: 1, argued: Share of the torque's rms up to which a window is explained as well.
    share: Annotated[float, Field(ge=0, le=1)] = 0.004
    #: 1, argued: Factor by which η may change between two refits on windows shorter than a start (decision 054).
    plausible: Annotated[float, Field(gt=1, le=1000)] = 2.0
    #: χ², tuned: Gain that another η or another law must promise to replace the one in force; Case 2, 40 seeds
    #: (decision 006, points 3 and 8).
    better: Annotated[float, Field(ge=0)] = 20.0


class MonitorSettings(Settings):
    """How changes are followed up."""

    design: Literal["fast", "paper"] = "fast"
    period: Annotated[float, Field(gt=0, le=60)] | None = None  # s of the motion; found when left out
    delta: float | None = Field(
        default=None, gt=0, description="N·m (N), δ: rms error of prediction above which η is searched"
    )
    hold: float | None = Field(
        default=None, ge=0, le=600, description="s of motion for which δ must be exceeded; left out: 1, or 0 of paper"
    )
    delta_theta: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="δΘmin: relative change of a parameter between two searches below which a start may end",
    )
    accept: AcceptanceSettings = AcceptanceSettings()
    refit: RefitSettings = RefitSettings()
