"""Events of a gear with one encoder, from motions whose every constant is known."""

import numpy as np
import pytest

from estimators.models.joints.lost_motion import LOST_MOTION, STIFFNESS, OneEncoderSettings
from estimators.online.gear.one_encoder import EVENTS, LEVELS, OneEncoder
from estimators.online.gear.reversals import (
    COMMON,
    DECIDES,
    LEAST_ROWS,
    SMOOTH,
    WINDOW,
    ReversalColumns,
    ReversalFriction,
    columns_of,
    events_of,
)
from estimators.quantities import Floats

PERIOD, RATIO, MOTOR = 1e-3, 20.0, 0.5
T = PERIOD * np.arange(601)
MIDDLE = 300
FRICTION = ReversalFriction(12.0, 2.0)
# half the gap, 1/K, 1/J_l, gravity (sine, cosine) / J_l, −viscous / J_l, the gear's error (cosine, sine)
TRUTH = np.array([3e-4, 5e-5, 0.2, -4.0, 2.0, -0.3, 1e-4, -2e-4])


def second(x: Floats) -> Floats:
    found = np.zeros_like(x)
    found[1:-1] = np.diff(x, 2) / PERIOD**2
    return found


def event(seed: int, begin: float, speed: float) -> tuple[Floats, Floats]:
    """Position and torque of a motor whose gear's torque changes its sign in the middle, by the equations."""
    draw = np.random.default_rng(seed)
    slope, bend, wave = draw.uniform(140.0, 190.0), draw.uniform(-300.0, 300.0), draw.uniform(3.0, 6.0)
    t = T - T[MIDDLE] - 0.5 * PERIOD
    gear = draw.choice([-1.0, 1.0]) * (slope * t + bend * t**2 + np.sin(2.0 * np.pi * wave * t))
    half, soft, inverse, sine, cosine, drag, even, odd = TRUTH
    place, link = np.empty((2, len(T)))
    before = link_before = link_two = begin
    rate = speed
    for k in range(len(T)):
        load = inverse * gear[k] + sine * np.sin(before) + cosine * np.cos(before) + drag * rate
        link[k] = 2.0 * link_before - link_two + PERIOD**2 * load if k > 1 else begin + speed * PERIOD * k
        error = even * np.cos(2.0 * RATIO * before) + odd * np.sin(2.0 * RATIO * before)
        place[k] = link[k] + soft * gear[k] + half * np.sign(gear[k]) + error
        link_two, link_before, before, rate = link_before, link[k], place[k], (link[k] - link_before) / PERIOD
    drive = FRICTION.dry * np.sign(speed) + FRICTION.viscous * np.gradient(place, PERIOD)
    torque = gear + MOTOR * second(place) + drive
    return place, torque


def found(place: Floats, torque: Floats, first: int = 0, last: int = 10_000) -> list[Floats]:
    columns = columns_of(place, torque, MOTOR, RATIO, PERIOD)
    return events_of(columns, FRICTION, 1.0, first, last, PERIOD)


def test_every_unknown_of_the_gear_is_found_in_the_sums_of_its_events() -> None:
    sums = np.zeros(COMMON * (COMMON + 1) + 2)
    for seed in range(60):
        sign = -1.0 if seed % 2 else 1.0
        (one,) = found(*event(seed, begin=0.9 * seed, speed=sign * (3.0 + 0.03 * seed)))
        sums += one
    A, d = sums[: COMMON**2].reshape(COMMON, COMMON), sums[COMMON**2 : -2]
    theta = np.linalg.solve(A, d)
    # the window that smooths rounds the gap's jump for 16 ms, the load leaves the band a little sooner
    np.testing.assert_allclose(theta / TRUTH, 1.0, atol=0.15)
    np.testing.assert_allclose((theta / TRUTH)[[0, 2, 3, 4, 6, 7]], 1.0, atol=0.05)
    left = sums[-2] - d @ theta
    assert 0.0 <= left < 1e-3 * sums[-2]
    assert 60 * 2 * LEAST_ROWS < sums[-1] < 60 * (2 * round(WINDOW / PERIOD) - 2)


