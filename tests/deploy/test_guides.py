"""What the guides say of events, alerts and settings is what there is."""

import re
from pathlib import Path

from daq.config.sections import DriftSettings
from daq.stream.update import EVENTS, PUBLIC

ROOT = Path(__file__).parents[2]
STREAM, PAGE = ((ROOT / "docs" / name).read_text() for name in ("stream.md", "dashboard.md"))


def first_column(text: str) -> set[str]:
    cells = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"[A-Za-z_]+", cell)}


def test_every_kind_of_event_is_explained() -> None:
    assert set(EVENTS) <= first_column(STREAM)


def test_every_topic_is_explained() -> None:
    assert {word for family in PUBLIC for word in family.split("/") if word} <= first_column(STREAM)


def test_every_alert_says_what_to_do() -> None:
    alerts = set(re.findall(r"alert: (\w+)", (ROOT / "deploy" / "alerts.yml").read_text()))
    assert alerts == {word for word in first_column(PAGE) if word.startswith("Jointwatch")}


def test_the_limits_of_drift_are_the_defaults() -> None:
    told = re.search(r"^    drift = \{ (.*?) \}", PAGE, re.MULTILINE)
    assert told
    assert {name: float(value) for name, value in re.findall(r"(\w+) = ([\d.]+)", told[1])} == (
        DriftSettings().model_dump()
    )


def test_what_is_linked_is_there() -> None:
    for text in (STREAM, PAGE):
        for path in set(re.findall(r"deploy/[\w./-]+\w", text)) - {"deploy/robots"}:
            assert (ROOT / path).exists(), path
