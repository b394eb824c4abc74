"""Free ports and domains: apart from those of connections, and never one for two processes."""

import multiprocessing
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

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
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    let_end, held = context.Event(), [free() for _ in range(20)]
    child = context.Process(target=lambda: (theirs.send([free() for _ in range(20)]), let_end.wait(60)))
    child.start()
    try:
        found = ours.recv()
    finally:
        let_end.set()
        child.join(60)
    assert not set(found) & set(held)


def test_where_every_domain_is_in_use_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "DOMAINS", range(2000, 2002))
    assert {free_domain(), free_domain()} == {2000, 2001}
    with pytest.raises(OSError, match=r"^none of the DDS domains 2000 to 2001 was free$"):
        free_domain()
