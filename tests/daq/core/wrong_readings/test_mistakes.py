"""Mistakes of a person reach the stream: named at the start, with the remedy, never valid; a sound joint goes on."""

import logging
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import msgpack
import numpy as np
import pytest

from daq.config.routes import routes
from daq.config.sections import Config
from daq.core.pipeline import Pipeline
from daq.core.process import _log_mistakes
from daq.core.replayable_executor import LOOKS, DeferredExecutor
from daq.stream.update import Message
from drivers.reading import READING
from estimators.plausibility.mistakes.base import Motion
from estimators.refit.inline import Inline
from hil_rig.plants import RIGS
from hil_rig.plants.base import Plant
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings
from hil_rig.plants.trajectory import Trajectory
from hil_rig.truth.moves import moves
from tests.support.signals.mistaken_motions import MADE, motion_of

SECONDS, RATE = 20.0, 1000.0
LIVE = {
    "degrees for radians": "position_in_degrees",
    "position and torque exchanged": "channels_exchanged",
    "sign of the torque": "torque_sign_reversed",
    "encoder wraps at ±π": "position_wraps",
    "mN·m, limit known": "torque_scale",
    "torque 5 ms late": "torque_misaligned",
}
RIGID: dict[str, Any] = {"kind": "rigid", "gravity_sin": True, "gravity_cos": True}


@cache
def sound() -> Motion:
    """A joint of a robot that picks and places: its start is over within the motion."""
    values = moves(0, 20, "moves", RATE).sample(round(SECONDS * RATE)).values
    return Motion(np.arange(len(values)) / RATE, values[:, 0], values[:, 1])


def config_of(motion: Motion, torque: str = "u", model: dict[str, Any] | None = None) -> Config:
    channels = {"position": {"signal": "d.m.q"}, "torque": {"signal": f"d.m.{torque}"}}
    if motion.link is not None:
        channels["link_position"] = {"signal": "d.m.l"}
    joint: dict[str, Any] = {
        "rate": float(round(1.0 / np.median(np.diff(motion.time)))),
        "model": model or RIGID,
        "channels": channels,
    }
    if np.isfinite(motion.limit):
        joint["saturation"] = motion.limit
    return Config.model_validate({"drivers": {}, "joints": {"j": joint}, "robot": {"name": "r"}})


def readings(motion: Motion) -> np.ndarray:
    columns = [motion.position, motion.effort] + ([] if motion.link is None else [motion.link])
    table = np.zeros((len(motion.time), len(columns)), READING)
    table["time"] = 10**12 + np.round(motion.time * 1e9).astype(np.int64)[:, None]
    table["channel"] = np.arange(len(columns))
    table["value"] = np.column_stack(columns)
    return table.reshape(-1)


def played(
    motion: Motion,
    config: Config | None = None,
    batches: int = 1000,
    looks: Executor | None = None,
    between: Callable[[], object] = lambda: None,
    epoch: int = 0,
) -> list[Message]:
    pipeline, messages = Pipeline(config or config_of(motion), 1, None, looks), list[Message]()
    for part in np.array_split(readings(motion), batches):
        messages += pipeline.absorb(part, epoch, lambda: 0)
        between()
    return messages


def maps(messages: list[Message], kind: bytes) -> list[dict[str, Any]]:
    return [msgpack.unpackb(body) for topic, body in messages if topic == kind + b"/j"]


def found(messages: list[Message]) -> set[str]:
    return {one["text"] for one in maps(messages, b"event") if one["kind"] == "mistake"}


@cache
def told(mistake: str = "none", torque: str = "u") -> list[Message]:
    """What is said of a motion with a mistake, whose signal of torque has this name."""
    motion = MADE[mistake].make(sound())
    return played(motion, config_of(motion, torque))


