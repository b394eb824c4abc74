"""What an encoder's steps do, against encoders that do lie elsewhere, and a start that is told of steps."""

import numpy as np
import pytest
import scipy.linalg

from estimators.base import Status
from estimators.conditioning.conditioner import taps
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantisation.encoder_steps import kernels_of
from estimators.quantisation.shifted_quantiser import (
    PLACES,
    EncoderReading,
    QuantiserState,
    ShiftedQuantiser,
    covariance_by_place,
    unidentifiable,
)
from estimators.quantities import Floats
from estimators.rows import PLACE, SPEED, Rows, moved

PERIOD, STEP, DECIMATION = 1e-3, 2e-3, 10
TAPS = taps(40.0)
KERNELS = kernels_of(TAPS, PERIOD)
SLOPES, OWN = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.zeros(3)  # columns q̈ and q̇


def place(t: Floats) -> Floats:
    return np.asarray(0.4 * np.sin(2.0 * np.pi * t) + 0.1 * np.cos(6.0 * t))


def seen(readings: Floats, kernel: Floats, at: np.ndarray) -> Floats:
    """A channel under a kernel, at these samples."""
    return np.asarray(np.correlate(readings, kernel, "same")[at])


def rows(samples: int) -> tuple[Rows, np.ndarray]:
    """Rows of an encoder without steps, and the sample in the middle of each."""
    t = PERIOD * np.arange(samples)
    q, at = place(t), np.arange(100, samples - 100, DECIMATION)
    phi = np.column_stack([seen(q, KERNELS[2], at), seen(q, KERNELS[1], at)])[:, None, :]
    speed = (place(t[at] + 1e-6) - place(t[at] - 1e-6))[:, None] / 2e-6
    motion = moved(q[at][:, None], speed)
    return Rows(np.round(1e9 * t[at]).astype(np.int64), phi, np.zeros((len(at), 1)), np.abs(speed), motion=motion), at


def reader(capacity: int) -> tuple[ShiftedQuantiser, Floats]:
    state = QuantiserState.room(capacity, 2, PERIOD * DECIMATION)
    found = ShiftedQuantiser(state)
    found.set_encoder_step(STEP, EncoderReading(KERNELS, SLOPES, OWN, PERIOD))
    return found, state.sums


@pytest.mark.parametrize(("slow", "reversal"), [(1e-9, 1.0), (2.0, 0.3)])
def test_it_adds_what_encoders_that_lie_elsewhere_add(slow: float, reversal: float) -> None:
    """slow: rad/s, at which rows that see a reversal, or hardly move, weigh `reversal`."""
    samples = 30_000
    told, at = rows(samples)
    found, sums = reader(4000)
    found.keep(told, slow, reversal)
    found.read()
    weight = np.where(told.speed < 0.9 * slow, reversal, 1.0)
    q = place(PERIOD * np.arange(samples))
    wanted = np.empty((PLACES, 2, 2))
    for j in range(PLACES):
        off = STEP * (np.round(q / STEP + j / PLACES) - j / PLACES) - q
        extra = np.column_stack([seen(off, KERNELS[2], at), seen(off, KERNELS[1], at)])
        wanted[j] = (weight * (told.phi[:, 0] + extra)).T @ (weight * extra)
    assert sums[:PLACES, 0, 0].mean() == pytest.approx(wanted[:, 0, 0].mean(), rel=0.15)
    assert sums[:PLACES, 0, 0] == pytest.approx(wanted[:, 0, 0], abs=0.15 * np.abs(wanted[:, 0, 0]).max())


def test_where_a_joint_passes_many_steps_a_sample_it_is_what_white_noise_adds() -> None:
    """Twenty steps a sample, at speeds that change all the time; of columns that are 0 the sums have ε² alone."""
    samples = 15_000
    told, at = rows(samples)
    fast = 20.0
    moving = moved(fast * told.motion[:, :, PLACE], fast * told.motion[:, :, SPEED])
    found, sums = reader(4000)
    found.keep(told._replace(phi=0.0 * told.phi, speed=fast * told.speed, motion=moving), 1e-9, 1.0)
    found.read()
    for column, kernel in ((0, KERNELS[2]), (1, KERNELS[1])):
        variance = STEP**2 / 12.0 * float(np.sum(kernel**2)) * len(at)
        alike = np.correlate(kernel, kernel, "full")[len(kernel) - 1 :: DECIMATION] / np.sum(kernel**2)
        deviation = np.sqrt(2.0 * (1.0 + 2.0 * np.sum(alike[1:] ** 2)) / len(at))  # of the mean square, of itself
        assert deviation < 0.08
        assert sums[:PLACES, column, column].mean() == pytest.approx(variance, rel=4.0 * deviation)


def summed(seed: int) -> tuple[ShiftedQuantiser, Floats, Floats, Floats, Floats]:
    """Sums as of many rows, G, and N and n of a row."""
    found, sums = reader(64)
    rng = np.random.default_rng(seed)
    sums[:], found.state.total = rng.normal(size=(PLACES, 2, 3)), 40.0
    return found, sums, np.array([[90.0, 20.0], [20.0, 70.0]]), 0.01 * np.eye(2), np.array([0.02, -0.05])


