"""What live tests share."""

import re
from pathlib import Path
from typing import Any

import pytest

from hil_rig.live import Live


@pytest.fixture(autouse=True)
def _forked(forked_programs: None) -> None:
    """Rigs and services start at once."""


@pytest.fixture
def short_start(_forked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Joints start within 5 s of motion instead of 12 s: for tests of what comes after the start."""
    start = Live.start

    def started(module: str, *arguments: object, **streams: Any) -> Any:
        if module == "daq":
            config = Path(str(arguments[-1]))
            text, joints = re.subn(
                r"^(\[joints\.\w+\])$", r"\1\nstart = 5", config.read_text("utf-8"), flags=re.MULTILINE
            )
            assert joints, "the rig's configuration has its joints so"
            config.write_text(text, encoding="utf-8")
        return start(module, *arguments, **streams)

    monkeypatch.setattr(Live, "start", staticmethod(started))
