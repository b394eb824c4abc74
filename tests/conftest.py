"""The order of the tests: those that wait for whole services first, so that two workers end at the same time."""

from pathlib import Path

import pytest

LONG = Path(__file__).with_name("end_to_end")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG not in item.path.parents)
