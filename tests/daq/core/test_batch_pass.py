"""What the pass leaves to be done: who has nothing to decide comes first, and most updates are made without asking."""

from pathlib import Path

import msgpack
import numpy as np
import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.core.batch_pass import DECISION, LONG_DECISION, NOTHING, REPEATED_UPDATE
from daq.core.joint_pipeline import JointPipeline, Message
from daq.core.pipeline import Pipeline
from drivers.reading import READING
from estimators.conditioning.physical_range import RECENT
from estimators.conditioning.stop import REVIEW

START = 1_000_000_000  # ns
JOINTS = ("elbow", "wrist", "hand")


def readings(seconds: float) -> list[np.ndarray]:
    """Position, torque and counter of three joints in frames of their own, 7 ms at once; each begins 30 ms later than
    the one before it, so that their blocks of rows end in different turns."""
    t = np.arange(round(1000 * seconds)) * 1e-3
    table = np.zeros((len(t), 9), READING)
    table["time"] = START + np.round(t * 1e9).astype(np.int64)[:, None]
    table["channel"] = np.arange(9)
    torque = 3.0 * np.cos(3.0 * t) - 18.0 * np.sin(3.0 * t) + np.sign(np.cos(3.0 * t))
    table["value"] = np.tile(np.column_stack([np.sin(3.0 * t), torque, np.arange(len(t)) % 65536]), 3)
    there = t[:, None] >= 0.03 * (np.arange(9) // 3)
    return [table[i : i + 7][there[i : i + 7]] for i in range(0, len(t), 7)]


def test_who_has_something_to_decide_goes_last() -> None:
    config = load(Path(__file__).parents[3] / "daq" / "jointwatch.toml")
    elbow = config.joints["elbow"]
    joints = {name: elbow if name == "elbow" else elbow.model_copy() for name in JOINTS}
    pipeline = Pipeline(config.model_copy(update={"joints": joints}), boot=1)
    stops: list[list[bool]] = []
    through = pipeline._pass.through

    def seen(batch: np.ndarray, late: bool):  # type: ignore[no-untyped-def]
        turn: list[bool] = []
        stops.append(turn)
        for index, task, own in through(batch, late):
            turn.append(task == LONG_DECISION)
            assert (task == LONG_DECISION) == (pipeline.joints[index].state.estimator.stop == REVIEW)
            yield index, task, own

    pipeline._pass.through = seen  # type: ignore[method-assign]
    for batch in readings(6.0):
        pipeline.absorb(batch, 0, lambda: 0)
    assert all(turn == sorted(turn) for turn in stops)
    mixed = [turn for turn in stops if 0 < sum(turn) < 3]
    assert len(mixed) > 30, "each decides at the end of every block of a tenth of a second"


def played(config: Config, seconds: float, more: float = 0.0, wild: float = 0.0) -> tuple[list[Message], list[int]]:
    """What a joint says that something pushes at last, and what each turn of 20 ms has left to be done.

    more: N·m of a torque that its model lacks; wild: s at which the torque is beyond all reason, once.
    """
    t = np.arange(round(1000 * seconds)) * 1e-3
    chance = np.random.default_rng(3)
    table = np.zeros((len(t), 3), READING)
    table["time"] = START + np.round(t * 1e9).astype(np.int64)[:, None]
    table["channel"] = np.arange(3)
    amplitude, omega = np.array([[0.5], [0.3]]), 2 * np.pi * np.array([[0.5], [1.3]])
    q = np.sum(amplitude * np.sin(omega * t), axis=0)
    v = np.sum(amplitude * omega * np.cos(omega * t), axis=0)
    a = np.sum(-amplitude * omega**2 * np.sin(omega * t), axis=0)
    torque = 2.0 * a + 3.0 * v + 1.5 * np.sign(v) + 5.0 * np.sin(q) + np.where(t > 0.8 * seconds + 0.035, 0.3, 0.0)
    torque += more * np.sin(11.0 * q)
    torque = np.round((torque + chance.normal(0.0, 0.02, len(t))) / 0.01) * 0.01
    torque[(wild > 0.0) & (np.round(1000 * t) == round(1000 * wild))] = 1e6
    table["value"] = np.column_stack([q, torque, np.arange(len(t)) % 65536])
    pipeline = Pipeline(config, boot=1)
    messages, steps = list[Message](), list[int]()
    through = pipeline._pass.through

    def seen(batch: np.ndarray, late: bool):  # type: ignore[no-untyped-def]
        for index, task, own in through(batch, late):
            steps.append(task)
            yield index, task, own

    pipeline._pass.through = seen  # type: ignore[method-assign]
    for end in range(1, len(t), 20):  # as a core takes them: up to the sample with which an interval begins
        messages += pipeline.absorb(table[max(0, end - 20) : end].reshape(-1), 0, lambda: 0)
    return messages, steps


@pytest.mark.compiled
@pytest.mark.parametrize(("more", "status"), [(0.0, "valid"), (4.0, "learning")])
def test_most_updates_are_made_without_asking_and_are_the_same_to_the_bit(
    monkeypatch: pytest.MonkeyPatch, more: float, status: str
) -> None:
    config = load(Path(__file__).parents[3] / "daq" / "jointwatch.toml")
    messages, steps = played(config, 44.0, more)
    estimates = [msgpack.unpackb(body) for topic, body in messages if topic == b"estimate/elbow"]
    told = estimates[round(0.7 * len(estimates)) : round(0.79 * len(estimates))]  # before something pushes
    assert {(one["phase"], one["health"]["status"]) for one in told} == {("normal", status)}
    usual = steps[round(0.7 * len(steps)) : round(0.79 * len(steps))]
    assert usual.count(REPEATED_UPDATE) + usual.count(NOTHING) > 0.7 * len(usual)
    prepare = JointPipeline._prepare_next_turn

    def always(joint: JointPipeline) -> None:
        prepare(joint)
        joint.uneventful.needs_python = True

    monkeypatch.setattr(JointPipeline, "_prepare_next_turn", always)
    asked, others = played(config, 44.0, more)
    assert min(others) >= DECISION, "here each turn is seen in Python"
    assert messages == asked
    topics = {b"estimate/elbow", b"summary/elbow", b"event/elbow", *([] if more else [b"drift/elbow"])}
    assert {topic for topic, _ in messages} >= topics


@pytest.mark.compiled
def test_a_value_beyond_reason_is_named_in_normal_mode_for_as_long_as_it_says() -> None:
    config = load(Path(__file__).parents[3] / "daq" / "jointwatch.toml")
    messages, _ = played(config, 30.0, wild=20.43)
    named = [
        one["timestamp"]
        for topic, body in messages
        if topic == b"estimate/elbow" and (one := msgpack.unpackb(body))["phase"] == "normal"
        if "channel_out_of_range" in {reason["code"] for reason in one["health"]["reasons"]}
    ]
    assert named[0] == pytest.approx(21.43, abs=0.1), "the clock of the readings begins at 1 s"
    assert named[-1] - named[0] == pytest.approx(RECENT, abs=0.1)
    assert len(named) == pytest.approx(50 * RECENT, abs=3)
