"""Take every picture of the page: python docs/screenshot.py [PART …] (needs chromium and the test environment).

Parts; all of them unless some are named:

- starting, joints: a rig of seven joints and the service run as they do in the field; the third joint's friction grows
  at JUMP s, then the rig is held still and let go, then the service is stopped. Every state is taken at three sizes,
  into docs/page/STATE-SIZE.jpg.
- elastic: the page of an elastic joint, docs/page.png.
- held, robot: what no rig shows within minutes, from values that tests/support/processes/fake_core.py makes up.
- fleet: recordings of twelve robots a month apart, one of which is odd and one of which drifts.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests are no installed package

from hil_rig.live import Live
from hil_rig.truth.fleet import Fleet, record
from tests.daq.conftest import start_outlet
from tests.support.processes.programs import serving

FLAGS: Final = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run")
FOLDER: Final = Path(__file__).parent
FAKE_CORE: Final = "tests/support/processes/fake_core.py"
JUMP: Final = 110.0  # s
SEVEN: Final = ["rigid", "--joints", "7", "--wire", "udp", "--jump", f"{JUMP:g}:joint3.viscous=1.5"]
SLOW: Final = ["rigid", "--joints", "7", "--wire", "udp", "--set", "trajectory.period=60"]  # starts for long
ELASTIC: Final = ["two_mass", "--wire", "slcan"]
SIZES: Final[dict[str, dict[str, Any]]] = {
    "desk": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "wall": {"viewport": {"width": 1600, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "color_scheme": "light"},
}
FILLED: Final = 15.0  # s in which the past of made-up values comes
FIRST: Final = 1_780_000_000.0  # Unix s of the fleet's first recordings
MONTH: Final = 30 * 86_400.0  # s between two recordings of a robot
PATIENCE: Final = 600.0  # s for a state to come
# all sizes show one instant: a state may be over before the last is taken. A page that connects again while it is held
# is empty, and has another first child than it had
HOLD: Final = """() => {
  held = []; go = requestAnimationFrame; requestAnimationFrame = (f) => held.push(f);
  seen = document.getElementById('view')?.firstChild;
}"""
SAME: Final = "() => document.getElementById('view')?.firstChild === seen"
TRIALS: Final = 5
RELEASE: Final = "() => { requestAnimationFrame = go; held.forEach((f) => go(f)); }"


def main() -> None:
    """The parts that are asked for, in the order in which a robot meets their states."""
    asked = sys.argv[1:] or list(PARTS)
    if unknown := set(asked) - set(PARTS):
        sys.exit(f"unknown parts {', '.join(sorted(unknown))}: expected some of {', '.join(PARTS)}")
    (FOLDER / "page").mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        for part in asked:
            PARTS[part](browser)
        browser.close()


def _take_starting(browser: Browser) -> None:
    with Live(SLOW) as live, _pages(browser, live.page) as pages:
        _until(live, lambda joints: any(one["phase"] == "starting" for one in joints.values()))
        _take(pages, "starting", 2.0)


def _take_joints(browser: Browser) -> None:
    with Live(SEVEN) as live, _pages(browser, live.page) as pages:
        _until(live, lambda joints: all(one["health"]["status"] == "valid" for one in joints.values()))
        baseline = [sys.executable, "-m", "daq", "baseline", str(live.config), "--set"]
        subprocess.run(baseline, check=False, stdout=subprocess.DEVNULL)
        _take(pages, "normal", 6.0)
        _until(live, lambda joints: joints["joint3"]["phase"] == "transient")
        _take(pages, "transient", 0.8)
        _until(live, lambda joints: bool(joints["joint3"]["drift"].get("drifted")))
        _until(live, lambda joints: joints["joint3"]["phase"] == "normal")
        _take(pages, "drifting", 10.0)
        live.hold_rig(True)
        _until(live, lambda joints: all(one["phase"] == "faulted" for one in joints.values()))
        _take(pages, "faulted", 3.0)
        live.hold_rig(False)
        _until(live, lambda joints: all(one["phase"] == "normal" for one in joints.values()))
        assert live.service is not None
        live.service.terminate()
        _take(pages, "stale", 6.0)


def _take_elastic(browser: Browser) -> None:
    with Live(ELASTIC) as live:
        size = SIZES["desk"] | {"viewport": {"width": 1280, "height": 1000}}
        page = _open(browser, f"{live.page}/#/joint/joint1", size)
        time.sleep(45.0)
        page.screenshot(path=FOLDER / "page.png")
        page.close()


def _take_held(browser: Browser) -> None:
    with _fed("--kind", "held", "--changed", "shoulder") as address, _pages(browser, address) as pages:
        _take(pages, "held", 4.0)


def _take_robot(browser: Browser) -> None:
    with _fed("--whole") as address, _pages(browser, f"{address}/#/robot") as pages:
        for page in pages.values():  # a contact has begun, and is drawn at every size
            touched = page.locator('section.whole[data-phase="transient"] .panel.contact[data-touched="true"]')
            touched.wait_for(timeout=1000 * PATIENCE)
        _take(pages, "robot", 0.0)


@contextlib.contextmanager
def _fed(*words: str) -> Iterator[str]:
    """The address of an outlet that a program feeds with seven joints of made-up values."""
    with tempfile.TemporaryDirectory() as folder, serving(server := f"{folder}/programs"):
        outlet = start_outlet(server, Path(folder))
        feed = [
            sys.executable,
            FAKE_CORE,
            f"ipc://{folder}/u",
            f"ipc://{folder}/s",
            "--past",
            "60",
        ]
        root = FOLDER.parent
        child = subprocess.Popen([*feed, *words], cwd=root, env=os.environ | {"PYTHONPATH": str(root)})
        try:
            time.sleep(FILLED)
            yield outlet.page
        finally:
            child.terminate()
            child.wait(10)
            outlet.stop()


@contextlib.contextmanager
def _pages(browser: Browser, address: str) -> Iterator[dict[str, Page]]:
    """The page at every size."""
    pages = {name: _open(browser, address, screen) for name, screen in SIZES.items()}
    yield pages
    for page in pages.values():
        page.close()


def _take_fleet(browser: Browser) -> None:
    """The page of `jointwatch fleet identify`: recordings of twelve robots, two of each."""
    with tempfile.TemporaryDirectory() as folder:
        for recording in record(Fleet(robots=12, recordings=2, seconds=20.0), Path(folder)):
            with np.load(recording) as columns:
                dated = dict(columns) | {"time": columns["time"] + FIRST + MONTH * int(recording.stem)}
            np.savez(recording, **dated)
        file = Path(folder, "fleet.html")
        words = ["fleet", "identify", folder, "--workers", "0", "--page", str(file)]
        subprocess.run([sys.executable, "-m", "daq", *words], check=True)
        _take({name: _open(browser, file.as_uri(), screen) for name, screen in SIZES.items()}, "fleet", 0.5)


def _open(browser: Browser, address: str, screen: dict[str, Any]) -> Page:
    page = browser.new_context(**screen).new_page()
    page.goto(address)
    return page


def _take(pages: dict[str, Page], state: str, after: float) -> None:
    """A state at every size, some seconds after it came."""
    next(iter(pages.values())).wait_for_timeout(1000 * after)
    for page in pages.values():
        page.evaluate(HOLD)
    for size, page in pages.items():
        for _ in range(TRIALS):
            page.screenshot(path=FOLDER / "page" / f"{state}-{size}.jpg", type="jpeg", quality=82)
            page.evaluate(RELEASE)
            if page.evaluate(SAME):
                break  # else it has connected again meanwhile, which a busy machine makes it do, and was empty
            page.wait_for_timeout(4000)
            page.evaluate(HOLD)
        else:
            print(f"{state}, {size}: the page was built anew while its picture was taken", file=sys.stderr)
    print(state, flush=True)


def _until(live: Live, holds: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until something is so of the joints. Raises TimeoutError."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{live.page}/api/state", timeout=10) as answer:
            joints = json.load(answer)["joints"]
        if all("phase" in one for one in joints.values()) and holds(joints):
            return
        time.sleep(0.2)
    raise TimeoutError(f"the state did not come: {joints}"[:2000])


PARTS: Final = {
    "starting": _take_starting,
    "joints": _take_joints,
    "elastic": _take_elastic,
    "held": _take_held,
    "robot": _take_robot,
    "fleet": _take_fleet,
}


if __name__ == "__main__":
    main()
