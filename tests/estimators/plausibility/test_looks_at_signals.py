"""What looks at the frames of a stream say, case by case: losses, holes and rests are no lies, and lies have a name."""

import numpy as np
import pytest

from estimators.alignment.resampler import Resampler
from estimators.plausibility.signals.recorded import held_in
from estimators.plausibility.signals.watch import SignalWatch
from estimators.quantities import Floats
from estimators.reasons import Reason

pytestmark = pytest.mark.compiled
MODULO = 65536
STEP = 1e-4  # rad, of the encoder
T = np.arange(6000) * 1e-3  # s


def said(
    q: Floats, torque: Floats, kept: Floats | None = None, counted: bool = False, rate: float = 1000.0
) -> set[str]:
    """Codes of all reasons. kept: (frames,) numbers of those that arrive, each at its time; counted: with a counter."""
    return {reason.code for reason in reasons(q, torque, kept, counted, rate)}


def reasons(
    q: Floats, torque: Floats, kept: Floats | None = None, counted: bool = False, rate: float = 1000.0
) -> list[Reason]:
    """All reasons, look by look."""
    numbers, period = np.arange(len(q)) if kept is None else kept, round(1e9 / rate)
    resampler = Resampler(1.0 / rate, 2, counter_modulo=MODULO * counted, frames=[0, 0], watched=True)
    watch = SignalWatch(resampler.aligner, ("position", "torque"), ["bus.STATE.q", "bus.STATE.t"], limit=50.0)
    columns, found = np.arange(2 + counted, dtype=np.int32), list[Reason]()
    for number in numbers.tolist():
        row = np.array([q[number], torque[number], float(number % MODULO)])[: len(columns)]
        resampler.absorb(np.full(len(columns), 1_000_000_000 + period * number), row, columns)
        if watch.due:
            found += watch.look().reasons
    return found


def moving() -> tuple[Floats, Floats]:
    """A position and a torque in order."""
    torque = 4.0 * np.cos(2.3 * T) + np.random.default_rng(5).normal(0.0, 0.05, len(T))
    return np.round((0.8 * np.sin(2.3 * T) + 0.5 * np.sin(0.7 * T)) / STEP) * STEP, np.round(torque, 3)


LOSSES = np.flatnonzero(np.arange(len(T)) % 10)


@pytest.mark.parametrize("counted", [False, True])
def test_frames_that_are_lost_now_and_then_are_no_other_rate(counted: bool) -> None:
    assert said(*moving(), np.flatnonzero(np.arange(len(T)) % 4), counted) == set()


@pytest.mark.parametrize("counted", [False, True])
def test_an_encoder_that_freezes_is_named_although_frames_are_lost(counted: bool) -> None:
    q, torque = moving()
    q[4000:] = q[4000]
    assert said(q, torque, LOSSES, counted) == {"encoder_frozen"}


@pytest.mark.parametrize("counted", [False, True])
def test_a_way_behind_a_hole_in_the_arrivals_is_no_leap(counted: bool) -> None:
    q = np.round(1.5 * T / STEP) * STEP
    assert said(q, moving()[1], np.delete(np.arange(len(T)), slice(4300, 4400)), counted) == set()