@pytest.mark.parametrize("mistake", LIVE)
def test_a_mistake_is_a_reason_and_an_event_and_nothing_is_valid(mistake: str) -> None:
    messages = told(mistake)
    estimates = maps(messages, b"estimate")
    last = estimates[-1]["health"]
    assert last["reasons"][0]["code"] == LIVE[mistake]
    assert {one["health"]["status"] for one in estimates} <= {"unestimated", "learning", "faulted"}
    (event,) = (one for one in maps(messages, b"event") if one["kind"] == "mistake")
    assert event["text"].startswith(last["reasons"][0]["text"])
    assert event["to"] - event["from"] < 13.0
    assert event["timestamp"] < 1000.0 + 15.0


def test_a_finding_says_the_unix_time_of_the_motion_that_it_is_about() -> None:
    motion = MADE["sign of the torque"].make(sound())
    of_core, of_host = (played(motion, epoch=epoch) for epoch in (0, 10**18))
    (here,), (there,) = (
        [one for one in maps(messages, b"event") if one["kind"] == "mistake"] for messages in (of_core, of_host)
    )
    for key in ("timestamp", "from", "to"):
        assert there[key] - here[key] == pytest.approx(1e9)
    assert 1000.0 <= here["from"] < here["to"] <= here["timestamp"]


def test_a_signal_that_is_called_a_current_and_has_no_scale_is_named() -> None:
    (text,) = found(told(torque="motor_current"))
    assert "current" in text
    assert "Set scale to the torque constant" in text
    scaled = config_of(sound(), "motor_current").model_dump()
    scaled["joints"]["j"]["channels"]["torque"]["scale"] = 1.5
    assert found(played(sound(), Config.model_validate(scaled))) == set()


def test_a_joint_with_a_finding_is_neither_valid_nor_held() -> None:
    """A sound joint is both in the same motion: it moves and it rests."""
    right, wrong = (
        {one["health"]["status"] for one in maps(told(torque=torque), b"estimate")} for torque in ("u", "motor_current")
    )
    assert right >= {"valid", "held"}
    assert wrong == {"unestimated", "learning"}


def test_a_finding_that_comes_late_ends_what_is_valid_with_the_next_update() -> None:
    looks, turn = DeferredExecutor(Inline(), LOOKS), iter(range(1000))
    messages = played(
        sound(),
        config_of(sound(), "motor_current"),
        looks=looks,
        between=lambda: looks.release_finished() if next(turn) == 950 else None,
    )
    said = [(topic, msgpack.unpackb(body)) for topic, body in messages]
    (at,) = (i for i, (topic, one) in enumerate(said) if topic == b"event/j" and one["kind"] == "mistake")
    statuses = [
        [one["health"]["status"] for topic, one in part if topic == b"estimate/j"] for part in (said[:at], said[at:])
    ]
    assert statuses[0][-1] in ("valid", "held"), "it is not known yet"
    assert set(statuses[1]) == {"learning"}
    assert len(statuses[1]) > 20


def test_known_bodies_tell_millinewtonmetres_of_an_elastic_joint() -> None:
    path = Trajectory(kind="position", speed=0.6, period=4.0, dither=1)
    plant = TwoMassPlantSettings(identify="elastic", trajectory=path).build(1, 0, [])
    motion = MADE["mN·m"].make(motion_of(plant, 13.0))
    (text,) = found(played(motion, config_of(motion, model=dict(plant.model))))
    assert "1000 times too large" in text
    assert "scale = 0.001" in text


def test_a_sound_joint_becomes_valid_and_no_mistake_is_said() -> None:
    messages = told()
    assert found(messages) == set()
    assert maps(messages, b"estimate")[-1]["health"] == {"status": "valid", "reasons": []}


@pytest.mark.parametrize("mistake", ["none", "torque 5 ms late", "mN·m, limit known"])
def test_updates_do_not_depend_on_how_readings_are_batched(mistake: str) -> None:
    motion = MADE[mistake].make(sound())
    one, other = played(motion, batches=37), told(mistake)

    def of(messages: list[Message]) -> list[Any]:
        left = ("arrival", "latency")
        each = [(topic, msgpack.unpackb(body)) for topic, body in messages]
        return [(topic, {key: value for key, value in one.items() if key not in left}) for topic, one in each]

    assert repr(of(one)) == repr(of(other))


