"""Faults: what they say they injected is what a reader of the wire counts."""

import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from daq.config.load import load
from daq.config.routes import wanted
from drivers.base import LinkError
from hil_rig.messages import Message, MessageField, frames
from hil_rig.plants.base import RigError
from hil_rig.wire.can import SlcanWire
from hil_rig.wire.faults import Faults, Late
from hil_rig.wire.serial import Serial

STATE = Message("STATE", (MessageField("position", 32, "rad", 1e-6), MessageField("torque", 16, "N·m", 1e-2)))
DAMAGE = ["garbage=0.1", "unknown=0.1", "truncate=0.1", "drop=0.1", "nan=0.1"]


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("rain=1", 'unknown fault "rain", expected one of garbage, truncate'),
        ("drop=2", "fault drop: expected probability that a frame is not sent, found '2'"),
        ("drop=-1", "fault drop"),
        ("drop", "fault drop: .* found ''"),
        ("wrap=40", "fault wrap: expected bits"),
        ("skew=3", "fault skew: expected FIELD:ms"),
        ("skew=torque:soon", "fault skew"),
        ("jitter=nan", "fault jitter: expected ms"),
        ("joint2.wrap=9", 'fault "wrap" of joint2: one joint can have garbage, truncate'),
        ("joint2.rain=1", 'fault "rain" of joint2'),
    ],
)
def test_a_mistaken_fault_is_explained(specification: str, message: str) -> None:
    with pytest.raises(RigError, match=message):
        Faults([specification], 0)


def test_one_joint_alone_can_have_a_fault() -> None:
    with closing(SlcanWire(None)) as wire:
        faults = Faults(["joint2.drop=1"], 0)
        messages = [STATE.of_node(node, 2) for node in (1, 2)]
        faults.check(messages, wire)
        sent = {}
        for message in messages:
            [frame] = frames(message, np.zeros((1, 2)), 0)
            sent[message.node] = len(faults.on_frame(frame, wire))
        assert sent == {1: 1, 2: 0}
        assert faults.counts == {"drop": 1}
        with pytest.raises(RigError, match="fault drop: there is no joint3, expected joint1 to joint2"):
            Faults(["joint3.drop=1"], 0).check(messages, wire)


def test_a_frame_that_is_sent_once_more_is_the_same_frame() -> None:
    made = frames(STATE, np.zeros((400, 2)), 0)
    with closing(Serial(None)) as wire:
        faults = Faults(["repeat=0.1"], 1)
        sent = [faults.on_frame(frame, wire) for frame in made]
        assert {len(one) for one in sent} == {1, 2}
        assert all(one[0] == one[-1] == wire.form(frame) for one, frame in zip(sent, made, strict=True))
    assert sum(map(len, sent)) == len(made) + faults.counts["repeat"]


def test_what_the_wire_cannot_have_is_refused() -> None:
    with closing(SlcanWire(None)) as slcan, closing(Serial(None)) as serial:
        with pytest.raises(RigError, match="crc on serial only"):
            Faults(["crc=0.1"], 0).check([STATE], slcan)
        Faults(["crc=0.1"], 0).check([STATE], serial)
        with pytest.raises(RigError, match=r'unknown field "speed", expected one of STATE.position, STATE.torque, po'):
            Faults(["skew=speed:3"], 0).check([STATE], slcan)


@pytest.mark.parametrize("delay", [0.25, 1.0, 3.3])
def test_a_late_channel_is_the_channel_of_then(delay: float) -> None:
    values = np.random.default_rng(1).normal(size=100)
    late = Late(delay)
    found = np.concatenate([late(part) for part in np.split(values, [1, 2, 30, 31])])
    n = np.arange(100)
    assert found == pytest.approx(np.interp(n - delay, n, values))


def test_the_same_seed_gives_the_same_faults() -> None:
    made = frames(STATE, np.zeros((500, 2)), 0)
    with closing(Serial(None)) as wire:
        runs = []
        for seed in (1, 1, 2):
            faults = Faults([*DAMAGE, "crc=0.1"], seed)
            runs.append([faults.on_frame(frame, wire) for frame in made])
            assert all(faults.counts.values())
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["slcan", "serial", "udp"])
def test_a_reader_counts_what_the_rig_injected(tmp_path: Path, kind: str, start_program: Callable[..., Any]) -> None:
    """Everything at once, against the driver that the product reads this wire with."""
    damage = [*DAMAGE, "crc=0.1"] if kind == "serial" else DAMAGE
    counts, farewell, values = run(start_program, tmp_path, kind, damage)
    faults = Counter(farewell["faults"])
    assert farewell["refused"] == farewell["unheard"] == 0
    assert min(faults.values()) > 5
    assert counts["unmatched"] == faults["unknown"]
    if kind == "serial":
        # where a packet is cut decides which of the checks finds it
        assert counts["bad_crc"] + counts["bad_cobs"] + counts["truncated"] == (
            faults["crc"] + faults["garbage"] + faults["truncate"]
        )
        missing = faults["crc"] + faults["truncate"] + faults["drop"]
        assert missing - 3 <= counts["lost"] <= missing, "a loss after the last packet cannot be seen"
    else:
        assert counts["malformed"] == faults["garbage"]
        assert counts["truncated"] == faults["truncate"]
    good = farewell["sent"] - faults["unknown"] - faults["garbage"] - faults["truncate"] - faults["crc"]
    assert len(values) == good * 3, "position, current and counter of each"
    # a marked field of a frame that was lost too is not seen
    assert 0 < np.isnan(values).sum() <= faults["nan"]


def run(
    start_program: Callable[..., Any], folder: Path, kind: str, damage: list[str]
) -> tuple[dict[str, int], dict[str, Any], np.ndarray]:
    config = folder / "rig.toml"
    arguments = ["recording", "--file", str(recording(folder)), "--set", "time=t", "--set", "position=q"]
    arguments += ["--set", "effort=u", "--json", "--wire", kind, "--config", str(config)]
    arguments += [word for one in damage for word in ("--fault", one)]
    rig = start_program("hil_rig", *arguments)
    rig.stdout.readline()
    settings = load(config)
    values = []
    with settings.drivers["wire"].open(wanted(settings, "wire")) as driver:
        quiet = 0
        deadline = time.monotonic() + 120
        while quiet < 3:  # after its end: it may stand still before
            assert time.monotonic() < deadline
            ended = rig.poll() is not None
            try:
                batch = driver.read(0.1)
            except LinkError:  # it has gone, two seconds after it had played to its end
                break
            values.append(batch["value"])
            quiet = quiet + 1 if ended and not len(batch) else 0
        counts = dict(driver.counters())
        rig.send_signal(signal.SIGTERM)
        farewell = json.loads(rig.stdout.readline())
    assert rig.wait(60) == 0
    return counts, farewell, np.concatenate(values)


def recording(folder: Path) -> Path:
    t = np.arange(200) / 1000  # few enough for a socket's queue, however long the reader is kept waiting
    np.savez(folder / "run.npz", t=t, q=np.sin(t), u=np.cos(t))
    return folder / "run.npz"
