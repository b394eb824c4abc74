"""Units at the end of a column's name, and what the first columns of a table without names are."""

import numpy as np
import pytest

from daq.recording.proposal.column_name import is_state, read_name
from daq.recording.proposal.headerless import guess, is_clock
from daq.recording.proposal.units import encoder_period, velocity_unit
from estimators.quantities import Floats


@pytest.mark.parametrize(
    ("name", "unit", "rest"),
    [
        ("q_1_deg", "deg", ("1",)),
        ("q_deg_1", "deg", ("1",)),
        ("vel_deg_per_s", "deg/s", ()),
        ("vel_rad_s_2", "rad/s", ("2",)),
        ("vel_rad_per_sec", "rad/s", ()),
        ("q_°", "deg", ()),
        ("q_1_°", "deg", ("1",)),
        ("torque_n_m", "N·m", ()),
        ("tau_1_n_m", "N·m", ("1",)),
        ("deg_s", "", ("deg", "s")),  # a unit is none where nothing is left
        ("deg_per_s", "", ("deg", "per", "s")),
        ("n_m", "", ("n", "m")),
        ("q_n", "", ("n",)),
        ("q_s", "", ("s",)),
    ],
)
def test_a_unit_stands_at_the_end_of_a_name_before_or_behind_its_number(
    name: str, unit: str, rest: tuple[str, ...]
) -> None:
    found = read_name(name)
    assert (found.unit, found.rest) == (unit, rest)


@pytest.mark.parametrize(
    ("name", "role", "kinds", "rest"),
    [
        ("current_position_1", "position", (), ("1",)),  # the present one
        ("position_current_2", "position", (), ("2",)),
        ("velocity_current_3", "velocity", (), ("3",)),
        ("actual_current_4", "current", (), ("4",)),
        ("motor_current_1", "current", ("motor",), ("1",)),
        ("i_q_1", "current", (), ("1",)),  # of a motor's q axis
        ("iq_3", "current", (), ("3",)),
        ("temperature_current_1", "temperature", (), ("current", "1")),
        ("torque_current_1", "torque", ("from current",), ("1",)),
        ("tau_iq_2", "torque", ("from current",), ("2",)),
        ("left_knee_motor_torque", "torque", ("motor",), ("left", "knee")),
        ("q_dot_1", "velocity", (), ("1",)),
        ("qdd_2", "acceleration", (), ("2",)),
        ("link_position_2", "position", ("link",), ("2",)),
        ("u_2", "input", (), ("2",)),
        ("load_1", "load", (), ("1",)),
        ("x", "", (), ("x",)),
    ],
)
def test_a_name_says_the_quantity_its_kind_and_which_joint(
    name: str, role: str, kinds: tuple[str, ...], rest: tuple[str, ...]
) -> None:
    found = read_name(name)
    assert (found.role, found.kinds, found.rest) == (role, kinds, rest)
    assert not found.reference
    assert not found.estimated


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("target_q_1", "reference"),
        ("q_d_1", "reference"),
        ("tau_J_d_0", "reference"),
        ("tau_g_1", "reference"),
        ("position_error_1", "reference"),
        ("torque_estimated_2", "estimated"),
        ("measured_tau_1", "measured"),
        ("actual_current_4", "measured"),
        ("tcp_position_x", "cartesian"),
        ("tcp_force_z", "cartesian"),
        ("x", "cartesian"),
        ("base_pos_x", "cartesian"),
        ("base_pos_hip_z", "cartesian"),  # of the base's own hip
        ("hip_base_pos_y", ""),  # a joint's base
        ("hip_pos_x", ""),
        ("base_pos", ""),
        ("position_1", ""),
        ("tau_1", ""),
    ],
)
def test_a_name_says_whether_it_is_measured_planned_computed_or_not_of_a_joint(name: str, said: str) -> None:
    found = read_name(name)
    told = {one for one in ("reference", "estimated", "measured", "cartesian") if getattr(found, one)}
    assert told == ({said} if said else set())


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("observation.state", True),
        ("states", True),
        ("observation", False),
        ("desired_state", False),
        ("tcp.state", False),
        ("observation.state.hip", False),
    ],
)
def test_a_matrix_that_is_called_the_state_and_no_more_may_be_the_positions(name: str, state: bool) -> None:
    assert is_state(read_name(name)) is state


T = 0.01 * np.arange(600.0)
ROWS = np.arange(600.0)


def joint(turn: float) -> tuple[Floats, Floats, Floats]:
    """Position of so many rad/s, its rate, and a torque that is neither."""
    noise = np.random.default_rng(round(10 * turn)).standard_normal(600)
    return np.sin(turn * T), turn * np.cos(turn * T), noise


