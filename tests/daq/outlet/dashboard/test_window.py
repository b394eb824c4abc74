"""The window of time: zoom, pan, pause, cursor, a link that holds it, a table of what is seen, and the keys."""

import csv
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from daq.stream.curve_points import pack_channels
from estimators.base import Phase, Status
from tests.support.processes.programs import await_line

WINDOW = 'async () => { const { shown } = await import("./time_window.js"); return shown.fixed; }'
PLOTTED = """() => [...document.querySelectorAll(".torques .panel, .parameter")].map((e) => e.dataset.cursor)"""


def ready(page: Page) -> None:
    expect(page.locator("#connection")).to_have_text("Live, 1 of 7 silent")
    expect(page.locator(".torques .u-over")).to_have_count(2)
    box = page.locator(".torques .u-over").first.bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 20)
    past = re.compile(r"^3\d\.\d s ago")  # the past of half a minute has come
    expect(page.locator(".torques .readout").first).to_have_text(past)


def drawn(page: Page, selector: str, first: float, last: float) -> None:
    """Draw a range in a plot with the pointer, from one share of its width to another."""
    box = page.locator(selector).bounding_box()
    assert box
    page.mouse.move(box["x"] + first * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + last * box["width"], box["y"] + 25, steps=4)
    page.mouse.up()


