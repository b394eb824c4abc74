"""The shape of each cause is what a fault of its kind adds, by formulas of their own; no other cause is likelier."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from estimators.causes.base import CauseKind, FaultWindow, Shape
from estimators.causes.catalogue import CAUSES
from estimators.causes.healthy_joint import HealthyJoint
from estimators.causes.ranking import rank
from estimators.causes.sample_rows import SignatureRows
from estimators.causes.time_course import MOST, TimeCourse, time_course
from estimators.quantities import Floats

BY_NAME = {one.name: one for one in CAUSES}
LONG_AGO = -1e6  # s: what began then does not grow within a window
J_M, J_L, F_C, F_V, GRAVITY, K, NOISE = 0.5, 1.5, 4.0, 3.0, 15.0, 2.0e3, 0.05


class Motion(NamedTuple):
    """Exact motion of a joint, fifty rows a second."""

    t: Floats
    q: Floats
    v: Floats
    a: Floats


def motion(seconds: float, seed: int) -> Motion:
    t, rng = np.asarray(np.arange(round(50.0 * seconds)) * 0.02, np.float64), np.random.default_rng(seed)
    waves = [(0.7, 1.1), (0.35, 2.9), (0.08, 6.1)]
    phases = rng.uniform(0.0, 2.0 * np.pi, len(waves))
    q, v, a = (
        np.sum([s * w**k * np.sin(w * t + p + k * np.pi / 2) for (s, w), p in zip(waves, phases, strict=True)], axis=0)
        for k in range(3)
    )
    return Motion(t, q, v, a)


def side(one: Motion) -> Floats:
    return np.sign(one.v)


def gravity(q: Floats) -> Floats:
    return GRAVITY * np.sin(q + 0.4)


def gear(one: Motion) -> Floats:
    return J_L * one.a + gravity(one.q)


def torque(one: Motion) -> Floats:
    return J_M * one.a + gear(one) + F_C * side(one) + F_V * one.v


def rows(one: Motion, y: Floats, twist: Floats | None, seed: int) -> SignatureRows:
    """As they are measured; with a second encoder the link's acceleration is less by that of the healthy gear."""
    rng = np.random.default_rng([seed, 1])
    y = y + NOISE * rng.standard_normal(len(y))
    if twist is None:
        return SignatureRows(*one, y, np.full(len(y), np.nan), np.zeros(len(y)))
    bend = np.gradient(np.gradient(gear(one) / K, 0.02), 0.02)
    return SignatureRows(*one, y - J_L * bend, twist + 1e-6 * rng.standard_normal(len(y)), bend)


def window(seen: Motion, y: Floats, twist: Floats | None = None) -> FaultWindow:
    """What is seen now, against a reference of two minutes of another motion."""
    before = motion(120.0, 1)
    wound = None if twist is None else gear(before) / K
    return FaultWindow(HealthyJoint.of(rows(before, torque(before), wound, 1)), rows(seen, y, twist, 2))


NOW = motion(40.0, 2)
PLACE = (NOW.q - NOW.q.min()) / np.ptp(NOW.q)


def slipped(angle: float) -> Motion:
    return NOW._replace(q=NOW.q + angle)


def eccentric(size: float) -> Motion:
    """Its reading q + ε sin(q + 1), and the derivatives of that."""
    sine, cosine = np.sin(NOW.q + 1.0), np.cos(NOW.q + 1.0)
    curve = cosine * NOW.a - sine * NOW.v**2
    return Motion(NOW.t, NOW.q + size * sine, NOW.v * (1.0 + size * cosine), NOW.a + size * curve)


