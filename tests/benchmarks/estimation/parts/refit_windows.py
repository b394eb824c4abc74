"""Random windows of friction laws, and whether a refit finds the global minimum of each: `jointwatch bench refit`.

A window is 2,000 rows at 1 kHz of a motion whose shape, speed and period are drawn, with a law whose η and θ are drawn,
noise-free and with white noise of 1 % of rms(y). Without noise a refit has found the minimum when every η is within 1 %
of the truth; with noise, when every η is within 1 % of the global minimiser, or χ² is at most one worse: nobody can
then tell the two apart. The global minimiser is the lowest that Nelder–Mead reaches from the truth, from every search's
answer and from the best of RANDOM points, on an objective that shares no code with ours but the law's columns, without
nodes. `doubts` are ambiguous answers; false ones are those whose runner-up ends in the answer's own valley, untold ones
those that another search in the same run has doubted. Searches take turns on every window, and `times the lattice's` is
the median over the windows of the quotient of their shortest times: the processor's load is then in both.
"""

import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import optimize

from estimators.models.friction.arctangent import ArctangentSettings
from estimators.models.friction.base import FrictionSettings
from estimators.models.friction.directional import DirectionalSettings
from estimators.models.friction.structure import RefitModel
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.quantities import Axis, Floats, Parameter
from estimators.refit.refit import RefitRows, refit
from estimators.refit.report import Refit
from estimators.refit.settings import RefitSettings

ROWS: Final = 2000
NOISE: Final = 0.01  # of rms(y)
SAME: Final = 1.0  # χ²: one deviation, up to which two answers cannot be distinguished
RANDOM: Final = 40
NEAR: Final = 0.05  # in ln η, likewise
EQUAL: Final = 1e-6  # in ln η: answers to inputs that differ by rounding,
#: deviations, derived: or this share of the deviation of ln η, where it is more. Normal equations lose eps·yᵀy/σ² of
#: an η whose ln has deviation 1, some 1e-8 to 1e-6 here; a hundredth of what ends a descent (refit.FINE).
EQUAL_DEVIATIONS: Final = 1e-5
OUTER: Final = 0.1  # share of the range at either end from which no η is drawn
REPEATS: Final = 5  # of which the shortest time counts
FIXED: Final = (Parameter("b_D", "N·m/rad", -np.inf, np.inf, ""),)
LAWS: Final[dict[str, FrictionSettings]] = {
    "tanh_stribeck": TanhStribeckSettings(),
    "arctangent": ArctangentSettings(),
    "exponent searched": TanhStribeckSettings(exponent="searched"),
    "directional": DirectionalSettings(),
}


TIMES: Final = "times the lattice's"
# of 100 windows found noise-free and with noise; ms of a refit, or times the lattice's; evaluations
LIMITS: Final[dict[str, dict[str, float]]] = {
    "tanh_stribeck": {"noise-free": 99, "noisy": 99, "times": 1.5},
    "arctangent": {"noise-free": 99, "noisy": 99, "times": 1.5},
    "exponent searched": {"noise-free": 99, "noisy": 95, "ms": 10.0, "evaluations": 1200},
    "directional": {"noise-free": 94, "noisy": 99, "ms": 5.0},
}


def missed(row: dict[str, Any], lattice: dict[str, Any] | None) -> list[str]:
    """The limits that a row of multilevel coordinate search misses; lattice: the row of the lattice in the same run."""
    if row["search"] != "mcs":
        return []
    limits, share = LIMITS[row["law"]], row["windows"] / 100.0
    told = [
        f"{name}: {row[name]} of {row['windows']}, asked {limits[key]:g} of 100"
        for name, key in (("found noise-free", "noise-free"), ("found with 1 % noise", "noisy"))
        if row[name] < np.floor(limits[key] * share)
    ]
    if row["ms"] > limits.get("ms", np.inf):
        told.append(f"{row['ms']:.2f} ms, asked {limits['ms']:g} at most")
    if lattice and row[TIMES] > limits.get("times", np.inf):
        told.append(f"{row[TIMES]:.2f} times the lattice's time, asked {limits['times']:g} at most")
    if lattice and (wrong := misjudged(row)) > (allowed := misjudged(lattice)) + 2.0 * np.sqrt(wrong + allowed):
        told.append(f"{wrong} doubts false or untold, {allowed} by the lattice")
    if row["most evaluations"] > limits.get("evaluations", np.inf):
        told.append(f"{row['most evaluations']} evaluations, asked {limits['evaluations']:g} at most")
    return told + ([f"{row['unequal under one ulp']} unequal under one ulp"] if row["unequal under one ulp"] else [])


def misjudged(row: dict[str, Any]) -> int:
    """Doubts that are false or untold."""
    return int(row["false doubts"] + row["untold doubts"])


class Window(NamedTuple):
    """One window, and what is true in it."""

    rows: RefitRows
    eta: Floats
    noise: float  # standard deviation
    log: bool = True


