"""A whole robot through the pipeline: cut anyhow the same, resumed, and compared with its baseline."""

from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.config.words import ConfigError
from daq.core.changes.change_records import change_state_name
from daq.core.pipeline import Pipeline
from daq.state.baselines import friction_names, friction_speeds
from daq.state.robot_model import save
from daq.stream.update import Message
from drivers.reading import READING
from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.inertia import standard
from estimators.models.robots.regressor import regressor
from estimators.offline.robot.identification import identify
from estimators.offline.robot.live_residuals import Recorded, with_live_residuals
from estimators.offline.robot.motion import pieces
from estimators.online.robot.residual_attribution import ResidualAttribution
from estimators.quantities import Axis, Floats

pytestmark = pytest.mark.compiled

RATE = 250  # Hz
START = 1_000_000_000  # ns
COULOMB, VISCOUS = np.array([4.0, 3.0]), np.array([2.0, 1.0])
NAMES = ("shoulder", "elbow")


def arm() -> RobotDescription:
    turned = pose((-np.pi / 2, 0.0, 0.0), (0.0, 0.0, 0.4))
    z = np.array([0.0, 0.0, 1.0])
    joints = (RobotJoint(NAMES[0], Axis.ROTARY, -1, np.eye(4), z), RobotJoint(NAMES[1], Axis.ROTARY, 0, turned, z))
    bodies = [standard(8.0, np.array([0, 0, 0.2]), np.diag([0.2, 0.2, 0.05]))]
    bodies.append(standard(3.0, np.array([0.2, 0.02, 0.0]), np.diag([0.01, 0.04, 0.04])))
    return RobotDescription("arm", joints, np.array(bodies))


def measured(seconds: float, seed: int, friction: float | Floats = 1.0) -> tuple[Floats, Floats, Floats]:
    """Time, positions, torques. friction: times the usual one, or (rows, 2)."""
    random = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 1.0 / RATE)
    q, dq, ddq = np.zeros((3, len(t), 2))
    for j in range(2):
        for frequency, phase in zip(random.uniform(0.15, 0.5, 4), random.uniform(0, 6.28, 4), strict=True):
            w = 2 * np.pi * frequency
            q[:, j] += 0.3 * np.sin(w * t + phase)
            dq[:, j] += 0.3 * w * np.cos(w * t + phase)
            ddq[:, j] -= 0.3 * w**2 * np.sin(w * t + phase)
    Y = np.empty((len(t), 2, 20))
    regressor(*arm().tree(), q, dq, ddq, Y)
    tau = Y @ arm().parameters.ravel() + friction * (COULOMB * np.tanh(dq / 0.01) + VISCOUS * dq)
    return t, q + 2e-6 * random.normal(size=q.shape), tau + 0.1 * random.normal(size=tau.shape)


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Two joints on one bus, and the robot's model, identified from another motion."""
    folder = tmp_path_factory.mktemp("robot")
    t, q, tau = measured(20.0, 1)
    found = identify(arm(), pieces(t, q, tau), [], ()).found
    save(with_live_residuals(found, [Recorded(t, q, tau)]), folder / "arm.model.toml")
    text = '[robot]\nname = "arm"\nmodel = "arm.model.toml"\n[drivers.can0]\nkind = "can"\nchannel = "can0"\n'
    text += 'interface = "socketcan"\n'
    for node, _ in enumerate(NAMES, 1):
        text += f'[[drivers.can0.frames]]\nname = "S{node}"\nid = {node}\n'
        text += 'signals.q = { start = 0, bits = 32, type = "float", unit = "rad" }\n'
        text += 'signals.tau = { start = 32, bits = 32, type = "float", unit = "N·m" }\n'
    for node, name in enumerate(NAMES, 1):
        text += f'[joints.{name}]\nrate = {RATE}\nmodel = {{ kind = "rigid", gravity_sin = true }}\n'
        text += (
            f'channels = {{ position = {{ signal = "can0.S{node}.q" }}, torque = {{ signal = "can0.S{node}.tau" }} }}\n'
        )
    (folder / "arm.toml").write_text(text)
    return load(folder / "arm.toml")


