"""The view of the drivers: rates, losses and their causes."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_acquisition_tells_rates_losses_and_causes(seven: str, view: Callable[..., Page]) -> None:
    page = view(seven)
    page.get_by_role("link", name="Acquisition").click()
    drivers = page.get_by_role("table", name="Drivers").get_by_role("row")
    expect(drivers).to_have_count(3)
    expect(drivers.nth(1)).to_contain_text("unmatched 3")
    expect(drivers.nth(2)).to_contain_text("interface can1 is down")
    expect(drivers.nth(1)).to_contain_text("8.64 %")
    joints = page.get_by_role("table", name="Joints").get_by_role("row")
    expect(joints).to_have_count(8)
    expect(joints.nth(1)).to_contain_text("late 2")
    expect(joints.nth(1)).to_contain_text("torque 3.1 ms")
    delays = [joints.nth(row).get_by_role("cell").nth(4) for row in (1, 5)]
    expect(delays[0]).to_contain_text("µs")
    expect(delays[1]).to_have_text("–")  # of a joint that no frame comes of
    rate = joints.nth(1).get_by_role("cell").nth(0)
    expect(rate).to_have_text(re.compile(r"^[12]\d\d$"))  # 200 a second are published, but where that stood still
    processes = page.get_by_role("table", name="Processes").get_by_role("row")
    expect(processes.nth(1).get_by_role("cell").nth(1)).to_have_text(re.compile(r"^\d+\.\d s of 10 s$"))
    expect(page.get_by_role("link", name="Acquisition")).to_have_attribute("aria-current", "page")
    page.keyboard.press("Escape")
    expect(page.locator(".card[data-joint]")).to_have_count(7)
