"""What encoder steps are said to do to θ and η, against what they do: the same motion, read in other places."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from estimators.conditioning.conditioner import Conditioner, Conditioning
from estimators.models.base import Model
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.joints.rigid import RigidSettings
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.online.eta.in_force import EtaInForce
from estimators.quantisation.effect import EncoderGrid, ExplainedWindow, beyond, imitated, steps_effect
from estimators.quantisation.encoder_steps import half_width, slopes_of
from estimators.quantities import Floats
from estimators.rows import Rows
from estimators.window.wrong_constants import Suspect, too_coarse

pytestmark = pytest.mark.compiled

PERIOD, NOISE = 1e-3, np.array([0.03**2])
THETA = np.array([2.0, 5.0, 50.0, 8.0, -1.5])  # inertia, Coulomb, Stribeck, viscous, offset
ETA = np.array([0.06, 0.13])
MODEL: Model = RigidSettings(friction=TanhStribeckSettings()).build()


class Motion(NamedTuple):
    """Position, and the torque that it takes, (samples,) each."""

    time: Floats
    q: Floats
    torque: Floats


def motion() -> Motion:
    """Two sines, whose reversals come back to the same places."""
    t = PERIOD * np.arange(16_000)
    w, a = 2.0 * np.pi * np.array([[0.25], [0.5]]), np.array([[0.5], [0.12]])
    q, v, acc = ((a * w**k * np.sin(w * t + k * np.pi / 2.0 + 0.3)).sum(axis=0) for k in range(3))
    friction = THETA[1] * np.tanh(v / ETA[0]) + THETA[2] * v * np.exp(-np.abs(v / ETA[1])) + THETA[3] * v
    return Motion(t, q, THETA[0] * acc + friction + THETA[4])


def rows_of(one: Motion, step: float, share: float) -> tuple[Rows, Conditioner]:
    """As an encoder whose steps lie off by a share of one gives them."""
    conditioner = Conditioner(MODEL, PERIOD, Conditioning(), half_width(step, PERIOD))
    read = np.round(one.q / step + share) * step
    stamps = np.round(1e9 * one.time).astype(np.int64) + 1
    return conditioner.absorb(stamps, np.stack((read, one.torque), axis=1)), conditioner


def off(rows: Rows, block: NonlinearBlock) -> Floats:
    """By how much least squares over these rows are off: [θ s], one step of Gauss and Newton from the truth."""
    block.refill(rows, ETA)
    design = np.concatenate((rows.phi, block.tangents(rows, ETA, THETA)), axis=2)[:, 0]
    return np.asarray(np.linalg.lstsq(design, rows.y[:, 0] - rows.phi[:, 0] @ THETA, rcond=None)[0])


@pytest.mark.parametrize("bits", [12, 14])
def test_it_is_what_readings_in_other_places_do(bits: int) -> None:
    step, one = 2.0 * np.pi / 2**bits, motion()
    errors = []
    for share in (np.arange(8) + 0.5) / 8.0:
        rows, conditioner = rows_of(one, step, share)
        block = NonlinearBlock(MODEL, conditioner.taps)
        errors.append(off(rows, block))
    encoder = EncoderGrid(step, *slopes_of(MODEL, 0), conditioner.arguments, PERIOD)
    covariance, white, _ = steps_effect(ExplainedWindow(block, rows, ETA, THETA, NOISE, encoder, None))
    told, are = np.sqrt(np.diag(covariance)), np.sqrt(np.mean(np.square(errors), axis=0))
    law = [1, 2, 3, 5, 6]  # what it says comes of a motion that has been smoothed and read once already
    assert (told[law] > 0.5 * are[law]).all(), (told, are)
    assert (told[law] < 2.0 * are[law]).all(), (told, are)
    found = beyond(covariance, white, math.inf)
    assert found == pytest.approx(found.T)
    whole = np.sqrt(np.diag(found) + white)
    assert (whole > 0.99 * told).all(), (whole, told)
    assert (np.sqrt(np.diag(found)) <= told).all()


def test_both_effects_of_the_steps_come_from_the_same_readings() -> None:
    rows, conditioner = rows_of(motion(), 2.0 * np.pi / 2**12, 0.2)
    block = NonlinearBlock(MODEL, conditioner.taps)
    block.refill(rows, ETA)
    encoder = EncoderGrid(1.5e-3, *slopes_of(MODEL, 0), conditioner.arguments, PERIOD)
    window = ExplainedWindow(block, rows, ETA, THETA, NOISE, encoder, None)
    covariance, _, errors = steps_effect(window)
    assert covariance.any()
    assert errors == imitated(window)


def test_a_fine_encoder_owes_next_to_nothing() -> None:
    one, variances = motion(), []
    for bits in (13, 19):
        step = 2.0 * np.pi / 2**bits
        rows, conditioner = rows_of(one, step, 0.2)
        block = NonlinearBlock(MODEL, conditioner.taps)
        block.refill(rows, ETA)
        encoder = EncoderGrid(step, *slopes_of(MODEL, 0), conditioner.arguments, PERIOD)
        covariance, white, _ = steps_effect(ExplainedWindow(block, rows, ETA, THETA, NOISE, encoder, None))
        variances.append(np.diag(beyond(covariance, white, math.inf)))
    assert (variances[1][5:] < 0.1 * variances[0][5:]).all(), variances


def test_rows_that_do_not_hang_together_owe_nothing() -> None:
    rows, conditioner = rows_of(motion(), 2.0 * np.pi / 2**12, 0.2)
    block = NonlinearBlock(MODEL, conditioner.taps)
    block.refill(rows, ETA)
    apart = rows.part(np.arange(0, len(rows.time), 30))
    encoder = EncoderGrid(1.5e-3, *slopes_of(MODEL, 0), conditioner.arguments, PERIOD)
    covariance, white, errors = steps_effect(ExplainedWindow(block, apart, ETA, THETA, NOISE, encoder, None))
    assert not covariance.any()
    assert not white.any()
    assert not errors


def test_tangents_are_slopes_of_what_the_kernel_makes_of_columns() -> None:
    rows, conditioner = rows_of(motion(), 2.0 * np.pi / 2**12, 0.2)
    block, sides = NonlinearBlock(MODEL, conditioner.taps), []
    for k in range(len(ETA)):
        for step in (1e-4, -1e-4):
            shifted = ETA * np.exp(step * (np.arange(len(ETA)) == k))
            block.refill(rows, shifted)
            sides.append(rows.phi @ THETA)
    found = block.tangents(rows, ETA, THETA)
    for k in range(len(ETA)):
        slope = (sides[2 * k] - sides[2 * k + 1]) / 2e-4
        assert found[:, :, k] == pytest.approx(slope, abs=1e-4 * np.abs(slope).max())


def test_a_law_that_steps_move_too_far_is_a_reason() -> None:
    eta = EtaInForce(MODEL, np.ones(1), 1.0)
    eta.state.steps = np.diag(np.square([0.07, 0.09]))
    (reason,) = eta.reasons
    assert str(reason).startswith("omega_stribeck = 0.14 rad/s is uncertain by 9 %")
    assert reason.code == "nonlinear_encoder_steps"


def test_steps_pass_for_an_error_of_a_constant() -> None:
    suspect = Suspect("the scale of torque", "", 0.14, 0.011, np.zeros(1), np.zeros(1))
    assert suspect.beyond(0.0)
    assert suspect.beyond(0.029)
    assert not suspect.beyond(0.03)
    reason = too_coarse(suspect)
    assert (reason.code, reason.parameter) == ("constant_or_encoder_steps", "the scale of torque")
    assert "the scale of torque (+14.0 ± 1.1 %)" in str(reason)


def test_what_steps_do_at_each_return_stays_when_more_rows_tell_less_of_white_ones() -> None:
    """What white steps would do is taken off as far as the residual shows it, or nothing might be left of the steps."""
    steps, white = np.array([[4.0, 1.0], [1.0, 9.0]]), np.array([5.0, 1.0])
    for told in (np.array([3.0, 3.0]), np.array([0.1, 0.1])):
        whole = np.diag(beyond(steps, white, told)) + told
        assert (whole > 0.999 * np.diag(steps)).all()
        assert (whole < np.diag(steps) + told).all()
    assert np.diag(beyond(steps, white, math.inf)) == pytest.approx([0.0, 8.0])