def readings(
    seconds: float, seed: int = 2, begin: float = 0.0, friction: float | Floats = 1.0, gain: float | Floats = 1.0
) -> np.ndarray:
    """gain: of the torque that is told over the true one, as friction is given."""
    t, q, tau = measured(seconds, seed, friction)
    tau = gain * tau
    table = np.zeros((len(t), 4), READING)
    table["time"] = START + np.round((begin + t) * 1e9).astype(np.int64)[:, None]
    table["channel"] = np.arange(4)
    table["value"] = np.column_stack([q[:, 0], tau[:, 0], q[:, 1], tau[:, 1]])
    return table.reshape(-1)


def play(pipeline: Pipeline, table: np.ndarray, size: int = 20, epoch: int = 0) -> list[Message]:
    parts = np.split(table, range(size, len(table), size))
    return [message for part in parts for message in pipeline.absorb(part, epoch, lambda: 0)]


def of(messages: list[Message], topic: bytes) -> list[dict[str, Any]]:
    return [msgpack.unpackb(body) for name, body in messages if name == topic]


@pytest.fixture(scope="module")
def played(config: Config) -> tuple[Pipeline, list[Message]]:
    pipeline = Pipeline(config, boot=1)
    return pipeline, play(pipeline, readings(18.0))


def test_the_residual_of_every_joint_is_reported_at_the_configured_rate(
    played: tuple[Pipeline, list[Message]], config: Config
) -> None:
    told = of(played[1], b"robot")
    assert len(told) == pytest.approx(18.0 * config.publish.rate, rel=0.05)
    assert [one["seq"] for one in told] == list(range(len(told)))
    step = 1.0 / config.publish.rate
    assert np.diff([one["timestamp"] for one in told]) == pytest.approx(step, abs=0.5 * step)
    assert {one["phase"] for one in told[-100:]} == {"normal"}
    for name in NAMES:
        late = [one["joints"][name] for one in told[-200:]]
        left = np.array([one["residual"] for one in late])
        assert left == pytest.approx([one["measured"] - one["predicted"] for one in late])
        assert np.ptp([one["measured"] for one in late]) > 20 * np.std(left)
        assert left.min() < 0.0 < left.max()
        assert np.sqrt(np.mean(left**2)) < 0.5 * late[-1]["threshold"]
        assert not any(one["joints"][name]["contact"] for one in told)
    parameters = of(played[1], b"robot/parameters")
    assert [one["seq"] for one in parameters] == list(range(len(parameters)))
    assert [int(one["timestamp"]) for one in parameters] == list(range(1, 19)), "one a second from the first on"
    assert not any("joint" in one for one in told + parameters)
    line = played[0].robot
    assert line is not None
    counted = line.counters()
    assert (counted["faults"], counted["dropped"]) == (0, 0)
    assert counted["learnt"] >= parameters[-1]["learnt"] > 5
    (started,) = of(played[1], b"event/robot")
    assert started["kind"] == "started"
    assert [one["phase"] == "normal" for one in told] == [one["timestamp"] >= started["timestamp"] for one in told]


@pytest.mark.parametrize(("joint", "push"), [(0, 6.0), (1, -6.0), (1, 6.0)])
def test_a_torque_that_nobody_knows_is_the_residual_of_its_joint_with_its_sign(
    played: tuple[Pipeline, list[Message]], config: Config, joint: int, push: float
) -> None:
    """Compared with the same motion without it, from 0.2 s after it has begun on, which the filters need."""
    table = readings(3.0, begin=40.0)
    pushed = table.copy()
    pushed["value"][(table["channel"] == 2 * joint + 1) & (table["time"] >= START + 42_000_000_000)] += push
    found = []
    for one in (table, pushed):
        pipeline = Pipeline(config, boot=2)
        pipeline.resume({"robot": played[0].robot.keep()})  # type: ignore[union-attr]
        told = [one for one in of(play(pipeline, one), b"robot") if one["timestamp"] > START / 1e9 + 42.2]
        keys = ("measured", "predicted", "residual")
        found.append(np.array([[[one["joints"][name][key] for name in NAMES] for key in keys] for one in told]))
    measured, predicted, residual = np.moveaxis(found[1] - found[0], 1, 0)
    outer = push * (np.arange(2) == joint)
    np.testing.assert_allclose(measured, np.tile(outer, (len(measured), 1)), atol=0.01 * abs(push))  # filtered
    np.testing.assert_allclose(predicted, 0.0, atol=0.05 * abs(push))  # of what was learnt before it was noticed
    np.testing.assert_allclose(residual, measured - predicted, atol=1e-9)
    np.testing.assert_allclose(found[1][:, 2], found[1][:, 0] - found[1][:, 1], atol=1e-9)


