"""A few rows of `jointwatch bench truth`, short: trusted values are true, and what is not true is not trusted."""

import json

import pytest

from hil_rig.experiments.truth import table
from hil_rig.experiments.truth.rows import rigid
from hil_rig.experiments.truth.trial import run, together

pytestmark = pytest.mark.compiled


def test_a_coarse_encoder_tells_inertia_within_half_a_per_cent() -> None:
    outcome = run(rigid(3, bits=14, seconds=60.0))
    value, deviation, truth = outcome.last["inertia"]
    assert value == pytest.approx(truth, rel=0.005)
    assert deviation < 0.02 * truth
    assert outcome.trusted == outcome.looks > 0
    assert outcome.lying == 0


def test_fields_of_1e30_teach_nothing() -> None:
    outcome = run(rigid(3, wild=True, seconds=70.0))
    for value, _, truth in outcome.last.values():
        assert value == pytest.approx(truth, rel=0.03)
    assert outcome.lying == 0
    assert outcome.alarms == 0
    assert any("had valu" in reason for reason in outcome.reasons)


def test_ripple_is_named_and_not_trusted() -> None:
    outcome = run(rigid(3, ripple=1.5, seconds=60.0))
    assert outcome.lying == 0
    assert outcome.trusted < 0.1 * outcome.looks
    assert together([outcome])["valid"] < 10.0


def test_the_table_is_one_object(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["truth", "--only", "rigid", "--seeds", "1", "--json"])
    code = table.main()
    told = json.loads(capsys.readouterr().out)
    assert [row["row"] for row in told["rows"]] == ["rigid"]
    assert told["rows"][0]["lies"] <= 1.0
    assert code == (0 if told["ok"] else 1)
