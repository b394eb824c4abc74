"""The page in a real Chromium: it draws, it updates, it reconnects, it explains, and it stays on this machine."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from daq.state.history.file import HistoryFile
from daq.state.history.interval import Interval, Quantity, SeenUse
from estimators.base import Estimate
from estimators.wear.use_counts import UseCounts
from tests.support.processes.programs import Program

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run",
    "--disable-quic", "--disable-component-update",
]  # fmt: skip
# the shell is what draws a page, and nothing around it: it opens one in half the processor time
BROWSERS = ("chromium-headless-shell", "chromium")
SOON = 60_000  # ms that a loaded machine may take: nothing waits longer than it must
SIZE = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=360, height=740)
SHOW = """async (hash) => {
  const { shown } = await import("./time_window.js");
  const { JointView } = await import("./views/joint.js");
  shown.follow(60);
  JointView.expert = false;
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}"""
expect.set_options(timeout=SOON)


@pytest.fixture(scope="session")
def wait(wait: Callable[..., None]) -> Callable[..., None]:
    """As elsewhere, with fewer looks: to look at a canvas costs a browser as much as to draw it."""
    return partial(wait, pause=0.2)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
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


@pytest.fixture(scope="module")
def _opened(browser: Browser) -> Iterator[Callable[[str], tuple[Page, list[str]]]]:
    """The page of an outlet, opened once for all tests of a file, and what the browser complained about since."""
    pages: dict[str, tuple[Page, list[str]]] = {}

    def page_of(outlet: str) -> tuple[Page, list[str]]:
        if outlet not in pages:
            page, troubles = browser.new_page(viewport=SIZE, timezone_id="UTC"), list[str]()
            page.set_default_timeout(SOON)
            _watch(page, outlet, troubles)
            page.goto(outlet)
            pages[outlet] = page, troubles
        return pages[outlet]

    yield page_of
    for page, _ in pages.values():
        page.close()


@pytest.fixture
def overview(_opened: Callable[..., tuple[Page, list[str]]], seven: str) -> Iterator[Page]:
    """The first view of seven joints, for all tests of a file that leave it as they found it."""
    page, troubles = _opened(seven)
    page.set_viewport_size(SIZE)
    page.evaluate("location.hash = '#/'")
    expect(page.locator(".card[data-joint]")).to_have_count(7)
    yield page
    assert not troubles


@pytest.fixture
def view(_opened: Callable[..., tuple[Page, list[str]]]) -> Iterator[Callable[..., Page]]:
    """view(address, width, height): as `open_page`, but a view that is made anew in a page that is open already.

    Time is followed again, and what experts look at is folded. After the test a page is shown that draws nothing.
    """
    used = []

    def show(address: str, width: int = 1440, height: int = 900) -> Page:
        outlet, _, path = address.partition("/#")
        page, troubles = _opened(outlet)
        used.append((page, troubles))
        page.mouse.move(0, 0)
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(SHOW, f"#{path or '/'}")
        return page

    yield show
    for page, troubles in used:
        page.evaluate(SHOW, "#/acquisition")
        assert not troubles


def _watch(page: Page, address: str, troubles: list[str]) -> None:
    """Collect what the browser complains about."""
    own = (address.split("/#")[0], "data:")
    page.on("console", lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith(own) else troubles.append(asked.url))


@pytest.fixture
def open_page(browser: Browser, troubles: list[str]) -> Iterator[Callable[..., Page]]:
    """Opens pages; at the end of the test none may have had trouble, unless the test emptied the list."""
    contexts = []

    def open_one(address: str, width: int = 1440, height: int = 900, **more: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **more)
        context.set_default_timeout(SOON)
        contexts.append(context)
        page = context.new_page()
        _watch(page, address, troubles)
        page.goto(address)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not troubles


@pytest.fixture(scope="session")
def fed(program_server: str, make_outlet: Callable[..., Any]) -> Callable[..., AbstractContextManager[str]]:
    """fed(folder, *words of the core, outlet=more of its arguments): for the address of an outlet's page.

    A core with seven joints of every kind feeds it ten times a second, as often as the page draws what it compares.
    """

    @contextmanager
    def feeding(folder: Path, *words: str, outlet: tuple[str, ...] = ()) -> Iterator[str]:
        process = make_outlet(folder, more=outlet)
        core = Program(program_server, "fake_core", f"ipc://{folder}/u", f"ipc://{folder}/s", "--rate", "10", *words)
        yield process.page
        core.close()
        assert process.stop() == 0

    return feeding


@pytest.fixture(scope="module")
def seven(fed: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its joints have moved for a minute."""
    with fed(tmp_path_factory.mktemp("seven"), "--past", "40") as page:
        yield page


