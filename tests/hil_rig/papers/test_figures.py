"""Figures of a reproduction: inside or missed, as a table, as JSON, and the exit code."""

import argparse
import json
import math

import numpy as np
import pytest

from hil_rig.papers.figures import Figure, Reproduced, ReproductionError, as_json, as_table, main, truth, within

KINDS = [float, np.float64, np.float32, np.int64]


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_of_any_kind_of_number_is_json(kind: type) -> None:
    figure = within("inertia", "kg·m²", kind(2), kind(3), 0.1)
    told = json.loads(as_json(Reproduced([figure, figure._replace(ours=kind(2))])))
    assert [one["ok"] for one in told["figures"]] == [False, True]
    assert (told["figures"][0]["ours"], told["figures"][0]["reference"]) == (3, 2)
    assert told["ok"] is False


def test_what_is_no_number_is_null() -> None:
    told = json.loads(as_json(Reproduced([Figure("e", math.nan, high=1.0, beside={"mean": math.inf})], ["why"])))
    (figure,) = told["figures"]
    assert (figure["ours"], figure["low"], figure["high"], figure["ok"]) == (None, None, 1.0, False)
    assert (figure["asked"], figure["beside"], told["words"]) == ("≤ 1", {"mean": None}, ["why"])


def test_the_table_says_what_is_asked_and_what_is_missed() -> None:
    figures = [
        within("k", "N", -2.0, -2.1, 0.02),
        Figure("least", 3.0, low=2.5, unit="%", reference="4 [P]"),
        Figure("seen", 9.0, beside={"mean": 7.5}),
        truth("divergence is reported", True, "yes"),
    ]
    head, *lines = as_table(figures).splitlines()
    assert head.split() == ["reference", "ours", "off", "asked", "mean"]
    assert lines[0].split() == ["k", "[N]", "-2", "-2.1", "-5.00%", "-2.04", "…", "-1.96", "MISSED"]
    assert lines[1].split() == ["least", "[%]", "4", "[P]", "3", "≥", "2.5"]
    assert lines[2].split() == ["seen", "9", "7.5"]
    assert lines[3].split() == ["divergence", "is", "reported", "yes", "1", "1"]


@pytest.mark.parametrize(("ours", "code"), [(1.0, 0), (3.0, 1), (math.nan, 1)])
def test_the_exit_code_says_whether_all_are_inside(ours: float, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main("some", "Text.", lambda options: Reproduced([Figure("e", ours, high=2.0)], ["Remark."]), argv=[]) == code
    )
    assert capsys.readouterr().out.endswith("\n\nRemark.\n")


def test_what_is_out_of_reach_is_marked_with_its_reason_and_does_not_fail(capsys: pytest.CaptureFixture[str]) -> None:
    far = Figure("far", 3.0, high=2.0, out_of_reach="The noise allows 2.5.")
    assert main("some", "Text.", lambda options: Reproduced([far, Figure("near", 1.0, high=2.0)]), argv=[]) == 0
    _head, first, second, _empty, reason = capsys.readouterr().out.splitlines()
    assert first.endswith("≤ 2  out of reach")
    assert second.endswith("≤ 2")
    assert reason == "Out of reach: far. The noise allows 2.5."
    assert main("some", "Text.", lambda options: Reproduced([far, Figure("near", 3.0, high=2.0)]), argv=["--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [(one["ok"], one["out_of_reach"]) for one in told["figures"]] == [
        (False, "The noise allows 2.5."),
        (False, ""),
    ]
    assert told["ok"] is False


def test_what_is_out_of_reach_and_met_after_all_has_no_mark() -> None:
    table = as_table([Figure("far", 1.0, high=2.0, out_of_reach="The noise allows 2.5.")])
    assert len(table.splitlines()) == 2
    assert table.endswith("≤ 2")


def test_what_cannot_be_reproduced_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(_options: argparse.Namespace) -> Reproduced:
        raise ReproductionError("run.csv is not there")

    assert main("some", "Text.", fails, argv=["--json"]) == 1
    assert capsys.readouterr() == ("", "jointwatch reproduce: run.csv is not there\n")
