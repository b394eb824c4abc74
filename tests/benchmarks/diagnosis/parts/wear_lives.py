"""Lives of wear in five shapes, and what is said of the time to their limit: ours, a straight line's, and river's."""

import importlib.util
import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.wear.time_to_limit import days_to_limit

Floats = NDArray[np.float64]
LIMIT, TOLD, WEEK = 0.30, 0.03, 7
SHAPES: Final = ("linear", "accelerating", "late", "stepwise", "slowing")
SMOOTH: Final = ("linear", "accelerating", "late", "slowing")
INSTANTS: Final = ("level", "half way", "half life")
COVERED, OVER_ALL, ERROR = 0.70, (0.75, 0.90), 0.25
HORIZON: Final = 60.0  # times the use so far, that river's line is followed


class Life(NamedTuple):
    """One simulated life, day by day, three times as long as until its limit."""

    use: Floats  # accumulated
    measured: Floats
    end: int  # day on which the true wear reaches the limit


class Score(NamedTuple):
    """One answer, and whether its interval held the truth."""

    covered: bool
    error: float  # |median − truth| / truth
    width: float  # 90 % over 10 %


def life(shape: str, random: np.random.Generator) -> Life:
    """A life of this shape."""
    days = int(random.uniform(150, 450))
    n = 3 * days
    use = np.cumsum(random.gamma(4.0, 0.25, n))
    x = use / use[days]
    if shape == "stepwise":
        gaps = np.cumsum(random.exponential(1 / 12, 200))
        sizes = LIMIT / 12 * random.uniform(0.5, 1.5, 200)
        wear = np.array([sizes[gaps <= one].sum() for one in x])
    elif shape == "late":
        onset = random.uniform(0.3, 0.7)
        wear = LIMIT * np.maximum(x - onset, 0.0) / (1.0 - onset)
    else:
        low, high = {"linear": (1.0, 1.0), "accelerating": (1.8, 3.0), "slowing": (0.5, 0.75)}[shape]
        wear = LIMIT * x ** random.uniform(low, high)
    slow = np.empty(n)
    slow[0] = random.normal()
    for day in range(1, n):
        slow[day] = 0.9 * slow[day - 1] + math.sqrt(1 - 0.81) * random.normal()
    measured = wear + 0.006 * random.normal(size=n) + 0.008 * slow
    return Life(use, measured, int(np.argmax(wear >= LIMIT)))


