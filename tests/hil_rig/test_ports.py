"""Free ports: apart from those of connections, and never one for two processes."""

import multiprocessing
import socket
from pathlib import Path

import pytest

from hil_rig import ports
from hil_rig.ports import free_port


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


def test_processes_are_given_different_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred ports that all want; each holds what it was given until it ends."""
    monkeypatch.setattr(ports, "FIRST", 10_200)
    monkeypatch.setattr(ports, "LIMITS", Path("/nothing"))
    monkeypatch.setattr(ports, "USUAL_LIMIT", 10_300)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    let_end, held = context.Event(), [free_port() for _ in range(20)]
    child = context.Process(target=lambda: (theirs.send([free_port() for _ in range(20)]), let_end.wait(60)))
    child.start()
    try:
        found = ours.recv()
    finally:
        let_end.set()
        child.join(60)
    assert not set(found) & set(held)
