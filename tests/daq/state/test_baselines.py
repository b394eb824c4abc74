"""The file of baselines: replaced as a whole, never half, and told to the core."""

import json
import math
import signal
from pathlib import Path

import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Record
from daq.processes.child import Child
from daq.state.baselines import KEPT, NOT_KNOWN, Baseline, Baselines, friction_names, friction_speeds, read, write
from daq.state.files import BaselineError, folders_of, place
from estimators.base import Estimate, Knowledge, ParameterState, Phase, Status, Uncertainty

TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"


def baseline(since: float = 1.0, inertia: float = 2.0) -> Baseline:
    return Baseline(since=since, model="rigid", values={"inertia": inertia}, deviations={"inertia": 0.1})


def test_what_is_written_is_read_and_the_old_one_stays(tmp_path: Path) -> None:
    file = tmp_path / "arm.baseline.json"
    assert read(file) == Baselines()
    book = read(file).with_new({"elbow": baseline(1.0), "base": baseline(2.0)}).with_new({"elbow": baseline(3.0, 2.5)})
    write(file, book)
    assert read(file) == book
    assert [one.since for one in read(file).joints["elbow"]] == [3.0, 1.0]
    assert read(file).newest() == {"elbow": baseline(3.0, 2.5), "base": baseline(2.0)}
    for since in range(2 * KEPT):
        book = book.with_new({"elbow": baseline(since)})
    assert [one.since for one in book.joints["elbow"]] == list(range(2 * KEPT - 1, KEPT - 1, -1)), "the newest ones"
    assert book.newest() == {"elbow": baseline(2 * KEPT - 1), "base": baseline(2.0)}
    assert Baselines(joints={"elbow": []}).newest() == {}


def test_an_estimate_gives_its_values_its_deviations_and_which_of_them_are_known() -> None:
    """A deviation that is infinite is a large number, since JSON has no other."""
    states = (ParameterState(Knowledge.KNOWN), ParameterState(Knowledge.DOUBTFUL), ParameterState(Knowledge.KNOWN))
    estimate = Estimate(
        5, Phase.NORMAL, Status.VALID, (), ("inertia", "viscous", "coulomb"), np.array([2.0, 3.0, -1.0]),
        np.array([0.1, math.inf, 1e200]), 0.0, 1.0, 0.0, 0.0, 100.0, states=states,
    )  # fmt: skip
    found = Baseline.of(estimate, 77.0, "rigid", {"kind": "viscous_coulomb"})
    assert (found.since, found.model, found.friction) == (77.0, "rigid", {"kind": "viscous_coulomb"})
    assert found.values == {"inertia": 2.0, "viscous": 3.0, "coulomb": -1.0}
    assert found.deviations == {"inertia": 0.1, "viscous": NOT_KNOWN, "coulomb": NOT_KNOWN}
    assert found.known == ("inertia", "coulomb")
    assert (found.covariance, found.gram) == ((), ())
    told = estimate._replace(uncertainty=Uncertainty(np.diag([1.0, 4.0, 9.0]), np.arange(9.0).reshape(3, 3)))
    found = Baseline.of(told, 77.0, "rigid", None)
    assert found.covariance == (1.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 9.0)
    assert found.gram == tuple(range(9))
    with pytest.raises(ValueError, match="finite"):
        Baseline.of(estimate._replace(values=np.array([2.0, math.nan, 1.0])), 77.0, "rigid", None)


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_a_damaged_digit_is_refused_and_a_file_without_a_checksum_is_used(tmp_path: Path, at: float) -> None:
    file, book = tmp_path / "b.json", Baselines(joints={"elbow": [baseline(1.0)], "base": [baseline(2.0)]})
    write(file, book)
    text = file.read_text()
    assert json.loads(text)["checksum"], "any program reads it"
    where = next(place for place in range(int(at * len(text)), len(text)) if text[place].isdigit())
    file.write_text(f"{text[:where]}{9 - int(text[where])}{text[where + 1 :]}")
    with pytest.raises(BaselineError, match=f"{file}: its checksum does not match"):
        read(file)
    file.write_text(book.model_dump_json())  # of an earlier version, or by hand
    assert read(file) == book


def test_everybody_may_read_what_a_joint_was(tmp_path: Path) -> None:
    write(tmp_path / "b.json", Baselines())
    assert (tmp_path / "b.json").stat().st_mode & 0o444 == 0o444


def test_of_a_whole_robot_each_joints_friction_at_two_speeds_is_compared() -> None:
    assert friction_names(["base", "elbow"]) == ("base.slow", "base.fast", "elbow.slow", "elbow.fast")
    assert friction_speeds({"base": (0.1, 1.0)}) == {"speeds": {"base": [0.1, 1.0]}}


def test_whoever_reads_sees_a_whole_file_whenever_the_writer_dies(tmp_path: Path) -> None:
    file = tmp_path / "arm.baseline.json"
    write(file, Baselines(joints={"elbow": [baseline()]}))

    def work() -> int:
        while True:
            write(file, Baselines(joints={f"joint{i}": [baseline()] * KEPT for i in range(20)}))
            write(file, Baselines(joints={"elbow": [baseline()]}))

    child = Child("writer", work)
    try:
        sizes = {len(read(file).joints) for _ in range(300)}
    finally:
        child.send(signal.SIGKILL)
        child.wait()
    assert sizes <= {1, 20}
    assert len(read(file).joints) in (1, 20)
    write(file, Baselines())
    assert read(file) == Baselines(), "the file that the dead one left does not stand in the way"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a file of baselines: the file: "),
        ("[]", "not a file of baselines: the file: "),
        ('{"version": 2}', "version"),
        ('{"joints": {"elbow": [{"since": 1}]}}', r"joints\.elbow\.0\.model: "),
        ('{"joints": {"elbow": [{"since": 1, "model": "m", "values": {"inertia": NaN}, "deviations": {}}]}}', "finite"),
        ('{"joints": {"elbow": [{"since": 1, "model": "m", "values": {}, "deviations": {"inertia": -1}}]}}', "greater"),
        ('{"joints": {}, "more": 1}', "more"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_one_clear_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "b.json"
    file.write_text(text)
    with pytest.raises(BaselineError, match=words) as caught:
        read(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be written: no such file or directory"):
        write(tmp_path / "missing" / "b.json", Baselines())
    with pytest.raises(BaselineError, match="cannot be read: is a directory"):
        read(tmp_path)


def test_where_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "jointwatch.toml"
    file.write_text(TEMPLATE.read_text())
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    assert place(load(file), "token") == tmp_path / "arm.token"
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/jointwatch")
    assert place(load(file), "token") == Path("/var/lib/jointwatch/arm.token")
    file.write_text(TEMPLATE.read_text().replace("[robot]", '[robot]\nstate = "kept"'))
    assert place(load(file), "token") == tmp_path / "kept" / "arm.token"
    assert folders_of(load(file)) == [tmp_path / "kept"]


def test_only_one_service_may_write_where_its_state_and_its_recordings_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    config = load(TEMPLATE)
    recorder = Record(folder=tmp_path / "recordings")
    assert folders_of(config.model_copy(update={"recorder": None})) == [tmp_path / "state"]
    assert folders_of(config.model_copy(update={"recorder": recorder})) == [tmp_path / "state", recorder.folder]
