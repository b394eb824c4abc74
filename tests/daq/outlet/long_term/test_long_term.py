"""The history of years from the outlet's messages: valid time only, use by the core's counts, and what waits."""

import asyncio
import math
import resource
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from daq.outlet.history import JointLabel
from daq.outlet.long_term import keeper as keeping
from daq.outlet.long_term.keeper import Keeper
from daq.outlet.long_term.minutes import EVERY, Minutes
from daq.outlet.long_term.request import answer, of_joint
from daq.state.history.friction import MIDDLES, quantity
from daq.state.history.interval import Interval, Quantity
from daq.state.history.reading import reading
from daq.state.history.tables import MINUTE
from estimators.models.curves import POINT

NOW = 1_770_000_000.0 // 60 * 60
LABELS = (JointLabel("elbow", "N·m", {"inertia": "kg·m²", "coulomb": "N·m"}),)
INERTIA, RESIDUAL = Quantity("elbow", "inertia", "kg·m²"), Quantity("elbow", "residual", "N·m")


def estimate(time: float, inertia: float, status: str = "valid", deviation: float = 0.1) -> dict[str, Any]:
    values = {"inertia": inertia, "coulomb": 2.0}
    health = {"status": status, "reasons": []}
    return {"timestamp": time, "parameters": values, "deviations": dict.fromkeys(values, deviation), "health": health}


def residual(time: float, value: float) -> dict[str, Any]:
    return {"timestamp": time, "measured": 10.0 + value, "predicted": 10.0, "residual": value, "unit": "N·m"}


def status(boot: int, *counts: float, **more: float) -> dict[str, Any]:
    use = dict(zip(("seconds", "travel", "reversals", "starts"), counts, strict=True))
    return {"boot": boot, "joints": {"elbow": {"use": {"unit": "rad", **use, **more}}}}


@pytest.fixture
def minutes() -> tuple[Minutes, list[Interval]]:
    finished: list[Interval] = []
    return Minutes(LABELS, finished.append), finished


def test_a_minute_has_the_figures_of_its_valid_time(minutes: tuple[Minutes, list[Interval]]) -> None:
    gathering, finished = minutes
    random = np.random.default_rng(3)
    inertias, residuals = [], []
    for tick in range(60 * 50):
        at = NOW + tick / 50
        word = "valid" if tick % 1000 < 700 else "held"
        inertia, torque = float(random.normal(0.4, 0.01)), float(random.normal(0.0, 0.3))
        gathering.absorb("estimate/elbow", estimate(at, inertia if word == "valid" else 99.0, word), at)
        gathering.absorb("residual/elbow", residual(at, torque if word == "valid" else 99.0), at)
        if word == "valid":
            inertias.append((at, inertia))
            residuals.append(torque)
    gathering.absorb("estimate/elbow", estimate(NOW + 60, 0.4), NOW + 60)
    [interval] = finished
    assert interval.start == NOW
    n, mean, deviation, low, high = interval.figures[RESIDUAL].row()
    assert n == len(residuals)
    expected = [np.mean(residuals), np.sqrt(np.mean(np.square(residuals))), min(residuals), max(residuals)]
    assert [mean, deviation, low, high] == pytest.approx(expected)
    taken, last = [], 0.0
    for at, value in inertias:
        if at - last >= EVERY:
            taken.append(value)
            last = at
    n, mean, deviation, low, high = interval.figures[INERTIA].row()
    assert n == len(taken) == pytest.approx(60 * 0.7 * 5, abs=3)
    assert [mean, deviation, low, high] == pytest.approx([np.mean(taken), 0.1, min(taken), max(taken)])


def test_a_joint_that_is_never_valid_has_no_figures_and_a_quiet_minute_is_none(
    minutes: tuple[Minutes, list[Interval]],
) -> None:
    gathering, finished = minutes
    for tick in range(200):
        at = NOW + tick
        gathering.absorb("estimate/elbow", estimate(at, 1.0, "learning"), at)
        gathering.absorb("residual/elbow", residual(at, 1.0), at)
    gathering.finish()
    assert finished == []


