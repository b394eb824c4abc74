"""What docs/api.md calls stable: it is there, it is documented, and it uses no name that is private."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
LISTED = re.findall(r"^::: ([\w.]+)$(?:\n    options:\n      members: \[(.+)\]$)?", PAGE, re.MULTILINE)
STABLE = [
    f"{name}.{member}" if member else name
    for name, members in LISTED
    for member in (re.split(r", *", members) if members else [""])
]
MODULES = sorted(set(re.findall(r"`(drivers\.(?:base|reading|testing))`", PAGE)))


def test_there_is_something_stable() -> None:
    assert len(STABLE) > 10
    assert MODULES == ["drivers.base", "drivers.reading", "drivers.testing"]
    assert not [name for name in STABLE if re.search(r"(^|\.)_", name)]


@pytest.mark.parametrize("name", STABLE)
def test_a_stable_name_is_imported_and_documented(name: str) -> None:
    found = pkgutil.resolve_name(name)
    assert inspect.getdoc(found), name
    if inspect.isclass(found):
        own = [one for one in vars(found) if not one.startswith("_") and inspect.isfunction(vars(found)[one])]
        assert [one for one in own if not inspect.getdoc(getattr(found, one))] == []


@pytest.mark.parametrize("name", STABLE)
def test_its_arguments_are_named_and_have_types(name: str) -> None:
    """A caller may give them by name, so that they are part of what is stable."""
    found = pkgutil.resolve_name(name)
    if inspect.isclass(found) and issubclass(found, Exception):
        return
    signature = inspect.signature(found)
    assert [one for one in signature.parameters.values() if one.annotation is one.empty and one.name != "self"] == []


@pytest.mark.parametrize("name", MODULES)
def test_the_contract_of_drivers_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    public = {
        key: value
        for key, value in vars(module).items()
        if not key.startswith("_") and getattr(value, "__module__", "") == name and callable(value)
    }
    assert public
    assert [key for key, value in public.items() if not inspect.getdoc(value)] == []


def test_the_rules_say_how_long_something_stays() -> None:
    rules = PAGE.split("## How something stable goes")[1].split("\n## ")[0]
    assert "DeprecationWarning" in rules
    assert "at least one minor release" in rules
