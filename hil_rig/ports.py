"""Ports on this machine that stay free until the program they are meant for listens on them."""

import socket
import sys
from pathlib import Path
from random import SystemRandom
from typing import Final

FIRST: Final = 10000  # a user's program may use any port from 1024 on; below this one there are many that have a name
USUAL_LIMIT: Final = 32768  # where the ports that Linux gives to connections begin, unless somebody changed it
LIMITS: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")

_reserved: Final[list[socket.socket]] = []  # one for each port that this process was given


def free_port() -> int:
    """A port of TCP and UDP on 127.0.0.1 that nothing uses, and that no other process is given while this one lives.

    It lies below the ports that the kernel gives to outgoing connections: such a connection of any program would
    otherwise take the port before the program that it is meant for does. Raises OSError if 1000 ports were all in use.
    """
    limit = int(LIMITS.read_text().split()[0]) if LIMITS.exists() else USUAL_LIMIT
    random = SystemRandom()
    for _ in range(1000):
        port = random.randrange(FIRST, limit) if limit > FIRST else random.randrange(1024, limit)
        if _reserve(port) and _unused(port):
            return port
    raise OSError(f"none of 1000 ports from {FIRST} to {limit} was free")


def _reserve(port: int) -> bool:
    """Whether no other process has been given the port: a name that the kernel frees when this process ends."""
    if sys.platform != "linux":
        return True  # no such names there
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0jointwatch-port-{port}")
    except OSError:
        name.close()
        return False
    _reserved.append(name)
    return True


def _unused(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True
