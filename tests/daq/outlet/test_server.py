"""The outlet as a process: page, state, live stream, refusals, restarts, and a real Prometheus."""

import contextlib
import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgpack
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from daq.stream.curve_points import pack_channels
from daq.subscriber import Subscriber
from hil_rig.ports import free_port
from tests.support.processes.programs import await_line

ROOT = Path(__file__).parents[3]
FAKE_OUTLET = ROOT / "tests" / "support" / "processes" / "fake_outlet.py"


def ask(page: str, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Send a request exactly as written; a path is not normalised."""
    line = http.client.HTTPConnection(urlsplit(page).netloc, timeout=60)
    try:
        line.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        line.close()


def live(page: str, **more: Any) -> ClientConnection:
    address, patient = (
        f"ws://{urlsplit(page).netloc}/live",
        {"open_timeout": 60, "close_timeout": 0.5, "ping_interval": None},
    )
    return connect(address, compression=None, max_size=None, **patient, **more)


def receive(line: ClientConnection) -> Any:
    return msgpack.unpackb(line.recv(timeout=60))


def phase_of(outlet: Any, joint: str = "elbow") -> str | None:
    state = json.loads(ask(outlet.page, "/api/state")[2])["joints"].get(joint, {})
    return state.get("phase")


def known(outlet: Any, core: Any) -> bool:
    core.estimate()
    return phase_of(outlet) == "normal"


def test_the_page_and_its_parts_are_served(shared: Any) -> None:
    status, headers, body = ask(shared.page, "/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    for part in ("main.js", "style.css", "vendor/uPlot.iife.min.js", "vendor/uPlot.min.css", "icon.svg"):
        assert part.encode() in body
        assert ask(shared.page, f"/{part}")[0] == 200
    assert ask(shared.page, "/main.js")[1]["content-type"].startswith("text/javascript")


def test_an_unchanged_page_is_not_sent_again(shared: Any) -> None:
    tag = ask(shared.page, "/main.js")[1]["etag"]
    assert ask(shared.page, "/main.js", if_none_match=tag)[0] == 304


def test_browsers_are_told_to_load_nothing_from_elsewhere(shared: Any) -> None:
    refused = ({"host": "evil.example"}, {"origin": "http://evil.example"})
    for path, more in (
        *((path, {}) for path in ("/", "/api/state", "/metrics", "/no")),
        *(("/", one) for one in refused),
    ):
        headers = ask(shared.page, path, **more)[1]
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_nothing_can_be_sent_to_it(shared: Any) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert {ask(shared.page, path, method)[0] for path in ("/", "/api/state", "/metrics")} == {405}, method


def test_only_the_pages_files_exist(shared: Any) -> None:
    paths = ("/../outlet.py", "/..%2foutlet.py", "/%2e%2e/outlet.py", "/vendor/../../outlet.py", "//etc/passwd", "/no")
    assert [ask(shared.page, path)[0] for path in paths] == [404] * len(paths)


def test_a_foreign_name_is_refused(shared: Any) -> None:
    for host in ("evil.example", "evil.example:8080", "", "localhost.evil.example", "127.0.0.1.evil.example", "[::1"):
        assert {ask(shared.page, path, host=host)[0] for path in ("/", "/api/state", "/metrics")} == {421}, host
    assert ask(shared.page, "/metrics", origin="http://evil.example")[0] == 403, "a scraper has no origin"


def test_this_machine_is_known_by_its_names_and_addresses(shared: Any) -> None:
    for host in ("localhost:8080", "127.0.0.1", "192.168.1.5:8080", "[::1]:8080", "LocalHost", socket.gethostname(),
                 f"{socket.gethostname()}.local"):  # fmt: skip
        assert ask(shared.page, "/", host=host)[0] == 200, host
        assert ask(shared.page, "/metrics", host=host)[0] == 200, host
        assert ask(shared.page, "/", host=host, origin=f"http://{host.upper()}")[0] == 200, host
        assert ask(shared.page, "/", host=host, origin=f"http://{host}:81")[0] == 403, host


def test_a_page_from_elsewhere_gets_no_live_stream(shared: Any) -> None:
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}):
        with pytest.raises(InvalidStatus, match="403"):
            live(shared.page, additional_headers=headers)
    with live(shared.page, additional_headers={"origin": shared.page}) as line:
        assert receive(line)["snapshot"]


def test_a_rebound_name_gets_no_live_stream(shared: Any) -> None:
    address = urlsplit(shared.page)
    with socket.create_connection((address.hostname, address.port), timeout=60) as raw:
        raw.sendall(
            b"GET /live HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert raw.recv(4096).startswith(b"HTTP/1.1 421")


def test_the_state_is_json_even_when_numbers_are_not(outlet: Any, core: Any, wait: Callable[..., None]) -> None:
    wait(lambda: known(outlet, core))
    state = json.loads(ask(outlet.page, "/api/state")[2], parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    elbow = state["joints"]["elbow"]
    assert elbow["parameters"]["inertia"] == {"value": 0.5, "deviation": 0.002, "unit": "kg·m²"}
    assert (elbow["measured"], elbow["predicted"], elbow["unit"]) == (3.0, 2.75, "N·m")
    assert "phase" not in state["joints"]["lift"]


def test_a_page_opened_late_sees_the_past_then_what_comes(outlet: Any, core: Any, wait: Callable[..., None]) -> None:
    wait(lambda: known(outlet, core))
    start = time.time() - 60
    for step in range(200):
        core.estimate("base", timestamp=start + 0.1 * step)
    wait(lambda: phase_of(outlet, "base"))
    with live(outlet.page) as line:
        first = receive(line)
        assert first["snapshot"]
        wait(lambda: json.loads(ask(outlet.page, "/api/state")[2])["joints"]["base"]["timestamp"] > start + 19.8)
        core.estimate("base")
        rows = len(first["joints"]["base"]["residuals"]) / 12
        while rows < 201:
            tick = receive(line)
            assert not tick["snapshot"]
            rows += len(tick["joints"]["base"]["residuals"]) / 12
        assert rows == 201


def test_a_page_hears_from_a_silent_service(shared: Any) -> None:
    with live(shared.page) as line:
        assert receive(line)["snapshot"]
        assert not receive(line)["snapshot"]


def test_the_service_hears_that_somebody_looks_and_a_page_hears_what_it_may_do(outlet: Any) -> None:
    with live(outlet.page) as line:
        told = receive(line)
        assert told["writable"], "baselines can be set here"
        assert ask(outlet.page, "/main.js")[1]["etag"] == f'"{told["edition"]}"', "a page of another edition loads anew"
        assert outlet.child.stdout.readline() == "watched\n"
        assert b"\njointwatch_page_clients 1.0\n" in ask(outlet.page, "/metrics")[2]


def test_a_page_that_asks_for_raw_channels_gets_them_and_the_service_hears_of_which_joint(
    outlet: Any, core: Any
) -> None:
    with live(outlet.page) as line:
        receive(line)
        for text in ("nonsense", "[1]", '{"channels": "nobody"}', '{"channels": "elbow"}'):
            line.send(text)
        await_line(outlet.child, "watched elbow")
        deadline, rows = time.monotonic() + 60, b""
        while not rows:
            assert time.monotonic() < deadline
            times = np.array([time.time_ns()])
            core.status.send_multipart(pack_channels("elbow", ["position", "torque"], times, np.array([[0.5, 2.0]]), 0))
            told = receive(line)
            rows = told["joints"]["elbow"].get("channels", {}).get("rows", b"")
        assert told["joints"]["elbow"]["channels"]["names"] == ["position", "torque"]
        assert told["joints"]["elbow"]["channels"]["units"] == ["rad", "N·m"]
        assert np.frombuffer(rows, "<f4")[1:3].tolist() == [0.5, 2.0]
        assert "channels" not in told["joints"]["base"]
        line.send('{"channels": null}')
        await_line(outlet.child, "watched")


def test_more_pages_than_it_can_serve_are_told_so(outlet: Any) -> None:
    with contextlib.ExitStack() as pages:
        for _ in range(64):
            receive(pages.enter_context(live(outlet.page)))
        with live(outlet.page) as one_more, pytest.raises(ConnectionClosed, match=r"1013.*too many pages"):
            receive(one_more)
    with live(outlet.page) as line:
        assert receive(line)["snapshot"], "when they are gone there is room again"


def test_joints_of_a_core_that_falls_silent_are_faulted_everywhere(
    outlet: Any, core: Any, wait: Callable[..., None]
) -> None:
    status = {"timestamp": 1.0, "boot": 1, "joints": {}, "drivers": {}}

    def spoken() -> bool:
        core.status.send_multipart((b"status/core", msgpack.packb(status)))
        return known(outlet, core) and json.loads(ask(outlet.page, "/api/state")[2])["counted"] == status["timestamp"]

    wait(spoken)
    wait(lambda: phase_of(outlet) == "faulted")
    wait(lambda: b'jointwatch_health{joint="elbow",status="faulted"} 1.0' in ask(outlet.page, "/metrics")[2])
    with live(outlet.page) as line:
        [reason] = receive(line)["joints"]["elbow"]["state"]["health"]["reasons"]
    assert reason["text"].startswith("the core has sent nothing for ")


def test_a_page_may_be_served_at_an_address_of_ipv6(tmp_path: Path, restart: Callable[..., Any]) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    outlet = restart(tmp_path, more=["--host", "::1"])
    assert outlet.page.startswith("http://[::1]:")
    assert ask(outlet.page, "/")[0] == 200


def test_a_page_that_does_not_read_is_skipped_and_the_others_go_on(
    outlet: Any, core: Any, wait: Callable[..., None]
) -> None:
    wait(lambda: known(outlet, core))
    text = "x" * 400_000  # fills the stalled page's buffers fast
    with live(outlet.page, max_queue=1) as stalled, live(outlet.page) as reading:
        receive(reading)

        def skipped() -> bool:
            core.updates.send_multipart(core.publications["elbow"].event("note", text, time.time()))
            receive(reading)
            return b"\njointwatch_page_skipped_total 0.0\n" not in ask(outlet.page, "/metrics")[2]

        wait(skipped, 60)
        # once it reads again, it gets what was on its way and then everything anew
        while True:
            if receive(stalled)["snapshot"]:
                break
        wait(lambda: receive(stalled)["snapshot"])


def test_rubbish_from_inside_is_counted_and_nothing_else(outlet: Any, core: Any, wait: Callable[..., None]) -> None:
    wait(lambda: known(outlet, core))
    for payload in (b"", b"\xc1", b"\x80", msgpack.packb([1]), msgpack.packb({"seq": 0, "boot": 1})):
        core.updates.send_multipart((b"estimate/elbow", payload))
        core.status.send_multipart((b"status/core", payload))
    core.updates.send_multipart((b"estimate/alone",))
    wait(lambda: b"malformed_updates_total 11.0" in ask(outlet.page, "/metrics")[2])
    assert known(outlet, core)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly_with_a_page_open(outlet: Any, number: int) -> None:
    with live(outlet.page) as line:
        receive(line)
        assert outlet.stop(number) == 0


def test_what_the_core_says_while_the_outlet_is_dead_is_not_lost(
    tmp_path: Path, core: Any, restart: Callable[..., Any], wait: Callable[..., None]
) -> None:
    first = restart(tmp_path)
    wait(lambda: known(first, core))
    assert first.stop(signal.SIGKILL) == -signal.SIGKILL
    core.wait_alone()
    for _ in range(100):
        core.estimate("base")
    second = restart(tmp_path, page=first.page, endpoint=first.endpoint)
    assert (second.page, second.endpoint) == (first.page, first.endpoint)
    wait(lambda: phase_of(second, "base") == "normal")
    wait(lambda: b'update_latency_seconds_count{joint="base"} 100.0' in ask(second.page, "/metrics")[2])
    wait(lambda: known(second, core))
    with Subscriber(second.endpoint, timeout=60) as updates:
        wait(lambda: core.estimate() or updates._socket.poll(20))
        next(updates)


def test_ports_in_use_are_one_clear_line_and_exit_1(tmp_path: Path, outlet: Any) -> None:
    page, other = urlsplit(outlet.page), ("--port", "0")
    started = [
        subprocess.Popen(
            [sys.executable, FAKE_OUTLET, f"ipc://{tmp_path}/u{n}", f"ipc://{tmp_path}/s{n}", endpoint, *more],
            env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        for n, (endpoint, more) in enumerate(
            (("tcp://127.0.0.1:0", ("--port", str(page.port))), (outlet.endpoint, other)), 2
        )
    ]  # fmt: skip
    words = (
        f"page: cannot serve {outlet.page}: address already in use",
        f"updates: cannot serve {outlet.endpoint}: address already in use",
    )
    for one, beginning in zip(started, words, strict=True):
        said = one.communicate(timeout=300)[1]
        assert one.returncode == 1
        assert said.startswith(beginning)
        assert said.count("\n") == 1


def test_a_real_prometheus_scrapes_it(tmp_path: Path, outlet: Any, core: Any, wait: Callable[..., None]) -> None:
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("prometheus is missing: apt-get install prometheus")
    wait(lambda: known(outlet, core))
    address = f"127.0.0.1:{free_port()}"
    config = tmp_path / "prometheus.yml"
    config.write_text(
        "global: {scrape_interval: 3s, scrape_timeout: 3s}\nscrape_configs:\n"
        f"- {{job_name: jointwatch, static_configs: [{{targets: ['{urlsplit(outlet.page).netloc}']}}]}}\n"
    )
    child = subprocess.Popen(
        [program, f"--config.file={config}", f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address={address}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def query(expression: str) -> list[Any]:
        try:
            with urllib.request.urlopen(f"http://{address}/api/v1/query?query={expression}", timeout=60) as answer:
                found: list[Any] = json.load(answer)["data"]["result"]
                return found
        except OSError:  # not up yet
            return []

    def values() -> dict[str, float]:
        found = query("jointwatch_parameter_value")
        return {row["metric"]["parameter"]: float(row["value"][1]) for row in found}

    try:  # each waited for: a scrape that a busy machine does not answer in time leaves nothing until the next one
        wait(lambda: values() == {"inertia": 0.5, "viscous": 1.25}, 240)
        wait(lambda: [row["value"][1] for row in query("up")] == ["1"], 240)
        wait(lambda: query("jointwatch_update_latency_seconds_bucket"), 240)
    finally:
        child.terminate()
        child.wait(60)