# what one encoder and the torque tell of a fault
IN_TORQUE: dict[str, Callable[[], tuple[Motion, Floats]]] = {
    "bearing": lambda: (NOW, torque(NOW) + 0.9 * np.sin(11.0 * NOW.q + 0.7) + 0.3 * side(NOW)),
    "brake_drag": lambda: (NOW, torque(NOW) + 2.0 * side(NOW)),
    "cable_drag": lambda: (
        NOW,
        torque(NOW) + 4.0 * np.maximum(PLACE - 0.5, 0.0) / 0.5 + 0.8 * side(NOW) * (PLACE > 0.5),
    ),
    "encoder_eccentricity": lambda: (eccentric(0.08), torque(NOW)),
    "encoder_slip": lambda: (slipped(0.08), torque(NOW)),
    "gear_wear": lambda: (NOW, torque(NOW) + side(NOW) * (1.5 + 2.0 * np.exp(-np.abs(NOW.v) / 0.1))),
    "load": lambda: (NOW, torque(NOW) + 0.5 * 0.9 * (0.9 * NOW.a + 9.81 * np.sin(NOW.q + 0.5))),
    "temperature": lambda: (NOW, torque(NOW) + F_V * NOW.v * (np.exp(15.0 / 21.0) - 1.0)),
    "torque_measurement": lambda: (NOW, 1.15 * torque(NOW)),
}
# and what a second encoder tells of the twist
IN_TWIST: dict[str, Callable[[], Floats]] = {
    "belt_slack": lambda: gear(NOW) / (0.3 * K),
    "encoder_eccentricity": lambda: gear(NOW) / K - 0.05 * np.sin(NOW.q + 1.0),
    "encoder_slip": lambda: gear(NOW) / K - 0.05,
    "gear_gap": lambda: gear(NOW) / K + 4e-3 * np.sign(gear(NOW)),
}


def alike(residual: Floats, shapes: list[Shape]) -> float:
    """Largest correlation of a residual with a mix of a cause's shapes, whose sign counts."""
    every = np.column_stack([one.columns @ one.mixes for one in shapes])
    return float(np.max(residual @ every / np.linalg.norm(residual) / np.linalg.norm(every, axis=0)))


def likeliest(cause: CauseKind, now: FaultWindow) -> str:
    found = rank(now, TimeCourse(MOST if cause.sudden else -MOST, -np.inf, LONG_AGO))
    return max(found.probability, key=lambda name: found.probability[name])


@pytest.mark.parametrize("name", IN_TORQUE)
def test_the_torque_of_a_fault_is_the_shape_of_its_cause_and_its_cause_is_likeliest(name: str) -> None:
    now = window(*IN_TORQUE[name]())
    assert alike(now.torque, list(BY_NAME[name].torque(now))) > 0.97
    assert likeliest(BY_NAME[name], now) == name


@pytest.mark.parametrize("name", IN_TWIST)
def test_the_twist_of_a_fault_is_the_shape_of_its_cause_and_its_cause_is_likeliest(name: str) -> None:
    now = window(NOW, torque(NOW), IN_TWIST[name]())
    assert alike(now.twist, list(BY_NAME[name].twist(now))) > 0.97
    assert likeliest(BY_NAME[name], now) == name


def test_a_zero_of_the_torque_and_a_gain_that_fell_are_of_the_measurement() -> None:
    for y in (torque(NOW) - 2.0, 0.87 * torque(NOW)):
        now = window(NOW, y)
        assert alike(now.torque, list(BY_NAME["torque_measurement"].torque(now))) > 0.97
        assert likeliest(BY_NAME["torque_measurement"], now) == "torque_measurement"


def test_what_is_of_no_shape_is_unknown() -> None:
    now = window(NOW, torque(NOW) + 4.0 * np.exp(-(((NOW.q - 0.2) / 0.1) ** 2)) * side(NOW))
    assert likeliest(BY_NAME["brake_drag"], now) == "unknown"


def test_a_step_is_distinguished_from_a_ramp_and_both_from_a_burst() -> None:
    one, rng = motion(60.0, 3), np.random.default_rng(4)
    before = motion(120.0, 1)
    healthy = HealthyJoint.of(rows(before, torque(before), None, 1))

    def course(share: Floats) -> TimeCourse:
        y = torque(one) + 3.0 * share * side(one)
        return time_course(healthy, rows(one, y, None, int(rng.integers(99))), 40.0)

    step, ramp = course(1.0 * (one.t > 30.0)), course(np.maximum(one.t - 20.0, 0.0) / 40.0)
    assert step.sudden > MOST
    assert step.onset == pytest.approx(30.0, abs=2.5)
    assert ramp.sudden < -MOST
    assert step.growth(one.t) == pytest.approx(np.ones(len(one.t)))
    late = ramp.growth(np.array([35.0, 55.0]))
    assert late[1] / late[0] == pytest.approx(35.0 / 15.0, rel=0.5)
    assert ramp.onset == pytest.approx(20.0, abs=6.0)
    burst = course(6.0 * ((one.t > 45.0) & (one.t < 46.0)))
    assert burst.collision > 0.0
    assert burst.burst_end == pytest.approx(46.0, abs=0.5)
    long = course(6.0 * ((one.t > 40.0) & (one.t < 50.0)))
    assert step.collision == ramp.collision == long.collision == -np.inf


def second_derivative(values: Floats) -> Floats:
    return np.asarray(np.gradient(np.gradient(values, 0.02), 0.02))


