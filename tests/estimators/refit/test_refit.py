"""The refit against independent least squares, Monte Carlo, and windows that must be refused or doubted."""

import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from estimators.models.friction.arctangent import ArctangentSettings
from estimators.models.friction.directional import DirectionalSettings
from estimators.models.friction.structure import RefitModel
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.quantities import Axis, Parameter
from estimators.refit.refit import RefitRows, RefitSettings, refit

pytestmark = pytest.mark.interpreted

THETA = np.array([76.0, 40.0, 25.0, 590.0])  # b, b_D, C1, C2 (SI)
ETA = np.array([0.0616, 0.1312])  # ω1, ω_s, rad/s
LOW, HIGH = np.array([0.005, 0.02]), np.array([0.5, 1.0])
MODEL = RefitModel(
    (Parameter("b", "N·m·s/rad", 0.0, np.inf, ""), Parameter("b_D", "N·m/rad", -np.inf, np.inf, "")),
    TanhStribeckSettings(),
)
WHOLE = RefitSettings(nodes=0)


def motion(name: str, rows: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and position: triangular positions with legs of 1 s, corners smoothed over 0.1 s, or a sine."""
    t = np.arange(-2000, rows + 2000) * 1e-3
    if name == "sine":
        v = 0.4 * np.sin(np.pi * t)
    else:
        hann = np.hanning(102)[1:-1]
        v = np.convolve(np.where(np.floor(t) % 2 == 0, 0.4, -0.4), hann / hann.sum(), "same")
    v = v[2000:-2000]
    q = np.cumsum(v) * 1e-3
    return v, q - q.mean()


def friction(v: np.ndarray, q: np.ndarray) -> np.ndarray:
    columns = [v, q, np.tanh(v / ETA[0]), v * np.exp(-np.abs(v) / ETA[1])]
    return np.stack(columns, axis=1) @ THETA


def window(name: str, seed: int | None = None, rows: int = 2000) -> RefitRows:
    """Noise of 1 % of the torque's rms."""
    v, q = motion(name, rows)
    y = friction(v, q)
    if seed is not None:
        y = y + np.random.default_rng(seed).normal(size=rows) * 0.01 * np.sqrt(np.mean(y**2))
    return RefitRows(np.stack([v, q], axis=1), y, v)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["triangle", "sine"])
def test_finds_the_truth_without_noise(name: str) -> None:
    found = refit(window(name), MODEL, LOW, HIGH, WHOLE)
    assert found.theta == pytest.approx(THETA, rel=1e-6)
    assert found.eta == pytest.approx(ETA, rel=1e-6)
    assert found.names == ("b", "b_D", "coulomb", "stribeck", "omega_tanh", "omega_stribeck")
    assert found.residual < 1e-4
    assert found.at_zero == ()
    assert found.edge == ()


@pytest.mark.parametrize("name", ["triangle", "sine"])
def test_nodes_move_eta_by_less_than_a_thousandth(name: str) -> None:
    data = window(name, seed=1, rows=4000)
    exact = refit(data, MODEL, LOW, HIGH, WHOLE)
    for nodes, limit in ((64, 1e-3), (128, 1e-4)):
        found = refit(data, MODEL, LOW, HIGH, RefitSettings(nodes=nodes))
        assert found.eta == pytest.approx(exact.eta, rel=limit)
        assert found.theta == pytest.approx(exact.theta, rel=10 * limit)
        assert found.deviations == pytest.approx(exact.deviations, rel=0.01)
        assert found.residual == pytest.approx(exact.residual, rel=1e-4)


def residual(eta: np.ndarray, data: RefitRows) -> float:
    v = data.velocity
    A = np.stack([data.fixed[:, 0], np.tanh(v / eta[0]), v * np.exp(-np.abs(v) / eta[1])], axis=1)
    q = data.fixed[:, 1:] / np.linalg.norm(data.fixed[:, 1])
    return float(optimize.nnls(A - q @ (q.T @ A), data.y - q[:, 0] * (q[:, 0] @ data.y))[1] ** 2)


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(4))
def test_is_the_lowest_minimum_there_is(seed: int) -> None:
    data = window("triangle", seed)
    found = refit(data, MODEL, LOW, HIGH, WHOLE)
    assert residual(found.eta, data) == pytest.approx(found.residual**2 * found.rows, rel=1e-6)
    grid = [np.exp(np.linspace(np.log(a), np.log(b), 30)) for a, b in zip(LOW, HIGH, strict=True)]
    values = np.array([[residual(np.array([a, b]), data) for b in grid[1]] for a in grid[0]])
    for flat in np.argsort(values, axis=None)[:40:8]:
        i, j = np.unravel_index(flat, values.shape)
        polished = optimize.minimize(
            lambda s: residual(np.exp(s), data),
            np.log([grid[0][i], grid[1][j]]),
            method="Nelder-Mead",
            bounds=list(zip(np.log(LOW), np.log(HIGH), strict=True)),
        )
        assert found.residual**2 * found.rows <= polished.fun * (1 + 1e-7)
    assert found.evaluations <= 40


