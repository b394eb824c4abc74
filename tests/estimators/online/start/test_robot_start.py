"""How much motion the start of a whole robot takes: row by row, and anew where something has changed."""

from estimators.online.start.robot_start import RobotStart


def moved(start: RobotStart, rows: int, moves: bool = True) -> None:
    for _ in range(rows):
        start.count(moves)


def test_rows_of_motion_count_and_the_last_per_cent_is_reported_when_it_is_over() -> None:
    start = RobotStart(200.0)
    assert (start.active, start.progress, start.enough) == (True, 0.0, False)
    moved(start, 50, moves=False)
    assert start.progress == 0.0
    moved(start, 50)
    assert start.progress == 25.0
    moved(start, 149)
    assert (start.progress, start.enough) == (99.0, False)
    moved(start, 1)
    assert (start.progress, start.enough) == (99.0, True)
    start.active = False
    assert start.progress == 100.0


def test_thresholds_may_be_set_anew_after_as_much_motion_again() -> None:
    start = RobotStart(200.0)
    moved(start, 230)
    start.mark()
    moved(start, 199)
    assert not start.due
    moved(start, 1)
    assert start.due
    start.mark()
    assert not start.due


def test_a_start_that_begins_anew_takes_as_long_again() -> None:
    start = RobotStart(200.0)
    moved(start, 150)
    start.begin_anew()
    assert start.progress == 0.0
    moved(start, 199)
    assert not start.enough
    moved(start, 1)
    assert start.enough


def test_a_start_of_no_length_is_over_at_once() -> None:
    start = RobotStart(0.0)
    assert (start.progress, start.enough) == (0.0, True)
