"""What the pages name is there: files, functions by their dotted names, and links to each other."""

import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")])
FILE = re.compile(
    r"(?<![\w/.-])(?:daq|drivers|estimators|hil_rig|tests|docs|deploy)/[\w./-]*\.(?:py|js|md|toml|png|yml)\b"
)
NAME = re.compile(r"`((?:daq|drivers|estimators|hil_rig)(?:\.\w+)+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"`` .*? ``")  # a line of code, in which `](` is no link
SIGNALS = re.compile(r"drivers\.\w+(\.(?:frames|packets|layouts|columns|options))*")  # tables of a configuration


def named(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    pages = [page for page in PAGES if page.name != "CHANGELOG.md"]  # which tells what was
    texts = {str(page.relative_to(ROOT)): CODE.sub("", page.read_text("utf-8")) for page in pages}
    found = {(page, one) for page, text in texts.items() for one in pattern.findall(text)}
    return sorted(found)


def test_there_is_something_to_look_at() -> None:
    assert {"README.md", "CONTRIBUTING.md"} <= {page.name for page in PAGES}
    assert len(named(FILE)) > 50
    assert len(named(NAME)) > 10


def test_every_file_is_there() -> None:
    assert [one for one in named(FILE) if not (ROOT / one[1]).exists()] == []


def test_every_link_leads_somewhere() -> None:
    links = [(page, link) for page, link in named(LINK) if "://" not in link]
    assert [one for one in links if not ((ROOT / one[0]).parent / one[1]).exists()] == []


@pytest.mark.parametrize(("page", "name"), named(NAME))
def test_every_function_has_its_name(page: str, name: str) -> None:
    if not SIGNALS.fullmatch(name) or Path(ROOT, *name.split(".")).with_suffix(".py").exists():
        pkgutil.resolve_name(name)
