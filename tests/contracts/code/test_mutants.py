"""The lists of errors that are put into the code (`make mutants`) name what is there."""

from tests.support.mutants.report import known
from tests.support.mutants.rooms import ROOMS
from tests.support.named_mutants import ERRORS


def test_every_named_error_is_in_its_file_once_and_its_tests_exist() -> None:
    assert len(ERRORS) > 100
    assert [problem for one in ERRORS for problem in one.problems()] == []


def test_every_equivalent_mutant_is_of_a_line_that_is_there() -> None:
    assert all(reason for reason in known().values())


def test_every_room_has_code_and_tests() -> None:
    assert [name for name, room in ROOMS.items() if not (room.files() and room.tests())] == []