def test_a_range_that_is_drawn_is_what_every_plot_shows_until_it_is_let_go(
    seven: str, view: Callable[..., Page]
) -> None:
    page = view(f"{seven}/#/joint/shoulder", 1440, 1100)
    ready(page)
    drawn(page, ".torques .u-over >> nth=0", 0.5, 0.75)
    expect(page.locator(".viewbar .window")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d\.\d to \d\d:\d\d:\d\d\.\d$"))
    start, end = page.evaluate(WINDOW)
    assert end - start == pytest.approx(15.0, abs=1.0), "a quarter of a minute"
    expect(page.locator("#pause")).to_have_text("Go live")
    said = page.locator(".viewbar .window").text_content()
    page.wait_for_timeout(500)
    assert page.locator(".viewbar .window").text_content() == said, "it stands"
    page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate(WINDOW)[0] == pytest.approx(start - (end - start) / 2, abs=1e-3)
    page.keyboard.press("+")
    zoomed = page.evaluate(WINDOW)
    assert zoomed[1] - zoomed[0] == pytest.approx((end - start) / 2, abs=1e-3)
    page.keyboard.press("0")
    assert page.evaluate(WINDOW) is None
    expect(page.locator(".viewbar .window")).to_have_text("last 60 s")


def test_a_view_that_stands_is_in_its_address_and_opens_again(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{seven}/#/joint/shoulder", 1440, 1100)
    ready(page)
    drawn(page, ".torques .u-over >> nth=0", 0.4, 0.6)
    fixed = page.evaluate(WINDOW)
    address = page.evaluate("location.href")
    assert f"from={fixed[0]:.3f}&to={fixed[1]:.3f}" in address
    again = open_page(address, 1440, 1100)
    expect(again.locator(".viewbar")).to_have_attribute("data-live", "false")
    assert again.evaluate(WINDOW) == pytest.approx(fixed, abs=2e-3)
    again.keyboard.press("ArrowRight")
    expect(again.get_by_role("heading", level=1)).to_have_text("elbow")
    assert again.evaluate(WINDOW) == pytest.approx(fixed, abs=2e-3), "it is kept from joint to joint"
    assert "from=" in again.evaluate("location.hash")


def test_the_cursor_reads_every_plot_at_once(seven: str, view: Callable[..., Page]) -> None:
    page = view(f"{seven}/#/joint/shoulder", 1440, 1100)
    ready(page)
    expect(page.locator(".parameter .u-over")).to_have_count(6)
    page.keyboard.press("p")
    box = page.locator(".torques .u-over").first.bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 30)
    expect(page.locator(".torques .readout").nth(1)).to_have_text(re.compile(r"^\d\d:\d\d:\d\d\.\d: .* measured"))
    expect(page.locator(".torques .readout").nth(0)).to_have_text(re.compile(r"^\d\d:\d\d:\d\d\.\d: .* N·m"))
    assert set(page.evaluate(PLOTTED)) == {"true"}
    instants = page.locator(".panel .readout").evaluate_all(
        "(all) => all.map((e) => e.textContent.split(': ')[0]).filter(Boolean)"
    )
    assert len(instants) >= 8
    assert len({one[:8] for one in instants}) <= 2, "all of one instant, to their own rows"


def test_what_is_seen_is_saved_as_a_table(seven: str, view: Callable[..., Page], tmp_path: Any) -> None:
    page = view(f"{seven}/#/joint/shoulder", 1440, 1100)
    ready(page)
    drawn(page, ".torques .u-over >> nth=0", 0.5, 0.7)
    start, end = page.evaluate(WINDOW)
    with page.expect_download() as saving:
        page.locator(".viewbar").get_by_role("button", name="CSV").click()
    assert re.fullmatch(r"shoulder-\d{4}-\d\d-\d\dT\d{6}\.csv", saving.value.suggested_filename)
    saving.value.save_as(tmp_path / "seen.csv")
    with (tmp_path / "seen.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    times = [float(row["time [s]"]) for row in rows]
    assert times == sorted(times)
    assert start <= times[0] < start + 0.2
    assert end - 0.2 < times[-1] <= end
    full = [row for row in rows if row["measured torque [N·m]"]]
    assert len(full) == pytest.approx(10 * (end - start), rel=0.2)
    for row in full:
        residual = float(row["measured torque [N·m]"]) - float(row["predicted torque [N·m]"])
        assert float(row["residual [N·m]"]) == pytest.approx(residual, abs=1e-4)
    assert any(row["coulomb [N·m]"] and row["coulomb deviation [N·m]"] for row in rows)


def test_the_cursor_reads_no_row_of_another_instant(overview: Page) -> None:
    under = """async (at) => {
      const { TimePlot } = await import("./plots.js");
      const plot = { cursor: { idx: 0, left: 0 }, data: [[20]], posToVal: () => at };
      return TimePlot.prototype.under.call({ start: 0, end: 60 }, plot);
    }"""
    assert [overview.evaluate(under, at) for at in (16.0, 19.0, 20.5, 22.0)] == [None, 0, 0, None]


def test_while_it_is_paused_the_page_keeps_what_is_looked_at(overview: Page) -> None:
    expect(overview.locator("#connection")).to_have_text("Live, 1 of 7 silent")
    kept = """async (pause) => {
      const { Trace } = await import("./robot.js");
      const { shown } = await import("./time_window.js");
      if (pause) shown.show(Date.now() / 1000 - 30, Date.now() / 1000); else shown.follow();
      const trace = new Trace(2, 10), rows = new Float32Array(2);
      for (let i = 0; i < 400; i++) { rows[0] = i; trace.append(rows.buffer, 1000); }
      return trace.columns[0][0] - 1000;
    }"""
    assert overview.evaluate(kept, True) == 0, "the window that stands does not run empty"
    assert overview.evaluate(kept, False) > 200, "two minutes are enough otherwise"


def test_one_spike_does_not_flatten_a_plot(overview: Page) -> None:
    script = """async ([spike, count]) => {
      const { calmExtent } = await import("./plots.js");
      const values = Array.from({ length: 1000 }, (_, i) => Math.sin(i / 5));
      for (let i = 0; i < count; i++) values[300 + i] = spike;
      return calmExtent(values);
    }"""
    low, high, beyond = overview.evaluate(script, [50.0, 1])
    assert (low >= -2.1, high <= 2.1, beyond) == (True, True, 50.0)
    low, high, beyond = overview.evaluate(script, [-50.0, 3])
    assert (low >= -2.1, high <= 2.1, beyond) == (True, True, -50.0)
    assert overview.evaluate(script, [50.0, 40])[1:] == [50.0, None], "what lasts is no spike"
    assert overview.evaluate(script, [1.5, 1])[1:] == [1.5, None], "what is not far out stays in view"


def test_the_keys_are_reported(seven: str, view: Callable[..., Page]) -> None:
    page = view(seven)
    expect(page.locator(".card[data-joint]")).to_have_count(7)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("pause all plots")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("p")
    expect(page.locator("#pause")).to_have_text("Go live")
    page.locator("#pause").click()
    expect(page.locator("#pause")).to_have_text("Pause")


def test_raw_channels_come_on_demand(
    outlet: Any, core: Any, open_page: Callable[..., Page], make_estimate: Callable[..., Any],
    feed: Callable[..., None], wait: Callable[..., None], painted: Callable[..., int],
) -> None:  # fmt: skip
    page = open_page(f"{outlet.page}/#/joint/elbow", 1440, 1400)
    feed(page, core, make_estimate(), lambda: page.locator(".raw").count() == 1)
    expect(page.locator(".raw .panel")).to_have_count(0)
    page.get_by_text("Raw channels").click()
    await_line(outlet.child, "watched elbow")

    def shown() -> bool:
        core.estimate()
        times = time.time_ns() + np.arange(-20, 0) * 5_000_000
        samples = np.column_stack([np.sin(times / 1e9), np.cos(times / 1e9)])
        core.status.send_multipart(pack_channels("elbow", ["position", "torque"], times, samples, 0))
        return page.locator(".raw .panel").count() == 2

    wait(shown)
    expect(page.locator(".raw h3")).to_have_text(["position", "torque"])
    expect(page.locator(".raw .unit")).to_have_text(["rad", "N·m"])
    wait(lambda: shown() and painted(page, ".raw .panel") > 0)
    page.keyboard.press("ArrowRight")
    await_line(outlet.child, "watched forearm")
    page.keyboard.press("ArrowLeft")
    await_line(outlet.child, "watched elbow")
    page.get_by_text("Raw channels").click()
    await_line(outlet.child, "watched")


def test_a_baseline_is_offered_as_soon_as_a_joint_is_valid(
    outlet: Any, core: Any, open_page: Callable[..., Page], make_estimate: Callable[..., Any],
    feed: Callable[..., None],
) -> None:  # fmt: skip
    page = open_page(f"{outlet.page}/#/joint/elbow")
    offer = page.locator(".offer")
    learning = make_estimate(Phase.STARTING)._replace(status=Status.LEARNING)
    feed(page, core, learning, lambda: page.locator(".head .pill").text_content() == "Starting up")
    expect(offer).to_be_hidden()
    taken = """() => {
      const offer = document.querySelector(".offer");
      const there = offer?.checkVisibility() && offer.textContent.includes("no baseline is set");
      if (there) offer.querySelector("button").click();
      return Boolean(there);
    }"""  # at once: on a slow machine the joint would have no data by the time of the click, and no offer
    feed(page, core, make_estimate(), lambda: page.evaluate(taken))
    expect(page.get_by_role("dialog")).to_contain_text("Baseline of elbow")
