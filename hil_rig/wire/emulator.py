"""The device's end of a wire: an slcan adapter or a serial port on a pseudo-terminal, CAN over multicast.

A wire never blocks the rig: what the kernel does not take waits in a backlog as large as an adapter's buffer, what that
does not hold is refused and counted. A reader may come, vanish (even killed) and come back.
"""

import binascii
import os
import select
import socket
import struct
import termios
import tty
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

import can
import numpy as np
from can.interfaces.udp_multicast.utils import pack_message

from hil_rig.messages import Frame
from hil_rig.plants.base import RigError

BACKLOG: Final = 65536  # bytes, 1.5 s of a thousand samples in two frames each
SETTLE: Final = 0.2  # s that a reader gets between opening the port and the first frame (it sets it up, and flushes it)
PIECES: Final = 256  # frames in one write
DATAGRAMS: Final = 40  # in a row at most: a reader's socket queues some 270 by default, and cannot say stop
STRANGE_ID: Final = 0x7F5
STRANGE_PACKET: Final = 0xFE


class Wire(Protocol):
    """Where frames go. `sent`, `refused`, `unheard` count frames: taken, not taken, and without anyone listening."""

    device: str
    settle: float
    burst: int  # frames that may go out in a row
    sent: int
    refused: int
    unheard: int

    def listening(self) -> bool:
        """Whether somebody is there; also answers what the reader says."""
        ...

    def send(self, units: Sequence[bytes]) -> None:
        """Hand over formed frames; returns at once."""
        ...

    def full(self) -> bool:
        """Whether a frame would have to wait."""
        ...

    def form(self, frame: Frame) -> bytes:
        """A frame as it stands on the wire."""
        ...

    def cut(self, frame: Frame, rng: np.random.Generator) -> bytes:
        """The same, its end missing."""
        ...

    def miscounted(self, frame: Frame) -> bytes:
        """The same with a wrong checksum. Raises RigError where the wire has none of its own."""
        ...

    def stranger(self, rng: np.random.Generator) -> bytes:
        """A good frame with an id that nobody knows."""
        ...

    def rubbish(self, rng: np.random.Generator) -> bytes:
        """Bytes that are no frame; they do not damage the next one."""
        ...

    def close(self) -> None:
        """Give the wire back, and remove what pointed at it."""
        ...


class Pty:
    """A pseudo-terminal, under a lasting name if wanted."""

    settle = SETTLE
    burst = 1_000_000

    def __init__(self, link: Path | None) -> None:
        """link: a symbolic link to the terminal; one that is there already is replaced, anything else is not."""
        self.sent = self.refused = self.unheard = 0
        self._link = link
        self._backlog: deque[tuple[bytes, int]] = deque()  # and how many frames each piece is: 1, an answer 0
        self._waiting = 0  # bytes in it
        self._present = False
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self.device = os.ttyname(slave)
        os.set_blocking(self._master, False)
        os.close(slave)  # from now on the master hears when the last reader hangs up
        self._poll = select.poll()
        self._poll.register(self._master, select.POLLIN)
        if link is not None:
            self._point(link)

    def _point(self, link: Path) -> None:
        try:
            if link.is_symlink():
                link.unlink()
            link.symlink_to(self.device)
        except OSError as error:
            self._link = None
            self.close()
            raise RigError(f"--link {link}: {error.strerror}") from error
        self._target, self.device = self.device, str(link)

    def listening(self) -> bool:
        """Whether some program has the port open."""
        events = self._poll.poll(0)
        hung_up = bool(events) and bool(events[0][1] & select.POLLHUP)
        if events and not hung_up:
            with suppress(OSError):
                self._hear(os.read(self._master, 4096))
        if hung_up and self._present:
            self._forget()
        self._present = not hung_up
        return self._present

    def _hear(self, data: bytes) -> None:
        """A serial device that only sends does not listen."""

    def _forget(self) -> None:
        """Nobody is there any more: what was meant for them is lost, and no later reader shall find it."""
        self.refused += sum(frames for _, frames in self._backlog)
        self._backlog.clear()
        self._waiting = 0
        with suppress(termios.error):
            termios.tcflush(self._master, termios.TCOFLUSH)

    def send(self, units: Sequence[bytes]) -> None:
        """Queue what fits, write what the kernel takes."""
        for unit in units:
            if self._waiting + len(unit) > BACKLOG:
                self.refused += 1
            else:
                self._queue(unit, 1)
        self._push()

    def _queue(self, piece: bytes, frames: int) -> None:
        self._backlog.append((piece, frames))
        self._waiting += len(piece)

    def _push(self) -> None:
        while self._backlog:
            try:
                taken = os.write(self._master, b"".join(piece for piece, _ in islice(self._backlog, PIECES)))
            except BlockingIOError:
                return
            self._waiting -= taken
            while self._backlog and taken >= len(self._backlog[0][0]):
                piece, frames = self._backlog.popleft()
                taken -= len(piece)
                self.sent += frames
            if taken:
                piece, frames = self._backlog[0]
                self._backlog[0] = piece[taken:], frames

    def full(self) -> bool:
        """Whether the kernel has not yet taken all."""
        self._push()
        return bool(self._backlog)

    def close(self) -> None:
        """Close the terminal; remove the link if it is still ours."""
        self.refused += sum(frames for _, frames in self._backlog)
        os.close(self._master)
        if self._link is not None and self._link.is_symlink() and str(self._link.readlink()) == self._target:
            self._link.unlink()


