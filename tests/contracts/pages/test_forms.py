"""How others cite the project and write to it: the citation and the forms of issues are whole."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from daq.__main__ import COMMANDS

ROOT = Path(__file__).parents[3]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def content(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


def test_the_citation_has_what_its_format_requires() -> None:
    """Citation File Format 1.2.0: four keys are required; the licence is the package's."""
    said = content(ROOT / "CITATION.cff")
    assert said["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type", "abstract"} <= set(said)
    assert all("name" in one or {"family-names", "given-names"} <= set(one) for one in said["authors"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (said["license"], said["title"]) == (project["license"], project["name"])
    assert set(said["keywords"]) <= set(project["keywords"]) | {"robotics"}


@pytest.mark.parametrize("form", [one for one in FORMS if one.name != "config.yml"], ids=lambda form: form.stem)
def test_a_form_is_one_and_asks_with_commands_that_exist(form: Path) -> None:
    said = content(form)
    assert {"name", "description", "body"} <= set(said)
    names = [one["id"] for one in said["body"]]
    assert len(names) == len(set(names))
    for one in said["body"]:
        assert one["type"] in ("textarea", "input")
        assert one["attributes"]["label"]
    commands = re.findall(r"`jointwatch (\w+|--version)", form.read_text("utf-8"))
    assert commands
    assert set(commands) <= set(COMMANDS) | {"--version"}


def test_weaknesses_are_reported_in_private() -> None:
    (link,) = content(ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml")["contact_links"]
    assert "SECURITY.md" in link["about"]
    assert "private" in (ROOT / "SECURITY.md").read_text("utf-8")