@pytest.mark.parametrize(("many", "rate"), [(4, 1000.0), (7, 1000.0), (40, 1000.0), (40, 250.0)])
def test_frames_that_come_backwards_in_pieces_are_named(many: int, rate: float) -> None:
    """Those of forty are seen in long windows only, for which a block of 250 Hz is too short by itself."""
    number = np.arange(len(T) // many * many)
    order = number // many * many + many - 1 - number % many
    assert said(np.round(0.5 * T**2 / STEP)[order] * STEP, moving()[1][order], rate=rate) == {"frames_zigzag"}


def test_a_position_that_is_new_in_every_other_frame_is_held_though_it_moves_by_few_steps() -> None:
    """By three steps of the encoder, which it cannot have gone in one frame if it was sampled in the one before."""
    number = np.arange(len(T))
    q = STEP * np.where(number < 2000, number, 2000 + (number - 2000) // 2 * 3)
    assert said(q, moving()[1]) == {"values_held"}


HELD = [pytest.param(4, 2, id="all values by 4"), pytest.param(5, 1, id="position by 5")]


@pytest.mark.parametrize(("frames", "channels"), HELD)
def test_at_which_rate_held_values_are_new_is_said(frames: int, channels: int) -> None:
    held = np.column_stack(moving())
    held[:, :channels] = held[np.arange(len(T)) // frames * frames, :channels]
    found = reasons(*held.T)
    found = [reason for reason in found if reason.code == "values_held"]
    assert len(found) > 10
    assert [reason.numbers["fresh"] for reason in found[5:]] == pytest.approx(
        [1000.0 / frames] * len(found[5:]), rel=0.02
    )
    recorded = held_in(T, held, "elbow.position")
    assert recorded is not None
    assert str(recorded).endswith(f"new ones come at {1000.0 / frames:g} Hz of 1000 Hz")


def test_a_sound_recording_holds_nothing_and_an_older_reason_has_its_words() -> None:
    assert held_in(T, np.column_stack(moving()), "elbow.position") is None
    assert str(Reason("values_held", None, {"percent": 50.0}, {"signal": "a"})).endswith("cannot have been sampled")


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_torque_that_is_clipped_on_one_side_is_named(sign: float) -> None:
    q, torque = moving()
    assert said(q, sign * np.minimum(torque + 4.0 * np.cos(20.0 * T), 3.0)) == {"torque_clipped"}


def test_a_joint_that_comes_to_rest_repeats_nothing_and_its_torque_is_not_frozen() -> None:
    """It rests from the middle of a block on, to the last bit."""
    q, torque = moving()
    number = np.arange(len(T))
    slowed = np.where(number < 2400, number, 2400 + 250 * (1.0 - np.clip(1.0 - (number - 2400) / 500, 0.0, 1.0) ** 2))
    assert said(np.interp(slowed, number, q), torque[np.minimum(number, 2900)]) == set()


def test_noise_of_some_steps_holds_no_position_though_it_halts_it_now_and_then() -> None:
    noisy = 4.0 * np.arange(len(T)) + np.random.default_rng(7).normal(0.0, 3.0, len(T))
    assert said(STEP * np.round(noisy), moving()[1]) == set()


def test_a_drive_that_is_switched_off_and_on_has_no_dead_zone() -> None:
    q, torque = moving()
    torque = 3.0 + torque - 4.0 * np.cos(2.3 * T)
    assert said(q, np.where(np.arange(len(T)) % 200 < 10, 0.0, torque)) == set()


def test_a_torque_that_changes_its_sign_through_zero_does_not_drop() -> None:
    q, torque = moving()
    sign = np.where(np.arange(len(T)) // 100 % 2 == 0, 1.0, -1.0)
    assert said(q, np.where(np.arange(len(T)) % 100 == 0, 0.0, 5.0 * sign + 0.01 * torque)) == set()


RARELY = np.sort(np.random.default_rng(3).choice(np.arange(50, len(T) - 50), len(T) // 8, replace=False))


def quick() -> tuple[Floats, Floats]:
    """A motion that goes by ten steps of the encoder and more in most frames."""
    return np.round((2.0 * np.sin(2.3 * T) + 0.5 * np.sin(0.7 * T)) / STEP) * STEP, moving()[1]


@pytest.mark.parametrize("counted", [False, True])
def test_a_gateway_that_sends_a_frame_in_eight_once_more_is_named(counted: bool) -> None:
    again = np.sort(np.concatenate([np.arange(len(T)), RARELY]))
    found = said(*quick(), again, counted)
    assert found == set() if counted else "frames_repeated" in found


def test_a_gateway_that_sends_the_last_frame_in_place_of_a_lost_one_is_named() -> None:
    q, torque = quick()
    q[RARELY], torque[RARELY] = q[RARELY - 1], torque[RARELY - 1]
    assert "frames_repeated" in said(q, torque)


def test_a_device_whose_clock_is_a_little_slower_than_the_bus_is_named() -> None:
    """As the state of a robot at 26.4 Hz that is sent at 30.0 Hz."""
    age = np.floor(np.arange(len(T)) * 0.88).astype(int)
    q, torque = quick()
    assert "frames_repeated" in said(q[age], torque[age])


def test_a_robot_that_repeats_a_row_in_fifty_is_not_refused() -> None:
    """As the Panda of the recordings, and two clocks of one rate even less."""
    age = np.floor(np.arange(len(T)) * 0.98).astype(int)
    q, torque = quick()
    assert said(q[age], torque[age]) == set()


def test_a_joint_that_rests_or_creeps_repeats_nothing() -> None:
    q, torque = quick()
    assert said(np.full_like(q, q[0]), np.full_like(torque, 1.0)) == set()
    assert said(np.round(0.8 * T / STEP) * STEP, np.full_like(torque, 1.0)) <= {"torque_frozen"}


def test_a_coarse_encoder_and_a_coarse_torque_repeat_nothing() -> None:
    """Speeds up to four and a half steps a frame, with noise of the encoder's own."""
    q, torque = quick()
    noisy = q + np.random.default_rng(4).normal(0.0, 5e-4, len(q))
    assert said(np.round(noisy / 1e-3) * 1e-3, np.round(torque)) == set()
    assert said(np.round(noisy / 4e-4) * 4e-4, np.round(torque)) == set()
