"""While kernels are compiled the page says how far it is, at the address at which the service will serve its own."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from daq.commands.running_service.waiting_page import WaitingPage
from daq.processes.child import Child
from hil_rig.ports import free_port

ROOT = Path(__file__).parents[3]


def asked(port: int, path: str = "/") -> tuple[int, http.client.HTTPMessage, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60.0)
    connection.request("GET", path)
    answer = connection.getresponse()
    with answer:
        return answer.status, answer.headers, answer.read().decode()


def text(port: int) -> str:
    with contextlib.suppress(ConnectionError):
        return asked(port)[2]
    return ""


def test_it_shows_the_last_line_until_it_ends(wait: Callable[..., None]) -> None:
    port, said, shown = free_port(), list[str](), list[int]()
    with WaitingPage(f"http://127.0.0.1:{port}", said.append, lambda: shown.append(asked(port)[0])) as page:
        with pytest.raises(ConnectionRefusedError):
            asked(port)
        page.say("a first start")
        assert shown == [503]
        Child("compile", lambda: page.say(" 27 of 95  <a kernel> 0.7 s") or 0).wait()
        wait(lambda: 'value="27" max="95"' in asked(port)[2])
        status, headers, body = asked(port)
        assert (status, headers["Retry-After"]) == (503, "2")
        assert "compiling kernels, 27 of 95" in body
        assert "&lt;a kernel&gt;" in body
        assert asked(port, "/api/state")[0] == asked(port, "/metrics")[0] == 503
        status, headers, script = asked(port, "/waiting.js")
        assert (status, headers["Content-Type"]) == (200, "text/javascript")
        assert "location.reload()" in script
    assert said == ["a first start"]  # the other line was said in the other process
    socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.parametrize("address", ["https://127.0.0.1:{}", "http://192.0.2.7:{}", "http://[:{}", "ws://localhost:{}"])
def test_it_is_not_served_where_the_service_may_not_or_needs_a_certificate(address: str) -> None:
    port, said = free_port(), list[str]()
    with WaitingPage(address.format(port), said.append) as page:
        page.say("a line")
        with pytest.raises(ConnectionRefusedError):
            asked(port)
    assert said == ["a line"]


def test_an_address_that_is_taken_stops_nothing() -> None:
    said, shown = list[str](), list[int]()
    with socket.create_server(("127.0.0.1", 0)) as other:
        with WaitingPage(f"http://127.0.0.1:{other.getsockname()[1]}", said.append, lambda: shown.append(1)) as page:
            page.say("one")
            page.say("two")
        assert (said, shown) == (["one", "two"], [])


@pytest.mark.compiled
def test_a_service_shows_it_while_it_compiles(tmp_path: Path, wait: Callable[..., None]) -> None:
    port, file = free_port(), tmp_path / "jointwatch.toml"
    file.write_text(f'[publish]\npage = "http://127.0.0.1:{port}"\n')
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    words = [sys.executable, "-m", "daq", "run", str(file)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as started:
        assert started.stderr is not None
        try:
            assert "a first start" in started.stderr.readline()
            wait(lambda: re.search(r"compiling kernels, \d+ of ", text(port)), 120.0)
            started.send_signal(signal.SIGTERM)
            assert started.wait(60) == 0
            with pytest.raises(ConnectionRefusedError):
                asked(port)
        finally:
            started.kill()
