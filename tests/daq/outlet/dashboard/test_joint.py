"""One joint in full: its start, parameters, curves, baseline and events."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from daq.stream.update import EVENTS
from estimators.base import Estimate


def test_a_starting_joint_shows_its_progress(seven: str, view: Callable[..., Page]) -> None:
    page = view(f"{seven}/#/joint/elbow")
    page.locator(".experts summary").click()
    expect(page.locator(".startup i")).to_be_visible()
    before = page.locator(".progress-text").text_content()
    expect(page.locator(".progress-text")).not_to_have_text(before or "")
    told = page.locator(".spectrum")
    pattern = r"^Condition so far: \d+ · least identifiable: gravity cos against gravity sin$"
    expect(told).to_have_text(re.compile(pattern))
    before = told.text_content()
    expect(told).not_to_have_text(before or "")


def test_a_started_joint_says_what_it_started_from_and_events_which_rows_they_speak_of(
    seven: str, view: Callable[..., Page]
) -> None:
    page = view(f"{seven}/#/joint/shoulder")
    told = page.locator(".spectrum")
    expect(told).to_have_text(
        "Condition of the last start or refit: 38 · least identifiable: gravity cos against gravity sin"
    )
    window = page.locator(".log li", has_text="started").locator("small")
    expect(window).to_have_text(re.compile(r"^13\.2 s window, \d\d:\d\d:\d\d\.\d–(\d\d:\d\d:)?\d\d\.\d$"))
    expect(page.locator(".log li", has_text="has drifted").locator("small")).to_have_count(0)


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        (79803.2, 79805.01, "1.81 s window, 22:10:03.2–05.0"),
        (79855.0, 79863.04, "8.04 s window, 22:10:55.0–22:11:03.0"),
        (79803.96, 79923.0, "119.0 s window, 22:10:03.9–22:12:03.0"),
    ],
)
def test_a_window_is_written_no_longer_than_it_must(overview: Page, first: float, last: float, text: str) -> None:
    script = "async ([from, to]) => (await import('./format.js')).span(from, to)"
    assert overview.evaluate(script, [first, last]) == text


def test_no_baseline_is_offered_over_a_change_that_nobody_has_acknowledged(overview: Page) -> None:
    offered = """async (change) => {
      const { BaselineOffer } = await import("./views/baseline.js");
      const joint = { name: "elbow", valid: true, drift: {}, condition: { key: "normal", change } };
      const offer = new BaselineOffer([joint], true);
      offer.update();
      return !offer.node.hidden;
    }"""
    assert overview.evaluate(offered, None)
    assert not overview.evaluate(offered, {"line": "viscous +50 %"}), "it would settle what has changed"


def test_no_drift_is_written_beside_what_is_not_identifiable(overview: Page) -> None:
    row = """async (state) => {
      const { Knowledge } = await import("./views/knowledge.js");
      const joint = { names: ["offset"], units: ["N·m"], excitation: [0.3], drift: { since: 1, reference: "start" },
        state: { states: { offset: { state } } }, estimates: { last: () => 0.5 }, valueColumn: () => 3,
        deviationColumn: () => 4, drifted: () => ({ change: 0.01, z: 0.1, beyond: false }) };
      const knowledge = new Knowledge(joint, false), { certain, drift, z } = knowledge.rows[0];
      knowledge.update();
      document.body.append(knowledge.node);
      const seen = [certain, drift, z].map((cell) => cell.checkVisibility() && cell.textContent);
      const cut = certain.scrollWidth > certain.clientWidth;
      knowledge.node.remove();
      return [...seen, cut];
    }"""
    assert overview.evaluate(row, "not_identifiable") == ["not identifiable", False, False, False]
    assert overview.evaluate(row, "known") == ["100\xa0%", "+1.00\xa0%", "0.1", False]


def test_a_condition_is_written_as_far_as_it_is_known(overview: Page) -> None:
    script = "async () => { const { condition } = await import('./format.js'); "
    script += "return [1.234, 38.4, 1234, Infinity, null].map(condition); }"
    assert overview.evaluate(script) == ["1.2", "38", "1\u202f234", "> 10⁷", "> 10⁷"]


def test_one_joint_in_full(
    seven: str, view: Callable[..., Page], wait: Callable[..., None], painted: Callable[..., int]
) -> None:
    page = view(f"{seven}/#/joint/shoulder")
    expect(page.locator(".panel.parameter")).to_have_count(6)
    wait(lambda: painted(page, ".torques .panel") > 0)
    first, second = page.locator(".panel h3").nth(0), page.locator(".panel h3").nth(1)
    expect(page.locator(".torques h3").first).to_have_text("Residual")
    assert (first.text_content(), second.text_content()) == ("What has changed", "Residual")
    inertia = page.locator(".panel.parameter").first
    expect(inertia.locator("h3")).to_have_text("inertia")
    expect(inertia.locator(".unit")).to_have_text("kg·m²")
    expect(page.get_by_role("heading", name="Alarm", exact=True)).to_be_hidden()
    page.get_by_text("Figures for experts").click()
    expect(inertia.locator(".value")).to_have_text(re.compile(r"^0\.(3[5-9]|4[0-7])\d*$"))
    for title in (
        "Friction",
        "What is known",
        "Torque",
        "Residual",
        "Prediction error",
        "Alarm",
        "Forgetting λ",
        "Events",
    ):
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    expect(page.locator(".log li").filter(has_text="13.0 s of motion")).to_be_visible()


def test_curves_show_samples_and_the_fitted_law(
    seven: str, view: Callable[..., Page], wait: Callable[..., None], coloured: Callable[..., int]
) -> None:
    page = view(f"{seven}/#/joint/base")
    expect(page.get_by_role("heading", name="Torsion", exact=True)).to_be_visible()
    for place in (1, 2):
        curve = f".pictures > :nth-child({place}) .curve"
        wait(lambda curve=curve: coloured(page, curve, "cloud") > 50)
        wait(lambda curve=curve: coloured(page, curve, "estimate") > 200)
        assert coloured(page, curve, "baseline") == 0
        page.locator(curve).hover()
        expect(page.locator(".pictures .readout:visible")).to_contain_text("N·m")
    expect(page.locator(".knowledge .row")).to_have_count(12)
    expect(page.locator(".knowledge .row .excitation").nth(0)).to_contain_text("%")
    page.goto(f"{seven}/#/joint/lift")
    expect(page.get_by_role("heading", name="Friction", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Torsion", exact=True)).to_have_count(0)


@pytest.fixture(scope="module")
def drifted(fed: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """For the next 20 s no other joint of it is in more trouble than the shoulder, which has drifted."""
    with fed(tmp_path_factory.mktemp("drifted"), "--past", "69") as page:
        yield page


def test_drift_is_shown_against_the_baseline(
    drifted: str, view: Callable[..., Page], wait: Callable[..., None], coloured: Callable[..., int]
) -> None:
    page = view(drifted)
    shoulder = page.locator('[data-joint="shoulder"]')
    expect(shoulder.locator(".pill")).to_have_text("Changed")
    expect(shoulder.locator(".meaning")).to_contain_text("viscous +1")
    expect(page.locator('[data-joint="lift"] .pill')).to_have_text("Normal")
    expect(page.locator('[data-headline="shoulder"] .what')).to_contain_text("coulomb +1")
    wait(lambda: coloured(page, '[data-headline="shoulder"] .curve', "baseline") > 20)
    assert coloured(page, '[data-headline="shoulder"] .curve', "estimate") > 20
    page.goto(f"{drifted}/#/joint/shoulder")
    coulomb = page.locator(".knowledge .row").nth(3)
    expect(coulomb).to_contain_text("◆ +16")
    expect(page.locator(".knowing .since")).to_contain_text("baseline of ")
    wait(lambda: coloured(page, ".curve", "baseline") > 100)


def test_a_baseline_is_set_with_the_token_only(seven: str, open_page: Callable[..., Page], troubles: list[str]) -> None:
    page = open_page(f"{seven}/#/joint/shoulder")
    page.get_by_role("button", name="Set baseline…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Token").fill("guess")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text("This is not the token that the service printed at its start.")
    dialog.get_by_label("Token").fill("correct-horse")
    dialog.get_by_role("button", name="Set baseline").click()
    expect(dialog).to_have_count(0)
    page.goto(f"{seven}/#/joint/elbow")
    page.get_by_role("button", name="Set baseline…").click()
    expect(dialog.get_by_label("Token")).to_have_value("correct-horse")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("elbow is still starting up")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert all("Failed to load resource" in trouble for trouble in troubles)
    assert len(troubles) == 2, "401 and 409"
    troubles.clear()


def test_one_joint_has_the_page_to_itself(
    tmp_path: Path, restart: Callable[..., Any], core: Any, open_page: Callable[..., Page]
) -> None:
    page = open_page(restart(tmp_path, more=["--joints", "1"]).page)
    expect(page.get_by_role("heading", level=1)).to_have_text("base")
    expect(page.get_by_role("navigation", name="Joints")).to_have_count(0)
    page.keyboard.press("a")
    expect(page.get_by_role("heading", level=1)).to_have_text("Acquisition")
    page.get_by_role("link", name="Joints", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("base")


def test_the_cursor_reads_a_plot(seven: str, view: Callable[..., Page], wait: Callable[..., None]) -> None:
    page = view(f"{seven}/#/joint/shoulder")
    wait(lambda: page.locator(".panel .u-over").count() > 0)
    plot = page.locator(".panel.parameter .u-over").first
    plot.hover()
    expect(page.locator(".parameter .readout").first).to_contain_text("s ago: 0.4")


def test_a_refit_is_told_with_its_cause(seven: str, view: Callable[..., Page]) -> None:
    page = view(f"{seven}/#/joint/base")
    refit = page.locator(".log li").filter(has_text="refit")
    expect(refit).to_contain_text("omega_tanh 0.049 → 0.052")
    expect(refit.locator(".kind")).to_have_attribute("data-tone", "busy")
    page.goto(f"{seven}/#/joint/shoulder")
    drift = page.locator(".log li").filter(has_text="has drifted")
    expect(drift.locator(".kind")).to_have_attribute("data-tone", "warn")


def test_every_event_is_reported_with_its_cause_and_what_it_means(
    outlet: Any,
    core: Any,
    open_page: Callable[..., Page],
    make_estimate: Callable[..., Estimate],
    feed: Callable[..., None],
) -> None:
    page = open_page(f"{outlet.page}/#/joint/elbow")
    feed(page, core, make_estimate(), lambda: page.locator(".panel.log").count() == 1)
    for kind in EVENTS:
        core.updates.send_multipart(core.publications["elbow"].event(kind, f"the cause of {kind}", time.time()))
    rows = page.locator(".panel.log .events li")
    expect(rows).to_have_count(len(EVENTS))
    tones = {"fault": "bad", "alarm": "warn", "transient": "warn", "drift": "warn", "refit_rejected": "warn"}
    tones |= {"refit_started": "busy", "refit_accepted": "busy", "law": "busy", "started": "good", "recovered": "good"}
    for row, kind in zip(reversed(rows.all()), EVENTS, strict=True):
        told = row.locator(".kind")
        expect(told).to_have_text(kind.replace("_", " "))
        expect(row.locator(".text")).to_have_text(f"the cause of {kind}")
        assert (told.get_attribute("title") or "").endswith("."), kind
        assert told.get_attribute("data-tone") == tones.get(kind, told.get_attribute("data-tone")), kind