def test_friction_by_speed_is_half_of_what_both_directions_differ_by(minutes: tuple[Minutes, list[Interval]]) -> None:
    """A torque's zero is 1.5 N·m off; the fastest of the bands has been moved in one way only."""
    gathering, finished = minutes
    slow, fast, counted = MIDDLES[3], MIDDLES[6], {3: 20, -3: 30, 6: 40}
    for at, (band, count) in enumerate(counted.items()):
        speed = np.sign(band) * MIDDLES[abs(band)] * np.linspace(0.9, 1.1, count)
        rows = np.zeros((count, 1 + len(POINT)))
        rows[:, 1], rows[:, 2] = speed, 1.5 + np.sign(speed) * (4.0 + 10.0 * (abs(band) == 6))
        rows[0, 2] = rows[0, 2] if band == 6 else np.nan
        said = {"points": rows.astype("<f8").tobytes()}
        gathering.absorb("samples/elbow", said, NOW + at)  # nothing is valid yet
        gathering.absorb("estimate/elbow", estimate(NOW + at, 0.4), NOW + at)
        gathering.absorb("samples/elbow", said, NOW + at + 0.5)
        gathering.absorb("estimate/elbow", estimate(NOW + at, 0.4, "held"), NOW + at + 0.6)
    gathering.finish()
    [interval] = finished
    n, mean, _, low, high = interval.figures[quantity("elbow", slow, "N·m")].row()
    assert (n, mean, low, high) == pytest.approx((38, 4.0, 4.0, 4.0)), "twice the fewer of either way"
    assert quantity("elbow", fast, "N·m") not in interval.figures
    gathering.absorb("estimate/elbow", estimate(NOW + 60, 0.4), NOW + 60)
    gathering.finish()
    assert quantity("elbow", slow, "N·m") not in finished[1].figures, "each minute has its own"


def test_a_parameter_that_is_not_known_does_not_count(minutes: tuple[Minutes, list[Interval]]) -> None:
    gathering, finished = minutes
    gathering.absorb("estimate/elbow", estimate(NOW, math.nan), NOW)
    gathering.absorb("estimate/elbow", estimate(NOW + 1, 0.5), NOW + 1)
    gathering.finish()
    assert finished[0].figures[INERTIA].row()[:2] == (1, 0.5)


def test_a_clock_that_jumps_back_begins_the_minute_that_it_shows(minutes: tuple[Minutes, list[Interval]]) -> None:
    gathering, finished = minutes
    for at in (NOW + 300, NOW + 301, NOW, NOW + 1):
        gathering.absorb("estimate/elbow", estimate(at, 0.5), at)
    gathering.finish()
    assert [(one.start - NOW, one.figures[INERTIA].n) for one in finished] == [(300, 2), (0, 2)]


def test_records_of_changes_are_handed_over_when_they_change(minutes: tuple[Minutes, list[Interval]]) -> None:
    gathering, finished = minutes
    first = [{"parameter": "coulomb", "told": 1.0, "acknowledged": 0.0}]
    then = [first[0] | {"acknowledged": 5.0}]
    for at, records in ((0, first), (70, first), (140, then)):
        gathering.absorb("change/elbow", {"records": records}, NOW + at)
    gathering.finish()
    assert [one.changes["elbow"] for one in finished] == [tuple(first), tuple(then)]


def waited_for(keeper: Keeper, written: int) -> None:
    end = time.monotonic() + 60
    while keeper.written < written and time.monotonic() < end:
        time.sleep(0.01)
    assert keeper.written >= written


def feed(keeper: Keeper, first: int, last: int, boot: int = 1) -> None:
    """Minutes of one value each, with 10 s of use in each."""
    for number in range(first, last):
        at = NOW + 60 * number
        keeper.minutes.absorb("estimate/elbow", estimate(at, 1.0 * number), at)
        keeper.minutes.absorb("status/core", status(boot, 10.0 * (number + 1), 1.0 * (number + 1), 2, 1), at)


def test_what_waits_while_nothing_can_be_written_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeping, "AGAIN", 0.05)
    keeper = Keeper(tmp_path / "arm.sqlite", 3660, LABELS)
    keeper.start()
    feed(keeper, 0, 3)
    waited_for(keeper, 2)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        feed(keeper, 3, 9)
        end = time.monotonic() + 60
        while not keeper.cause and time.monotonic() < end:
            time.sleep(0.01)
        assert "cannot be written" in keeper.status()["cause"]
        assert keeper.status()["waiting"] >= 5
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    waited_for(keeper, 8)
    keeper.stop()
    assert keeper.status() | {"bytes": 0} == {
        "file": "arm.sqlite", "bytes": 0, "written": 9, "lost": 0, "waiting": 0, "cause": "", "remarks": [],
    }  # fmt: skip
    with reading(tmp_path / "arm.sqlite") as history:
        rows = history.values(MINUTE, 0, 1e11, "elbow")[INERTIA]
        assert [row.mean for row in rows] == list(range(9))
        assert history.total_use("elbow").counts.seconds == 90.0  # type: ignore[union-attr]