class CanFrames:
    """Frames of up to eight bytes: the fields and the sample counter."""

    def form(self, frame: Frame) -> bytes:
        return self._can(frame.message.can_id, self._payload(frame))

    def cut(self, frame: Frame, rng: np.random.Generator) -> bytes:
        payload = self._payload(frame)
        return self._can(frame.message.can_id, payload[: rng.integers(1, len(payload))])

    def miscounted(self, frame: Frame) -> bytes:
        raise RigError(f"expected the fault crc on serial only: a CAN adapter checks {frame.message.name} by itself")

    def stranger(self, rng: np.random.Generator) -> bytes:
        return self._can(STRANGE_ID, rng.bytes(8))

    def _payload(self, frame: Frame) -> bytes:
        return frame.fields + frame.counter.to_bytes(2, "little")

    def _can(self, identifier: int, payload: bytes) -> bytes:
        raise NotImplementedError


class Slcan(CanFrames, Pty):
    """An slcan adapter (LAWICEL protocol): silent until its channel is opened; frames sent to it go nowhere."""

    settle = 0.0
    ANSWERS: Final[Mapping[bytes, bytes]] = {
        **dict.fromkeys((b"S", b"s", b"Y", b"Z", b"M", b"m", b"W", b"Q", b"X", b"U", b""), b"\r"),
        **{b"V": b"V1013\r", b"v": b"v0100\r", b"N": b"NRIG0\r", b"F": b"F00\r"},
        **dict.fromkeys((b"t", b"r", b"d", b"b"), b"z\r"),
        **dict.fromkeys((b"T", b"R", b"D", b"B"), b"Z\r"),
    }

    def __init__(self, link: Path | None) -> None:
        super().__init__(link)
        self._open = False
        self._command = b""

    def listening(self) -> bool:
        """Whether a program has opened the port and the adapter's channel."""
        self._open = super().listening() and self._open
        return self._open

    def _hear(self, data: bytes) -> None:
        *commands, self._command = (self._command + data).split(b"\r")
        self._command = self._command[-256:]
        for command in commands:
            self._obey(command[:1])
        self._push()

    def _obey(self, letter: bytes) -> None:
        answer = self.ANSWERS.get(letter, b"\a")
        if letter in (b"O", b"L"):
            self._open, answer = True, b"\r"
        elif letter == b"C":
            self._open, answer = False, b"\r"
            self._forget()
        self._queue(answer, 0)

    def _forget(self) -> None:
        self._command = b""
        super()._forget()

    def _can(self, identifier: int, payload: bytes) -> bytes:
        return f"t{identifier:03X}{len(payload)}{payload.hex().upper()}\r".encode()

    def rubbish(self, rng: np.random.Generator) -> bytes:
        return b"#" + _without(rng, b"\r\a") + b"\r"


