"""A connection to a Universal Robots controller by RTDE (TCP, port 30004, protocol 2), with the standard library alone.

A package is a size (u16), a type (u8) and a body, all big-endian. Only four kinds are sent: V requests the protocol, v
requests the controller's version, O names the output fields, and S starts them; none of them sets an input of the
robot. Then the controller sends a data package (U) every 1/rate s: the number of the recipe, and the fields as doubles.
"""

import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from typing import Final, Self

from drivers.base import LinkError
from drivers.network.rtde_fields import FIELDS, TIME

PORT: Final = 30004
PROTOCOL: Final = 2
VERSION, OUTPUTS, START, DATA, TEXT, CONTROLLER = b"VOSUMv"
HEAD: Final = struct.Struct(">HB")  # size of the package with this head, type
ANSWER: Final = 1.0  # s to connect and to answer: shorter than a process may be without a sign of life
CHUNK: Final = 65536  # bytes
MOST: Final = 64  # reads in one call: the first packages must not wait for the last


class RtdeConnection:
    """A connection to a controller that sends and receives packages. Any failure raises LinkError with a sentence."""

    def __init__(self, host: str, port: int) -> None:
        self._name = f"{host}:{port}"
        self._address = (host, port)
        self._socket: socket.socket | None = None
        self._rest = b""
        self._early: list[tuple[int, bytes]] = []  # packages that came before the expected answer

    def __enter__(self) -> Self:
        self._rest, self._early = b"", []
        try:
            self._socket = socket.create_connection(self._address, ANSWER)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise LinkError(f"{self._name}: {_reason(error)}") from error
        try:
            self._send(VERSION, struct.pack(">H", PROTOCOL))
            if self._answer(VERSION) != b"\x01":
                raise LinkError(f"{self._name}: the controller does not speak RTDE {PROTOCOL}: update PolyScope")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def controller(self) -> tuple[int, ...]:
        """Version of URControl: major, minor, bugfix, build."""
        self._send(CONTROLLER, b"")
        answer = self._answer(CONTROLLER)
        if len(answer) < 16:
            raise LinkError(f"{self._name}: expected a version of 16 bytes, found {len(answer)}")
        return struct.unpack(">4I", answer[:16])

    def ask(self, fields: Sequence[str], rate: float) -> dict[str, str]:
        """Request the time and these fields at a rate (Hz); returns field → type, NOT_FOUND for an unknown field."""
        return self._outputs((TIME, *fields), rate)[1]

    def start(self, fields: Sequence[str], rate: float) -> int:
        """Start data packages with the time and these fields; returns the number of the recipe."""
        recipe, types = self._outputs((TIME, *fields), rate)
        missing = [name for name, kind in types.items() if kind == "NOT_FOUND"]
        if missing:
            raise LinkError(f"{self._name}: this controller has no {', '.join(missing)}: leave it out of `fields`")
        expected = {name: FIELDS[name].type for name in fields}
        for name, kind in expected.items():
            if types[name] != kind:
                raise LinkError(f"{self._name}: expected {name} as {kind}, the controller says {types[name]}")
        self._send(START, b"")
        if self._answer(START) != b"\x01":
            raise LinkError(f"{self._name}: the controller does not start: is the rate of {rate:g} Hz one it has?")
        return recipe

    def _outputs(self, names: Sequence[str], rate: float) -> tuple[int, dict[str, str]]:
        self._send(OUTPUTS, struct.pack(">d", rate) + ",".join(names).encode())
        answer = self._answer(OUTPUTS)
        types = answer[1:].decode("ascii", "replace").split(",")
        if len(types) != len(names):
            raise LinkError(f"{self._name}: expected the types of {len(names)} fields, found {len(types)}")
        return answer[0], dict(zip(names, types, strict=True))

    def packages(self, timeout: float) -> Iterator[tuple[int, bytes]]:
        """Wait up to timeout seconds, then yield (type, body) of every complete package."""
        early, self._early = self._early, []
        yield from early
        yield from self._whole(0.0 if early else timeout)

    def _whole(self, timeout: float) -> Iterator[tuple[int, bytes]]:
        data = self._rest + self._received(timeout)
        at = 0
        while len(data) - at >= HEAD.size:
            size, kind = HEAD.unpack_from(data, at)
            if size < HEAD.size:
                raise LinkError(f"{self._name}: expected packages of RTDE, found other bytes: is the port right?")
            if len(data) - at < size:
                break
            yield kind, data[at + HEAD.size : at + size]
            at += size
        self._rest = data[at:]

    def _received(self, timeout: float) -> bytes:
        if self._socket is None:
            raise LinkError(f"{self._name}: not open")
        chunks: list[bytes] = []
        try:
            while len(chunks) < MOST and select.select([self._socket], [], [], 0.0 if chunks else max(0.0, timeout))[0]:
                chunk = self._socket.recv(CHUNK)
                if not chunk:
                    raise ConnectionResetError
                chunks.append(chunk)
                if len(chunk) < CHUNK:
                    break
        except OSError as error:
            if not chunks:  # bytes before the end are delivered first; the next call raises
                raise LinkError(f"{self._name}: {_reason(error)}") from error
        return b"".join(chunks)

    def _send(self, kind: int, body: bytes) -> None:
        assert self._socket is not None
        try:
            self._socket.sendall(HEAD.pack(HEAD.size + len(body), kind) + body)
        except OSError as error:
            raise LinkError(f"{self._name}: {_reason(error)}") from error

    def _answer(self, wanted: int) -> bytes:
        """Return the body of the answer to a request; text messages may come before it."""
        end = time.monotonic() + ANSWER
        while (left := end - time.monotonic()) > 0:
            come = list(self._whole(left))
            self._early += [one for one in come if one[0] != wanted]  # data may come together with the answer to S
            found = [body for kind, body in come if kind == wanted and body]
            if found:
                return found[0]
        raise LinkError(f"{self._name}: no answer within {ANSWER:g} s: is this the port of RTDE ({PORT})?")


def _reason(error: OSError) -> str:
    """Return the failure of the connection in words, with the remedy."""
    if isinstance(error, ConnectionRefusedError):
        return "refused: is the controller on, and RTDE enabled there (Settings → Security → Services)?"
    if isinstance(error, ConnectionResetError | BrokenPipeError):
        return "the controller went away: is it on, and the cable in?"
    if isinstance(error, socket.gaierror):
        return "there is no such host: is its name right?"
    if isinstance(error, TimeoutError):
        return f"no answer within {ANSWER:g} s: is the address right, the cable in, no firewall between?"
    return (error.strerror or str(error) or type(error).__name__).lower()