def test_of_too_many_that_wait_the_oldest_are_lost_and_counted_but_not_their_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST", 4)
    monkeypatch.setattr(keeping, "AGAIN", 0.05)
    folder = tmp_path / "away"  # not there yet, as a disk that is not mounted
    keeper = Keeper(folder / "arm.sqlite", 3660, LABELS)
    keeper.start()
    feed(keeper, 0, 6, boot=1)
    feed(keeper, 6, 9, boot=2)
    keeper.minutes.finish()
    assert keeper.lost == 5
    folder.mkdir()
    waited_for(keeper, 4)
    keeper.stop()
    with reading(folder / "arm.sqlite") as history:
        assert [row.mean for row in history.values(MINUTE, 0, 1e11, "elbow")[INERTIA]] == [5, 6, 7, 8]
        assert history.total_use("elbow").counts.seconds == 60.0 + 90.0  # type: ignore[union-attr]


def asked(keeper: Keeper | None, query: str) -> httpx.Response:
    async def handler(request: Any) -> Any:
        return await answer(keeper, request)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(Starlette(routes=[Route("/api/history", handler)]))
        async with httpx.AsyncClient(transport=transport, base_url="http://arm") as client:
            return await client.get(f"/api/history?{query}")

    return asyncio.run(ask())


def test_the_page_gets_figures_use_and_changes_of_one_joint(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path / "arm.sqlite", 3660, LABELS)
    keeper.start()
    now = time.time() // 60 * 60
    for back in (50 * 60, 40 * 60, 20 * 60):
        keeper.minutes.absorb("estimate/elbow", estimate(now - back, 0.5), now - back)
        keeper.minutes.absorb("status/core", status(1, 4000.0 - back, 1, 2, 1, temperature=31.5), now - back)
    keeper.stop()
    found = asked(keeper, "joint=elbow&span=2700").json()
    assert found["interval"] == 60
    series = {one["name"]: one for one in found["quantities"]}
    assert series.keys() == {"inertia", "coulomb", "temperature"}
    assert [row[0] - now for row in series["inertia"]["rows"]] == [-2400, -1200]
    assert series["temperature"]["rows"][0][2] == 31.5
    assert [row[1] for row in found["use"]] == [600, 1200]
    assert found["total"]["seconds"] == 2800
    assert found["status"]["cause"] == ""
    assert asked(keeper, "joint=elbow&span=31622400").json()["interval"] == 86_400
    assert of_joint(tmp_path / "arm.sqlite", "wrist", 3600)["quantities"] == []


@pytest.mark.parametrize("span", ["", "soon", "0", "-5", "nan", "1e300"])
def test_a_time_that_makes_no_sense_is_refused(tmp_path: Path, span: str) -> None:
    answered = asked(Keeper(tmp_path / "arm.sqlite", 14, LABELS), f"joint=elbow&span={span}")
    assert answered.status_code == 400
    assert answered.text.startswith("expected span = seconds")


def test_without_a_history_the_page_is_told_why(tmp_path: Path) -> None:
    assert asked(None, "joint=elbow").json() == {"cause": "this service keeps no history: [history] keep = false"}
    none_yet = asked(Keeper(tmp_path / "arm.sqlite", 14, LABELS), "joint=elbow&span=3600").json()
    assert "no history yet" in none_yet["cause"]
    assert none_yet["status"]["written"] == 0


def test_a_minute_has_what_a_gear_gives_while_it_is_known(minutes: tuple[Minutes, list[Interval]]) -> None:
    gathering, finished = minutes
    gear = {"gear_stiffness": 2e4, "lost_motion": 3e-4, "hollow": 1.0}
    for k in range(4):
        told = {"known": k > 0, "parameters": {name: value * (1.0 + 0.1 * k) for name, value in gear.items()}}
        gathering.absorb("lost_motion/elbow", told | {"deviations": dict.fromkeys(gear, 0.5)}, NOW + k)
    gathering.finish()
    [minute] = finished
    stiffness, lost = (Quantity("elbow", f"gear.{name}", unit) for name, unit in
                       (("gear_stiffness", "N·m/rad"), ("lost_motion", "rad")))  # fmt: skip
    assert set(minute.figures) == {stiffness, lost}
    assert minute.figures[stiffness].n == minute.figures[lost].n == 3
    assert minute.figures[stiffness].total == pytest.approx(3.0 * 2.4e4)
    assert minute.figures[lost].total == pytest.approx(3.0 * 3.6e-4)


def test_use_of_a_joint_that_nobody_named_or_without_counts_is_left_out(
    minutes: tuple[Minutes, list[Interval]],
) -> None:
    gathering, _ = minutes
    told = status(1, 10.0, 5.0, 2.0, 1.0, temperature=30.0)
    told["joints"] = {"hip": told["joints"]["elbow"], "elbow": {}, **{"elbow": told["joints"]["elbow"]}}
    gathering.absorb("status/core", told | {"joints": {"elbow": {}, "hip": told["joints"]["hip"]}}, NOW)
    assert not gathering._present.figures
    gathering.absorb("status/core", told, NOW)
    [found] = gathering._present.figures
    assert (found.joint, found.unit) == ("elbow", "°C")
