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
def test_a_phone_never_scrolls_sideways(seven: str, phone: Page, path: str) -> None:
    page = phone
    page.goto(seven + path)
    expect(page.locator("h2, h1").first).to_be_visible()
    expect(page.locator("#connection")).to_have_text("Live, 1 of 7 silent")
    page.wait_for_timeout(500)  # some updates: with fewer, on a slow machine, the test is less sharp and never fails
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    parts = "[...document.querySelectorAll('.parameters > span, header > *, .caption > *, .card footer > *')]"
    outside = (
        f"{parts}.filter((e) => e.getBoundingClientRect().right > innerWidth - 8 || e.scrollWidth > e.clientWidth + 1)"
    )
    assert page.evaluate(f"{outside}.map((e) => e.textContent)") == []


def test_what_has_just_happened_does_not_stick_out_of_the_line_of_time(seven: str, phone: Page) -> None:
    page = phone
    page.goto(seven + "/#/joint/base")
    sign = page.locator(".timeline.single .event").last
    expect(sign).to_be_visible()
    wide = page.evaluate(
        "() => { const all = [...document.querySelectorAll('.timeline.single .event')];"
        "all.forEach((e) => { e.style.left = '100%'; });"
        "const line = document.querySelector('.timeline.single'); return line.scrollWidth - line.clientWidth; }"
    )
    assert wide <= 1


def test_a_name_that_is_cut_keeps_its_end_by_which_it_differs(overview: Page) -> None:
    """right_shoulder_pitch, right_shoulder_roll and right_shoulder_yaw were one name in a chip."""
    told = overview.evaluate(
        """async () => {
          const { cutName } = await import("/elements.js");
          const box = document.createElement("div");
          box.style.cssText = "width: 8rem; position: absolute; font-weight: 650";
          document.body.append(box);
          const names = ["right_shoulder_pitch", "elbow", "a_name_that_is_far_too_long_for_it", "_x", "leg.7"];
          const found = names.map((name) => {
            box.replaceChildren(cutName("b", {}, name));
            const [begin, end] = box.firstChild.children;
            const right = end.getBoundingClientRect().right - box.getBoundingClientRect().right;
            return [box.textContent === name, begin.scrollWidth > begin.clientWidth, end.textContent, right <= 0.5];
          });
          box.remove();
          return found;
        }"""
    )
    assert told == [
        [True, True, "_pitch", True],
        [True, False, "", True],
        [True, True, "_it", True],
        [True, False, "", True],
        [True, False, ".7", True],
    ]


def test_words_of_the_header_are_whole_or_left_out(overview: Page) -> None:
    """Beside the views of a robot and a mechanism, "7 joints: 1 faulted, 1 hel…" was left of them."""
    overview.set_viewport_size({"width": 1600, "height": 900})
    cut = overview.evaluate(
        """() => {
          const box = document.getElementById("summary"), told = box.cloneNode(true);
          const words = told.querySelectorAll("span");
          box.replaceWith(told);
          const texts = ["1 faulted, 2 held, 4 normal", "1 faulted, 1 changed, 3 starting up, 2 held, 19 normal"];
          const found = texts.flatMap((text) =>
            ["99rem", "12rem", "7rem"].map((room) => {
              [words[0].textContent, words[1].textContent, told.style.maxWidth] = ["28 joints", `: ${text}`, room];
              const outer = told.getBoundingClientRect();
              return [...words].map((one) => {
                const { top, right, bottom } = one.getBoundingClientRect();
                if (top > outer.bottom - 1) return "left out";
                return right > outer.right + 0.5 || bottom > outer.bottom + 1 ? `cut: ${one.textContent}` : "whole";
              });
            }));
          told.replaceWith(box);
          return found;
        }"""
    )
    signs = overview.evaluate(
        """() => {
          const spring = document.querySelector(".spring");
          spring.style.minWidth = "2000px"; // what else is in the header leaves no room
          const wide = document.querySelector("#connection i").getBoundingClientRect().width;
          spring.style.minWidth = "";
          return wide;
        }"""
    )
    assert signs > 8, "a shape beside the colour"
    whole, short = ["whole", "whole"], ["whole", "left out"]
    assert cut == [whole, short, short, whole, short, short]


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


def test_minutes_and_hours_are_said_from_two_on(overview: Page) -> None:
    """A larger unit is used from two of it on, because "1 min" for 100 s was doubted next to the time axis."""
    script = "async () => { const { duration } = await import('./format.js'); "
    script += "return [100, 119, 120, 7199, 7200, 172799, 6350400].map(duration); }"
    assert overview.evaluate(script) == ["100 s", "119 s", "2 min", "119 min", "2 h", "47 h", "73 days"]


def test_what_began_on_another_day_has_a_date(overview: Page) -> None:
    """A time on another day has its date, because "since 00:00:00, 1764 h" did not say when wear had begun."""
    script = "async () => { const { sinceAndFor } = await import('./format.js'); "
    script += "const now = Date.UTC(2026, 10, 27, 12) / 1000; "
    script += "return [sinceAndFor(now - 60, now), sinceAndFor(now - 73.5 * 86400, now)]; }"
    today, earlier = overview.evaluate(script)
    assert today.endswith(":00, 60 s")
    assert earlier == "since 15 Sept 2026, 73 days"


def test_one_value_between_gaps_is_wide_enough_to_be_seen_and_instants_never_go_back(overview: Page) -> None:
    """A day, then eight days later two days with one between them, on a year."""
    script = """async () => {
      const { columns } = await import("./views/past.js");
      const rows = [0, 9, 11].map((day) => [day * 86400, 1, 2, 0.1]);
      return columns({ name: "coulomb", rows }, 86400, 0.008 * 365 * 86400);
    }"""
    at, _, _, values = overview.evaluate(script)
    assert at == sorted(at)
    assert at[1] - at[0] == pytest.approx(0.008 * 365 * 86_400)
    assert values.count(2) == 6
