"""The refit: the whole window's best θ and η of a model that is linear in θ given η, by variable projection.

    y = F θ_F + M(η) θ_M + e,   F: columns η does not move, M: those of the friction law that it does

The residual as a function of η alone (variable_projection.py) is surveyed on a lattice, and every valley found is
polished by Gauss–Newton: friction's landscape has up to five minima, and with a short window the lowest can be the
wrong one. So the answer carries the runner-up and how much worse it is, and says when the data cannot tell them apart.
With nodes (velocity_nodes.py) an evaluation does not cost the window. The covariance is the Cramér–Rao bound of the
window,

    C = σ² (JᵀJ)⁻¹,   J = [F M ∂(Mθ_M)/∂η],   σ² = ρ / (rows − columns of J)

Why this and not a search over all parameters: docs/decisions/004-refit.md.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.friction.base import FrictionLaw
from estimators.models.friction.structure import RefitModel, Structure, law_structure
from estimators.numerics.normal_equations import project_out
from estimators.quantities import Floats, Parameter
from estimators.refit import velocity_nodes as binning
from estimators.refit.global_search import survey
from estimators.refit.report import PreparedWindow, Refit, SearchResult, report
from estimators.refit.settings import RefitSettings
from estimators.refit.variable_projection import PROBE, ProjectionProblem, minima
from estimators.refit.velocity_nodes import Statistics
from estimators.thresholds import COLLINEAR
from jointwatch_numba.layout import pointer

#: χ², argued: Gain that a runner-up's last step may promise when it is given up.
COARSE: Final = 1e-2
#: χ², derived: Gain that the best minimum's last step may promise: 1e-3 of a standard deviation; while steps shrink
#: they go on (EXACT of variable_projection.py).
FINE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class RefitRows:
    """Rows of one joint: plain arrays, SI."""

    fixed: Floats  # (rows, fixed)
    y: Floats  # (rows,)
    velocity: Floats  # (samples,) what the friction law sees
    position: Floats | None = None  # (samples,), as load
    load: Floats | None = None
    gain: Floats | None = None  # (rows,) what multiplies the friction columns: their sign in the row, 0 where none acts
    weight: Floats | None = None  # (rows,) whitening, 1 / standard deviation
    taps: Floats | None = None  # (taps,) that smoothed the rows (samples are then at the full rate)
    first: NDArray[np.int64] | None = None  # (rows,) index of each row's first sample


def refit(
    window: RefitRows,
    model: RefitModel,
    lower: Floats | None = None,
    upper: Floats | None = None,
    settings: RefitSettings | None = None,
) -> Refit:
    """Fit θ and η to a window.

    lower, upper: (nonlinear,) the box of η, by default the plausible ranges of the friction law; searched in ln η where
    lower > 0. A coefficient whose plausible range begins at 0 is kept ≥ 0. Deterministic.
    Raises ValueError on shapes that do not fit, non-finite numbers, too few rows, a crossed box, a joint that never
    moves, and collinear fixed columns, named.
    """
    settings = settings or RefitSettings()
    problem, prepared = prepare(window, model, lower, upper, settings)
    found = _search(problem, prepared.structure.law, settings, len(window.y) - len(prepared.parameters))
    return report(found, problem, prepared, settings)


def prepare(
    window: RefitRows, model: RefitModel, lower: Floats | None, upper: Floats | None, settings: RefitSettings
) -> tuple[ProjectionProblem, PreparedWindow]:
    """What the kernels of variable_projection.py take, and what a report wants besides; arguments as of refit()."""
    structure = law_structure(model.friction, model.axis)
    _check(window, model, structure)
    scale = _scale(structure.law, lower, upper)
    parameters = (*model.fixed, *(structure.law.parameters[i] for i in structure.moving), *structure.law.nonlinear)
    signed = np.array([p.low >= 0.0 for p in parameters[: len(parameters) - scale.shape[1]]], np.int64)
    order = np.argsort(signed[: len(model.fixed)], kind="stable")  # the unsigned ones first
    statistics = _statistics(window, structure, settings)
    problem = _problem(statistics, structure, scale, signed, order, parameters)
    return problem, PreparedWindow(structure, statistics, parameters, order)


def _check(window: RefitRows, model: RefitModel, structure: Structure) -> None:
    law, rows = structure.law, len(window.y)
    if window.fixed.shape != (rows, len(model.fixed)):
        raise ValueError(f"expected fixed columns of shape ({rows}, {len(model.fixed)}), found {window.fixed.shape}")
    least = len(model.fixed) + len(structure.moving) + len(law.nonlinear) + 1
    if rows < least:
        raise ValueError(f"expected at least {least} rows for {least - 1} parameters, found {rows}")
    taps = 1 if window.taps is None else len(window.taps)
    if window.first is None and (taps != 1 or len(window.velocity) != rows):
        raise ValueError(f"expected one sample a row, or `first`; found {len(window.velocity)} for {rows} rows")
    if window.first is not None and len(window.first):
        low, high = int(window.first.min()), int(window.first.max())
        if len(window.first) != rows or low < 0 or high + taps > len(window.velocity):
            raise ValueError(f"expected `first` ({rows},) within the {len(window.velocity)} samples less {taps} taps")
    wanted = {"position": len(window.velocity), "load": len(window.velocity), "gain": rows, "weight": rows}
    for name in ("fixed", "y", "velocity", "position", "load", "gain", "weight", "taps"):
        values = getattr(window, name)
        if values is None:
            continue
        if len(values) != wanted.get(name, len(values)):
            raise ValueError(f"expected {name} of length {wanted[name]}, found {values.shape}")
        if not math.isfinite(float(values.sum())) and not np.isfinite(values).all():
            raise ValueError(f"{name} has {int((~np.isfinite(values)).sum())} values that are not finite")


def _scale(law: FrictionLaw, lower: Floats | None, upper: Floats | None) -> Floats:
    """(3, nonlinear): the box in s, and 1 where s = ln η."""
    low = np.array([p.low for p in law.nonlinear]) if lower is None else np.asarray(lower, float)
    high = np.array([p.high for p in law.nonlinear]) if upper is None else np.asarray(upper, float)
    if low.shape != (len(law.nonlinear),) or high.shape != low.shape:
        raise ValueError(f"expected {len(law.nonlinear)} bounds on either side, found {low.shape} and {high.shape}")
    for parameter, a, b in zip(law.nonlinear, low, high, strict=True):
        if not (math.isfinite(a) and math.isfinite(b) and a < b):
            raise ValueError(f"{parameter.name}: expected a finite range with lower < upper, found [{a}, {b}]")
    log = low > 0.0
    with np.errstate(all="ignore"):
        return np.array([np.where(log, np.log(low), low), np.where(log, np.log(high), high), log])


def _statistics(window: RefitRows, structure: Structure, settings: RefitSettings) -> Statistics:
    count, samples = len(window.y), len(window.velocity)
    on_nodes = settings.nodes > 0 and structure.alone
    own = window.first is None and not on_nodes  # on nodes, rows that are samples need no index
    one = np.broadcast_to(1.0, (count,))
    rows = binning.WindowRows(
        np.ascontiguousarray(window.fixed),
        window.y,
        one if window.weight is None else window.weight,
        one if window.gain is None else window.gain,
        np.arange(count if own else 0) if window.first is None else window.first,
        np.ones(1) if window.taps is None else window.taps,
    )
    if on_nodes:
        return binning.binned(rows, window.velocity, structure.odd, settings.nodes)
    zero = np.zeros(samples)
    position, load = (zero if signal is None else signal for signal in (window.position, window.load))
    return binning.whole(rows, position, window.velocity, load)


def _problem(
    statistics: Statistics,
    structure: Structure,
    scale: Floats,
    signed: NDArray[np.int64],
    order: NDArray[np.int64],
    parameters: tuple[Parameter, ...],
) -> ProjectionProblem:
    """Project the unsigned fixed columns out of everything that η does not move, once."""
    free = len(order) - int(signed[: len(order)].sum())
    cross, block = np.empty(statistics.cross.shape), np.empty((len(order) - free + 1,) * 2)
    j = project_out(statistics.gram, statistics.cross, order, free, COLLINEAR, cross, block)
    if j >= 0:
        raise ValueError(_collinear(statistics.gram[:-1, :-1], order, j, parameters))
    return ProjectionProblem(
        structure.law.constants,
        statistics.signals,
        len(structure.law.parameters),
        structure.moving,
        structure.owner,
        len(structure.owner) == len(structure.moving),
        scale,
        statistics.band,
        cross,
        block,
        np.concatenate([signed[order[free:]], signed[len(order) :]]),
    )


def _collinear(gram: Floats, order: NDArray[np.int64], j: int, parameters: tuple[Parameter, ...]) -> str:
    """Which column the j-th is collinear with, in words."""
    if not gram[j, j] > 0.0:
        return f"the column of {parameters[j].name} is zero throughout the window"
    before = order[: int(np.flatnonzero(order == j)[0])]
    share = np.linalg.lstsq(gram[np.ix_(before, before)], gram[before, j])[0] * np.sqrt(np.diag(gram)[before])
    i = int(before[np.argmax(np.abs(share))])
    names = f"{parameters[min(i, j)].name} and {parameters[max(i, j)].name}"
    return f"the columns of {names} are collinear in this window: they cannot be distinguished"


def _search(problem: ProjectionProblem, law: FrictionLaw, settings: RefitSettings, freedom: int) -> SearchResult:
    count = np.zeros(2, np.int64)
    begin = survey(problem, law, settings, count)
    room = settings.minima if begin.probe == PROBE else max(settings.minima, len(begin.places))
    values, where = np.empty(room), np.empty((room, problem.scale.shape[1]))
    theta = np.empty(len(problem.signed))
    X = np.empty((len(problem.moving) + len(problem.owner), len(problem.signals)))
    table, tolerances = begin.table, (COARSE / freedom, FINE / freedom, settings.ambiguity / freedom)
    found = minima(
        pointer(law.kernel), *problem, table.lattice, *table[:3], len(begin.places), begin.places, begin.values,
        begin.probe, *tolerances, begin.exact, values, where, theta, X, count,
    )  # fmt: skip
    if found == 0 or not math.isfinite(values[0]):
        raise ValueError("the residual is finite nowhere in the box: the window holds numbers beyond all scale")
    return SearchResult(values[:found], where[:found], theta, X, int(count[0]), int(count[1]), begin.visits)