@pytest.mark.compiled
def test_covariance_is_what_monte_carlo_scatters() -> None:
    v, q = motion("sine", 20_000)
    y = friction(v, q)
    draws = []
    for seed in range(300):
        noisy = y + np.random.default_rng(seed).normal(size=len(y)) * 0.5
        draws.append(refit(RefitRows(np.stack([v, q], axis=1), noisy, v), MODEL, LOW, HIGH))
    values = np.array([np.concatenate([draw.theta, draw.eta]) for draw in draws])
    said = np.median([draw.deviations for draw in draws], axis=0)
    assert values.std(axis=0) == pytest.approx(said, rel=0.2)
    assert values.mean(axis=0) == pytest.approx(np.concatenate([THETA, ETA]), rel=0.02)
    middle = draws[0].covariance / np.outer(draws[0].deviations, draws[0].deviations)
    assert np.corrcoef(values.T) == pytest.approx(middle, abs=0.15)
    assert np.mean([draw.residual for draw in draws]) == pytest.approx(0.5, rel=0.01)


def test_covariance_is_the_cramer_rao_bound() -> None:
    data = window("triangle", seed=5)
    found = refit(data, MODEL, LOW, HIGH, WHOLE)
    v, (a, b), (_, _, c1, c2) = data.velocity, found.eta, found.theta
    bell = v * np.exp(-np.abs(v) / b)
    tangents = [-c1 * v / a**2 / np.cosh(v / a) ** 2, c2 * bell * np.abs(v) / b**2]
    J = np.stack([*data.fixed.T, np.tanh(v / a), bell, *tangents], axis=1)
    rest = data.y - J[:, :4] @ found.theta
    bound = rest @ rest / (len(v) - 6) * np.linalg.inv(J.T @ J)
    assert found.deviations == pytest.approx(np.sqrt(np.diag(bound)), rel=1e-3)
    assert found.condition == pytest.approx(np.linalg.cond(J / np.linalg.norm(J, axis=0)), rel=1e-3)


@pytest.mark.compiled
def test_a_window_with_two_minima_says_so() -> None:
    doubted, wrong = 0, 0
    for seed in range(40):
        found = refit(window("triangle", seed), MODEL, LOW, HIGH)
        if np.abs(np.log(found.eta / ETA)).max() > 0.4:  # in the other valley
            wrong += 1
            assert found.ambiguous is not None
            assert found.runner_up is not None
            assert found.gap < 9.0
        doubted += found.ambiguous is not None
    assert wrong > 0
    assert 10 < doubted < 40
    long = [refit(window("triangle", seed, 20_000), MODEL, LOW, HIGH) for seed in range(10)]
    assert all(found.ambiguous is None and found.gap > 9.0 for found in long)


def test_a_coefficient_that_would_be_negative_is_held_at_zero() -> None:
    v, q = motion("sine")
    noise = np.random.default_rng(1).normal(size=len(v)) * 0.01
    bell = 300.0 * v * np.exp(-np.abs(v) / 0.2)
    y = 10.0 * q - 5.0 * np.tanh(v / 0.2) + bell + noise
    found = refit(RefitRows(np.stack([v, q], axis=1), y, v), MODEL, LOW, HIGH)
    assert found.at_zero == ("b", "coulomb")
    assert found.theta[[0, 2]].tolist() == [0.0, 0.0]
    assert np.isinf(found.deviations[[0, 2, 4]]).all()  # and so nothing is known of ω1
    assert np.isfinite(found.deviations[[1, 3, 5]]).all()
    assert found.ambiguous is None  # another ω1 is not another minimum
    y = -8.0 * v + 10.0 * q + 20.0 * np.tanh(v / 0.06) + bell + noise
    found = refit(RefitRows(np.stack([v, q], axis=1), y, v), MODEL, LOW, HIGH)
    assert found.at_zero == ("b",)
    assert np.isfinite(found.deviations[1:]).all()
    unsigned = RefitModel((MODEL.fixed[0]._replace(low=-np.inf), MODEL.fixed[1]), MODEL.friction)
    found = refit(RefitRows(np.stack([v, q], axis=1), y, v), unsigned, LOW, HIGH)
    assert found.theta[0] == pytest.approx(-8.0, rel=0.05)
    assert found.at_zero == ()


