"""Ports and DDS domains on this machine that nobody else is given."""

import atexit
import socket
import sys
from pathlib import Path
from random import SystemRandom
from typing import Final

FIRST: Final = 10000  # a user's program may use any port from 1024 on; below this one there are many that have a name
USUAL_LIMIT: Final = 32768  # where the ports that Linux gives to connections begin, unless somebody changed it
LIMITS: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")

# domains of DDS whose ports lie below the same limit; 0 is what a robot has that nobody has set up.
DOMAINS: Final = range(1, 102)

_reserved: Final[list[socket.socket]] = []  # one for each port and domain that this process was given


def free_port() -> int:
    """A port of TCP and UDP on 127.0.0.1 that nothing uses, and that no other process is given while this one lives.

    It lies below the ports that the kernel gives to outgoing connections: such a connection of any program would
    otherwise take the port before the program that it is meant for does. Raises OSError if 1000 ports were all in use.
    """
    limit = int(LIMITS.read_text().split()[0]) if LIMITS.exists() else USUAL_LIMIT
    random = SystemRandom()
    for _ in range(1000):
        port = random.randrange(FIRST, limit) if limit > FIRST else random.randrange(1024, limit)
        if _reserve(f"port-{port}") and _unused(port):
            return port
    raise OSError(f"none of 1000 ports from {FIRST} to {limit} was free")


def free_domain() -> int:
    """A DDS domain that no other process is given while this one lives: what two publish there would mix.

    Raises OSError if all are in use.
    """
    for domain in SystemRandom().sample(DOMAINS, len(DOMAINS)):
        if _reserve(f"domain-{domain}"):
            return domain
    raise OSError(f"none of the DDS domains {DOMAINS[0]} to {DOMAINS[-1]} was free")


def _reserve(what: str) -> bool:
    """Whether no other process has been given this: a name that the kernel frees when this process ends."""
    if sys.platform != "linux":
        return True  # no such names there
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0jointwatch-{what}")
    except OSError:
        name.close()
        return False
    if not _reserved:
        atexit.register(_release)
    _reserved.append(name)
    return True


def _release() -> None:
    for name in _reserved:
        name.close()


def _unused(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True
