"""The outlet's application within this process: what it keeps, counts and refuses where nobody else has to run."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import httpx
import msgpack
import pytest
import zmq

from daq.outlet.history import JointLabel
from daq.outlet.long_term.minutes import Minutes
from daq.outlet.server import Outlet
from daq.state.history.interval import Interval

LABEL = JointLabel("elbow", "N·m", {"inertia": "kg·m²"})
NOW = 1_770_000_000.0


@pytest.fixture
def outlet() -> Iterator[Outlet]:
    with zmq.Context() as context, context.socket(zmq.PULL) as updates, context.socket(zmq.PULL) as status:
        yield Outlet(updates, status, "arm", [LABEL], lambda: 3)


def asked(outlet: Outlet, path: str, method: str = "GET", **headers: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=cast(Any, outlet.application()))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(ask())


def update(**changes: Any) -> dict[str, Any]:
    return {
        "timestamp": NOW, "phase": "normal", "parameters": {"inertia": 2.0}, "deviations": {"inertia": 0.1},
        "error": 0.01, "forgetting": 1.0, "progress": 100.0, "health": {"status": "valid", "reasons": []},
        "latency": 0.0, "boot": 1, "seq": 0, **changes,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("localhost", 200), ("127.0.0.1:8080", 200), ("10.1.2.3", 200), ("[fe80::1]:8080", 200)),
        *(("evil.example", 421), ("127.0.0.1.evil.example", 421), ("1.2.3", 421), ("", 421)),
    ],
)
def test_addresses_and_own_names_are_known_and_no_other(outlet: Outlet, host: str, status: int) -> None:
    assert asked(outlet, "/api/state", Host=host).status_code == status


@pytest.mark.parametrize("path", ["/api/baseline", "/api/changes"])
def test_a_service_without_a_token_keeps_no_baselines(outlet: Outlet, path: str) -> None:
    answer = asked(outlet, path, "POST")
    assert (answer.status_code, answer.text) == (404, "This service keeps no baselines.\n")


def test_a_service_without_a_history_says_so(outlet: Outlet) -> None:
    assert asked(outlet, "/api/history").json() == {"cause": "this service keeps no history: [history] keep = false"}


def test_what_comes_is_kept_for_years_and_counted_where_there_is_a_keeper(outlet: Outlet) -> None:
    finished = list[Interval]()
    keeper = SimpleNamespace(minutes=Minutes((LABEL,), finished.append), written=4, lost=1)
    outlet.keeper = cast(Any, keeper)
    outlet._absorb([b"estimate/elbow", msgpack.packb(update())], NOW)
    keeper.minutes.finish()
    [minute] = finished
    assert [(one.name, figures.total) for one, figures in minute.figures.items()] == [("inertia", 2.0)]
    lines = asked(outlet, "/metrics").text.splitlines()
    assert "jointwatch_history_intervals_total 4.0" in lines
    assert "jointwatch_history_intervals_lost_total 1.0" in lines
    assert "jointwatch_subscribers_refused_total 3.0" in lines


def test_a_change_is_told_to_those_who_are_not_at_the_page_and_nothing_else_is(outlet: Outlet) -> None:
    told = list[tuple[str, Any]]()
    notifier = SimpleNamespace(changed=lambda joint, records: told.append((joint, records)), counts=dict)
    outlet.notifier = cast(Any, notifier)
    record = {"parameter": "inertia", "acknowledged": False, "percent": 20.0}
    outlet._absorb([b"estimate/elbow", msgpack.packb(update())], NOW)
    outlet._absorb([b"change/elbow", msgpack.packb({"timestamp": NOW, "records": [record], "boot": 1, "seq": 0})], NOW)
    assert told == [("elbow", [record])]


def test_what_cannot_be_read_is_counted_said_once_and_the_rest_goes_on(
    outlet: Outlet, caplog: pytest.LogCaptureFixture
) -> None:
    for frames in ([b"estimate/elbow", b"\xc1"], [b"estimate/elbow"], [b"estimate/elbow", msgpack.packb({})]):
        outlet._absorb(frames, NOW)
    outlet._absorb([b"estimate/elbow", msgpack.packb(update())], NOW)
    assert caplog.text.count("an update cannot be read") == 1
    assert "jointwatch_malformed_updates_total 3.0" in asked(outlet, "/metrics").text.splitlines()
    assert asked(outlet, "/api/state").json()["joints"]["elbow"]["parameters"]["inertia"]["value"] == 2.0