def test_rows_may_be_weighted_signed_smoothed_and_without_friction() -> None:
    v, q = motion("sine", 2000)
    taps = np.hanning(23)[1:-1]
    taps /= taps.sum()
    first = np.arange(0, 2000 - len(taps) + 1, 5)
    smooth = np.stack([np.convolve(x, taps[::-1], "valid")[::5] for x in (v, q, friction(v, q))], axis=1)
    rng = np.random.default_rng(0)
    extra = rng.normal(size=(100, 2))  # rows of another output that share b and b_D
    gain = np.concatenate([-np.ones(len(first)), np.zeros(100)])
    spread = np.concatenate([np.full(len(first), 2.0), np.full(100, 0.1)])
    y = np.concatenate([-smooth[:, 2], extra @ THETA[:2]]) + 1e-3 * spread * rng.normal(size=len(first) + 100)
    data = RefitRows(
        np.concatenate([-smooth[:, :2], extra]),
        y,
        v,
        gain=gain,
        weight=1.0 / spread,
        taps=taps,
        first=np.concatenate([first, np.zeros(100, np.int64)]),
    )
    exact = refit(data, MODEL, LOW, HIGH, WHOLE)
    assert exact.eta == pytest.approx(ETA, rel=2e-3)
    assert exact.theta == pytest.approx(THETA, rel=5e-3)
    assert exact.residual == pytest.approx(1e-3, rel=0.1)
    found = refit(data, MODEL, LOW, HIGH)
    assert found.eta == pytest.approx(exact.eta, rel=2e-4)
    assert found.deviations == pytest.approx(exact.deviations, rel=0.05)


def test_eta_of_another_law_in_its_own_plausible_range() -> None:
    v, q = motion("sine")
    law = ArctangentSettings().law(Axis.ROTARY)
    model = RefitModel((Parameter("offset", "N·m", -np.inf, np.inf, ""),), ArctangentSettings())
    moving = law.columns(q, v, v, np.array([19.7]))
    still = law.columns(q, v, v, np.array([40.0]))
    changed = (moving != still).any(axis=0)
    assert changed.sum() == 1
    y = 3.0 + 30.0 * moving[:, changed][:, 0]
    found = refit(RefitRows(np.ones((len(v), 1)), y, v), model)
    assert found.eta == pytest.approx([19.7], rel=1e-4)
    assert found.theta == pytest.approx([3.0, 30.0], rel=1e-4)


@pytest.mark.compiled
def test_columns_that_depend_on_two_eta_are_searched() -> None:
    v, q = motion("sine")
    y = friction(v, q) + np.random.default_rng(1).normal(size=len(v)) * 0.05
    model = RefitModel(MODEL.fixed, TanhStribeckSettings(exponent="searched"))
    found = refit(RefitRows(np.stack([v, q], axis=1), y, v), model)
    assert found.eta == pytest.approx([*ETA, 1.0], rel=0.1)
    assert found.residual < 0.055


@pytest.mark.compiled
def test_survives_the_way_to_a_worker_and_back() -> None:
    data = window("sine", seed=3)
    here = refit(data, MODEL, LOW, HIGH)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(refit, data, MODEL, LOW, HIGH).result()
    assert pickle.dumps(there) == pickle.dumps(here)


@pytest.mark.compiled
def test_a_warm_start_compiles_nothing() -> None:
    program = (
        "import numba.core.dispatcher as d; from estimators.numerics import normal_equations as normal\n"
        "from estimators.refit import refit, variable_projection as projection, velocity_nodes as binning\n"
        "made = [k for m in (projection, binning, normal) for k in vars(m).values() if isinstance(k, d.Dispatcher)]\n"
        "made = [k for k in made if k.nopython_signatures and k.stats.cache_path]\n"
        "assert len(made) >= 5, made\n"
        "print(sum(sum(k.stats.cache_misses.values()) for k in made))\n"
        "import numpy as np; from estimators.quantities import Parameter\n"
        "from estimators.models.friction.tanh_stribeck import TanhStribeckSettings\n"
        "v = 0.4 * np.sin(np.arange(500) / 80)\n"
        "w = refit.RefitRows(np.ones((500, 1)), 3 + np.tanh(v / 0.05) + 9 * v * np.exp(-abs(v) / 0.1), v)\n"
        "p = (Parameter('offset', '', -np.inf, np.inf, ''),)\n"
        "from numba.core.compiler_lock import global_compiler_lock as lock\n"
        "import numba.core.compiler as c; c.compile_extra = None  # whatever compiles now fails\n"
        "print(refit.refit(w, refit.RefitModel(p, TanhStribeckSettings())).eta)\n"
    )
    root = Path(__file__).parents[3]
    run = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[0] == "0"


@pytest.mark.compiled
@pytest.mark.parametrize("search", ["mcs", "lattice", "cuckoo", "chaotic_cuckoo", "swarm", "bees", "cma"])
def test_every_search_finds_the_minimum_and_says_where_it_looked(search: str) -> None:
    found = refit(window("sine", 3), MODEL, LOW, HIGH, RefitSettings(search=search))
    lowest = refit(window("sine", 3), MODEL, LOW, HIGH, RefitSettings(search="lattice", lattice=40))
    assert found.eta == pytest.approx(lowest.eta, rel=1e-3)
    assert found.visits == {"mcs": 100, "lattice": 256}.get(search, 1000)


