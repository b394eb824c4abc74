"""The global search of a refit: where in the box of η the descents begin.

By default multilevel coordinate search (estimators/search/mcs.py), or another search of the catalogue. Where every
column depends on one η only and columns between the points of a lattice are right, the search reads a table and costs
no evaluation; where a column bends sharply (a threshold) or depends on several η, it evaluates. "lattice" takes all
points of the lattice instead.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.friction.base import FrictionLaw
from estimators.quantities import Floats
from estimators.refit.objective import NO_TABLE, SurveyTable, lowest_visits, on_table, on_window, pack
from estimators.refit.settings import LATTICE, RefitSettings
from estimators.refit.variable_projection import ITERATIONS, PROBE, ProjectionProblem, lattice_points, tabulate
from estimators.search import SEARCHES, minimise
from estimators.search.base import Compiled, Search
from estimators.search.mcs import Mcs
from jointwatch_numba.layout import pointer

#: starts, tuned: Starts of descents, at most; 600 draws (decision 004, point 4).
STARTS: Final = 16
#: 1, argued: Error of columns between the lattice's points, as a share of the column, up to which a table replaces
#: them: ρ is then off by its square, a hundredth of what noise of 1 % of the torque leaves; descents end on the law.
SMOOTH: Final = 1e-3
#: evaluations, argued: Factor of n² that Huyer & Neumaier's own version spends in n dimensions.
PER_SQUARE: Final = 50
#: evaluations, tuned: The least that multilevel coordinate search evaluates: a threshold alone needs more than 50 n²
#: (decision 024).
LEAST: Final = 200
#: readings, tuned: Readings of a table, for each dimension; 1,100 windows, seeds 6000 to 7399 (decision 024).
READINGS: Final = 50
#: evaluations, argued: What the other searches get: their populations need more (docs/decisions/004-refit.md).
OTHERS: Final = 1000

# Multilevel coordinate search without its local searches: a descent by Gauss–Newton costs less and ends exactly.
MCS: Final = Mcs(local_steps=0)


class Starts(NamedTuple):
    """Where the descents begin."""

    table: SurveyTable
    places: Floats  # (starts, q) s
    values: Floats  # (starts,) ρ there
    probe: int  # iterations of every minimum but the lowest
    visits: int  # points at which the search has looked, on the table or on evaluations
    exact: bool  # whether a descent may end where only rounding ends it: no column is known to bend sharply


def survey(p: ProjectionProblem, law: FrictionLaw, settings: RefitSettings, count: NDArray[np.int64]) -> Starts:
    """Look for the starts; adds to count (2,): evaluations, fills."""
    table, error = _table(p, law, settings, count) if p.separate else (NO_TABLE, np.inf)
    q, exact = p.scale.shape[1], not p.separate or error <= SMOOTH
    places, values = np.empty((STARTS, q)), np.zeros(STARTS)
    if settings.search == LATTICE:
        given = lattice_points(pointer(law.kernel), *p, settings.lattice, *table[:3], places, values, count)
        return Starts(table, places[:given], values[:given], PROBE, settings.lattice**q, exact)
    if not error <= SMOOTH:
        table = NO_TABLE
    budget = settings.budget or _budget(settings.search, q, table.lattice > 0)
    data = pack(p, law.kernel, table, budget)
    searched = minimise(
        _search(settings.search), Compiled(on_table if table.lattice else on_window, data), p.scale[0], p.scale[1],
        budget=budget,
    )  # fmt: skip
    if not table.lattice:
        count += searched.evaluations
    given = int(lowest_visits(data, places))
    probe = PROBE if table.lattice else ITERATIONS
    return Starts(table, places[:given], values[:given], probe, searched.evaluations, exact)


def _table(
    p: ProjectionProblem, law: FrictionLaw, settings: RefitSettings, count: NDArray[np.int64]
) -> tuple[SurveyTable, float]:
    lattice, total = settings.lattice, len(p.signed) + len(p.moving) * (settings.lattice - 1)
    table = SurveyTable(np.empty((total, total)), np.empty(total), np.empty(total), lattice)
    return table, float(tabulate(pointer(law.kernel), *p, lattice, *table[:3], count))


def _budget(search: str, q: int, tabled: bool) -> int:
    if search != "mcs":
        return OTHERS
    return READINGS * q if tabled else max(LEAST, PER_SQUARE * q * q)


def _search(name: str) -> Search:
    kinds: dict[str, Any] = SEARCHES
    return MCS if name == "mcs" else kinds[name]()
