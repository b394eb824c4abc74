"""The view of the whole robot."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect


@pytest.mark.parametrize("width", [1440, 360])
def test_the_whole_robot_says_what_touches_it_what_it_carries_and_what_is_compensated(
    whole: str, view: Callable[..., Page], wait: Callable[..., None], width: int
) -> None:
    page = view(f"{whole}/#/robot", width, 900)
    expect(page.locator(".whole h1")).to_have_text("Whole robot")
    expect(page.locator("#connection")).to_have_text("Live, 1 of 7 silent")
    panels = page.locator(".panel.residual")
    expect(panels).to_have_count(7)
    rows = page.locator(".residual-table tbody tr")
    expect(rows).to_have_count(7)
    expect(rows.first.locator(".learnt")).to_have_text("0.40 N·m")
    expect(rows.nth(2).locator(".limit")).to_have_text("1.0 N·m")
    expect(rows.nth(2).locator(".learnt")).to_have_text("–")
    expect(rows.nth(2).locator(".most")).to_have_text("0.30 N·m")
    expect(rows.nth(2).locator(".share")).to_have_text("30.0\u00a0%")
    page.wait_for_function(  # a full bar is 1.5 thresholds; it glides there
        """() => {
          const meter = document.querySelectorAll(".residual-table tbody tr")[2].querySelector(".meter");
          const width = (node) => node.getBoundingClientRect().width;
          return Math.abs(width(meter.querySelector("i")) / width(meter) - 0.3 / 1.5) < 0.01;
        }"""
    )
    expect(page.locator("dl.figures")).to_contain_text("2.01 kg± 0.03 kg")
    assert page.evaluate(NEAREST), "one window for one word: above and in the table the largest of 10 s"
    touched = page.locator('.panel.residual[data-contact="true"]')
    expect(touched).to_have_attribute("data-joint", panels.nth(1).get_attribute("data-joint") or "")
    expect(page.locator(".explanation")).to_contain_text("unexplained, threshold 1.0 N·m")
    first = """panels => panels.map(one => [one.getBoundingClientRect(), one.dataset.contact === "true"])
      .sort(([a], [b]) => a.y - b.y || a.x - b.x)[0][1]"""  # of one instant: it is touched now and then
    wait(lambda: panels.evaluate_all(first))
    expect(page.locator("table[aria-label^=Friction] tbody tr")).to_have_count(7)
    assert page.evaluate("document.documentElement.scrollWidth") == width


NEAREST = """() => {
  const number = (node) => parseFloat(node.textContent.replace("◆ ", ""));
  const figure = [...document.querySelectorAll("dl.figures div")].find((one) => one.textContent.startsWith("nearest"));
  return number(figure.querySelector("small")) === Math.max(...[...document.querySelectorAll(".share")].map(number));
}"""


def test_a_contact_is_shown_with_its_link_its_force_and_what_the_joints_do_not_tell(
    whole: str, view: Callable[..., Page]
) -> None:
    page = view(f"{whole}/#/robot", 1280, 900)
    panel = page.locator(".panel.contact")
    link = page.locator(".residual-table tbody tr").nth(1).get_attribute("data-joint")
    verdict, rows = panel.locator(".verdict"), panel.locator("tbody tr")
    expect(panel).to_have_attribute("data-touched", "true")
    expect(verdict).to_have_text(f"Touched on the link of {link} (93.0\u00a0%): at least 33 N.")
    expect(page.locator(".explanation")).to_contain_text(f"Touched on the link of {link}, at least 33 N: ")
    expect(page.locator(".title .since")).to_have_text(re.compile(r"^since \d\d:\d\d:\d\d, [1-3] s$"))
    expect(panel).to_have_attribute("data-touched", "false")
    expect(page.locator(".title .since")).to_have_text("")
    over = rf"^Nothing touches it now[.] Last, \d+ s ago: the link of {link} \(93[.]0\s%\), at least 33 N[.]$"
    expect(verdict).to_have_text(re.compile(over))
    for row, cells in enumerate((["12", "2", "0.31"], ["−31", "2", "−0.02"], ["–", "not identifiable", "0.55"])):
        expect(rows.nth(row).locator("td")).to_have_text(cells)
    outside = "(panel) => panel.getBoundingClientRect().left < 0 || panel.getBoundingClientRect().right > innerWidth"
    for width in (1280, 1600, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert not panel.evaluate(outside)
        assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [1440, 360])
def test_a_mechanism_says_what_its_drive_feels_and_every_joint_carries(
    whole: str, view: Callable[..., Page], width: int
) -> None:
    page = view(f"{whole}/#/mechanism", width, 900)
    expect(page.locator(".whole h1")).to_have_text("Mechanism")
    expect(page.locator("#connection")).to_have_text("Live, 1 of 7 silent")
    expect(page.locator(".explanation")).to_contain_text("crank feels 150 % of the model's friction")
    drive = page.locator("table[aria-label^=Torque] tbody tr")
    expect(drive).to_have_count(1)
    expect(drive).to_contain_text("150 ± 2.0 %")
    joints = page.locator("table[aria-label^=What] tbody tr")
    expect(joints).to_have_count(10)
    expect(joints.nth(1).locator("td").first).to_have_text("24.0 N")
    expect(joints.nth(1).locator("td").last).to_have_text("0.250 rad")
    expect(joints.last.locator("td").last).to_have_text("–")
    expect(page.locator(".panel.residual canvas")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_bearing_that_has_worn_is_reported_on_the_joints_page(whole: str, view: Callable[..., Page]) -> None:
    page = view(whole, 1440, 900)
    page.locator(".card h2 a").nth(1).click()
    section = page.locator("section.clearance")
    expect(section.locator(".verdict")).to_have_text("Grown from 50.0 µm at first: wear of the bearing.")
    expect(section.locator(".quantity")).to_contain_text("75.0")
    expect(section).to_have_attribute("data-grown", "true")


def test_what_is_wrong_of_several_joints_of_a_robot_is_said_once(whole: str, view: Callable[..., Page]) -> None:
    told = view(whole).evaluate(
        """async () => {
          const { standing } = await import("/views/whole.js");
          const of = (joints) => standing({ phase: "faulted", joints: {}, health: { reasons: [
            ...joints.map((parameter) => ({ parameter, text: `${parameter}: no data for 1.2 s` })),
            { parameter: "d", text: "d: no data for 9 s" }, { text: "the clock jumped" }] } }).text;
          return [of(["a", "b"]), of(["a", "b", "c", "e"])];
        }"""
    )
    assert told == [
        "a and b: no data for 1.2 s; d: no data for 9 s; the clock jumped",
        "4 joints: no data for 1.2 s; d: no data for 9 s; the clock jumped",
    ]


def test_an_open_change_is_not_buried_by_a_fault(whole: str, view: Callable[..., Page]) -> None:
    page = view(whole, 1280, 800)
    faulted = page.locator('[data-headline="wrist_pitch"]')
    expect(faulted.locator(".pill")).to_have_text(["Faulted", "Changed"])
    expect(faulted.locator(".change")).to_contain_text("viscous +50.0\u00a0%, suddenly, since ")
    expect(page.locator('[data-chip="wrist_pitch"] .more')).to_have_text("◆ viscous +50\u00a0%")
    header = page.locator(".bar").bounding_box()
    assert header
    assert header["height"] < 60, "one row, with every view in it"


@pytest.mark.parametrize("width", [1280, 390])
def test_wear_stands_by_itself_with_its_day(whole: str, view: Callable[..., Page], width: int) -> None:
    page = view(f"{whole}/#/joint/shoulder", width, 900)
    panel = page.locator(".panel:has(.wear)")
    expect(panel.locator(".wear")).to_have_text(re.compile("^Dry friction has grown by 24 ± 2 %, .*days of use[.]$"))
    expect(panel.locator("small")).to_have_text(re.compile(r"^since \d+ \w+ \d{4}$"))
    over = page.locator(".joint > .grid:has(.parameter)").bounding_box()
    mine = panel.bounding_box()
    assert over
    assert mine
    assert mine["y"] - over["y"] - over["height"] > 8, "it does not touch what is above"
    expect(page.locator(".changes li")).to_contain_text("likely the lubricant")
    numbers = page.locator(".changes .number").first
    assert numbers.evaluate("(e) => e.getBoundingClientRect().right <= innerWidth - 8")


def test_a_friction_of_which_there_is_a_record_says_how_it_has_changed_without_a_baseline(overview: Page) -> None:
    cells = overview.evaluate(
        """async () => {
          const { FrictionTable } = await import("./views/whole.js");
          const table = new FrictionTable(), joints = { elbow: { unit: "N·m" } };
          const friction = { elbow: { speeds: [0.1, 0.5], torques: [3.83, 5.65], deviations: [0.07, 0.05] } };
          const changes = [{ parameter: "friction_fast", percent: 80.2, over: 0 },
            { parameter: "friction_slow", percent: 9, over: 7 }];
          table.words({ friction, joints }, new Map([["elbow", changes]]));
          return [...table.body.querySelectorAll("td")].map((cell) => cell.textContent);
        }"""
    )
    assert cells == ["0.10", "3.83 ± 0.07", "0.50", "5.65 ± 0.05◆ +80.2\u00a0%"]
