"""Keyboard, narrow screens, light and dark, and nothing that jumps about."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect


def test_the_keyboard_is_enough(seven: str, view: Callable[..., Page]) -> None:
    page = view(seven)
    expect(page.locator(".card[data-joint]")).to_have_count(7)
    page.locator('[data-joint="base"]').get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("base")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=1)).to_have_text("shoulder")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", level=1)).to_have_text("lift")
    page.keyboard.press("Escape")
    expect(page.locator(".card[data-joint]")).to_have_count(7)


@pytest.mark.parametrize("path", ["/", "/#/joint/base", "/#/joint/wrist_pitch", "/#/acquisition"])
def test_a_phone_never_scrolls_sideways(seven: str, open_page: Callable[..., Page], path: str) -> None:
    page = open_page(seven + path, 360, 740, device_scale_factor=2, has_touch=True)
    expect(page.locator("h2, h1").first).to_be_visible()
    expect(page.locator("#connection")).to_have_text("Live, 1 of 7 silent")
    page.wait_for_timeout(500)  # some updates: with fewer, on a slow machine, the test is less sharp and never fails
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    parts = "[...document.querySelectorAll('.parameters > span, header > *, .caption > *, .card footer > *')]"
    outside = (
        f"{parts}.filter((e) => e.getBoundingClientRect().right > innerWidth - 8 || e.scrollWidth > e.clientWidth + 1)"
    )
    assert page.evaluate(f"{outside}.map((e) => e.textContent)") == []


def test_what_has_just_happened_does_not_stick_out_of_the_line_of_time(
    seven: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(seven + "/#/joint/base", 360, 740, device_scale_factor=2, has_touch=True)
    sign = page.locator(".timeline.single .event").last
    expect(sign).to_be_visible()
    wide = page.evaluate(
        "() => { const all = [...document.querySelectorAll('.timeline.single .event')];"
        "all.forEach((e) => { e.style.left = '100%'; });"
        "const line = document.querySelector('.timeline.single'); return line.scrollWidth - line.clientWidth; }"
    )
    assert wide <= 1


def test_a_figure_and_its_unit_stay_on_one_line(overview: Page) -> None:
    script = "async () => { const { percent, change } = await import('./format.js'); "
    script += "return [percent(0.0123), percent(1e-6), change(0.16), change(-0.002)].join(''); }"
    assert " " not in overview.evaluate(script)


def test_the_least_label_of_a_plot_stands_clear_of_its_first_instant(overview: Page) -> None:
    axis = """async () => {
      const { TimePlot } = await import("./plots.js");
      const { gap, size, font } = new TimePlot({ label: "", lines: [] }).build(300, 150).axes[0];
      return [gap, size, parseFloat(font)];
    }"""
    gap, size, high = overview.evaluate(axis)
    assert gap > high / 2, "a label of the ordinate is centred on its value"
    assert size > gap + high


def test_a_plot_without_data_has_no_figures(overview: Page) -> None:
    figures = """async (draw) => {
      const { TimePlot } = await import("./plots.js");
      const plot = new TimePlot({ label: "", lines: [] });
      if (draw) plot.draw(0, 1, [[0], [1]], [0, 1]);
      return plot.build(300, 150).axes[1].values(null, [0, 0.5, 1]).length;
    }"""
    assert [overview.evaluate(figures, drawn) for drawn in (False, True)] == [0, 3]


def test_a_history_that_hardly_varies_has_short_figures(overview: Page) -> None:
    limits = "async (limits) => (await import('./views/past.js')).roomy(limits)"
    low, high = overview.evaluate(limits, [1.3776, 1.3776])
    assert (low, high) == (pytest.approx(1.3776 * 0.998), pytest.approx(1.3776 * 1.002))
    assert overview.evaluate(limits, [1.0, 2.0]) == [1.0, 2.0]
    assert overview.evaluate(limits, [None, None]) == [None, None]


def test_light_and_dark(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(seven, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(14, 18, 22)"
    page.locator("#theme").click()
    assert page.evaluate(background) == "rgb(244, 246, 248)"
    page.reload()
    assert page.evaluate(background) == "rgb(244, 246, 248)", "the choice is remembered"
    expect(page.locator("#theme")).to_have_text("Theme: light")


def test_the_layout_stands_still(seven: str, view: Callable[..., Page]) -> None:
    page = view(f"{seven}/#/joint/shoulder")
    expect(page.locator("#connection")).to_have_text("Live, 1 of 7 silent")
    every = "[...document.querySelectorAll('.panel, .head, .plot')]"
    boxes = f"JSON.stringify({every}.map((e) => e.getBoundingClientRect()))"
    before, deadline = "", time.monotonic() + 60
    while before != (before := page.evaluate(boxes)):  # the first curves, and the fonts, are still to come
        assert time.monotonic() < deadline, "it never stands still"
        page.wait_for_timeout(300)
    for _ in range(4):
        page.wait_for_timeout(300)  # updates that must move nothing: fewer, on a slow machine, do so even less
        assert page.evaluate(boxes) == before
