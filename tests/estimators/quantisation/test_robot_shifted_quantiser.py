"""What encoders elsewhere would have done to θ, against learners that learnt from their readings."""

import numpy as np
import pytest

from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.online.robot.motion import QUICK, SLOW
from estimators.quantisation.robot_errors_in_variables import SPARSE
from estimators.quantisation.robot_shifted_quantiser import PLACES, RobotShiftedQuantiser
from estimators.quantities import Floats
from estimators.recursive.prior_bounded import PriorBounded

RATE, STEP = 500.0, 2.0 * np.pi / 2**12


def _read(q: Floats, shift: float) -> Floats:
    """Second derivative after both low-passes, of an encoder shifted by that share of a step."""
    values = (np.round(q / STEP + shift) - shift) * STEP
    second = values
    for cutoff in (QUICK, SLOW):
        values, _, second = CausalLowPass(1, cutoff, 1.0 / RATE).absorb(values)
    return second[:, 0]


def test_encoders_elsewhere_read_what_the_steps_do_one_delay_later() -> None:
    """Each error is what a shifted encoder reads less the motion itself, both after the low-passes.

    The motion repeats to the sample.
    """
    q = 0.2 * np.sin(2.0 * np.pi * 0.5 * np.arange(0.0, 8.0, 1.0 / RATE))[:, None]
    quantiser, e = RobotShiftedQuantiser(1, 1, (QUICK, SLOW), 1.0 / RATE), np.full((len(q), PLACES, 1), np.nan)
    delay = round((1.0 / QUICK + 1.0 / SLOW) / (np.sqrt(2.0) * np.pi) * RATE)
    for part in range(0, len(q), 10):
        if not quantiser.hold(q[part : part + 10]):
            quantiser.read(np.array([STEP]), part + 10, (np.arange(len(q)) - delay, e))
    e = e[:, :, 0]
    smooth = CausalLowPass(1, SLOW, 1.0 / RATE).absorb(CausalLowPass(1, QUICK, 1.0 / RATE).absorb(q)[0])[2][:, 0]
    for place in range(PLACES):
        assert e[1000:, place] == pytest.approx(_read(q, place / PLACES)[1000:] - smooth[1000:], abs=1e-9)


def test_rows_are_read_alike_however_they_wait() -> None:
    """Every twentieth sample, in two blocks; read at once, and in pieces that end anywhere."""
    q = np.cumsum(np.random.default_rng(2).standard_normal((250, 3)), axis=0)
    steps, samples = np.array([0.1, 0.0, 0.3]), np.arange(0, 250, 20)
    found = np.zeros((2, len(samples), PLACES, 3))
    for e, ends in zip(found, ([250], [1, 40, 41, 90, 250]), strict=True):
        quantiser = RobotShiftedQuantiser(3, 1, (QUICK, SLOW), 1.0 / RATE, 20)
        for first, end in zip([0, *ends], ends, strict=False):
            for part in np.array_split(q[first:end], max(1, (end - first) // 10)):
                quantiser.hold(part)
            quantiser.read(steps, end, (samples[:6], e[:6]), (samples[6:], e[6:]))
    assert (found[0] == found[1]).all()
    assert (found[0][:9, :, [0, 2]] != 0.0).all()
    assert not found[0][:, :, 1].any()


def test_between_the_rows_of_a_slow_bus_an_error_is_held() -> None:
    """Every second sample was interpolated, so no encoder read it; in pieces of an odd number of samples."""
    q = np.cumsum(np.random.default_rng(7).standard_normal((250, 1)), axis=0)
    found = np.zeros((2, 200, PLACES, 1))
    for e, (samples, apart) in zip(found, ((q, 2), (np.repeat(q[::2], 2, axis=0), 1)), strict=True):
        quantiser = RobotShiftedQuantiser(1, 1, (QUICK, SLOW), 1.0 / RATE, apart=apart)
        for first in range(0, len(q), 25):
            quantiser.hold(samples[first : first + 25])
            quantiser.read(np.array([0.1]), first + 25, (np.arange(len(e)), e))
    assert found[0].any()
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_two_joints_that_move_alike_stand_on_other_places() -> None:
    """Else what the steps of all joints do would add up in each place, as it does in no robot."""
    q = np.repeat(np.cumsum(np.full(500, 0.37 * STEP))[:, None], 2, axis=1)
    quantiser, e = RobotShiftedQuantiser(2, 1, (QUICK, SLOW), 1.0 / RATE), np.zeros((150, PLACES, 2))
    for part in range(0, len(q), 10):
        if not quantiser.hold(q[part : part + 10]):
            quantiser.read(np.full(2, STEP), part + 10, (300 + np.arange(len(e)), e))
    assert e.any(axis=(1, 2)).all()
    assert np.sort(e[:, :, 0], axis=1) == pytest.approx(np.sort(e[:, :, 1], axis=1))
    assert not np.allclose(e[:, 1:, 0], e[:, 1:, 1])


def test_what_they_would_have_done_to_the_parameters_is_owed() -> None:
    """Two inertias and a friction that is forgotten; the errors come back with each block."""
    rng, truth, fade = np.random.default_rng(3), np.array([2.0, 1.0, 0.5]), np.array([1.0, 1.0, 0.9])
    blocks, rows, weights = 30, 50, np.array([4.0, 1.0])
    X = rng.standard_normal((rows, 2, 3))
    e = 0.02 * rng.standard_normal((rows, PLACES, 2))
    slopes = np.zeros((rows // SPARSE, 2, 2, 3))
    slopes[:, 0, 0, 0] = slopes[:, 1, 1, 1] = 1.0
    slopes[:, 0, 1, 1] = 0.3
    noise = np.einsum("rklp,l,rklq->pq", slopes, SPARSE * weights * 0.02**2, slopes)
    each = np.repeat(slopes, SPARSE, axis=0)
    taught = np.ones((rows, 2))
    taught[7, 0] = 0.0
    found = []
    for place in range(PLACES):
        learner = PriorBounded(truth, 100.0 * np.eye(3), fade)
        for _ in range(blocks):
            read = (X + np.einsum("rk,rklp->rlp", e[:, place], each)) * taught[:, :, None]
            learner.absorb(read, X @ truth * taught, weights)
            learner.unbias(noise)
        found.append(learner.theta - truth)
    learner, quantiser = (
        PriorBounded(truth, 100.0 * np.eye(3), fade),
        RobotShiftedQuantiser(2, 3, (QUICK, SLOW), 1.0 / RATE),
    )
    for _ in range(blocks):
        learner.absorb(X * taught[:, :, None], X @ truth * taught, weights)
        quantiser.absorb(learner, X * taught[:, :, None], e, taught * weights, slopes, noise)
        learner.unbias(noise)
    expected = np.array(found).T @ np.array(found) / PLACES
    assert np.sqrt(np.diag(quantiser.covariance)) == pytest.approx(np.sqrt(np.diag(expected)), rel=0.1)
    quantiser.forget(np.array([2]))
    assert not quantiser.covariance[2].any()
    assert quantiser.covariance[0, 0] > 0.0
