"""The history of a joint on its page, from the last hour to the last year."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_joint_shows_its_last_hour_day_and_year(
    aged: str, view: Callable[..., Page], painted: Callable[..., int]
) -> None:
    page = view(f"{aged}/#/joint/shoulder")
    past = page.locator(".past")
    coulomb = past.locator("article", has_text="coulomb")
    expect(coulomb.locator(".live")).to_have_text("3.00 N·m")
    expect(past).to_have_attribute("data-interval", "60")
    for span, interval in (("3600", "60"), ("604800", "3600"), ("2592000", "3600"), ("31536000", "86400")):
        past.locator("select").select_option(span)
        expect(past).to_have_attribute("data-interval", interval)
        coulomb.scroll_into_view_if_needed()
        page.wait_for_function("() => document.querySelectorAll('.past canvas').length >= 2")
        assert painted(page, ".past") > 0
    expect(past.locator(".use")).to_have_text(
        re.compile(r"^In motion \d+\.\d h in this time; since .* 413\.0 h, .* rad, 826 reversals, 413 starts$")
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_bands_of_friction_are_called_after_their_speeds_the_slowest_first(
    aged: str, view: Callable[..., Page]
) -> None:
    page = view(f"{aged}/#/joint/shoulder")
    bands = page.locator(".past h3", has_text="friction")
    expect(bands).to_have_text(["friction at 0.01 rad/s", "friction at 0.98 rad/s"])


def test_a_service_without_a_history_says_so(seven: str, view: Callable[..., Page]) -> None:
    page = view(f"{seven}/#/joint/shoulder")
    expect(page.locator(".past .note")).to_have_text("this service keeps no history: [history] keep = false")
    expect(page.locator(".past article")).to_have_count(0)


def test_a_joint_that_the_history_does_not_have_yet_says_so(aged: str, view: Callable[..., Page]) -> None:
    page = view(f"{aged}/#/joint/elbow")
    expect(page.locator(".past .note")).to_have_text("no valid values in this time")


def test_a_narrow_page_holds_the_history(aged: str, view: Callable[..., Page]) -> None:
    page = view(f"{aged}/#/joint/shoulder", width=390, height=844)
    expect(page.locator(".past article")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
