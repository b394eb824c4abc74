"""Wires that carry whole samples: each joint's values under its own name, and what was lost in between."""

import struct
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hil_rig.messages import Message, MessageField, MessageFrame, frames
from hil_rig.wire.network.joint_states import JointStateWire
from hil_rig.wire.network.rtde import RtdeWire
from hil_rig.wire.samples import SampleWire
from hil_rig.wire.servo import ServoWire

RATE = 250.0
POSITION, TORQUE = MessageField("position", 32, "rad", 1e-6), MessageField("torque", 16, "N·m", 1e-2)
CURRENT, WAY = MessageField("current", 16, "A", 1e-3), MessageField("position", 32, "m", 1e-6)
FORCE = MessageField("force", 16, "N", 0.1)


def two(first: Sequence[MessageField], second: Sequence[MessageField]) -> tuple[Message, Message]:
    """Messages of two joints."""
    one, other = (Message("STATE", tuple(fields)) for fields in (first, second))
    return one.of_node(1, 2), other.of_node(2, 2)


def played(messages: Sequence[Message], values: Sequence[Sequence[Sequence[float]]]) -> list[MessageFrame]:
    """Frames sample by sample; values: SI, of each sample, message, field."""
    batches = [frames(one, np.array([mine[at] for mine in values]), 0) for at, one in enumerate(messages)]
    return [frame for sample in zip(*batches, strict=True) for frame in sample]


def send(wire: SampleWire, all_frames: Sequence[MessageFrame]) -> None:
    wire.send([wire.form(one) for one in all_frames])


class Published(SampleWire):
    """Keeps what it is to publish."""

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__(None, messages, RATE)
        self.samples: list[tuple[int, list[tuple[float, ...]]]] = []

    def publish(self, number: int, values: Sequence[tuple[float, ...]]) -> None:
        self.samples.append((number, [tuple(round(one, 6) for one in mine) for mine in values]))


def test_a_sample_is_played_when_it_is_whole_and_numbered_as_it_was_taken() -> None:
    messages = two([POSITION, TORQUE], [POSITION, TORQUE])
    wire = Published(messages)
    values = [[(0.1 * n, n), (-0.1 * n, -n)] for n in range(5)]
    whole = played(messages, values)
    # of the second sample only one message, of the third none; the fourth backwards; the counter turns over
    late = [one._replace(counter=(3 + 65535) % 65536) for one in whole[8:]]
    send(wire, [*whole[:2], whole[2], whole[7], whole[6], *late])
    assert [number for number, _ in wire.samples] == [0, 3, 3 + 65535]
    zero, third, fourth = ([(0.1 * n, float(n)), (-0.1 * n, -float(n))] for n in (0, 3, 4))
    assert np.array([sample for _, sample in wire.samples]) == pytest.approx(np.array([zero, third, fourth]))
    assert (wire.sent, wire.refused) == (6, 1)


class States(JointStateWire):
    """Keeps the joint states."""

    kind = "kept"

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__(None, messages, RATE)
        self.states: list[tuple[int, dict[str, list[float]]]] = []

    def state(self, stamp: int, names: list[str], columns: NDArray[np.float64]) -> None:
        self.states.append((stamp, dict(zip(names, columns.T.tolist(), strict=True))))

    def place(self) -> list[str]:
        return []


def test_a_joint_state_has_each_joints_values_under_its_name_and_says_which_joints_slide() -> None:
    messages = two([POSITION, TORQUE], [FORCE, WAY])
    wire = States(messages)
    send(wire, played(messages, [[(0.5, 3.0), (-7.0, 0.25)], [(0.6, 4.0), (-8.0, 0.35)]]))
    (first, states), (second, _) = wire.states
    assert states["STATE1"] == pytest.approx([0.5, np.nan, 3.0], nan_ok=True)
    assert states["STATE2"] == pytest.approx([0.25, np.nan, -7.0], nan_ok=True)
    assert second - first == 4_000_000
    assert 'joints = ["STATE1", "STATE2"]' in wire.table()
    assert 'prismatic = ["STATE2"]' in wire.table()


def test_a_controllers_package_has_each_joints_values_in_its_place() -> None:
    messages = two([POSITION, TORQUE], [POSITION, TORQUE])
    with closing(RtdeWire(None, messages, RATE)) as wire:
        kept: list[dict[str, Any]] = []
        wire.controller.send = kept.append  # type: ignore[method-assign]
        send(wire, played(messages, [[(0.5, 3.0), (-0.25, -7.0)]] * 2))
        assert kept[1] == {
            "actual_q": pytest.approx([0.5, -0.25, 0.0, 0.0, 0.0, 0.0]),
            "actual_current_as_torque": pytest.approx([3.0, -7.0, 0.0, 0.0, 0.0, 0.0]),
            "timestamp": [0.004],
        }
        assert any(line.startswith('joints = ["STATE1", "STATE2", ') for line in wire.table())
        assert "rate = 250.0" in wire.table()


def test_each_servo_answers_with_its_own_joints_registers() -> None:
    """XL330: 2 bytes of current (mA), 4 of velocity, 4 of position (4096 a turn, 2048 in the middle) from 126 on."""
    messages = two([POSITION, CURRENT], [CURRENT, POSITION])
    with closing(ServoWire(None, messages, RATE)) as wire:
        kept: list[bytes] = []
        wire.pty.send = kept.extend  # type: ignore[assignment,method-assign]
        send(wire, played(messages, [[(np.pi / 2, 0.123), (-0.05, -np.pi / 4)]]))
        found = {}
        for packet in kept[0].split(b"\xff\xff\xfd\x00")[2:]:  # after the request
            current, _, position = struct.unpack_from("<hii", packet, 5)
            found[packet[0]] = current, position
        assert found == {1: (123, 3072), 2: (-50, 1536)}
        assert '{ name = "STATE1", id = 1' in wire.table()[-1]
        assert 'name = "STATE2", id = 2' in wire.table()[-1]