def test_the_mean_of_what_each_of_them_moves_theta_by_is_owed() -> None:
    found, sums, G, N, n = summed(3)
    theta, rho = np.array([2.0, -1.0]), found.state.total
    moved_by = [
        np.linalg.solve(G - A[:, :2], (A[:, :2] - rho * N) @ theta - (A[:, 2] - rho * n)) for A in sums[:PLACES]
    ]
    wanted = np.mean([np.outer(one, one) for one in moved_by], axis=0)
    assert covariance_by_place(found.state.sums, found.state.total, theta, G, N, n) == pytest.approx(wanted, rel=1e-9)


def test_what_is_owed_does_not_change_where_everything_fades_alike() -> None:
    found, _, G, N, n = summed(4)
    state, theta = found.state, np.array([2.0, -1.0])
    before = covariance_by_place(state.sums, state.total, theta, G, N, n)
    found.fade(0.3)
    assert covariance_by_place(state.sums, state.total, theta, 0.3 * G, N, n) == pytest.approx(before, rel=1e-9)


def test_across_a_pause_the_motion_is_not_known() -> None:
    """Rows with a second between them, of a joint that was moved by hand meanwhile, are those of two joints."""
    told, _ = rows(2000)
    half, later = len(told.time) // 2, 1_000_000_000
    paused = told._replace(time=told.time + np.where(np.arange(len(told.time)) < half, 0, later))
    paused.motion[half:, 0, 0] += 0.3
    (whole, sums), (first, front), (second, back) = reader(400), reader(400), reader(400)
    for one, part in ((whole, paused), (first, paused.part(slice(half))), (second, paused.part(slice(half, None)))):
        one.keep(part, 1e-9, 1.0)
        one.read()
    after = told.part(slice(half, half + 1))  # a row after the pause tells the first half that it has ended
    first.keep(after._replace(time=after.time + later), 1e-9, 1.0)
    first.read()
    assert sums[:PLACES] == pytest.approx((front + back)[:PLACES], rel=1e-9)


def test_how_rows_are_cut_does_not_matter() -> None:
    told, _ = rows(4000)
    whole, cut = reader(64), reader(64)
    whole[0].keep(told, 1e-9, 1.0)
    rng, first = np.random.default_rng(5), 0
    while first < len(told.time):
        last = first + int(rng.integers(1, 40))
        cut[0].keep(told.part(slice(first, last)), 1e-9, 1.0)
        first = last
    assert whole[1].tobytes() == cut[1].tobytes()
    assert whole[1][0, 0, 0] > 0.0


def test_noise_is_compared_direction_by_direction() -> None:
    """A direction that is weaker still, and has no noise, hides none."""
    gram, noise = np.diag([1.0, 1e-3, 1e-4]), np.diag([0.0, 0.95e-3, 0.0])
    turn, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))
    both = turn @ gram @ turn.T, turn @ noise @ turn.T
    assert scipy.linalg.eigh(both[1], both[0], eigvals_only=True)[-1] == pytest.approx(0.95)
    lost = np.zeros(3, np.bool_)
    assert unidentifiable(*both, lost)
    assert lost.any()
    assert unidentifiable(gram, noise, lost)
    assert lost.tolist() == [False, True, False]
    assert not unidentifiable(gram, 0.4 * noise, lost)
    assert not lost.any()


@pytest.mark.compiled
def test_a_start_that_ends_before_there_are_scores_is_told_of_steps() -> None:
    rate = 1000.0
    truth = {"inertia": 10.0, "viscous": 25.0, "coulomb": 4.5, "offset": 0.3, "gravity_sin": 12.0, "gravity_cos": -25.0}
    t = np.arange(round(16.0 * rate)) / rate
    w, size = 1.53, 0.753
    q, v, a = 0.457 + size * np.sin(w * t + 2.0), size * w * np.cos(w * t + 2.0), -size * w**2 * np.sin(w * t + 2.0)
    torque = truth["inertia"] * a + truth["viscous"] * v + truth["coulomb"] * np.sign(v) + truth["offset"]
    torque += truth["gravity_sin"] * np.sin(q) + truth["gravity_cos"] * np.cos(q)
    torque += 0.6 * np.random.default_rng(3).standard_normal(len(t))
    step, model = 2.0 * np.pi / 2**13, {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}
    joint = JointEstimator(JointIdentification.model_validate({"model": model}), 1.0 / rate)
    time, values = np.round(1e9 * t).astype(np.int64), np.column_stack((np.round(q / step) * step, torque))
    wanted, started = np.array(list(truth.values())), False
    for first in range(0, len(t), 100):
        joint.absorb(time[first : first + 100], values[first : first + 100])
        started |= any(event.kind == "started" for event in joint.events())
        estimate = joint.estimate()
        assert list(estimate.names) == list(truth)
        z = np.abs((estimate.values - wanted) / estimate.deviations).max()
        assert estimate.status is not Status.VALID or z < 4.0
    assert started
