"""What is packed for one call is, byte by byte, what goes frame by frame."""

import numpy as np
import pytest

from hil_rig.messages import Message, MessageFrame
from hil_rig.plants import RIGS
from hil_rig.plants.base import Jump, PlantSettings
from hil_rig.wire.faults import Faults
from hil_rig.wire.network.multicast import MulticastWire
from hil_rig.wire.queues import PACKED_BLOCK, Packed, WireFrames, queue
from hil_rig.wire.robot import RigRobot


class Listener(MulticastWire):
    """A wire that keeps what it is given."""

    def __init__(self) -> None:
        super().__init__(None)
        self.heard: list[bytes] = []

    def listening(self) -> bool:
        return True

    def send(self, units: list[bytes]) -> None:  # type: ignore[override]
        self.heard += units

    def send_packed(self, samples: np.ndarray, ends: list[int]) -> None:  # type: ignore[override]
        for sample in samples:
            self.heard += [sample[a:b].tobytes() for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def played(name: str, joints: int, faults: list[str], packed: bool, counts: list[int]) -> list[list[bytes]]:
    settings: PlantSettings = RIGS[name].settings()
    spec = Faults(faults, 1)
    robot = RigRobot(settings.robot(joints, 1, [Jump(0.15, "coulomb", 1.5)] if name == "rigid" else []), spec, False)
    wires = [Listener() for _ in range(robot.buses)]
    line = Packed(robot, wires) if packed else WireFrames(robot, wires, spec)
    for count in counts:
        line.prepare()
        assert line.send(count) == count
    for wire in wires:
        wire.close()
    return [wire.heard for wire in wires]


@pytest.mark.parametrize(
    ("name", "joints", "faults"),
    [
        ("rigid", 1, []),
        ("rigid", 9, ["wrap=20", "skew=position:3"]),
        ("rigid", 30, []),  # a longer block
        ("two_mass", 2, []),
        ("double_encoder_robot", 6, []),
    ],
)
def test_packed_and_frame_by_frame_are_the_same_bytes(name: str, joints: int, faults: list[str]) -> None:
    counts = [1, 1, 7, PACKED_BLOCK, 2 * PACKED_BLOCK + 3, 1]
    assert played(name, joints, faults, True, counts) == played(name, joints, faults, False, counts)


def test_faults_of_single_frames_are_sent_frame_by_frame() -> None:
    for faults, kind in ([], Packed), (["jitter=1"], Packed), (["drop=0.1"], WireFrames):
        spec = Faults(faults, 1)
        robot = RigRobot(RIGS["rigid"].settings().robot(1, 1, []), spec, False)
        wire = Listener()
        assert type(queue(robot, [wire], spec)) is kind
        wire.close()


def test_a_template_says_where_its_fields_are() -> None:
    wire = Listener()
    message: Message = RIGS["rigid"].settings().build(3, 1, []).messages[0].of_node(3, 9)
    unit, at = wire.template(message)
    size = sum(field.bits for field in message.fields) // 8
    frame = (message, 513, bytes(range(size)))
    assert wire.form(MessageFrame(*frame)) == unit[:at] + frame[2] + b"\x01\x02" + unit[at + size + 2 :]
    wire.close()
