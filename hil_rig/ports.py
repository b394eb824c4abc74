"""Reserves ports and DDS domains on this machine that no other process is given."""

import atexit
import socket
import sys
from pathlib import Path
from random import SystemRandom
from typing import Final

FIRST: Final = 10000  # programs may use any port from 1024 on; below this number many ports are assigned to services
USUAL_LIMIT: Final = 32768  # begin of Linux's default range of ports for outgoing connections
LIMITS: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")

# Domains of DDS whose ports are below the same limit; 0 is the default domain of robots.
DOMAINS: Final = range(1, 102)

_reserved: Final[list[socket.socket]] = []  # one socket for each reserved port and domain


def free_port() -> int:
    """Return a free port of TCP and UDP on 127.0.0.1, which no other process is given while this process runs.

    It is below the range for outgoing connections, since the kernel could give a port in that range to any program
    before it is used. Raises OSError if 1000 ports were all in use.
    """
    limit = int(LIMITS.read_text().split()[0]) if LIMITS.exists() else USUAL_LIMIT
    random = SystemRandom()
    for _ in range(1000):
        port = random.randrange(FIRST, limit) if limit > FIRST else random.randrange(1024, limit)
        if _reserve(f"port-{port}") and _unused(port):
            return port
    raise OSError(f"none of 1000 ports from {FIRST} to {limit} was free")


def free_domain() -> int:
    """Return a DDS domain that no other process is given while this process runs, since messages would mix otherwise.

    Raises OSError if all are in use.
    """
    for domain in SystemRandom().sample(DOMAINS, len(DOMAINS)):
        if _reserve(f"domain-{domain}"):
            return domain
    raise OSError(f"none of the DDS domains {DOMAINS[0]} to {DOMAINS[-1]} was free")


def _reserve(what: str) -> bool:
    """Try to reserve a name, which the kernel frees when this process ends; returns whether no other process has it."""
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
