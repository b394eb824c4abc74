"""One recording examined: what it says of its joints, which robot it is of, and what is wrong with it."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.fleet import examine as module
from daq.fleet.addresses import Address
from daq.fleet.examine import ExaminedRecording, Plan, RecordedQuantity, examine
from daq.recording.mcap_file import McapFile
from daq.stream import transcript
from daq.stream.transcript import BLOCKS, Batch, TurnBlock
from daq.stream.update import Publication
from drivers.reading import READING
from hil_rig.truth.fleet import Fleet, record

ALONE = Plan(None, None, skew=False)
TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2 s of one joint at 1 kHz."""
    [file] = record(Fleet(robots=1, recordings=1, seconds=2.0), tmp_path_factory.mktemp("fleet"))
    return file


@pytest.fixture(scope="module")
def config() -> Config:
    return load(TEMPLATE)


def at(file: Path, plan: Plan = ALONE) -> ExaminedRecording:
    return examine(Address(str(file), "arm7"), plan)


def own(
    file: Path,
    config: Config,
    lost: int = 0,
    epoch: int = 0,
    motion: tuple[np.ndarray, np.ndarray] | None = None,
    sets: int = 0,
) -> Path:
    """A recording of ours, of the template's joint from the 500th second on, in four blocks.

    motion: position and torque at 1 kHz (2 s of a swing); lost: samples without readings; epoch: ns; sets: ns by which
    the computer's clock is set within each block.
    """
    swing = np.sin(3e-3 * np.arange(2000))
    position, torque = (swing, -18.0 * swing) if motion is None else motion
    count = np.arange(len(position))
    readings = np.zeros((len(count), 3), READING)
    readings["time"] = (500_000_000_000 + count * 1_000_000)[:, None]
    readings["channel"] = [0, 1, 2]
    readings["value"] = np.column_stack([position, torque, count])
    readings = np.delete(readings, slice(1000, 1000 + lost), axis=0)
    with McapFile(file, "test") as writing:
        writing.metadata("configuration", {"json": config.model_dump_json(), "digest": "d"})
        for number, part in enumerate(np.array_split(readings, 4)):
            part = part.reshape(-1)
            half = len(part) // 2
            batches = [
                Batch(count, epoch + late, 0, (), (), None) for count, late in ((half, 0), (len(part) - half, sets))
            ]
            block = TurnBlock(1, number, batches, part)
            writing.attachment(f"readings 1 {number}", BLOCKS, number, transcript.pack(block))
            writing.write()
    return file


def test_a_recording_in_columns_is_its_places_robot_and_says_every_parameter_with_its_unit(columns: Path) -> None:
    found = at(columns)
    assert (found.robot, found.problem) == ("arm7", "")
    assert math.isnan(found.began), "columns do not say when it was"
    assert found.seconds == pytest.approx(1.999)
    [joint] = found.joints
    assert (joint.joint, joint.model, joint.phase, joint.status) == ("joint1", "rigid", "starting", "learning")
    assert (joint.samples, joint.lost, joint.alarms) == (2000, 0, 0)
    assert "is not certain enough yet" in joint.reasons or "is not identifiable" in joint.reasons
    assert 0.0 < joint.error < 1.0
    units = {one.name: one.unit for one in joint.quantities}
    assert units == {
        "inertia": "kg·m²", "viscous": "N·m·s/rad", "coulomb": "N·m", "offset": "N·m", "gravity_sin": "N·m",
        "gravity_cos": "N·m",
    }  # fmt: skip
    with np.load(columns) as table:
        torque = float(np.abs(table["joint1.torque"]).max())
    assert all(one.deviation > 0.0 and abs(one.value) < torque for one in joint.quantities)


