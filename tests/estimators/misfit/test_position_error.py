"""What an error of the position did to θ, against least squares of the same rows without that error."""

import numpy as np

from estimators.misfit.position_error import position_error
from estimators.numerics.directions import Directions
from estimators.quantities import Floats

ROW, ROWS, NOISE = 0.01, 6000, 0.05  # s, N·m
THETA = np.array([2.0, 8.0, -1.5, 12.0])  # inertia, viscous, offset, gravity
INERTIA = 0
NONE = np.zeros((4, 4))


def products(size: float, seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """[φᵀφ] of the rows, Σ z[φ y z], θ of least squares, and by how much it is off; size: rad, of the error."""
    from scipy.signal import lfilter

    rng = np.random.default_rng(seed)
    t, phase = ROW * np.arange(ROWS), rng.uniform(0.0, 2.0 * np.pi, 2)
    q, v, a = (
        sum(s * w**k * f(w * t + p) for s, w, p in zip((0.8, 0.25), (1.1, 3.7), phase, strict=True))
        for k, f in ((0, np.sin), (1, np.cos), (2, lambda x: -np.sin(x)))
    )  # fmt: skip
    exact = np.stack([a, v, np.ones(ROWS), np.sin(q)], axis=1)
    off = np.gradient(np.gradient(size * np.sin(300.0 * q + phase[0]), ROW), ROW)
    read = exact + np.outer(off, np.eye(4)[INERTIA])
    y = exact @ THETA + NOISE * rng.standard_normal(ROWS)
    pole = np.exp(-ROW / 0.05)
    z = lfilter([1.0 - pole], [1.0, -pole], lfilter([1.0 - pole], [1.0, -pole], read[:, INERTIA]))
    found, right = (np.linalg.lstsq(phi, y)[0] for phi in (read, exact))
    return read.T @ read, np.append(z @ read, (z @ y, z @ z)), found, right - found


def told(gram: Floats, slow: Floats, theta: Floats, left: Floats = NONE) -> Floats:
    noise, found = NOISE**2 * np.linalg.inv(gram), np.empty(4)
    shown = position_error(Directions.of(gram), slow, theta, noise, left, INERTIA, found)
    assert shown == found.any()
    return found


def test_it_is_what_the_error_took_from_the_inertia_and_gave_to_the_others() -> None:
    for seed in range(8):
        gram, slow, theta, off = products(3e-4, seed)
        found, deviation = told(gram, slow, theta), NOISE * np.sqrt(np.linalg.inv(gram)[INERTIA, INERTIA])
        assert off[INERTIA] > 50.0 * deviation, "the error is not to be overlooked"
        assert abs(found - off)[INERTIA] < 0.1 * off[INERTIA]
        assert abs(found - off)[3] < 0.1 * abs(off[3]) + 0.02


def test_where_there_is_none_noise_is_not_taken_for_it() -> None:
    """One side of a normal beyond two deviations: in 2.3 % of the trials."""
    found = [told(*products(0.0, seed)[:3])[INERTIA] for seed in range(200)]
    assert 0 < np.count_nonzero(found) < 14


def test_an_inertia_that_is_found_too_large_is_not_the_work_of_an_error() -> None:
    gram, slow, theta, _ = products(3e-4, 1)
    slow[4] = 2.0 * slow[:4] @ theta - slow[4]
    assert not told(gram, slow, theta).any()


def test_steps_that_are_known_are_not_counted_again() -> None:
    gram, slow, theta, off = products(3e-4, 1)
    assert told(gram, slow, theta).any()
    assert not told(gram, slow, theta, np.outer(off, off)).any()