class Never(Executor):
    """Nothing that it is given ever ends."""

    def submit(self, *_: Any, **__: Any) -> Any:
        return Future()


@pytest.mark.parametrize("rig", sorted(set(RIGS) - {"recording"}))
def test_no_joint_of_a_rig_has_a_mistake(rig: str) -> None:
    plants = RIGS[rig].settings().robot(RIGS[rig].joints, 1, [])
    for plant in list(plants.values())[:2]:  # the benchmark `mistakes` looks at all of them
        channels, values = roles_of(plant)
        joint = {
            "rate": plant.rate,
            "model": dict(plant.model),
            "channels": {role: {"signal": f"d.m.{role}"} for role in channels},
        }
        config = Config.model_validate({"drivers": {}, "joints": {"j": joint}, "robot": {"name": "r"}})
        pipeline = Pipeline(config, 1, Never())
        order = [route.role for route in routes(config)]
        table = np.zeros(values.shape, READING)
        table["time"] = 10**12 + np.round(np.arange(len(values)) / plant.rate * 1e9).astype(np.int64)[:, None]
        table["channel"], table["value"] = np.arange(len(order)), values[:, [channels.index(one) for one in order]]
        messages = [one for part in np.array_split(table.reshape(-1), 100) for one in pipeline.absorb(part, 0, int)]
        assert found(messages) == set(), plant.model


def roles_of(plant: Plant) -> tuple[list[str], np.ndarray]:
    """The roles of a plant's joint, and 14 s of their values: (rows, roles)."""
    names = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    rows = plant.rows(round(14.0 * plant.rate))
    found = {role: one.scale * rows[:, names.index(one.signal)] for role, one in plant.roles.items()}
    return list(found), np.column_stack(list(found.values()))


def test_a_look_that_finds_nothing_changes_no_message() -> None:
    assert told() == played(sound(), looks=Never())


def test_the_stream_does_not_wait_for_the_look_and_a_replay_lets_it_count_where_it_did() -> None:
    motion = MADE["sign of the torque"].make(sound())
    turns: list[list[int]] = []
    with ThreadPoolExecutor(1) as pool:
        looks = DeferredExecutor(pool, LOOKS)

        def between() -> None:
            turns.append(looks.release_finished())
            pool.submit(int).result()  # the look is over, which may take longer than all of this motion

        live = played(motion, looks=looks, between=between)
    assert [number for turn in turns for number in turn] == [LOOKS]
    assert len(found(live)) == 1
    again, told = DeferredExecutor(Inline(), LOOKS), iter(turns)
    assert played(motion, looks=again, between=lambda: again.release(next(told))) == live
    silent = DeferredExecutor(Inline(), LOOKS)
    assert found(played(motion, looks=silent)) == set(), "a recording from before the looks has none"


def test_a_finding_is_logged_with_its_remedy(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        _log_mistakes(told("sign of the torque"))
    (record,) = caplog.records
    assert record.getMessage().startswith("j: the sign of the torque looks reversed")
    assert "scale = -1" in record.getMessage()


def test_a_joint_with_a_finding_leaves_no_state_and_a_sound_one_does() -> None:
    def kept(torque: str) -> Any:
        pipeline = Pipeline(config_of(sound(), torque), 1)
        pipeline.absorb(readings(sound()), 0, lambda: 0)
        return pipeline.joints[0].estimator

    sure, wrong = kept("u"), kept("motor_current")
    assert sure.keep() is not None
    assert wrong.keep() is None
    again = Pipeline(config_of(sound()), 2)
    again.resume({"j": sure.keep()})
    later = readings(sound())
    later["time"] += round(1e9 * SECONDS)
    again.absorb(later, 0, lambda: 0)
    assert again.joints[0].estimator.keep() is not None, "what goes on is not looked at again"