def test_alarms_accepted_and_refused_refits_are_each_counted_for_their_own_joint(
    columns: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the pipeline says besides the estimates of this recording: 3 alarms, 2 re-fits accepted, 1 refused."""
    real = module.play

    def eventful(*given: object) -> Iterator[tuple[bytes, bytes]]:
        yield from real(*given)  # type: ignore[arg-type]
        for name, kinds in (
            ("joint1", ["alarm"] * 3 + ["refit_accepted"] * 2 + ["refit_rejected", "drift"]),
            ("joint2", ["alarm"] * 9),
        ):
            publication = Publication("arm7", name, 1, "N·m")
            yield from (publication.event(kind, "", 1.0) for kind in kinds)

    monkeypatch.setattr(module, "play", eventful)
    [joint] = at(columns).joints
    assert (joint.alarms, joint.refits, joint.refused) == (3, 2, 1)


def test_our_own_recording_brings_its_robot_its_joints_and_its_time(tmp_path: Path, config: Config) -> None:
    found = at(own(tmp_path / "a.mcap", config, epoch=1_700_000_000 * 10**9))
    assert (found.robot, found.problem) == (config.robot.name, "")
    assert found.began == pytest.approx(1_700_000_500.0)
    assert found.seconds == pytest.approx(1.999)
    assert [(one.joint, one.samples) for one in found.joints] == [("elbow", 2000)]


def test_a_recording_began_when_the_clock_said_so_at_its_first_reading(tmp_path: Path, config: Config) -> None:
    found = at(own(tmp_path / "a.mcap", config, epoch=1_700_000_000 * 10**9, sets=3600 * 10**9))
    assert found.began == pytest.approx(1_700_000_500.0)
    assert found.seconds == pytest.approx(1.999)


def test_what_is_lost_in_a_recording_is_counted(tmp_path: Path, config: Config) -> None:
    [joint] = at(own(tmp_path / "a.mcap", config, lost=7)).joints
    assert joint.lost == 7


def test_a_recording_that_breaks_off_says_so_and_what_is_whole_of_it_counts(tmp_path: Path, config: Config) -> None:
    file = own(tmp_path / "a.mcap", config)
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])
    found = at(file)
    assert "breaks off after 2 blocks" in found.problem
    assert [one.samples for one in found.joints] == [1000]


def test_a_recording_without_a_configured_signal_has_no_joints_and_says_why(tmp_path: Path, config: Config) -> None:
    file = tmp_path / "other.log"
    file.write_text("".join(f"({1.7e9 + k * 1e-3:.6f}) can0 7FF#00\n" for k in range(100)))
    found = at(file, Plan(config, None, skew=False))
    assert (found.joints, found.problem) == ((), "none of its frames carries a configured signal")


def test_a_log_of_frames_needs_a_configuration(tmp_path: Path) -> None:
    file = tmp_path / "x.log"
    file.write_text("(1700000000.000000) can0 181#00\n")
    found = at(file)
    assert found.problem == f"{file}: a log of frames needs --config, which describes the frames"
    assert (found.robot, found.joints, found.seconds) == ("arm7", (), 0.0)


def test_every_line_of_what_is_wrong_is_reported_in_one(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **{"time": np.arange(9.0), "a.position": np.zeros(9), "b.torque": np.zeros(9)})
    problem = at(tmp_path / "x.npz").problem
    assert problem.count("; ") == 1
    assert "\n" not in problem
    assert problem.index("joint a: ") < problem.index("joint b: ")


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["npz", "mcap", "log"])
def test_how_late_a_channel_is_stands_beside_its_joints_parameters(kind: str, tmp_path: Path, config: Config) -> None:
    """The torque is recorded 30 ms late, in columns, by us, or as frames; a velocity is no channel of this joint."""
    [file] = record(Fleet(robots=1, recordings=1, seconds=6.0), tmp_path)
    with np.load(file) as table:
        q, torque = table["joint1.position"][30:], table["joint1.torque"][:-30]
    if kind == "npz":
        columns = {"joint1.position": q, "joint1.torque": torque, "joint1.velocity": 1e3 * np.gradient(q)}
        np.savez(tmp_path / "late.npz", time=np.arange(len(q)) * 1e-3, **columns)
    elif kind == "mcap":
        own(tmp_path / "late.mcap", config, motion=(q, torque))
    else:
        frames(tmp_path / "late.log", q, torque)
    needed = config if kind == "log" else None
    [delay] = delays(tmp_path / f"late.{kind}", Plan(needed, None, skew=True))
    assert (delay.name, delay.unit) == ("delay.torque", "s")
    assert abs(delay.value - 0.03) < 4.0 * delay.deviation
    assert delay.value > 5.0 * delay.deviation, "late for certain"
    assert not delays(tmp_path / f"late.{kind}", Plan(needed, None, skew=False)), "it was not asked for"


def frames(file: Path, q: np.ndarray, torque: np.ndarray) -> None:
    """A log of the frames of the template's joint at 1 kHz."""
    table = np.zeros(len(q), [("position", "<i4"), ("current", "<i2"), ("counter", "<u2")])
    table["position"], table["current"] = np.round(q * 1e6), np.round(torque / 11.0 * 1e3)
    table["counter"] = np.arange(len(q))
    lines = (f"({1.7e9 + k * 1e-3:.6f}) can0 181#{row.tobytes().hex()}\n" for k, row in enumerate(table))
    file.write_text("".join(lines))


def delays(file: Path, plan: Plan) -> list[RecordedQuantity]:
    """Those of the only joint."""
    [joint] = at(file, plan).joints
    return [one for one in joint.quantities if one.name.startswith("delay.")]