class Serial(Pty):
    """A serial device that sends COBS(id: u8 | sequence: u16 | fields | CRC-16/CCITT-FALSE: u16) and a zero."""

    def form(self, frame: Frame) -> bytes:
        return _packet(frame.message.packet_id, frame.counter, frame.fields)

    def cut(self, frame: Frame, rng: np.random.Generator) -> bytes:
        packet = self.form(frame)
        return packet[: rng.integers(1, len(packet) - 1)] + b"\0"

    def miscounted(self, frame: Frame) -> bytes:
        """The packet is whole, its checksum is not."""
        return _packet(frame.message.packet_id, frame.counter, frame.fields, wrong=0x1021)

    def stranger(self, rng: np.random.Generator) -> bytes:
        return _packet(STRANGE_PACKET, 0, rng.bytes(6))

    def rubbish(self, rng: np.random.Generator) -> bytes:
        return b"\xff" + _without(rng, b"\0") + b"\0"  # 0xFF promises more bytes than follow


class Multicast(CanFrames):
    """CAN frames as python-can sends them over UDP multicast; they do not leave this host."""

    settle = 0.0
    burst = DATAGRAMS

    def __init__(self, link: Path | None) -> None:
        if link is not None:
            raise RigError("--link goes with a terminal: there is none on udp")
        self.sent = self.refused = self.unheard = 0
        pid = os.getpid()
        self.device = f"239.74.{pid >> 8 & 255}.{pid & 255}"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("", 0))
            self.port: int = probe.getsockname()[1]
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)  # stays on this host
        self._socket.setblocking(False)
        self._heard = False
        try:
            self._socket.connect((self.device, self.port))
        except OSError as error:
            raise RigError(f"no route for multicast to {self.device}: {error.strerror}") from error

    def listening(self) -> bool:
        """Whether some program has ever joined the group."""
        self._heard = self._heard or _members(self.device) > 0
        return self._heard

    def send(self, units: Sequence[bytes]) -> None:
        """One datagram a frame."""
        for unit in units:
            try:
                self._socket.send(unit)
                self.sent += 1
            except OSError:
                self.refused += 1

    def full(self) -> bool:
        return False

    def _can(self, identifier: int, payload: bytes) -> bytes:
        return pack_message(can.Message(arbitration_id=identifier, data=payload, is_extended_id=False))

    def rubbish(self, rng: np.random.Generator) -> bytes:
        return b"\xc1" + rng.bytes(int(rng.integers(1, 20)))  # 0xC1 never begins msgpack

    def close(self) -> None:
        self._socket.close()


WIRES: Final[Mapping[str, Callable[[Path | None], Wire]]] = {"slcan": Slcan, "serial": Serial, "udp": Multicast}


def _packet(identifier: int, sequence: int, fields: bytes, wrong: int = 0) -> bytes:
    checked = struct.pack("<BH", identifier, sequence) + fields
    packet = checked + struct.pack("<H", binascii.crc_hqx(checked, 0xFFFF) ^ wrong)
    return b"".join(bytes([len(part) + 1]) + part for part in packet.split(b"\0")) + b"\0"  # all parts are short


def _without(rng: np.random.Generator, delimiters: bytes) -> bytes:
    return rng.bytes(int(rng.integers(1, 20))).translate(None, delimiters)


def _members(group: str) -> int:
    """How many sockets of this host have joined a group."""
    wanted = f"{int.from_bytes(socket.inet_aton(group), 'little'):08X}"
    rows = (line.split() for line in Path("/proc/net/igmp").read_text().splitlines())
    return sum(int(row[1]) for row in rows if row and row[0] == wanted)
