"""A serial device that sends checked packets over a pseudo-terminal."""

import binascii
import struct

import numpy as np

from hil_rig.messages import MessageFrame
from hil_rig.wire.base import STRANGE_PACKET, without
from hil_rig.wire.pty import Pty


class Serial(Pty):
    """A serial device that sends COBS(id: u8 | sequence: u16 | fields | CRC-16/CCITT-FALSE: u16) and a zero."""

    def form(self, frame: MessageFrame) -> bytes:
        return _packet(frame.message.packet_id, frame.counter, frame.fields)

    def cut(self, frame: MessageFrame, rng: np.random.Generator) -> bytes:
        packet = self.form(frame)
        return packet[: rng.integers(1, len(packet) - 1)] + b"\0"

    def miscounted(self, frame: MessageFrame) -> bytes:
        """The packet is whole, its checksum is not."""
        return _packet(frame.message.packet_id, frame.counter, frame.fields, wrong=0x1021)

    def stranger(self, rng: np.random.Generator) -> bytes:
        return _packet(STRANGE_PACKET, 0, rng.bytes(6))

    def rubbish(self, rng: np.random.Generator) -> bytes:
        return b"\xff" + without(rng, b"\0") + b"\0"  # 0xFF promises more bytes than follow


def _packet(identifier: int, sequence: int, fields: bytes, wrong: int = 0) -> bytes:
    checked = struct.pack("<BH", identifier, sequence) + fields
    packet = checked + struct.pack("<H", binascii.crc_hqx(checked, 0xFFFF) ^ wrong)
    return b"".join(bytes([len(part) + 1]) + part for part in packet.split(b"\0")) + b"\0"  # all parts are short
