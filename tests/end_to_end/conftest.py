"""What live tests share."""

import pytest


@pytest.fixture(autouse=True)
def _forked(forked_programs: None) -> None:
    """Rigs and services start at once."""