@pytest.fixture(scope="module")
def _phone(browser: Browser, seven: str) -> Iterator[Page]:
    """Their page on a phone, opened once for all tests of a file."""
    troubles = list[str]()
    context = browser.new_context(viewport=PHONE, device_scale_factor=2, has_touch=True)
    context.set_default_timeout(SOON)
    page = context.new_page()
    _watch(page, seven, troubles)
    page.goto(seven)
    yield page
    context.close()
    assert not troubles


@pytest.fixture
def phone(_phone: Page) -> Iterator[Page]:
    """Their page on a phone: a test goes to its own view, and after it the page draws little."""
    yield _phone
    _phone.evaluate(SHOW, "#/acquisition")


@pytest.fixture(scope="module")
def aged(fed: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """There is a history of a year of its shoulder: 2 N·m of Coulomb friction, 3 in the last month, used for an hour a
    day; a row a day, and of the last hour a row a minute."""
    folder = tmp_path_factory.mktemp("aged")
    file, now, hours = HistoryFile(folder / "old.sqlite", 3660), int(time.time()) // 60 * 60, 0
    for start in [*(now - 86_400 * day for day in range(364, 1, -1)), *range(now - 3000, now, 60)]:
        interval, hours = Interval(start), hours + 1
        value = 3.0 if now - start < 30 * 86_400 else 2.0
        interval.add(Quantity("shoulder", "coulomb", "N·m"), value, 0.02)
        interval.add(Quantity("shoulder", "temperature", "°C"), 31.0, 31.0)
        for middle in ("0.98", "0.01"):
            interval.add(Quantity("shoulder", f"friction@{middle}", "N·m"), value, 0.02)
        interval.see([SeenUse(1, "shoulder", "rad", UseCounts(3600.0 * hours, 10.0 * hours, 2 * hours, hours))])
        file.write(interval)
    file.close()
    with fed(folder, outlet=("--history", str(folder / "old.sqlite"))) as page:
        yield page


@pytest.fixture(scope="module")
def whole(fed: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """There is a model of the whole robot; the second joint is touched now and then, two kilograms are carried.
    Two joints have an open change, one of them wears."""
    with fed(tmp_path_factory.mktemp("whole"), "--whole", "--changed", "shoulder", "wrist_pitch") as page:
        yield page


def _painted(page: Page, selector: str) -> int:
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


@pytest.fixture
def painted() -> Callable[..., int]:
    return _painted


def _coloured(page: Page, selector: str, name: str) -> int:
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


@pytest.fixture
def coloured() -> Callable[..., int]:
    return _coloured


def _feed(page: Page, core: Any, estimate: Estimate, enough: Callable[[], bool]) -> None:
    """Publish this estimate until the page shows it."""
    deadline = time.monotonic() + SOON / 1000
    while not enough():
        assert time.monotonic() < deadline, "the page does not follow"
        core.estimate(estimate=estimate)
        page.wait_for_timeout(30)  # between two estimates, as a core has it


@pytest.fixture
def feed() -> Callable[..., None]:
    return _feed
