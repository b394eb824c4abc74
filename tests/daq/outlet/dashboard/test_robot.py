"""The view of the whole robot."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect


@pytest.mark.parametrize("width", [1440, 360])
def test_the_whole_robot_says_what_touches_it_what_it_carries_and_what_is_compensated(
    whole: str, open_page: Callable[..., Page], wait: Callable[..., None], width: int
) -> None:
    page = open_page(f"{whole}/#/robot", width, 900)
    expect(page.locator(".whole h1")).to_have_text("Whole robot")
    expect(page.locator("#connection")).to_have_text("Live")
    panels = page.locator(".panel.residual")
    expect(panels).to_have_count(7)
    rows = page.locator(".residual-table tbody tr")
    expect(rows).to_have_count(7)
    expect(rows.first.locator(".learnt")).to_have_text("0.40 N·m")
    expect(rows.nth(2).locator(".limit")).to_have_text("1.0 N·m")
    expect(rows.nth(2).locator(".learnt")).to_have_text("–")
    expect(rows.nth(2).locator(".most")).to_have_text("0.30 N·m")
    expect(rows.nth(2).locator(".share")).to_have_text("30.0\u00a0%")
    bar, meter = (rows.nth(2).locator(one).bounding_box() for one in (".meter i", ".meter"))
    assert bar
    assert meter
    assert bar["width"] / meter["width"] == pytest.approx(0.3 / 1.5, abs=0.01), "a full bar is 1.5 thresholds"
    expect(page.locator("dl.figures")).to_contain_text("2.01 kg± 0.03 kg")
    touched = page.locator('.panel.residual[data-contact="true"]')
    expect(touched).to_have_attribute("data-joint", panels.nth(1).get_attribute("data-joint") or "")
    expect(page.locator(".explanation")).to_contain_text("unexplained, threshold 1.0 N·m")
    first = """panels => panels.map(one => [one.getBoundingClientRect(), one.dataset.contact === "true"])
      .sort(([a], [b]) => a.y - b.y || a.x - b.x)[0][1]"""  # of one instant: it is touched now and then
    wait(lambda: panels.evaluate_all(first))
    expect(page.locator("table[aria-label^=Friction] tbody tr")).to_have_count(7)
    assert page.evaluate("document.documentElement.scrollWidth") == width
