"""Why a compiled pass stops."""

from estimators.conditioning import stop


def test_each_reason_to_stop_is_a_number_of_its_own_and_nothing_is_to_be_done_at_none_of_them() -> None:
    """Two reasons of one number would be answered as one."""
    numbers = {name: value for name, value in vars(stop).items() if name.isupper()}
    assert len(set(numbers.values())) == len(numbers) == 11
    assert min(numbers, key=lambda name: numbers[name]) == "DONE", "of two reasons at one sample the larger is taken"
