"""Recordings in the forms of public data sets: proposed rightly or refused, never wrong without a word."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from daq.recording.columns import Columns, read
from daq.recording.proposal import propose, questions_of
from daq.recording.reader import RecordingError
from tests.support.table_files import CASES, truth


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_proposed_rightly_or_refused(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    known = truth(case.joints, case.rate, seed=sum(map(ord, name)))
    file = case.write(tmp_path, known)
    if case.refused:
        with pytest.raises(RecordingError, match=case.refused):
            propose(file)
        return
    table = propose(file)
    for wanted in case.asks:
        assert any(re.search(wanted, one) for one in questions_of(table)), table
    if not case.asks:
        assert not [one for one in questions_of(table) if "size of its steps" not in one], table
    channels = read(file, Columns.model_validate(tomllib.loads(table)))
    assert len(channels) == case.joints, table
    assert not case.names or tuple(channels) == case.names
    for j, roles in enumerate(channels.values()):
        for role, values, scale in (("position", known.q, 1.0), (case.role, known.tau, case.scale)):
            if not role:
                assert "torque" not in roles, "a torque that cannot be used is not proposed as if it could"
                continue
            one = roles[role]
            at = one.time - one.time[0] + (known.time[1] if len(one.time) < len(known.time) else 0.0)
            truly = np.interp(at, known.time, values[:, j]) if case.timed else np.resize(values[:, j], len(at))
            error = np.sqrt(np.mean((one.values / scale - truly) ** 2)) / np.std(truly)
            assert error < 0.02, f"{role} of joint {j}: {error:.3f}\n{table}"
        if "velocity" in roles:
            v = roles["velocity"].values
            assert np.corrcoef(v, known.v[:, j])[0, 1] > 0.999
            if case.timed:
                assert np.std(v) == pytest.approx(np.std(known.v[:, j]), rel=0.01)