def pinched(values: Floats) -> Floats:
    """Its sign, but for where it is small."""
    return np.asarray(values / np.hypot(values, 0.15 * np.sqrt(np.mean(values**2))))


# what a motor gives beside for its own way, as it winds the gear or crosses its gap; one encoder cannot tell the
# motor's inertia from the link's, so the gap is crossed where the torque of both changes its sign
WAY: dict[str, Callable[[], Floats]] = {
    "belt_slack": lambda: J_M * second_derivative(gear(NOW) / (0.03 * K)),
    "gear_gap": lambda: 8.0 * second_derivative(pinched(gear(NOW) + J_M * NOW.a)) / 400.0,
}


@pytest.mark.parametrize("name", WAY)
def test_with_one_encoder_the_motor_s_own_way_is_the_shape_of_a_gap_and_of_a_slack_belt(name: str) -> None:
    now = window(NOW, torque(NOW) + WAY[name]())
    assert alike(now.torque, list(BY_NAME[name].torque(now))) > 0.9


@pytest.mark.parametrize("name", ["gear_gap", "encoder_slip"])
def test_with_two_encoders_a_gap_and_a_slip_leave_the_torque_as_it_is(name: str) -> None:
    assert not BY_NAME[name].torque(window(NOW, torque(NOW), gear(NOW) / K))


def test_a_belt_that_is_slack_at_small_torque_only_is_of_its_cause() -> None:
    load = gear(NOW)
    now = window(NOW, torque(NOW), load / K + 4e-3 * load / np.hypot(load, 0.4 * float(np.std(torque(NOW)))))
    assert alike(now.twist, list(BY_NAME["belt_slack"].twist(now))) > 0.97


def test_an_eccentric_encoder_of_the_link_shows_in_its_acceleration_too() -> None:
    read = eccentric(0.05)
    now = window(NOW, torque(NOW), gear(NOW) / K)
    added = J_L * (read.a - NOW.a)  # what the link does not do
    added = added[np.isin(NOW.t, now.rows.time)]
    assert alike(added, list(BY_NAME["encoder_eccentricity"].torque(now))) > 0.97


def test_a_ripple_winds_the_gear_too() -> None:
    now = window(NOW, torque(NOW), gear(NOW) / K + 1e-3 * np.sin(11.0 * NOW.q + 0.7))
    assert alike(now.twist, list(BY_NAME["bearing"].twist(now))) > 0.97


def test_a_gain_and_a_zero_that_move_together_are_of_the_measurement() -> None:
    y = 1.1 * torque(NOW) - 1.5
    now = window(NOW, y)
    assert alike(now.torque, list(BY_NAME["torque_measurement"].torque(now))) > 0.97
    assert likeliest(BY_NAME["torque_measurement"], now) == "torque_measurement"


def test_a_hose_that_rubs_anywhere_is_of_the_cable() -> None:
    pull = 4.0 * (np.maximum(0.5 - PLACE, 0.0) / 0.5) ** 2  # from the lower end, and harder when stretched
    now = window(NOW, torque(NOW) - pull + 0.8 * side(NOW))
    assert alike(now.torque, list(BY_NAME["cable_drag"].torque(now))) > 0.995
    assert likeliest(BY_NAME["cable_drag"], now) == "cable_drag"


def test_about_a_vertical_axis_a_load_is_inertia_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FaultWindow, "gravity", (np.zeros(len(NOW.t)), np.zeros(len(NOW.t))))
    now = window(NOW, torque(NOW) + 0.4 * NOW.a)
    assert alike(now.torque, list(BY_NAME["load"].torque(now))) > 0.97


def test_what_grows_within_the_window_is_explained_better_by_shapes_that_grow() -> None:
    begin = float(NOW.t[0])
    now = window(NOW, torque(NOW) + 2.0 * (NOW.t - begin) / np.ptp(NOW.t) * side(NOW))
    growing, always = (rank(now, TimeCourse(-MOST, -np.inf, onset)).evidence for onset in (begin, LONG_AGO))
    assert growing > always + 10.0


def test_a_joint_does_not_warm_at_once_however_well_its_shape_fits() -> None:
    now = window(*IN_TORQUE["temperature"]())

    def odds(sudden: float) -> float:
        found = rank(now, TimeCourse(sudden, -np.inf, LONG_AGO)).probability
        return float(np.log(found["temperature"] / found["unknown"]))

    assert odds(-20.0) - odds(20.0) > 14.0