def test_an_event_lies_where_the_sign_changes_and_within_the_rows_that_are_asked_for() -> None:
    place, torque = event(3, 0.0, 3.0)
    assert len(found(place, torque, MIDDLE - 3, MIDDLE + 3)) == 1
    assert found(place, torque, MIDDLE + 3) == []
    assert found(place, torque, 0, MIDDLE - 3) == []
    (one,), (same,) = found(place, torque), found(place, torque, MIDDLE - 3, MIDDLE + 3)
    np.testing.assert_array_equal(one, same)


@pytest.mark.parametrize(
    ("speed", "count"),
    [
        (np.full(601, 0.03), 1),
        (np.full(601, -0.03), 1),
        (np.full(601, 0.01), 0),  # it may stand still
        (np.linspace(-0.5, 0.5, 601), 0),  # and its friction turn round
        (np.where(np.arange(601) < MIDDLE, 0.03, -0.03), 0),
    ],
)
def test_an_event_is_used_where_the_motor_does_not_turn_round(speed: Floats, count: int) -> None:
    load = 100.0 * (T - T[MIDDLE] - 0.5 * PERIOD)
    drag = FRICTION.dry * np.sign(speed) + FRICTION.viscous * speed
    place = np.cumsum(speed) * PERIOD
    columns = ReversalColumns(place, speed, load + drag, load + drag, np.sign(speed), 0.0 * T, 0.0 * T, 0.0)
    assert len(events_of(columns, FRICTION, 1.0, 0, 601, PERIOD)) == count


@pytest.mark.parametrize(("noise", "share", "rows"), [(0.0, 1.0, 3.62), (0.0, 2.0, 1.81), (0.4, 1.0, 5.62)])
def test_rows_whose_sign_the_friction_or_the_noise_could_turn_are_left_out(
    noise: float, share: float, rows: float
) -> None:
    """band = 0.3 (dry + viscous · speed) / share + 5 noise; the load grows by 0.1 a row."""
    speed = np.full(601, 0.03)
    load = 100.0 * (T - T[MIDDLE] - 0.5 * PERIOD)
    drag = FRICTION.dry + FRICTION.viscous * speed
    columns = ReversalColumns(speed * T, speed, load + drag, load + drag, np.ones(601), 0.0 * T, 0.0 * T, noise)
    (one,) = events_of(columns, FRICTION, share, 0, 601, PERIOD)
    band = 0.3 * (12.0 + 2.0 * speed[0]) / share + 5.0 * noise
    assert band == pytest.approx(rows, abs=0.05)
    half = round(WINDOW / PERIOD)
    load = load[MIDDLE - half : MIDDLE + half + 1]
    assert one[-1] == np.count_nonzero(np.abs(load) > band) - 3


def test_two_changes_within_a_window_are_none_and_the_next_one_behind_it_is() -> None:
    """Where the torque has its first sign again within the window, the gap has not been crossed."""
    speed = np.full(601, 0.5)

    def count(changes: tuple[int, ...]) -> int:
        sign = np.prod([np.where(np.arange(601) <= at, -1.0, 1.0) for at in changes], axis=0)
        load = 20.0 * np.convolve(sign, np.full(31, 1.0 / 31.0), "same") + FRICTION.dry + FRICTION.viscous * speed
        columns = ReversalColumns(speed * T, speed, load, load, np.ones(601), 0.0 * T, 0.0 * T, 0.0)
        return len(events_of(columns, FRICTION, 1.0, 0, 601, PERIOD))

    assert count((200,)) == 1
    assert count((200, 230)) == 0
    assert count((200, 400)) == 2
    assert count((40,)) == 0, "its window begins before the samples"
    assert count((560,)) == 0