@pytest.mark.compiled
def test_the_budget_bounds_what_a_search_visits() -> None:
    assert refit(window("sine", 3), MODEL, LOW, HIGH, RefitSettings(budget=60)).visits == 60
    assert refit(window("sine", 3), MODEL, LOW, HIGH, RefitSettings(search="bees", budget=70)).visits == 70


@pytest.mark.compiled
def test_an_answer_is_the_same_under_rounding_of_the_input() -> None:
    for seed in range(5):
        data = window("triangle", seed)
        found = refit(data, MODEL, LOW, HIGH)
        other = refit(replace(data, y=np.nextafter(data.y, np.inf)), MODEL, LOW, HIGH)
        assert other.eta == pytest.approx(found.eta, rel=1e-6)
        assert (other.ambiguous is None) == (found.ambiguous is None)


def test_a_threshold_is_searched_on_evaluations_and_a_smooth_law_on_a_table() -> None:
    v, q = (one[::4] for one in motion("sine"))
    law = DirectionalSettings().law(Axis.ROTARY)
    eta = np.array([0.11])
    columns = law.columns(q, v, v, eta)
    y = columns @ np.array([3.0, 20.0, 10.0, 5.0, 4.0, 30.0, 15.0, 2.0])
    still = (law.parameters[0], law.parameters[4])  # λ moves no Coulomb friction
    data = RefitRows(np.column_stack([columns[:, 0], columns[:, 4]]), y, v)
    found = refit(data, RefitModel(still, DirectionalSettings()), settings=WHOLE)
    assert found.eta == pytest.approx(eta, rel=1e-2)
    assert found.evaluations > found.visits  # every point was one, and the descents more
    smooth = refit(window("sine", 3), MODEL, LOW, HIGH)
    assert smooth.evaluations < smooth.visits


def fixed(*columns: np.ndarray) -> tuple[RefitRows, RefitModel]:
    v, q = motion("sine")
    parameters = tuple(Parameter(f"p{i}", "", -np.inf, np.inf, "") for i in range(len(columns)))
    return RefitRows(np.stack(columns, axis=1), friction(v, q), v), RefitModel(parameters, MODEL.friction)


def test_refuses_what_cannot_be_fitted_and_says_why() -> None:
    v, q = motion("sine")
    good = window("sine")
    one = np.ones(len(v))
    with pytest.raises(ValueError, match="p0 and p2 are collinear"):
        refit(*fixed(v, q, 3.0 * v))
    with pytest.raises(ValueError, match="column of p1 is zero"):
        refit(*fixed(v, 0.0 * q))
    with pytest.raises(ValueError, match="at least 7 rows for 6 parameters, found 5"):
        refit(RefitRows(good.fixed[:5], good.y[:5], v[:5]), MODEL)
    y = good.y.copy()
    y[[3, 5]] = np.nan, np.inf
    with pytest.raises(ValueError, match="y has 2 values that are not finite"):
        refit(RefitRows(good.fixed, y, v), MODEL)
    with pytest.raises(ValueError, match="velocity 0 throughout"):
        refit(RefitRows(good.fixed, good.y, 0.0 * v), MODEL)
    with pytest.raises(ValueError, match="omega_tanh: expected a finite range"):
        refit(good, MODEL, HIGH, LOW)
    with pytest.raises(ValueError, match="expected 2 bounds"):
        refit(good, MODEL, LOW[:1], HIGH[:1])
    with pytest.raises(ValueError, match=r"fixed columns of shape \(2000, 2\)"):
        refit(RefitRows(good.fixed[:, :1], good.y, v), MODEL)
    with pytest.raises(ValueError, match="one sample a row"):
        refit(RefitRows(good.fixed, good.y, v[:-1]), MODEL)
    with pytest.raises(ValueError, match="weight of length 2000"):
        refit(RefitRows(good.fixed, good.y, v, weight=one[1:]), MODEL)
    with pytest.raises(ValueError, match="no nonlinear parameter"):
        refit(good, RefitModel(MODEL.fixed, ViscousCoulombSettings()))


def test_the_refit_of_nothing_but_the_friction() -> None:
    v, _ = motion("sine")
    y = 25.0 * np.tanh(v / 0.05) + 60.0 * v * np.exp(-np.abs(v) / 0.1)
    found = refit(RefitRows(np.empty((len(v), 0)), y, v), RefitModel((), MODEL.friction), settings=WHOLE)
    assert found.eta == pytest.approx([0.05, 0.1], rel=1e-6)
    assert found.theta == pytest.approx([25.0, 60.0], rel=1e-6)
