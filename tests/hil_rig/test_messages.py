"""Values to integers and frames."""

import math
import struct

import numpy as np
import pytest

from hil_rig.messages import COUNTER, NODES, SERIAL_NODES, Message, MessageField, frames
from hil_rig.plants import RIGS

POSITION = MessageField("position", 32, "counts", counts_per_rev=4096)
TORQUE = MessageField("torque", 16, "N·m", 0.01)
STATE = Message("STATE", (POSITION, TORQUE))


def test_rounding_saturation_and_no_value() -> None:
    values = np.array([0.0, 0.004, 0.006, -0.016, 1e9, -1e9, np.nan, np.inf])
    assert TORQUE.raw(values).tolist() == [0, 0, 1, -2, 32767, -32767, -32768, -32768]


def test_an_encoder_starts_again() -> None:
    turning = MessageField("position", 32, "counts", counts_per_rev=4096, wrap=10)
    step = math.tau / 4096
    values = np.array([0, 1023, 1024, -1, -1025, np.nan]) * step
    assert turning.raw(values).tolist() == [0, 1023, 0, 1023, 1023, -(1 << 31)]
    assert turning.turn == pytest.approx(math.tau / 4)
    assert POSITION.turn is None


def test_frames_are_little_endian_and_counted() -> None:
    made = frames(STATE, np.array([[math.tau, 1.0], [0.0, -1.0]]), COUNTER - 1)
    assert [struct.unpack("<ih", frame.fields) for frame in made] == [(4096, 100), (0, -100)]
    assert [frame.counter for frame in made] == [COUNTER - 1, 0]


def test_a_field_loses_its_value_and_the_others_do_not() -> None:
    (frame,) = frames(STATE, np.array([[math.tau, 1.0]]), 0)
    assert struct.unpack("<ih", frame.without(0).fields) == (-(1 << 31), 100)
    assert struct.unpack("<ih", frame.without(1).fields) == (4096, -32768)


def test_no_two_messages_of_a_robot_share_an_id_or_a_name() -> None:
    settings = RIGS["two_mass"].settings()
    messages = [
        message.of_node(node, NODES) for node in range(1, NODES + 1) for message in settings.build(node, 0, []).messages
    ]
    serial = [one for one in messages if one.node <= SERIAL_NODES]
    for ids in ({one.can_id for one in messages}, {one.name for one in messages}):
        assert len(ids) == len(messages)
    assert len({one.packet_id for one in serial}) == len(serial)
    assert max(one.can_id for one in messages) < 0x7F0
    assert max(one.packet_id for one in serial) < 0xFE
    assert all(sum(field.bits for field in one.fields) <= 48 for one in messages), "and the counter makes 64"