@pytest.mark.parametrize(
    ("first", "clock"),
    [((T,), "x[0]"), ((ROWS, T), "x[1]"), ((ROWS + 1.0, T), "x[1]"), ((ROWS,), "x[0]"), ((), None)],
)
def test_the_clock_is_the_first_column_or_the_second_behind_a_counter_of_rows(
    first: tuple[Floats, ...], clock: str | None
) -> None:
    found = guess(np.column_stack([*first, *joint(2.3), *joint(3.7)]), "x")
    assert (None if found.clock is None else found.clock.column) == clock
    if clock is not None:
        assert found.lacking == ""
        assert [one.role for one in found.families] == ["position", "velocity", "torque"]
        assert found.form == "3 quantities of 2 joints, joint by joint"


PLANNED = [np.column_stack(one) for one in zip(*(joint(turn) for turn in (5.1, 7.9)), strict=True)]
MEASURED = [np.column_stack(one) for one in zip(*(joint(turn) for turn in (2.3, 3.7)), strict=True)]
NEAR = MEASURED[1] + 0.01 * MEASURED[2]  # the rate that was asked for


@pytest.mark.parametrize(
    "quantities",
    [
        [MEASURED[0], MEASURED[1], NEAR],
        [MEASURED[0], MEASURED[1], MEASURED[2], NEAR],
        [MEASURED[0], PLANNED[0], MEASURED[1], PLANNED[1], MEASURED[2]],
    ],
    ids=["planned rate alone", "planned rate", "planned position and rate"],
)
def test_a_plan_beside_the_motion_is_not_taken_for_the_torque(quantities: list[Floats]) -> None:
    found = guess(np.column_stack([T, *quantities]), "x")
    assert found.families == []
    assert found.lacking.startswith("several quantities have rates")


DEGREE = np.pi / 180.0


@pytest.mark.parametrize(
    ("written", "gain", "position", "unit"),
    [
        ("", 1.0, "", ""),  # rad by rad/s
        ("", DEGREE, "", "deg/s"),  # rad by deg/s
        ("", 1.0 / DEGREE, "deg", ""),
        ("", 1.0, "deg", "deg/s"),
        ("", 1.19, "", ""),
        ("", 1.21, "", None),
        ("", 0.79, "", None),
        ("", 1.19, "deg", "deg/s"),
        ("", 1.21, "deg", None),
        ("", -1.0, "", None),
        ("deg/s", 1.0, "deg", "deg/s"),
        ("deg/s", 1.0 / DEGREE, "deg", None),
        ("rpm", np.pi / 30.0, "", "rpm"),
        ("rpm", 1.0, "", None),
        ("rad/s", 1.0 / DEGREE, "deg", ""),
    ],
)
def test_the_unit_of_a_velocity_is_the_one_by_which_it_makes_the_positions_change(
    written: str, gain: float, position: str, unit: str | None
) -> None:
    found = velocity_unit(written, gain, position)
    assert (None if found is None else found.unit) == unit


@pytest.mark.parametrize(
    ("step", "unit"), [(1e6, "ns"), (1e5, "ns"), (1000.0, "us"), (100.0, "us"), (1.0, "ms"), (0.2, "ms"), (0.1, "s")]
)
def test_the_unit_of_a_clock_without_a_name_is_recognised_by_its_steps_and_asked_about_unless_it_is_seconds(
    step: float, unit: str
) -> None:
    times = 100.0 * step * T
    found = guess(np.column_stack([times, *joint(2.3), *joint(3.7)]), "x")
    assert found.clock is not None
    assert (found.clock.unit, found.clock.doubtful) == (unit, unit != "s")
    np.testing.assert_array_equal(found.clock.values, times)
    assert found.clock.backwards == 0


def test_a_clock_rises_evenly_in_four_rows_at_least() -> None:
    assert [is_clock(np.arange(float(rows))) for rows in (1, 2, 3, 4)] == [False, False, False, True]
    assert not is_clock(np.array([0.0, 1.0, 2.0, 2.0, 3.0, 4.0]))
    assert not is_clock(-np.arange(9.0))


@pytest.mark.parametrize(
    ("values", "unit", "wraps"),
    [
        ([3.0, 3.1, -3.1, -3.0, 3.1], "", True),
        ([179.0, -179.0, -170.0], "deg", True),
        ([0.99, 0.01, np.nan, 0.1], "rev", True),
        ([0.0, 3.0, 6.0, 0.5, 9.0, 2.8], "", False),  # more than a turn
        ([0.0, 4.0, 6.2, 0.1], "", False),  # a jump of two thirds of one
        ([0.0, 1.0, 2.0], "", False),
    ],
)
def test_an_encoder_starts_again_after_a_turn_where_it_jumps_by_one_within_one(
    values: list[float], unit: str, wraps: bool
) -> None:
    assert encoder_period(np.array(values), unit) == (2.0 * np.pi if wraps else 0.0)
