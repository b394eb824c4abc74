"""Free ports and domains: apart from those of connections, and never one for two processes."""

import os
import socket
from collections.abc import Callable
from multiprocessing.connection import Pipe
from pathlib import Path
from random import SystemRandom

import pytest

from daq.processes.child import Child
from hil_rig import ports
from hil_rig.ports import free_domain, free_port


def test_a_port_is_none_that_the_kernel_gives_to_a_connection() -> None:
    first, last = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    found = [free_port() for _ in range(50)]
    assert not [port for port in found if first <= port <= last]
    assert len(set(found)) == 50
    for port in found:
        with socket.create_server(("127.0.0.1", port)):
            pass


def test_a_port_in_use_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", free_port())) as other:
        monkeypatch.setattr(ports, "FIRST", (taken := other.getsockname()[1]))
        monkeypatch.setattr(ports, "LIMITS", Path("/nothing"))
        monkeypatch.setattr(ports, "USUAL_LIMIT", taken + 1)
        with pytest.raises(OSError, match=f"^none of 1000 ports from {taken} to {taken + 1} was free$"):
            free_port()


@pytest.mark.parametrize("free", [free_port, free_domain])
def test_processes_are_given_different_ones(free: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred that all want; each holds what it was given until it ends."""
    monkeypatch.setattr(ports, "FIRST", 10_200)
    monkeypatch.setattr(ports, "LIMITS", Path("/nothing"))
    monkeypatch.setattr(ports, "USUAL_LIMIT", 10_300)
    monkeypatch.setattr(ports, "DOMAINS", range(1000, 1100))  # not those that others need meanwhile
    ours, theirs = Pipe(duplex=False)
    until_closed, let_end = os.pipe()
    held = [free() for _ in range(20)]

    def work() -> int:
        os.close(let_end)
        theirs.send([free() for _ in range(20)])
        os.read(until_closed, 1)
        return 0

    child = Child("other", work)
    theirs.close()
    try:
        found = ours.recv()
    finally:
        for end in (let_end, until_closed):
            os.close(end)
        child.wait()
        ours.close()
    assert not set(found) & set(held)


def test_where_every_domain_is_in_use_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    first = SystemRandom().randrange(10_000, 10**9)  # another run of the tests on this machine has others
    monkeypatch.setattr(ports, "DOMAINS", range(first, first + 2))
    assert {free_domain(), free_domain()} == {first, first + 1}
    with pytest.raises(OSError, match=rf"^none of the DDS domains {first} to {first + 1} was free$"):
        free_domain()
