"""The size of a socket's receive queue, which contains the frames that arrive between two reads."""

import logging
import socket
from contextlib import suppress
from typing import Final

ROOM: Final = 8 << 20  # bytes asked for: some 21,000 frames, 2.7 s at 8 kframe/s
PER_FRAME: Final = 768  # bytes that the kernel counts for a frame in a socket's queue
SO_RCVBUFFORCE: Final = 33  # requires CAP_NET_ADMIN

log = logging.getLogger("jointwatch")


def enlarge(sock: socket.socket, name: str) -> int:
    """Enlarge a socket's queue as far as the kernel allows, for over a second; returns its size in frames."""
    for option in (SO_RCVBUFFORCE, socket.SO_RCVBUF):
        with suppress(PermissionError):
            sock.setsockopt(socket.SOL_SOCKET, option, ROOM)
            break
    room = sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    frames = room // PER_FRAME
    if room < 2 * ROOM:  # the kernel doubles the size it is given
        log.warning(
            "%s: room for %d frames only (net.core.rmem_max is small): `sudo cp deploy/99-jointwatch-can.conf "
            "/etc/sysctl.d && sudo sysctl --system`",
            name,
            frames,
        )
    else:
        log.info("%s: room for %d frames", name, frames)
    return frames
