"""The page follows the updates, says when they stop, and comes back by itself."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from estimators.base import Estimate, Phase
from estimators.reasons import Reason


def test_values_follow_the_updates(
    outlet: Any,
    core: Any,
    open_page: Callable[..., Page],
    make_estimate: Callable[..., Estimate],
    feed: Callable[..., None],
) -> None:
    page = open_page(outlet.page)
    card = page.locator('[data-joint="elbow"]')
    expect(card.locator(".pill")).to_have_text("Waiting")
    expect(page.locator("#connection")).to_have_text("Connected · no updates yet")
    expect(page.locator(".status .headline.all .what")).to_have_text("No update has come yet")
    value = card.locator(".value").first
    feed(page, core, make_estimate(inertia=0.5), lambda: value.text_content() == "0.5000")
    feed(page, core, make_estimate(inertia=0.625), lambda: value.text_content() == "0.6250")
    expect(card.locator(".deviation").first).to_have_text("± 0.0020")
    jumped = make_estimate(Phase.FAULTED, (Reason("channel_dead", "position", {"seconds": 2.0}),))
    feed(page, core, jumped, lambda: card.get_attribute("data-phase") == "faulted")
    expect(card.locator(".meaning")).to_have_text("position gave no finite value for 2 s")


def test_it_says_stale_and_reconnects_by_itself(
    tmp_path: Path, core: Any, restart: Callable[..., Any], open_page: Callable[..., Page], troubles: list[str],
    make_estimate: Callable[..., Estimate], feed: Callable[..., None]
) -> None:  # fmt: skip
    first = restart(tmp_path)
    page = open_page(first.page)
    state = page.locator("#connection")
    feed(page, core, make_estimate(), lambda: state.text_content() == "Live")
    silent = re.compile(r"^No data since \d\d:\d\d:\d\d$")
    expect(state).to_have_text(silent)
    expect(page.locator(".status .headline.all .what")).to_have_text(silent)
    since = state.text_content()
    page.wait_for_timeout(1200)
    assert state.text_content() == since, "when, not how long ago"
    chip, pill = page.locator('[data-chip="elbow"]'), page.locator('[data-joint="elbow"] .pill')
    expect(chip.locator(".short")).to_have_text("before: normal")
    banner = page.locator(".status .headline.all")
    expect(banner.locator(".since")).to_have_text(re.compile(r"^for \d+ s$"))
    colour = "(e) => getComputedStyle(e).backgroundColor"
    assert banner.evaluate(colour) != page.locator(".card").first.evaluate(colour), "it is not grey on grey"
    clipped = "(e) => e.scrollWidth > e.clientWidth"
    assert not chip.locator(".short").evaluate(clipped)
    expect(page.locator('[data-joint="elbow"] .meaning')).to_contain_text("before: normal")
    grey = "(e) => { const [r, g, b] = getComputedStyle(e).color.match(/\\d+/g).map(Number); "
    grey += "return Math.max(r, g, b) - Math.min(r, g, b); }"
    expect(pill).to_have_attribute("data-phase", "stale")
    assert pill.evaluate(grey) < 40, "no colour that says good or bad"
    assert not troubles
    first.stop()
    expect(state).to_contain_text("Reconnecting · no data since")
    restart(tmp_path, page=first.page)
    feed(page, core, make_estimate(inertia=0.75), lambda: state.text_content() == "Live")
    expect(page.locator('[data-joint="elbow"] .value').first).to_have_text("0.7500")
    refused = [trouble for trouble in troubles if "WebSocket connection to" in trouble]
    assert troubles == refused, "but for the attempts while the outlet was away"
    troubles.clear()


def test_it_survives_a_restart_of_the_whole_service(
    tmp_path: Path, make_core: Any, restart: Callable[..., Any], open_page: Callable[..., Page], troubles: list[str],
    make_estimate: Callable[..., Estimate], feed: Callable[..., None]
) -> None:  # fmt: skip
    first, core = restart(tmp_path), make_core(tmp_path, boot=1)
    page = open_page(f"{first.page}/#/joint/elbow")
    phase = page.locator(".head .pill")
    feed(page, core, make_estimate(), lambda: phase.text_content() == "Normal")
    core.close()
    first.stop()
    expect(page.locator("#connection")).to_contain_text("Reconnecting")
    restart(tmp_path, page=first.page)
    again = make_core(tmp_path, boot=2)
    try:
        faulted = make_estimate(Phase.FAULTED, (Reason("channel_dead", "position", {"seconds": 2.0}),))
        feed(page, again, faulted, lambda: phase.text_content() == "Faulted")
        expect(page.locator(".reasons li")).to_have_text("position gave no finite value for 2 s")
        expect(page.locator("#connection")).to_have_text("Live")
        feed(page, again, make_estimate(inertia=0.75), lambda: phase.text_content() == "Normal")
    finally:
        again.close()
    troubles[:] = [trouble for trouble in troubles if "WebSocket connection to" not in trouble]
