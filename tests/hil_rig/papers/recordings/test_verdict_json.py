"""Every verdict is valid JSON, whatever kind of number its figures are."""

import json

import numpy as np
import pytest

from hil_rig import verdict as rigs
from hil_rig.papers.recordings import verdict as ours

KINDS = [float, np.float64, np.float32, np.int64]


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_any_number_is_json(kind: type) -> None:
    row = ours.within("inertia", "kg·m²", kind(2), kind(3), 0.1)
    told = json.loads(ours.as_json([row, row._replace(ours=kind(2))]))
    assert [one["ok"] for one in told["rows"]] == [False, True]
    assert told["ok"] is False


@pytest.mark.parametrize("kind", KINDS)
def test_so_is_a_rigs(kind: type) -> None:
    row = rigs.VerdictRow("inertia", "kg·m²", kind(2), kind(2), 0.1)
    told = json.loads(rigs.as_json([row]))
    assert told["rows"][0] == {"name": "inertia", "unit": "kg·m²", "reference": 2, "ours": 2, "ok": True}
    assert told["ok"] is True
