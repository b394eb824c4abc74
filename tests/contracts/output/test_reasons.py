"""Every reason has a code of the catalogue, every code is given somewhere, and its words are whole."""

import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from daq.commands.reasons import page
from daq.stream.reasons import as_maps, in_words, texts, with_todo
from estimators.reason_words import CATALOGUE
from estimators.reasons import MISFITS, Reason

ROOT = Path(__file__).parents[3]
ROOMS = ("daq", "estimators", "hil_rig")
GIVEN = re.compile(r'(?:Reason|_reason)\(\s*"(\w+)"')
BY_CAUSE = re.compile(r"^(?:SHAPES|BESIDE): Final = \{([^}]+)\}", re.MULTILINE)  # codes by cause
PAGE = re.compile(r"^const WEAK = \[(.+)\];", re.MULTILINE)  # of condition.js: codes that the page says together

# numbers and words as they are given, by code; `parameter` stands for one where there is one
EXAMPLE = {
    **dict.fromkeys(("value", "deviation", "wanted", "peak", "low", "high", "times", "torque", "step", "samples"), 1.5),
    **dict.fromkeys(("half_width", "modulo", "percent", "needed", "seconds", "reversals", "r2", "limit", "speed"), 2.0),
    **dict.fromkeys(("arc", "older", "newer", "lost", "searches"), 2.0),
    **dict.fromkeys(("jumps", "missing", "factor", "scale", "inverse", "milliseconds", "arrives", "configured"), 2.0),
}  # fmt: skip
WORDS = dict.fromkeys(("needs", "lag", "cause", "suspects", "signal", "rate", "other", "way"), "something") | {
    "unit": "N·m"
}


def sources() -> Iterator[str]:
    """The texts of the product's files."""
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            yield file.read_text("utf-8")


def given() -> set[str]:
    """The codes that stand in the product's code."""
    found = set[str]()
    for text in sources():
        found |= set(GIVEN.findall(text))
        found |= {code for line in BY_CAUSE.findall(text) for code in re.findall(r': "(\w+)"', line)}
    return found


def test_every_code_that_is_given_is_in_the_catalogue_and_the_other_way_round() -> None:
    assert given() == set(CATALOGUE)


def test_every_code_is_looked_for_by_a_test_beside_this_one() -> None:
    """By its code, or by the longest piece of its sentence."""
    files = (file for file in sorted((ROOT / "tests").rglob("test_*.py")) if file != Path(__file__))
    tests = "\n".join(file.read_text("utf-8") for file in files)
    missing = set()
    for code, entry in CATALOGUE.items():
        piece = max((text for text, *_ in string.Formatter().parse(entry.says)), key=len).strip(" :;,(")
        if f'"{code}' not in tests and not (len(piece) > 5 and piece in tests):
            missing.add(code)
    assert missing == set()


@pytest.mark.parametrize("code", CATALOGUE)
def test_words_are_whole_and_need_nothing_that_is_not_given(code: str) -> None:
    entry = CATALOGUE[code]
    fields = {name for text in entry[1:] for _, name, _, _ in string.Formatter().parse(text) if name}
    assert fields <= {"parameter", *EXAMPLE, *WORDS}
    reason = Reason(code, "inertia", EXAMPLE, WORDS)
    for text in (str(reason), reason.todo, entry.means):
        assert text
        assert "{" not in text
        assert "  " not in text
    assert entry.means.endswith(".")
    assert reason.todo.endswith(".")


def test_a_misfit_is_that_of_a_parameter_or_of_the_torque() -> None:
    assert len(MISFITS) > 5
    widened = Reason("friction_shape", "inertia", {"value": 1.0, "deviation": 0.25}, {"unit": "kg·m²"})
    assert str(widened) == "inertia = 1 ± 0.25 kg·m²: friction has another shape over speed than the law's"
    whole = Reason("friction_direction", None, {"unexplained": 18.2, "row": 2.0})
    assert str(whole) == "18 % of the torque is unexplained: friction differs between the directions (row 2)"


def test_a_reason_becomes_a_map_of_what_it_has_and_comes_back() -> None:
    reason = Reason("no_data", None, {"seconds": 1.25})
    (told,) = as_maps([reason])
    assert told == {"code": "no_data", "numbers": {"seconds": 1.25}, "text": "no data for 1.2 s"}
    assert Reason.of(told) == reason
    assert Reason.of(Reason("channel_stuck", "torque", {"value": 2.0}).plain).parameter == "torque"
    assert with_todo([told])[0]["todo"] == CATALOGUE["no_data"].todo
    assert reason.identity == ("no_data", "")
    assert Reason("uncertain", "inertia").identity == ("uncertain", "inertia")


def test_reasons_of_recordings_of_the_first_version_are_their_texts() -> None:
    old, new = "inertia lacks excitation", Reason("at_standstill")
    assert texts([old, *as_maps([new])]) == [old, "at standstill"]
    assert in_words([old, *as_maps([new])]) == "inertia lacks excitation; at standstill"


def test_the_page_of_troubleshooting_is_that_of_the_catalogue() -> None:
    """Else: jointwatch reasons > docs/troubleshooting.md."""
    assert (ROOT / "docs" / "troubleshooting.md").read_text("utf-8") == page()


def test_the_dashboard_knows_reasons_by_their_codes() -> None:
    script = (ROOT / "daq" / "outlet" / "dashboard" / "condition.js").read_text("utf-8")
    (weak,) = PAGE.findall(script)
    assert set(re.findall(r'"(\w+)"', weak)) <= set(CATALOGUE)