@pytest.mark.parametrize("fault", ["no data", "order reversed"])
def test_a_joint_that_gives_no_rows_faults_the_robot_and_its_return_ends_that(config: Config, fault: str) -> None:
    pipeline, table = Pipeline(config, boot=1), readings(30.0).reshape(-1, 4)
    play(pipeline, table[: 18 * RATE].reshape(-1))
    bad = table[18 * RATE : 21 * RATE].copy()
    if fault == "no data":
        bad = bad[:, :2]  # those of the shoulder
    else:
        for column in (2, 3):  # the elbow's values come in tens, the last first
            bad["value"][:, column] = bad["value"][:, column].reshape(-1, 10)[:, ::-1].reshape(-1)
    said = list[Message]()
    for part in (bad, table[21 * RATE :]):
        for row in np.array_split(part, len(part) // 5):
            said += pipeline.absorb(row.reshape(-1), 0, lambda: 0)
            said += pipeline.check_silence(int(row["time"].max()), 0)
    told = [one for one in of(said, b"event/robot") if one["kind"] in ("fault", "recovered")]
    events = [(one["kind"], one["text"].split(":")[0], one["timestamp"]) for one in told]
    assert [one[:2] for one in events[:2]] == [("fault", "elbow"), ("recovered", "every joint gives rows again")]
    begun, ended = (one[2] - START / 1e9 for one in events[:2])
    assert 18.0 < begun < 20.5
    assert 21.0 <= ended < 22.5
    faulted = [one for one in of(said, b"robot") if one["phase"] == "faulted"]
    assert len(faulted) >= round((ended - begun) / 0.5)
    for one in faulted:
        assert one["health"]["status"] == "faulted"
        assert {reason["code"] for reason in one["health"]["reasons"]} == {"joint_faulted"}
        assert {reason["parameter"] for reason in one["health"]["reasons"]} == {"elbow"}
    assert of(said, b"robot")[-1]["phase"] != "faulted"


def test_a_hole_in_time_costs_rows_and_is_no_contact(played: tuple[Pipeline, list[Message]], config: Config) -> None:
    """No row joins the two sides of it: what moved meanwhile is no acceleration."""
    pipeline = Pipeline(config, boot=2)
    pipeline.resume({"robot": played[0].robot.keep()})  # type: ignore[union-attr]
    table = readings(6.0, begin=40.0)
    at = table["time"] - START
    told = play(pipeline, table[(at < 42_000_000_000) | (at >= 42_700_000_000)])
    late = [one for one in of(told, b"robot") if one["timestamp"] > START / 1e9 + 42.9]  # the filters need 0.2 s
    assert len(late) > 100
    for name in NAMES:
        left = np.array([one["joints"][name]["residual"] for one in late])
        assert np.sqrt(np.mean(left**2)) < 0.5 * late[-1]["joints"][name]["threshold"]
    assert not [one for one in of(told, b"event/robot") if one["kind"] == "contact"]


def test_a_repetition_is_the_same_to_the_bit(played: tuple[Pipeline, list[Message]], config: Config) -> None:
    again = play(Pipeline(config, boot=1), readings(18.0))
    assert [body for _, body in again] == [body for _, body in played[1]]


@pytest.mark.parametrize("size", [4, 400])  # a row, which waits for more; many
def test_what_is_learnt_does_not_depend_on_how_readings_are_cut(
    played: tuple[Pipeline, list[Message]], config: Config, size: int
) -> None:
    other = of(play(Pipeline(config, boot=1), readings(18.0), size), b"robot/parameters")[-1]
    found = of(played[1], b"robot/parameters")[-1]
    assert abs(other["timestamp"] - found["timestamp"]) < 0.2
    assert found["learnt"] == other["learnt"] > 5
    assert found["parameters"] == other["parameters"]


def test_a_new_core_goes_on_where_the_old_one_was(played: tuple[Pipeline, list[Message]], config: Config) -> None:
    kept = played[0].robot.keep()  # type: ignore[union-attr]
    assert kept is not None
    pipeline = Pipeline(config, boot=2)
    pipeline.resume({"robot": msgpack.unpackb(msgpack.packb(kept))})
    told = play(pipeline, readings(3.0, begin=40.0))
    assert {one["phase"] for one in of(told, b"robot")[60:]} == {"normal"}
    first = of(told, b"robot/parameters")[0]
    assert list(first["parameters"].values()) == kept["theta"][:-2]  # lags of the torques last
    assert first["learnt"] == kept["learnt"] > 5


@pytest.mark.parametrize("damage", [{"learnt": "many"}, {"version": 0}, {"compensation": [1.0]}])
def test_a_robot_that_cannot_resume_starts_as_if_it_had_been_given_nothing(
    played: tuple[Pipeline, list[Message]], config: Config, damage: dict[str, object]
) -> None:
    state = played[0].robot.keep()  # type: ignore[union-attr]
    assert state is not None
    pipeline = Pipeline(config, boot=1)
    with pytest.raises(ValueError, match="it starts anew"):
        pipeline.resume({"robot": state | damage})
    again = play(pipeline, readings(18.0)[: 2 * RATE * 4])
    assert [body for _, body in again] == [body for _, body in played[1][: len(again)]]


def test_a_robot_that_fails_at_the_end_of_resuming_keeps_nothing_of_it(
    played: tuple[Pipeline, list[Message]], config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("damaged")

    state = played[0].robot.keep()  # type: ignore[union-attr]
    pipeline = Pipeline(config, boot=1)
    monkeypatch.setattr(ResidualAttribution, "resume", fails)
    with pytest.raises(ValueError, match="damaged"):
        pipeline.resume({"robot": state})
    again = play(pipeline, readings(18.0)[: 2 * RATE])
    assert again
    assert [body for _, body in again] == [body for _, body in played[1][: len(again)]]


def test_friction_is_compared_with_the_baseline_of_the_robot(
    played: tuple[Pipeline, list[Message]], config: Config
) -> None:
    friction = of(played[1], b"robot/parameters")[-1]["friction"]
    values = dict(zip(friction_names(NAMES), (v for one in friction.values() for v in one["torques"]), strict=True))
    baseline = {
        "since": 86_400.0,
        "model": "robot",
        "friction": friction_speeds({name: one["speeds"] for name, one in friction.items()}),
        "values": values | {"elbow.slow": values["elbow.slow"] / 1.5},
        "deviations": dict.fromkeys(values, 0.02),
    }
    pipeline = Pipeline(config, boot=1)
    pipeline.set_baselines({"robot": baseline})
    told = play(pipeline, readings(24.0), epoch=10**18)
    drifts = of(told, b"drift/robot")
    said = [one["timestamp"] - 1e9 for one in drifts]
    assert np.diff(said) == pytest.approx(1.0, abs=0.1)
    assert START / 1e9 + 23.0 < said[-1] <= START / 1e9 + 24.0
    assert drifts[-1]["drifted"] == ["elbow.slow"]
    assert drifts[-1]["percent"]["elbow.slow"] == pytest.approx(50.0, abs=10.0)
    kinds = [(one["kind"], one["text"].split(":")[0]) for one in of(told, b"event/robot")]
    assert all(START / 1e9 <= one["timestamp"] - 1e9 <= START / 1e9 + 24.0 for one in of(told, b"event/robot"))
    assert ("drift", "elbow.slow has drifted") in kinds
    (record,) = of_the_robot(records(told, "elbow"))
    assert (record["parameter"], record["reference"]) == ("friction_slow", "baseline")
    assert record["from"] == baseline["values"]["elbow.slow"]  # type: ignore[index]
    assert not of_the_robot(records(told, "shoulder"))
    other = Pipeline(config, boot=1)
    other.set_baselines({"robot": baseline | {"friction": {"speeds": {}}}})
    told = play(other, readings(16.0))
    assert not of(told, b"drift/robot")
    (text,) = [one["text"] for one in of(told, b"event/robot") if one["kind"] == "baseline"]
    assert text.endswith("is of another model or friction law: set a new one")


JUMP, END = 22.0, 42.0  # s


def stepped(factor: float, joint: int = 1, jump: float = JUMP, end: float = END) -> Floats:
    """Factors (rows, 2): that of one joint from an instant on, 1 else."""
    factors = np.ones((round(end * RATE), 2))
    factors[round(jump * RATE) :, joint] = factor
    return factors


def records(messages: list[Message], joint: str) -> list[dict[str, Any]]:
    """Records in the last message about what has changed of a joint; none where no message came."""
    found = of(messages, f"change/{joint}".encode())
    return found[-1]["records"] if found else []


@pytest.fixture(scope="module")
def rubbing(config: Config) -> tuple[Pipeline, list[Message]]:
    """The elbow has 1.8 times its friction from JUMP on; no baseline is set."""
    pipeline = Pipeline(config, boot=1)
    return pipeline, play(pipeline, readings(END, friction=stepped(1.8)))


def of_the_robot(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records that the model of the whole robot tells."""
    return [one for one in found if "by the model of the whole robot" in one["text"]]


def test_a_friction_that_the_model_of_the_whole_robot_has_learnt_anew_is_a_record_of_its_joint(
    rubbing: tuple[Pipeline, list[Message]],
) -> None:
    _, said = rubbing
    assert "friction" in {one["kind"] for one in of(said, b"event/robot")}
    slow, fast = of_the_robot(records(said, "elbow"))
    speeds = of(said, b"robot/parameters")[-1]["friction"]["elbow"]["speeds"]
    for one, name, speed in zip((slow, fast), ("friction_slow", "friction_fast"), speeds, strict=True):
        assert (one["parameter"], one["unit"], one["reference"], one["evidence"]) == (name, "N·m", "start", "alarm")
        truth = COULOMB[1] * np.tanh(speed / 0.01) + VISCOUS[1] * speed
        assert one["from"] == pytest.approx(truth, abs=4 * one["from_deviation"] + 0.02 * truth)
        assert one["to"] == pytest.approx(1.8 * truth, abs=4 * one["to_deviation"] + 0.05 * truth)
        assert one["percent"] == pytest.approx(80.0, abs=8.0)
        assert one["z"] > 5.0
        assert one["since"] == pytest.approx(START / 1e9 + JUMP, abs=1.0)
        assert (one["over"], one["acknowledged"]) == (0.0, 0.0)
        assert f"{name} changed suddenly from " in one["text"]
    assert not of_the_robot(records(said, "shoulder")), "its neighbour has not changed"


def test_what_the_whole_robot_tells_of_a_joint_stands_over_a_restart_until_it_is_acknowledged(
    rubbing: tuple[Pipeline, list[Message]], config: Config
) -> None:
    before, _ = rubbing
    assert before.robot is not None
    states = {"robot": before.robot.keep(), change_state_name("robot"): before.robot.keep_changes()}
    states |= {change_state_name(one.name): one.comparison.keep() for one in before.joints if one.comparison.keep()}
    pipeline = Pipeline(config, boot=2)
    pipeline.resume(msgpack.unpackb(msgpack.packb(states)))
    table = readings(36.0, seed=3, begin=50.0, friction=stepped(1.8, jump=0.0, end=36.0))
    half = len(table) // 2
    said = play(pipeline, table[:half])
    kept = of_the_robot(records(said, "elbow"))
    assert [(one["parameter"], one["over"], one["acknowledged"]) for one in kept] == [
        ("friction_slow", 0.0, 0.0), ("friction_fast", 0.0, 0.0),
    ]  # fmt: skip
    seen = pipeline.acknowledge({"elbow": 60.0})
    settled = of_the_robot(records(seen, "elbow"))
    assert [(one["over"], one["acknowledged"]) for one in settled] == [(60.0, 60.0)] * 2
    after = of_the_robot(records(play(pipeline, table[half:]), "elbow") or records(seen, "elbow"))
    assert [(one["over"], one["acknowledged"]) for one in after] == [(60.0, 60.0)] * 2, "and none anew"


def test_another_torque_constant_that_the_robot_holds_beside_its_model_is_a_record_of_its_joint(
    config: Config,
) -> None:
    pipeline = Pipeline(config, boot=1)
    said = play(pipeline, readings(36.0, gain=stepped(1.2, jump=JUMP, end=36.0)))
    assert "torque_constant" in {one["kind"] for one in of(said, b"event/robot")}
    (record,) = of_the_robot(records(said, "elbow"))
    assert (record["parameter"], record["unit"], record["from"]) == ("torque_constant", "%", 100.0)
    assert record["to"] == pytest.approx(120.0, abs=max(1.0, 4 * record["to_deviation"]))
    assert record["since"] == pytest.approx(START / 1e9 + JUMP, abs=1.0)
    pipeline.acknowledge({"elbow": 60.0})
    again = play(pipeline, readings(3.0, seed=3, begin=36.0, gain=stepped(1.2, jump=0.0, end=3.0)))
    open_ones = [one for one in of_the_robot(records(again, "elbow")) if not one["acknowledged"]]
    assert open_ones == [], "it holds, and a person has seen it"


def test_what_is_so_of_every_joint_is_said_once(config: Config) -> None:
    pipeline = Pipeline(config, boot=1)
    play(pipeline, readings(2.0))
    said = pipeline.check_silence(START + 30_000_000_000, 0)
    (fault,) = [one for one in of(said, b"event/robot") if one["kind"] == "fault"]
    assert fault["text"].startswith("all 2 joints: no data for ")
    assert fault["text"].count("no data") == 1


def test_a_second_encoder_goes_the_whole_way_and_its_lack_is_reported(tmp_path: Path) -> None:
    """Both joints turn springs of 5 kN·m/rad, which their friction follows."""

    def twisted(seconds: float, seed: int) -> tuple[Floats, Floats, Floats, Floats]:
        t, q, tau = measured(seconds, seed, 0.0)
        return t, q, tau + 0.2 * np.abs(tau) * np.tanh(np.gradient(q, t, axis=0) / 0.01), q - tau / 5e3 - 1e-3

    t, q, tau, link = twisted(20.0, 1)
    found = identify(arm(), pieces(t, q, tau, link=link), [], ()).found
    save(with_live_residuals(found, [Recorded(t, q, tau, link)]), tmp_path / "arm.model.toml")
    text = (
        '[robot]\nmodel = "arm.model.toml"\n[drivers.can0]\nkind = "can"\nchannel = "can0"\ninterface = "socketcan"\n'
    )
    for node, name in enumerate(NAMES, 1):
        for place, channels in ((node, ("q", "tau")), (10 + node, ("link",))):
            text += f'[[drivers.can0.frames]]\nname = "S{place}"\nid = {place}\n'
            for k, channel in enumerate(channels):
                unit = "N·m" if channel == "tau" else "rad"
                text += f'signals.{channel} = {{ start = {32 * k}, bits = 32, type = "float", unit = "{unit}" }}\n'
        text += f'[joints.{name}]\nrate = {RATE}\nmodel = {{ kind = "rigid", gravity_sin = true }}\n'
        text += f'[joints.{name}.channels]\nposition = {{ signal = "can0.S{node}.q" }}\n'
        text += f'torque = {{ signal = "can0.S{node}.tau" }}\nlink_position = {{ signal = "can0.S{10 + node}.link" }}\n'
    (tmp_path / "arm.toml").write_text(text)
    pipeline = Pipeline(load(tmp_path / "arm.toml"), boot=1)
    t, q, tau, link = twisted(15.0, 2)
    table = np.zeros((len(t), 6), READING)
    table["time"] = START + np.round(t * 1e9).astype(np.int64)[:, None]
    table["channel"] = np.arange(6)
    table["value"] = np.column_stack([q[:, 0], tau[:, 0], link[:, 0], q[:, 1], tau[:, 1], link[:, 1]])
    told = play(pipeline, table.reshape(-1), 30)
    parameters = of(told, b"robot/parameters")[-1]["parameters"]
    assert parameters["twist.elbow"] == pytest.approx(0.2 * 5e3, rel=0.2)
    late = [one["joints"]["elbow"] for one in of(told, b"robot")[-100:]]
    left, size = (np.array([one[key] for one in late]) for key in ("residual", "measured"))
    assert left == pytest.approx(size - [one["predicted"] for one in late])
    assert np.sqrt(np.mean(left**2)) < 0.05 * np.sqrt(np.mean(size**2))
    assert np.corrcoef(size, [one["predicted"] for one in late])[0, 1] > 0.99
    lacking = [line for line in text.splitlines() if not line.startswith("link_position")]
    (tmp_path / "arm.toml").write_text("\n".join(lacking))
    with pytest.raises(ConfigError) as refused:
        load(tmp_path / "arm.toml")
    assert len(refused.value.problems) == 2
    assert "was learnt with this second encoder, found none" in str(refused.value)