def motion(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Velocity and position, (ROWS,): triangles with round corners, sines, or several of them."""
    t = np.arange(ROWS) * 1e-3
    speed, phase, period = rng.uniform(0.5, 1.5), rng.uniform(0.0, 1.0), rng.uniform(0.8, 2.0)
    kind = rng.integers(3)
    if kind == 0:
        v = 2.0 / np.pi * np.arcsin(0.98 * np.sin(2.0 * np.pi * (t / period + phase)))
    elif kind == 1:
        v = np.sin(2.0 * np.pi * (t / period + phase))
    else:
        parts = [np.sin(2.0 * np.pi * (k * t / period + rng.uniform())) / k for k in (1, 2, 3)]
        v = np.sum(parts, axis=0)
    v = speed * v / np.abs(v).max()
    q = np.cumsum(v) * 1e-3
    return v, q - q.mean()


def window(law: FrictionSettings, seed: int, noise: float) -> Window:
    """The window of a seed; noise: of rms(y)."""
    rng = np.random.default_rng([seed, 24])
    v, q = motion(rng)
    found = law.law(Axis.ROTARY)
    low, high = np.log([[p.low for p in found.nonlinear], [p.high for p in found.nonlinear]])
    eta = np.exp(low + (high - low) * rng.uniform(OUTER, 1.0 - OUTER, len(low)))
    columns = found.columns(q, v, np.zeros(ROWS), eta)
    size = np.sqrt(np.mean(columns**2, axis=0))
    theta = np.exp(rng.uniform(np.log(0.3), np.log(3.0), columns.shape[1])) / np.where(size > 0.0, size, 1.0)
    y = columns @ theta + rng.uniform(-1.0, 1.0) * q / np.sqrt(np.mean(q**2))
    sigma = noise * float(np.sqrt(np.mean(y**2)))
    y = y + sigma * rng.standard_normal(ROWS)
    moved = [(found.columns(q, v, np.zeros(ROWS), eta * 1.01) != columns).any(axis=0)]
    still = np.flatnonzero(~np.any(moved, axis=0))
    return Window(RefitRows(np.column_stack([q, columns[:, still]]), y, v), eta, sigma)


def model(law: FrictionSettings) -> RefitModel:
    """The model of a window: columns that η does not move are fixed ones."""
    found = law.law(Axis.ROTARY)
    v = np.linspace(-1.0, 1.0, 400)
    base = found.columns(v, v, v, found.start)
    moves = (found.columns(v, v, v, found.start * 1.01) != base).any(axis=0)
    still = tuple(found.parameters[i] for i in np.flatnonzero(~moves))
    return RefitModel((*FIXED, *still), law)


class Independent:
    """ρ(ln η) of a window by SciPy."""

    def __init__(self, law: FrictionSettings, data: RefitRows) -> None:
        self.law, self.data, shape = law.law(Axis.ROTARY), data, model(law)
        names = [p.name for p in shape.fixed]
        self.moving = [i for i, p in enumerate(self.law.parameters) if p.name not in names]
        self.free = [i for i, p in enumerate(shape.fixed) if p.low < 0.0]
        bounds = [p.low for p in shape.fixed] + [self.law.parameters[i].low for i in self.moving]
        self.signed = np.array([low >= 0.0 for low in bounds])

    def __call__(self, s: Floats) -> float:
        """ρ."""
        columns = self.law.columns(np.zeros(ROWS), self.data.velocity, np.zeros(ROWS), np.exp(s))[:, self.moving]
        A = np.column_stack([self.data.fixed, columns])
        A = A / np.where(np.linalg.norm(A, axis=0) > 0.0, np.linalg.norm(A, axis=0), 1.0)
        _, R = np.linalg.qr(np.column_stack([A[:, ~self.signed], A[:, self.signed], self.data.y]))
        k = int((~self.signed).sum())
        return float(optimize.nnls(R[k:, k:-1], R[k:, -1])[1] ** 2)

    def descend(self, s: Floats) -> tuple[Floats, float]:
        """The bottom below s, and ρ there."""
        low, high = np.log([[p.low for p in self.law.nonlinear], [p.high for p in self.law.nonlinear]])
        steps = np.vstack([np.zeros(len(s)), 0.05 * np.eye(len(s))])
        simplex = np.clip(np.where(s + steps > high, s - steps, s + steps), low, high)
        options = {"initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-12, "maxiter": 120}
        found = optimize.minimize(
            self, s, method="Nelder-Mead", bounds=list(zip(low, high, strict=True)), options=options
        )
        return found.x, float(found.fun)

    def lowest(self, starts: Sequence[Floats], seed: int) -> tuple[Floats, float]:
        """The lowest minimum known, and ρ there: from these starts, and from the best of RANDOM points."""
        low, high = np.log([[p.low for p in self.law.nonlinear], [p.high for p in self.law.nonlinear]])
        points = np.random.default_rng([seed, 25]).uniform(low, high, (RANDOM, len(low)))
        ends = [self.descend(s) for s in (*starts, points[int(np.argmin([self(s) for s in points]))])]
        return min(ends, key=lambda end: end[1])


class Found(NamedTuple):
    """What one search has made of one window."""

    answer: Refit
    seconds: float
    s: Floats  # ln η


def in_turn(data: RefitRows, shape: RefitModel, searches: Sequence[str]) -> dict[str, Found]:
    """Every search's answer, and the least thread CPU time of a whole refit by it in s; the searches take turns."""
    found: dict[str, Found] = {}
    for _ in range(REPEATS):
        for name in searches:
            settings = RefitSettings(search=name)  # type: ignore[arg-type]
            begin = time.thread_time()
            answer = refit(data, shape, settings=settings)
            spent = time.thread_time() - begin
            best = found[name].seconds if name in found else np.inf
            found[name] = Found(answer, min(spent, best), np.log(answer.eta))
    return found


def compare(law: str, searches: Sequence[str], seeds: range) -> list[dict[str, Any]]:
    """A row for each search over the windows of all seeds, each with and without noise."""
    settings, shape = LAWS[law], model(LAWS[law])
    rows = {name: _Row(law, name) for name in searches}
    for seed in seeds:
        for noise in (0.0, NOISE):
            drawn = window(settings, seed, noise)
            rho = Independent(settings, drawn.rows)
            found = in_turn(drawn.rows, shape, searches)
            best = rho.lowest([np.log(drawn.eta), *(one.s for one in found.values())], seed) if noise else None
            doubted = [one for one in found.values() if one.answer.gap < RefitSettings().ambiguity]
            for name, one in found.items():
                rows[name].take(one, drawn, best, rho, bool(doubted), shape)
    lattice = rows["lattice"].seconds if "lattice" in rows else None
    return [row.told(len(seeds), lattice) for row in rows.values()]


class _Row:
    """Counts of one search."""

    def __init__(self, law: str, name: str) -> None:
        self.law, self.name = law, name
        self.hits = {0.0: 0, NOISE: 0}
        self.seconds: list[float] = []
        self.evaluations: list[int] = []
        self.visits: list[int] = []
        self.missed: list[str] = []
        self.doubts = self.false = self.untold = self.unequal = 0

    def take(
        self,
        one: Found,
        drawn: Window,
        best: tuple[Floats, float] | None,
        rho: Independent,
        doubted: bool,
        shape: RefitModel,
    ) -> None:
        """Count one window."""
        answer, noise = one.answer, NOISE if drawn.noise else 0.0
        s, lowest = best or (np.log(drawn.eta), -np.inf)
        hit = bool(np.abs(one.s - s).max() < np.log(1.01))
        hit = hit or (rho(one.s) - lowest) / max(drawn.noise**2, 1e-300) <= SAME
        self.hits[noise] += hit
        self.seconds.append(one.seconds)
        self.evaluations.append(answer.evaluations)
        self.visits.append(answer.visits)
        if answer.ambiguous:
            self.doubts += 1
            assert answer.runner_up is not None
            end, _ = rho.descend(np.log(answer.runner_up))
            self.false += bool(np.abs(end - np.log(answer.eta)).max() <= NEAR)
        elif doubted:
            self.untold += 1
        beside = drawn.rows.y.copy()
        moved = np.nextafter(beside, np.inf)
        other = refit(
            RefitRows(drawn.rows.fixed, moved, drawn.rows.velocity), shape, settings=RefitSettings(search=self.name)
        )
        deviations = answer.deviations[-len(answer.eta) :] / answer.eta
        alike = np.maximum(EQUAL, np.where(np.isfinite(deviations), EQUAL_DEVIATIONS * deviations, 0.0))
        same = bool((np.abs(np.log(other.eta / answer.eta)) <= alike).all())
        self.unequal += not (same and (other.ambiguous is None) == (answer.ambiguous is None))

    def told(self, windows: int, lattice: list[float] | None) -> dict[str, Any]:
        """The figures; lattice: its seconds, window by window."""
        times = float(np.median(np.divide(self.seconds, lattice))) if lattice else float("nan")
        return {
            "law": self.law,
            "search": self.name,
            "windows": windows,
            "found noise-free": self.hits[0.0],
            "found with 1 % noise": self.hits[NOISE],
            "ms": 1e3 * float(np.median(self.seconds)),
            "ms, p95": 1e3 * float(np.percentile(self.seconds, 95)),
            TIMES: times,
            "evaluations": float(np.median(self.evaluations)),
            "most evaluations": max(self.evaluations),
            "visits": float(np.median(self.visits)),
            "doubts": self.doubts,
            "false doubts": self.false,
            "untold doubts": self.untold,
            "unequal under one ulp": self.unequal,
        }