def test_the_noise_of_the_torque_is_found_from_how_it_jumps_and_a_motion_is_none() -> None:
    rng, rows = np.random.default_rng(3), 4001
    t = PERIOD * np.arange(rows)
    smooth = 5.0 * np.sin(2.0 * np.pi * t)
    narrow = np.hanning(2 * round(0.5 * DECIDES / PERIOD) + 3)
    narrow /= narrow.sum()
    for sigma in (0.0, 0.2):
        columns = columns_of(0.0 * t, smooth + sigma * rng.standard_normal(rows), MOTOR, RATIO, PERIOD)
        assert columns.noise == pytest.approx(sigma * np.sqrt((narrow**2).sum()), rel=0.1, abs=1e-4)


def test_columns_are_smoothed_alike_and_the_motors_inertia_is_taken_off() -> None:
    position = 0.3 + 0.7 * T + 1.5 * T**2
    torque = 4.0 + 3.0 * T
    columns = columns_of(position, torque, MOTOR, RATIO, PERIOD)
    inner = slice(40, -40)
    wide = np.hanning(2 * round(0.5 * SMOOTH / PERIOD) + 3)
    wide /= wide.sum()
    spread = wide @ (PERIOD * (np.arange(len(wide)) - len(wide) // 2)) ** 2
    np.testing.assert_allclose(columns.position[inner], (position + 1.5 * spread)[inner], rtol=1e-12)
    np.testing.assert_allclose(columns.speed[inner], (0.7 + 3.0 * T)[inner], rtol=1e-9)
    for one in (columns.torque, columns.deciding):
        np.testing.assert_allclose(one[inner], (torque - MOTOR * 3.0)[inner], rtol=1e-9)
    np.testing.assert_allclose(columns.direction[inner], 1.0, rtol=1e-12)
    phase = np.convolve(np.exp(2j * RATIO * position), wide, "same")
    np.testing.assert_allclose((columns.cosine + 1j * columns.sine)[inner], phase[inner], atol=1e-12)


def watch_with(noise: tuple[float, ...], theta: Floats, events: int = EVENTS) -> tuple[OneEncoder, list[list[Floats]]]:
    """Its state filled with events of fifty random rows each; noise: of each level. And the rows, level by level."""
    watch, rng = OneEncoder(OneEncoderSettings(inertia_motor=0.5, ratio=100.0), 1e-3), np.random.default_rng(5)
    rows: list[list[Floats]] = []
    for level, size in enumerate(noise):
        rows.append([])
        for at in range(events):
            X = rng.standard_normal((50, COMMON))
            y = X @ theta + size * rng.standard_normal(50)
            watch.state.sums[level, at] = np.concatenate([(X.T @ X).ravel(), X.T @ y, [y @ y, 47.0]])
            rows[-1].append(np.column_stack([X, y]))
    watch.state.counts[:] = events
    return watch, rows


def solved(rows: list[Floats]) -> Floats:
    whole = np.concatenate(rows)
    return np.asarray(np.linalg.lstsq(whole[:, :-1], whole[:, -1])[0])


def test_what_is_reported_is_the_level_that_fits_best_with_the_spread_of_its_events() -> None:
    """Least squares of all rows, and the jackknife of events that are left out one by one."""
    theta = np.array([3e-4, 5e-5, 0.2, -4.0, 2.0, -0.3, 1e-4, -2e-4])
    watch, rows = watch_with((3e-4, 2e-4, 1e-4, 4e-4, 5e-4), theta)
    report = watch.report()
    best = solved(rows[2])
    without = np.array([solved(rows[2][:at] + rows[2][at + 1 :]) for at in range(EVENTS)])
    spread = np.sqrt((EVENTS - 1) / EVENTS * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    assert report.values[LOST_MOTION] == pytest.approx(2.0 * best[0], rel=1e-6)
    assert report.deviations[LOST_MOTION] == pytest.approx(2.0 * spread[0], rel=1e-6)
    assert report.values[STIFFNESS] == pytest.approx(1.0 / best[1], rel=1e-6)
    assert report.deviations[STIFFNESS] == pytest.approx(spread[1] / best[1] ** 2, rel=1e-6)
    assert not report.reasons


def test_levels_that_fit_as_well_add_their_differences_to_the_deviation() -> None:
    theta = np.array([3e-4, 5e-5, 0.2, -4.0, 2.0, -0.3, 1e-4, -2e-4])
    watch, rows = watch_with((1e-4,) * len(LEVELS), theta)
    for level in range(len(LEVELS)):  # their gaps differ, as the friction that is assumed for them does
        for at, one in enumerate(rows[level]):
            one[:, -1] += (level - 2) * 1e-5 * one[:, 0]
            X, y = one[:, :-1], one[:, -1]
            watch.state.sums[level, at] = np.concatenate([(X.T @ X).ravel(), X.T @ y, [y @ y, 47.0]])
    report = watch.report()
    fits = [solved(one) for one in rows]
    apart = np.std([2.0 * one[0] for one in fits])
    assert apart > 2.5e-5
    assert report.deviations[LOST_MOTION] == pytest.approx(np.hypot(apart, 2e-4 / np.sqrt(50 * EVENTS)), rel=0.05)


@pytest.mark.parametrize(("gap", "noise", "told"), [(3e-4, 5e-4, True), (3e-4, 2e-3, False), (-3e-4, 1e-4, False)])
def test_a_lost_motion_is_reported_where_two_of_its_deviations_are_a_fifth_of_it(
    gap: float, noise: float, told: bool
) -> None:
    """A lost motion is reported if it is positive and known well enough.

    From 2000 rows a gap is known to 2.2 % of the noise, and the lost motion, twice the gap, to twice as much.
    """
    theta = np.array([gap, 5e-5, 0.2, -4.0, 2.0, -0.3, 1e-4, -2e-4])
    watch, _ = watch_with((noise,) + (1.0,) * 4, theta)
    report = watch.report()
    assert np.isfinite(report.values[LOST_MOTION]) == told
    if not told:
        (reason,) = report.reasons
        assert reason.code == "gear_gap_uncertain"
        assert reason.numbers["lost"] == pytest.approx(2e6 * gap, rel=0.5)
        assert reason.numbers["deviation"] == pytest.approx(2e6 * noise / np.sqrt(2000), rel=0.5)


def test_only_the_newest_events_count_and_thirty_are_needed() -> None:
    theta = np.array([3e-4, 5e-5, 0.2, -4.0, 2.0, -0.3, 1e-4, -2e-4])
    watch, rows = watch_with((1e-4,) + (1.0,) * 4, theta)
    watch.state.counts[:] = 29
    (reason,) = watch.report().reasons
    assert (reason.code, reason.numbers) == ("gear_few_reversals", {"reversals": 29.0, "needed": 30.0})
    assert watch.report().progress == pytest.approx(100.0 * 29 / 30)
    again, _ = watch_with((1e-4,) + (1.0,) * 4, theta)
    again.state.counts[:] = 30
    assert again.report().values[LOST_MOTION] == pytest.approx(2.0 * solved(rows[0][:30])[0], rel=1e-6)
    assert again.report().progress == 100.0


def test_a_torque_that_changes_its_sign_back_and_forth_within_its_noise_is_one_event() -> None:
    load = 100.0 * (T - T[MIDDLE] - 0.5 * PERIOD)
    load[[MIDDLE, MIDDLE + 1]] = load[[MIDDLE + 1, MIDDLE]]
    assert np.count_nonzero(np.diff(np.sign(load))) == 3
    speed = np.full(601, 0.03)
    torque = load + FRICTION.dry + FRICTION.viscous * speed
    columns = ReversalColumns(speed * T, speed, torque, torque, np.ones(601), 0.0 * T, 0.0 * T, 0.0)
    assert len(events_of(columns, FRICTION, 1.0, 0, 601, PERIOD)) == 1
