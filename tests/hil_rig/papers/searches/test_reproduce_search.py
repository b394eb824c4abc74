"""`jointwatch reproduce search`: what its rows claim, and what the rivals count."""

import json

import numpy as np
import pytest

from hil_rig.papers import figures
from hil_rig.papers.searches import published_table as reproduce
from hil_rig.papers.searches.scipy_searches import RIVALS, evaluations
from hil_rig.papers.searches.test_functions import FUNCTIONS


@pytest.mark.compiled
def test_rows_and_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(reproduce, "FUNCTIONS", FUNCTIONS[6:7])
    monkeypatch.setattr(reproduce, "MEDIANS", reproduce.MEDIANS[6:7])
    assert figures.main("search", "", reproduce.table, argv=["--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"]
    first = told["figures"][0]
    assert (first["reference"], first["low"], first["high"], first["ours"], first["ok"]) == (41, 41, 41, 41, True)


def test_a_claim_that_does_not_hold_fails(monkeypatch, capsys):
    bad = [figures.Figure("claim", 2, high=1), reproduce.compared(FUNCTIONS[0], "other", None, np.inf)]
    monkeypatch.setattr(reproduce, "FUNCTIONS", FUNCTIONS[:1])
    monkeypatch.setattr(reproduce, "MEDIANS", (1,))
    monkeypatch.setattr(reproduce, "on_the_default_box", lambda function: bad)
    monkeypatch.setattr(reproduce, "on_shifted_boxes", lambda function, median: [])
    assert figures.main("search", "", reproduce.table, argv=[]) == 1
    assert capsys.readouterr().out.count("MISSED") == 1


@pytest.mark.parametrize(("rival", "count"), [("direct", 173), ("direct, unbiased", 253), ("shgo, simplicial", 46)])
def test_deterministic_rivals_give_the_counts_measured_before(rival, count):
    (branin,) = (function for function in FUNCTIONS if function.name == "Branin")
    assert evaluations(RIVALS[rival], branin.f, (branin.lower, branin.upper), branin.target) == count
    assert evaluations(RIVALS[rival], branin.f, (branin.lower, branin.upper), -np.inf) == np.inf