def instants(one: Life) -> dict[str, int]:
    """The days on which it is asked; those before drift was told, or after the end, are left out."""
    week = np.convolve(one.measured, np.ones(WEEK) / WEEK)[WEEK - 1 : len(one.measured)]
    told = int(np.argmax(week > TOLD)) + WEEK - 1
    level = int(np.argmax(week > (TOLD + LIMIT) / 2)) + WEEK - 1
    found = {"level": level, "half way": (told + one.end) // 2, "half life": one.end // 2}
    return {name: day for name, day in found.items() if max(told, 10) <= day < one.end}


def line(use: Floats, drift: Floats, random: np.random.Generator) -> tuple[float, float, float]:
    """Remaining use by a straight line: 10 %, median, 90 % of a bootstrap of blocks of the residual."""
    columns = np.column_stack([np.ones(len(use)), use])
    theta = np.linalg.lstsq(columns, drift, rcond=None)[0]
    residual, found = drift - columns @ theta, []
    for _ in range(200):
        starts = random.integers(0, max(1, len(use) - 10), -(-len(use) // 10))
        drawn = np.concatenate([residual[first : first + 10] for first in starts])
        again = np.linalg.lstsq(columns[: len(drawn)], (columns @ theta)[: len(drawn)] + drawn[: len(use)], rcond=None)
        a, b = again[0]
        found.append((LIMIT - a) / b - use[-1] if b > 0 else math.inf)
    low, middle, high = np.quantile(np.maximum(found, 0.0), (0.1, 0.5, 0.9), method="nearest")
    return float(low), float(middle), float(high)


def river(use: Floats, drift: Floats) -> tuple[float, float, float]:
    """Remaining use by river's Bayesian linear regression with forgetting: where mean ± 1.28 σ are LIMIT."""
    from river.linear_model import BayesianLinearRegression

    model = BayesianLinearRegression(smoothing=0.99, beta=1e4)
    scale = float(use[-1])
    for at, value in zip(use / scale, drift, strict=True):
        model.learn_one({"one": 1.0, "use": float(at)}, float(value))
    ahead = np.concatenate([[0.0], np.geomspace(1e-3, HORIZON, 120)])
    told = [model.predict_one({"one": 1.0, "use": 1.0 + float(at)}, with_dist=True) for at in ahead]
    mean, sigma = (np.array(values) for values in zip(*((one.mu, one.sigma) for one in told), strict=True))
    low, middle, high = (_first(ahead, mean + times * sigma) for times in (1.2816, 0.0, -1.2816))
    return low * scale, middle * scale, high * scale


def _first(ahead: Floats, path: Floats) -> float:
    """Where a path reaches LIMIT first; inf where it does not."""
    beyond = path >= LIMIT
    return float(ahead[int(np.argmax(beyond))]) if beyond.any() else math.inf


def progpy(use: Floats, drift: Floats) -> tuple[float, float, float]:
    """Remaining use by ProgPy: a local linear trend, unscented Kalman filter and Monte Carlo prediction, 40 paths.

    The noise is that of this bench, which ProgPy does not learn; use is scaled to one step a value.
    """
    import warnings

    warnings.filterwarnings("ignore", module="progpy")  # the same sentence at each step
    from progpy import PrognosticsModel
    from progpy.predictors import MonteCarlo
    from progpy.state_estimators import UnscentedKalmanFilter

    class Trend(PrognosticsModel):
        inputs, states, outputs, events = [], ["w", "v"], ["y"], ["limit"]
        default_parameters = {  # noqa: RUF012
            "x0": {"w": float(drift[:5].mean()), "v": LIMIT / 300},
            "process_noise": {"w": 1e-4, "v": 1e-5},
            "measurement_noise": {"y": 0.01},
        }

        def next_state(self, x, u, dt):
            return self.StateContainer(np.array([np.atleast_1d(x["w"] + x["v"] * dt), np.atleast_1d(x["v"])]))

        def output(self, x):
            return self.OutputContainer(np.array([np.atleast_1d(x["w"])]))

        def event_state(self, x):
            return {"limit": 1.0 - np.asarray(x["w"]) / LIMIT}

        def threshold_met(self, x):
            return {"limit": np.asarray(x["w"]) >= LIMIT}

    model = Trend()
    step = float(use[-1] / len(use))
    noise = {"Q": np.diag([1e-8, 1e-10]), "R": np.array([[1e-4]])}
    filtered = UnscentedKalmanFilter(model, model.parameters["x0"], **noise)
    even = np.interp(step * np.arange(1, len(use) + 1), use, drift)
    for at, value in enumerate(even):
        filtered.estimate(at + 1.0, model.InputContainer({}), model.OutputContainer({"y": float(value)}))
    found = MonteCarlo(model).predict(
        filtered.x, lambda t, x=None: model.InputContainer({}), n_samples=40, dt=4.0, horizon=1500.0, events="limit"
    )
    left = [one["limit"] for one in found.time_of_event]
    end = np.array([math.inf if one is None else one for one in left], float)
    low, middle, high = np.quantile(np.maximum(end, 0.0), (0.1, 0.5, 0.9), method="nearest") * step
    return float(low), float(middle), float(high)


def answers(
    use: Floats, drift: Floats, random: np.random.Generator, seed: int, slow: bool
) -> dict[str, tuple[float, float, float]]:
    """Remaining days by each method: 10 %, median, 90 %; slow: of ProgPy, too, which takes a second."""
    ours = days_to_limit(use, drift, LIMIT, seed)
    others = {"line": line(use, drift, random)}
    if importlib.util.find_spec("river") is not None:
        others["river"] = river(use, drift)
    if slow and importlib.util.find_spec("progpy") is not None:
        others["progpy"] = progpy(use, drift)
    rate = float(np.mean(np.diff(use[-31:])))
    found = {name: (low / rate, middle / rate, high / rate) for name, (low, middle, high) in others.items()}
    return {"ours": (ours.low, ours.middle, ours.high), **found}


def scores(shape: str, seed: tuple[int, bool]) -> dict[str, dict[str, Score]]:
    """What each method says of one life at each instant: instant → method → score. seed: and ProgPy?"""
    number, slow = seed
    random = np.random.default_rng([number, SHAPES.index(shape)])
    one, found = life(shape, random), {}
    for name, day in instants(one).items():
        use, drift = one.use[: day + 1], one.measured[: day + 1]
        true = one.end - day
        found[name] = {
            method: Score(low <= true <= high, abs(middle - true) / true, high / max(low, 1e-9))
            for method, (low, middle, high) in answers(use, drift, random, number, slow).items()
        }
    return found
