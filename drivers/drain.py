"""Reads a descriptor in bulk, and converts its errors to messages with a remedy."""

import errno
import os
import select
from typing import Final

from drivers.base import LinkBusyError, LinkError

CHUNK: Final = 65536
MOST: Final = 64  # reads in one call: with a flooding device the first bytes must not wait
PIECE: Final = 4095  # bytes: a terminal returns no more at once, so a shorter read means that it is empty

_REMEDIES: Final = {
    errno.ENOENT: "there is no such port: is the device plugged in? (`ls /dev/serial/by-id` lists those there are)",
    errno.EACCES: "no permission: `sudo usermod -aG dialout $USER`, then log in again",
    errno.EPERM: "no permission: `sudo usermod -aG dialout $USER`, then log in again",
    errno.EBUSY: "another program has it: close that one (`fuser -v {name}` names it)",
    errno.EAGAIN: "another program has it: close that one (`fuser -v {name}` names it)",
    errno.ENOTTY: "this is no serial port: is the path right?",
    errno.EIO: "the device went away: is it plugged in and powered?",
    errno.ENXIO: "the device went away: is it plugged in and powered?",
    errno.ENODEV: "there is no such interface: `ip -br link show type can` lists those there are",
    errno.ENETDOWN: "the interface is down: `sudo ip link set {name} up type can bitrate …`",
    errno.EAFNOSUPPORT: "this kernel has no SocketCAN: `sudo modprobe can-raw`, or use another interface",
}

_BUSY: Final = (errno.EBUSY, errno.EAGAIN)


def link_error(name: str, error: BaseException) -> LinkError:
    """Return an error with one sentence: the port, what happened, and the remedy."""
    cause: BaseException | None = error
    while cause is not None:
        code = getattr(cause, "errno", None) or (cause.args or (None,))[0]  # termios.error has no attribute errno
        if isinstance(code, int) and code in _REMEDIES:
            kind = LinkBusyError if code in _BUSY else LinkError
            return kind(f"{name}: {_REMEDIES[code].format(name=name)}")
        cause = cause.__cause__ or cause.__context__
    reason = " ".join(str(error).split()) or type(error).__name__
    return LinkError(f"{name}: {reason}")


def drain(descriptor: int, name: str, timeout: float) -> bytes:
    """Wait up to timeout seconds for the first byte, then read all available bytes. Raises LinkError if the device is
    gone."""
    chunks: list[bytes] = []
    try:
        while len(chunks) < MOST and select.select([descriptor], [], [], 0.0 if chunks else max(0.0, timeout))[0]:
            chunk = os.read(descriptor, CHUNK)
            if not chunk:  # readable but empty: the other end has hung up
                raise OSError(errno.EIO, "end of file")
            chunks.append(chunk)
            if len(chunk) < PIECE:  # the descriptor is drained; no further read is needed
                break
    except BlockingIOError:
        pass  # another reader was faster
    except (OSError, ValueError) as error:  # ValueError: closed meanwhile
        if not chunks:  # bytes before the error are delivered first; the next call raises
            raise link_error(name, error) from error
    return b"".join(chunks)
