"""The page in a real Chromium: it draws, it updates, it reconnects, it explains, and it stays on this machine."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from daq.stream.update import EVENTS
from estimators.base import Estimate, Phase, Status

ROOT = Path(__file__).parents[3]
DASHBOARD = ROOT / "daq" / "outlet" / "dashboard"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run",
    "--disable-quic", "--disable-component-update",
]  # fmt: skip
SOON = 60_000  # ms that a loaded machine may take: nothing waits longer than it must
expect.set_options(timeout=SOON)


def test_vendored_files_are_the_published_ones() -> None:
    vendor = DASHBOARD / "vendor"
    told = dict(reversed(line.split()) for line in (vendor / "HASHES").read_text().splitlines())
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in vendor.iterdir()}
    del found["HASHES"]
    assert found == told


def test_the_page_names_no_other_host() -> None:
    for file in DASHBOARD.glob("*.*"):
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")  # a name, not a link
        links = [line.strip() for line in text.splitlines() if "http://" in line or "https://" in line]
        assert all(line.startswith("//") for line in links), f"{file.name}: {links}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is missing: apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def troubles() -> list[str]:
    """What the browser complained about, and every request that left the page's own host."""
    return []


@pytest.fixture
def open_page(browser: Browser, troubles: list[str]) -> Iterator[Callable[..., Page]]:
    """Opens pages; at the end of the test none may have had trouble, unless the test emptied the list."""
    contexts = []

    def open_one(address: str, width: int = 1440, height: int = 900, **more: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        own = (address.split("/#")[0], "data:")
        page.on("request", lambda asked: None if asked.url.startswith(own) else troubles.append(asked.url))
        page.goto(address)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not troubles


def fed(folder: Path, *words: str) -> Iterator[str]:
    """The address of an outlet that a core with seven joints of every kind feeds."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("outlet_conftest", ROOT / "tests/daq/conftest.py")
    assert spec is not None
    assert spec.loader is not None
    conftest = module_from_spec(spec)
    sys.modules["outlet_conftest"] = conftest
    spec.loader.exec_module(conftest)
    outlet = conftest.start_outlet(folder)
    child = subprocess.Popen(
        [sys.executable, ROOT / "tests/support/fake_core.py", f"ipc://{folder}/u", f"ipc://{folder}/s", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    yield outlet.page
    child.terminate()
    child.wait(10)
    assert outlet.stop() == 0


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its joints have moved for a minute."""
    yield from fed(tmp_path_factory.mktemp("seven"), "--past", "40")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """There is a model of the whole robot; the second joint is touched now and then, two kilograms are carried."""
    yield from fed(tmp_path_factory.mktemp("whole"), "--whole")


def painted(page: Page, selector: str) -> int:
    """How many pixels of the canvases under the selector are not transparent; −1 when one of them is blank."""
    script = """(selector) => {
      const counts = [...document.querySelectorAll(`${selector} canvas, canvas${selector}`)].map((canvas) => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
        let count = 0;
        for (let i = 3; i < pixels.length; i += 4) count += pixels[i] > 0;
        return count;
      });
      return !counts.length || Math.min(...counts) === 0 ? -1 : counts.reduce((a, b) => a + b);
    }"""
    found: int = page.evaluate(script, selector)
    return found


def test_seven_joints_are_drawn(seven: str, open_page: Callable[..., Page], wait: Callable[..., None]) -> None:
    page = open_page(seven, 1440, 2400)  # with all of them in view: what is not is not drawn
    expect(page.locator(".card[data-joint]")).to_have_count(7, timeout=SOON)
    expect(page.locator("#connection")).to_have_text("Live", timeout=SOON)
    expect(page).to_have_title("demo-arm · jointwatch")
    wait(lambda: painted(page, ".card .plot") > 0)
    wait(lambda: painted(page, ".spark") > 0)
    expect(page.locator("#summary")).to_contain_text("7 joints: 1 starting up")


def test_a_faulted_joint_says_why(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(seven)
    card = page.locator('[data-joint="wrist_pitch"]')
    expect(card.locator(".pill")).to_have_text("Faulted", timeout=SOON)
    expect(card.locator(".meaning")).to_have_text("no data for 12.4 s; driver can1: interface is down")
    card.get_by_role("link").click()
    expect(page.locator(".reasons li")).to_have_text(["no data for 12.4 s", "driver can1: interface is down"])
    expect(page.locator(".explanation")).to_have_text("The values must not be used.")


SCREENS = [(1440, 900), (1920, 1080), (390, 844)]
IN_VIEW = """(selector) => [...document.querySelectorAll(selector)].every((e) => {
  const { top, bottom, left, right, width } = e.getBoundingClientRect();
  return width > 0 && top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
})"""


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_the_first_screen_says_which_joint_how_bad_since_when_and_what_to_do(
    seven: str, open_page: Callable[..., Page], width: int, height: int
) -> None:
    page = open_page(seven, width, height)
    worst = page.locator(".headline:not(.all)").first
    expect(worst.locator(".which")).to_have_text("wrist_pitch", timeout=SOON)
    expect(worst.locator(".pill")).to_have_text("Faulted")
    expect(worst.locator(".what")).to_have_text("no data for 12.4 s; driver can1: interface is down")
    expect(worst.locator(".since")).to_have_text(re.compile(r"^since \d\d:\d\d:\d\d, \d+ (s|min)$"), timeout=SOON)
    expect(worst.locator(".todo")).to_have_text("Check its power, cable and interface; Acquisition names the bus.")
    for part in (".which", ".what", ".since", ".todo"):
        assert page.evaluate(IN_VIEW, f'[data-headline="wrist_pitch"] {part}'), part
    chips = page.locator(".chip")
    expect(chips).to_have_count(7)
    assert page.evaluate(IN_VIEW, ".chip")
    assert chips.first.get_attribute("data-chip") == "wrist_pitch"
    assert chips.evaluate_all("(all) => all.map((e) => e.dataset.phase)")[-1] == "normal"
    assert (
        page.locator(".card").evaluate_all(
            "(all) => [...all].sort((a, b) => a.style.order - b.style.order)[0].dataset.joint"
        )
        == "wrist_pitch"
    )


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_what_is_old_leaves_a_single_headline_its_width(
    seven: str, open_page: Callable[..., Page], width: int, height: int
) -> None:
    """ "What stands here is old" above a drift with its picture: the words beside that must not stand one by one."""
    page = open_page(seven, width, height)
    expect(page.locator(".headline:not(.all)").first).to_be_visible(timeout=SOON)
    whole, mine, words = page.evaluate(
        """() => {
          const [all, first, ...others] = document.querySelectorAll(".headlines .headline");
          all.hidden = first.hidden = false;
          for (const one of others) one.hidden = true;
          first.dataset.curve = "true";
          const parts = [first.parentNode, first, first.querySelector(".words")];
          return parts.map((one) => one.getBoundingClientRect().width);
        }"""
    )
    assert mine == pytest.approx(whole, abs=2)
    assert words > min(300, 0.5 * whole)


def test_what_happened_stands_on_one_line_of_time(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(seven)
    lane = page.locator(".timeline .lane", has_text="wrist_pitch")
    expect(lane.locator('.lasting[data-phase="faulted"]')).to_have_count(1, timeout=SOON)
    expect(lane.locator('.event[data-tone="bad"]')).to_have_attribute("title", re.compile("fault: no data for 1.0 s$"))
    bar, track = page.evaluate(
        """() => {
          const lane = [...document.querySelectorAll(".timeline .lane")].find((e) => e.textContent === "wrist_pitch");
          return [".lasting", ".track"].map((name) => lane.querySelector(name).getBoundingClientRect().toJSON());
        }"""
    )
    assert bar["right"] == pytest.approx(track["right"], abs=3), "it lasts until now"
    assert track["left"] < bar["left"] < track["right"]
    assert track["top"] <= bar["top"], "a bar has no padding, else one that has just begun runs over the edge"
    assert bar["height"] < 0.6 * track["height"]
    assert page.locator(".timeline .lane", has_text="elbow").count() == 0, "nothing has happened to it"


def test_no_sentence_is_said_twice_on_the_cards(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(seven)
    expect(page.locator(".card[data-joint]")).to_have_count(7, timeout=SOON)
    expect(page.locator('[data-joint="elbow"] .meaning')).to_contain_text("start-up", timeout=SOON)
    said = [text for text in page.locator(".card .meaning").all_text_contents() if len(text) > 25]
    assert len(set(said)) == len(said)


def test_fifty_six_joints_fit_one_screen(
    tmp_path: Path, restart: Callable[..., Any], open_page: Callable[..., Page]
) -> None:
    outlet = restart(tmp_path, more=["--joints", "1"])
    child = subprocess.Popen(
        [
            sys.executable,
            ROOT / "tests/support/fake_core.py",
            f"ipc://{tmp_path}/u",
            f"ipc://{tmp_path}/s",
            "--joints",
            "56",
        ]
        + ["--rate", "5"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    try:
        page = open_page(outlet.page)
        expect(page.locator(".chip")).to_have_count(56, timeout=60_000)
        expect(page.locator(".chip").first).to_have_attribute("data-phase", "faulted", timeout=SOON)
        assert page.evaluate(IN_VIEW, ".headline:not([hidden]), .chip")
    finally:
        child.terminate()
        child.wait(10)


def test_a_joint_that_lacks_excitation_neither_looks_well_nor_accuses_itself(
    outlet: Any, core: Any, open_page: Callable[..., Page], make_estimate: Callable[..., Estimate]
) -> None:
    page = open_page(outlet.page)
    card = page.locator('[data-joint="elbow"]')
    reasons = (
        "inertia lacks excitation: 0.5 ± 0.2 kg·m²; it needs stronger accelerations",
        "viscous lacks excitation: it needs faster and slower motion",
    )
    unsure = make_estimate(Phase.NORMAL, reasons)._replace(status=Status.LEARNING)
    feed(page, core, unsure, lambda: card.get_attribute("data-phase") == "unsure")
    expect(card.locator(".pill")).to_have_text("Needs motion")
    expect(card.locator(".meaning")).to_have_text("not told apart yet: inertia and viscous")
    tones = "(e) => [getComputedStyle(e).color, getComputedStyle(e).fontWeight]"
    good = "getComputedStyle(document.documentElement).getPropertyValue('--good')"
    colour, weight = card.locator(".meaning").evaluate(tones)
    assert weight == "400"
    muted = page.evaluate("(() => { const e = document.createElement('i'); e.style.color = 'var(--muted)'; "
                          "document.body.append(e); return getComputedStyle(e).color; })()")  # fmt: skip
    assert colour == muted
    assert page.evaluate(good) != colour
    expect(page.locator('[data-chip="elbow"] .short')).to_have_text("2 of 2 unsure")


def test_a_starting_joint_shows_its_progress(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{seven}/#/joint/elbow")
    expect(page.locator(".startup i")).to_be_visible(timeout=SOON)
    before = page.locator(".progress-text").text_content()
    expect(page.locator(".progress-text")).not_to_have_text(before or "", timeout=SOON)
    told = page.locator(".spectrum")
    pattern = r"^Condition so far: \d+ · least told apart: gravity cos against gravity sin$"
    expect(told).to_have_text(re.compile(pattern), timeout=SOON)
    before = told.text_content()
    expect(told).not_to_have_text(before or "", timeout=SOON)


def test_a_started_joint_says_what_it_started_from_and_events_which_rows_they_speak_of(
    seven: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(f"{seven}/#/joint/shoulder", timezone_id="UTC")
    told = page.locator(".spectrum")
    expect(told).to_have_text(
        "Condition of the last start or refit: 38 · least told apart: gravity cos against gravity sin", timeout=SOON
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
def test_a_window_is_written_no_longer_than_it_must(
    seven: str, open_page: Callable[..., Page], first: float, last: float, text: str
) -> None:
    page = open_page(seven, timezone_id="UTC")
    script = "async ([from, to]) => (await import('./format.js')).span(from, to)"
    assert page.evaluate(script, [first, last]) == text


def test_a_condition_is_written_as_far_as_it_is_known(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(seven)
    script = "async () => { const { condition } = await import('./format.js'); "
    script += "return [1.234, 38.4, 1234, Infinity, null].map(condition); }"
    assert page.evaluate(script) == ["1.2", "38", "1\u202f234", "> 10⁷", "> 10⁷"]


def test_one_joint_in_full(seven: str, open_page: Callable[..., Page], wait: Callable[..., None]) -> None:
    page = open_page(f"{seven}/#/joint/shoulder")
    expect(page.locator(".panel.parameter")).to_have_count(6, timeout=SOON)
    wait(lambda: painted(page, ".panel") > 0)
    inertia = page.locator(".panel.parameter").first
    expect(inertia.locator("h3")).to_have_text("inertia")
    expect(inertia.locator(".unit")).to_have_text("kg·m²")
    assert 0.35 < float(inertia.locator(".value").text_content() or "nan") < 0.48
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


def coloured(page: Page, selector: str, name: str) -> int:
    """How many pixels of a canvas have nearly the colour of this name (a variable of the style)."""
    script = """([selector, name]) => {
      const canvas = document.querySelector(selector), options = { willReadFrequently: true };
      const probe = new OffscreenCanvas(1, 1).getContext("2d", options);
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", options);
      copy.drawImage(canvas, 0, 0);
      probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
      probe.fillRect(0, 0, 1, 1);
      const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      const near = (value, wanted) => Math.abs(value - wanted) < 12;
      const same = (i) => near(data[i], r) && near(data[i + 1], g) && near(data[i + 2], b) && data[i + 3] > 150;
      let count = 0;
      for (let i = 0; i < data.length; i += 4) count += same(i);
      return count;
    }"""
    found: int = page.evaluate(script, [selector, name])
    return found


def test_curves_show_samples_and_the_fitted_law(
    seven: str, open_page: Callable[..., Page], wait: Callable[..., None]
) -> None:
    page = open_page(f"{seven}/#/joint/base")
    expect(page.get_by_role("heading", name="Torsion", exact=True)).to_be_visible(timeout=SOON)
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


def test_drift_is_shown_against_the_baseline(
    seven: str, open_page: Callable[..., Page], wait: Callable[..., None]
) -> None:
    page = open_page(seven)
    shoulder = page.locator('[data-joint="shoulder"]')
    expect(shoulder.locator(".pill")).to_have_text("Drifting", timeout=SOON)
    expect(shoulder.locator(".meaning")).to_contain_text("viscous +1")
    expect(page.locator('[data-joint="lift"] .pill')).to_have_text("Normal", timeout=SOON)
    expect(page.locator('[data-headline="shoulder"] .what')).to_contain_text("coulomb +1", timeout=SOON)
    wait(lambda: coloured(page, '[data-headline="shoulder"] .curve', "baseline") > 20)
    assert coloured(page, '[data-headline="shoulder"] .curve', "estimate") > 20
    page.goto(f"{seven}/#/joint/shoulder")
    coulomb = page.locator(".knowledge .row").nth(3)
    expect(coulomb).to_contain_text("◆ +16", timeout=SOON)
    expect(page.locator(".knowing .since")).to_contain_text("baseline of ")
    wait(lambda: coloured(page, ".curve", "baseline") > 100)


def test_a_baseline_is_set_with_the_token_only(seven: str, open_page: Callable[..., Page], troubles: list[str]) -> None:
    page = open_page(f"{seven}/#/joint/shoulder")
    page.get_by_role("button", name="Set baseline…").click(timeout=SOON)
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
    expect(page.get_by_role("heading", level=1)).to_have_text("base", timeout=SOON)
    expect(page.get_by_role("navigation", name="Joints")).to_have_count(0)
    page.keyboard.press("a")
    expect(page.get_by_role("heading", level=1)).to_have_text("Acquisition")
    page.get_by_role("link", name="Joints", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("base")


def test_acquisition_tells_rates_losses_and_causes(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(seven)
    page.get_by_role("link", name="Acquisition").click()
    drivers = page.get_by_role("table", name="Drivers").get_by_role("row")
    expect(drivers).to_have_count(3, timeout=SOON)
    expect(drivers.nth(1)).to_contain_text("unmatched 3")
    expect(drivers.nth(2)).to_contain_text("interface can1 is down")
    expect(drivers.nth(1)).to_contain_text("43.2 %", timeout=SOON)
    joints = page.get_by_role("table", name="Joints").get_by_role("row")
    expect(joints).to_have_count(8)
    expect(joints.nth(1)).to_contain_text("late 2")
    expect(joints.nth(1)).to_contain_text("torque 3.1 ms")
    rate = joints.nth(1).get_by_role("cell").nth(0)
    expect(rate).not_to_have_text("–", timeout=SOON)
    assert 500 < float((rate.text_content() or "").replace("\u202f", "")) < 1500, "1000 a second are published"
    expect(page.get_by_role("link", name="Acquisition")).to_have_attribute("aria-current", "page")
    page.keyboard.press("Escape")
    expect(page.locator(".card[data-joint]")).to_have_count(7)


def test_the_cursor_reads_a_plot(seven: str, open_page: Callable[..., Page], wait: Callable[..., None]) -> None:
    page = open_page(f"{seven}/#/joint/shoulder")
    wait(lambda: page.locator(".panel .u-over").count() > 0)
    plot = page.locator(".panel.parameter .u-over").first
    plot.hover()
    expect(page.locator(".parameter .readout").first).to_contain_text("s ago: 0.4", timeout=SOON)


def test_the_keyboard_is_enough(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(seven)
    expect(page.locator(".card[data-joint]")).to_have_count(7, timeout=SOON)
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
    expect(page.locator("h2, h1").first).to_be_visible(timeout=SOON)
    expect(page.locator("#connection")).to_have_text("Live", timeout=SOON)
    page.wait_for_timeout(500)  # some updates: with fewer, on a slow machine, the test is less sharp and never fails
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    parts = "[...document.querySelectorAll('.parameters > span, header > *, .caption > *, .card footer > *')]"
    outside = (
        f"{parts}.filter((e) => e.getBoundingClientRect().right > innerWidth - 8 || e.scrollWidth > e.clientWidth + 1)"
    )
    assert page.evaluate(f"{outside}.map((e) => e.textContent)") == []


@pytest.mark.parametrize("width", [1440, 360])
def test_the_whole_robot_says_what_touches_it_what_it_carries_and_what_is_compensated(
    whole: str, open_page: Callable[..., Page], width: int
) -> None:
    page = open_page(f"{whole}/#/robot", width, 900)
    expect(page.locator(".whole h1")).to_have_text("Whole robot")
    expect(page.locator("#connection")).to_have_text("Live")
    panels = page.locator(".panel.residual")
    expect(panels).to_have_count(7)
    expect(panels.first.locator(".learnt")).to_have_text("compensated by 0.40 N·m, as learnt")
    expect(panels.nth(2).locator(".unit")).to_have_text("of 1.0 N·m")
    expect(panels.nth(2).locator(".learnt")).to_be_hidden()
    expect(page.locator("dl.figures")).to_contain_text("2.01 kg± 0.03 kg")
    touched = page.locator('.panel.residual[data-contact="true"]')
    expect(touched).to_have_count(1)
    expect(touched).to_have_attribute("data-joint", panels.nth(1).get_attribute("data-joint") or "")
    expect(page.locator(".explanation")).to_contain_text("unexplained, threshold 1.0 N·m")
    places = "panels => panels.slice(0, 2).map(one => one.getBoundingClientRect()).map(({ x, y }) => [y, x])"
    first, second = panels.evaluate_all(places)  # of one instant: the page may move while it fills
    assert second < first, "what is touched comes first"
    expect(page.locator("table[aria-label^=Friction] tbody tr")).to_have_count(7)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_light_and_dark(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(seven, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(14, 18, 22)"
    page.locator("#theme").click()
    assert page.evaluate(background) == "rgb(244, 246, 248)"
    page.reload()
    assert page.evaluate(background) == "rgb(244, 246, 248)", "the choice is remembered"
    expect(page.locator("#theme")).to_have_text("Theme: light")


def test_the_layout_stands_still(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{seven}/#/joint/shoulder")
    expect(page.locator("#connection")).to_have_text("Live", timeout=SOON)
    every = "[...document.querySelectorAll('.panel, .head, .plot')]"
    boxes = f"JSON.stringify({every}.map((e) => e.getBoundingClientRect()))"
    before, deadline = "", time.monotonic() + SOON / 1000
    while before != (before := page.evaluate(boxes)):  # the first curves, and the fonts, are still to come
        assert time.monotonic() < deadline, "it never stands still"
        page.wait_for_timeout(300)
    for _ in range(4):
        page.wait_for_timeout(300)  # updates that must move nothing: fewer, on a slow machine, do so even less
        assert page.evaluate(boxes) == before


def test_values_follow_the_updates(
    outlet: Any, core: Any, open_page: Callable[..., Page], make_estimate: Callable[..., Estimate]
) -> None:
    page = open_page(outlet.page)
    card = page.locator('[data-joint="elbow"]')
    expect(card.locator(".pill")).to_have_text("Waiting", timeout=SOON)
    expect(page.locator("#connection")).to_have_text("Connected · no updates yet")
    value = card.locator(".value").first
    feed(page, core, make_estimate(inertia=0.5), lambda: value.text_content() == "0.5000")
    feed(page, core, make_estimate(inertia=0.625), lambda: value.text_content() == "0.6250")
    expect(card.locator(".deviation").first).to_have_text("± 0.0020")
    jumped = make_estimate(Phase.FAULTED, ("the encoder jumped",))
    feed(page, core, jumped, lambda: card.get_attribute("data-phase") == "faulted")
    expect(card.locator(".meaning")).to_have_text("the encoder jumped")


def feed(page: Page, core: Any, estimate: Estimate, enough: Callable[[], bool]) -> None:
    """Publish this estimate until the page shows it."""
    deadline = time.monotonic() + SOON / 1000
    while not enough():
        assert time.monotonic() < deadline, "the page does not follow"
        core.estimate(estimate=estimate)
        page.wait_for_timeout(30)  # between two estimates, as a core has it


def test_it_says_stale_and_reconnects_by_itself(
    tmp_path: Path, core: Any, restart: Callable[..., Any], open_page: Callable[..., Page], troubles: list[str],
    make_estimate: Callable[..., Estimate],
) -> None:  # fmt: skip
    first = restart(tmp_path)
    page = open_page(first.page)
    state = page.locator("#connection")
    feed(page, core, make_estimate(), lambda: state.text_content() == "Live")
    expect(state).to_have_text("Stale for 2 s", timeout=SOON)
    assert not troubles
    first.stop()
    expect(state).to_contain_text("Reconnecting · stale for", timeout=SOON)
    restart(tmp_path, page=first.page)
    feed(page, core, make_estimate(inertia=0.75), lambda: state.text_content() == "Live")
    expect(page.locator('[data-joint="elbow"] .value').first).to_have_text("0.7500", timeout=SOON)
    refused = [trouble for trouble in troubles if "WebSocket connection to" in trouble]
    assert troubles == refused, "but for the attempts while the outlet was away"
    troubles.clear()


def test_a_refit_is_told_with_its_cause(seven: str, open_page: Callable[..., Page]) -> None:
    page = open_page(f"{seven}/#/joint/base")
    refit = page.locator(".log li").filter(has_text="refit")
    expect(refit).to_contain_text("omega_tanh 0.049 → 0.052", timeout=SOON)
    expect(refit.locator(".kind")).to_have_attribute("data-tone", "busy")
    page.goto(f"{seven}/#/joint/shoulder")
    drift = page.locator(".log li").filter(has_text="has drifted")
    expect(drift.locator(".kind")).to_have_attribute("data-tone", "warn", timeout=SOON)


def test_every_event_is_told_with_its_cause_and_what_it_means(
    outlet: Any, core: Any, open_page: Callable[..., Page], make_estimate: Callable[..., Estimate]
) -> None:
    page = open_page(f"{outlet.page}/#/joint/elbow")
    feed(page, core, make_estimate(), lambda: page.locator(".panel.log").count() == 1)
    for kind in EVENTS:
        core.updates.send_multipart(core.publications["elbow"].event(kind, f"the cause of {kind}", time.time()))
    rows = page.locator(".panel.log .events li")
    expect(rows).to_have_count(len(EVENTS), timeout=SOON)
    tones = {"alarm": "bad", "fault": "bad", "transient": "warn", "drift": "warn", "refit_rejected": "warn"}
    tones |= {"refit_started": "busy", "refit_accepted": "busy", "law": "busy", "started": "good", "recovered": "good"}
    for row, kind in zip(reversed(rows.all()), EVENTS, strict=True):
        told = row.locator(".kind")
        expect(told).to_have_text(kind.replace("_", " "))
        expect(row.locator(".text")).to_have_text(f"the cause of {kind}")
        assert (told.get_attribute("title") or "").endswith("."), kind
        assert told.get_attribute("data-tone") == tones.get(kind, told.get_attribute("data-tone")), kind


def test_it_survives_a_restart_of_the_whole_service(
    tmp_path: Path, make_core: Any, restart: Callable[..., Any], open_page: Callable[..., Page], troubles: list[str],
    make_estimate: Callable[..., Estimate],
) -> None:  # fmt: skip
    first, core = restart(tmp_path), make_core(tmp_path, boot=1)
    page = open_page(f"{first.page}/#/joint/elbow")
    phase = page.locator(".head .pill")
    feed(page, core, make_estimate(), lambda: phase.text_content() == "Normal")
    core.close()
    first.stop()
    expect(page.locator("#connection")).to_contain_text("Reconnecting", timeout=SOON)
    restart(tmp_path, page=first.page)
    again = make_core(tmp_path, boot=2)
    try:
        faulted = make_estimate(Phase.FAULTED, ("the encoder jumped",))
        feed(page, again, faulted, lambda: phase.text_content() == "Faulted")
        expect(page.locator(".reasons li")).to_have_text("the encoder jumped")
        expect(page.locator("#connection")).to_have_text("Live", timeout=SOON)
        feed(page, again, make_estimate(inertia=0.75), lambda: phase.text_content() == "Normal")
    finally:
        again.close()
    troubles[:] = [trouble for trouble in troubles if "WebSocket connection to" not in trouble]
