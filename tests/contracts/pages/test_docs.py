"""What the pages name is there: files, functions, links to each other; numbers are those of the figures."""

import pkgutil
import re
from os.path import normpath
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
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


def test_pages_of_the_site_link_to_nothing_beside_it() -> None:
    links = [(page, link) for page, link in named(LINK) if page.startswith("docs/") and "://" not in link]
    assert [one for one in links if not normpath(Path(one[0]).parent / one[1]).startswith("docs/")] == []


def test_every_page_is_in_the_menu_once() -> None:
    menu = re.findall(r"^ +- .*?([\w/-]+\.md)$", (ROOT / "docs" / "site.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(menu) == sorted(str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md"))


def test_the_menu_has_four_parts_behind_the_start() -> None:
    menu = (ROOT / "docs" / "site.yml").read_text("utf-8").split("\nnav:\n")[1]
    parts = re.findall(r"^  - ([\w ]+):", menu, re.MULTILINE)
    assert parts == ["Start", "Learn", "Do", "Understand", "Look up"]


@pytest.mark.parametrize(("page", "name"), named(NAME))
def test_every_function_has_its_name(page: str, name: str) -> None:
    if not SIGNALS.fullmatch(name) or Path(ROOT, *name.split(".")).with_suffix(".py").exists():
        pkgutil.resolve_name(name)


# --- numbers in prose: "1.18 ms<!-- figure: buses / frame → subscriber / 1 -->" is the first number of that line

FIGURES = ROOT / "docs" / "figures.md"
NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
MARKED = re.compile(r"(?<![\w.])([-−]?\d[\d,]*(?:\.\d+)?)( M\b)?[^\d<>|]*<!-- figure: (.+?) / (.+?) / (\d+) -->")
MARKER = re.compile(r"<!-- figure:")
AGAIN = re.compile(r"(.+) #(\d+)")  # a label that begins several lines, and which of these


def value(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def figure(page: str, section: str, label: str, place: int) -> float:
    """The place-th number after a label that begins a line of a section; raises LookupError where there is none."""
    label, which = (found[1], int(found[2])) if (found := AGAIN.fullmatch(label)) else (label, 1)
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    lines = [line.strip() for line in sections[section].splitlines()]
    behind = [
        line.removeprefix(label) for line in lines if line.startswith(label) and not line[len(label) :][:1].isalnum()
    ]
    return value(NUMBER.findall(behind[which - 1])[place - 1])


def agrees(said: str, millions: bool, measured: float) -> bool:
    """Whether a number in prose is the measured one, rounded to as many digits as it has."""
    digits = len(said.partition(".")[2])
    return abs(value(said) - measured / (1e6 if millions else 1.0)) <= 0.5 * 10.0**-digits * (1 + 1e-9)


def test_a_figure_is_found_by_section_line_and_place() -> None:
    first = "## a\n\n```text\n  p50 of it   1.5 ms, p99 1,024.25 (-3)\n p50 of   7\n p50 of   8\n```\n"
    page = f"# F\n\n{first}\n## b\n\nx 2e-3\n"
    assert [figure(page, "a", "p50 of it", place) for place in (1, 2, 3)] == [1.5, 1024.25, -3.0]
    assert [figure(page, "a", label, 1) for label in ("p50 of #2", "p50 of #3")] == [7.0, 8.0]
    assert figure(page, "b", "x", 1) == 2e-3
    for section, label, place in (("c", "x", 1), ("b", "p50 of", 1), ("b", "x", 2)):
        with pytest.raises(LookupError):
            figure(page, section, label, place)


@pytest.mark.parametrize(
    ("said", "millions", "measured", "whether"),
    [
        ("1.2", False, 1.18, True),
        ("1.2", False, 1.251, False),
        ("−0.25", False, -0.25, True),
        ("800,000", False, 800000.0, True),
        ("1.6", True, 1640421.0, True),
        ("1.7", True, 1640421.0, False),
        ("8.1", False, 8.06, True),
        ("9.0", False, 8.06, False),
    ],
)
def test_a_number_is_the_measured_one_as_it_is_rounded(
    said: str, millions: bool, measured: float, whether: bool
) -> None:
    assert agrees(said, millions, measured) is whether


def without_code(page: Path) -> str:
    """A page without what stands between backquotes, where a marker is shown and not meant."""
    return re.sub(r"`[^`\n]*`", "", page.read_text("utf-8"))


MARKING = [page for page in PAGES if MARKER.search(without_code(page))]


def test_the_readme_and_the_guide_to_wires_have_marked_numbers() -> None:
    assert {"README.md", "acquisition.md", "how-it-works.md"} <= {page.name for page in MARKING}


@pytest.mark.parametrize("page", MARKING, ids=lambda page: page.name)
def test_numbers_with_a_marker_are_those_of_the_figures(page: Path) -> None:
    text, figures = without_code(page), FIGURES.read_text("utf-8")
    marked = MARKED.findall(text)
    assert len(marked) == len(MARKER.findall(text)), "a marker stands after its number and unit"
    wrong = []
    for said, millions, section, label, place in marked:
        measured = figure(figures, section, label, int(place))
        if not agrees(said, bool(millions), measured):
            wrong.append(f"{section} / {label} / {place}: {said} is said, {measured} was measured")
    assert wrong == []


@pytest.mark.parametrize(("page", "heading"), [("README.md", "Figures"), ("docs/acquisition.md", "Measured")])
def test_every_measured_number_of_these_sections_has_a_marker(page: str, heading: str) -> None:
    section = without_code(ROOT / page).split(f"\n## {heading}\n")[1].split("\n## ")[0]
    got = re.sub(r"^(\|[^|\n]*)\|[^|\n]*\|", r"\1|", section, flags=re.MULTILINE)  # without the column of what is asked
    assert re.findall(r"\d(?: M frames/s| ms| µs| ns| %| ?×)", MARKED.sub("", got)) == []
