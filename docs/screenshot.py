"""Take the README's pictures: python docs/screenshot.py (needs Debian's chromium and the test environment).

page.png: an elastic joint, light; wall.png: seven joints on a wall screen, dark; phone.png: one of them on a phone.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from hil_rig.live import Live

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run")
FOLDER = Path(__file__).parent
ELASTIC, SEVEN = ["two_mass", "--wire", "slcan"], ["rigid", "--joints", "7", "--wire", "udp"]
WALL: dict[str, Any] = {"viewport": {"width": 3840, "height": 2160}, "device_scale_factor": 0.4, "color_scheme": "dark"}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 1.5, "color_scheme": "light"}
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 1000}, "color_scheme": "light"}


def take(browser: Browser, address: str, target: Path, screen: dict[str, Any]) -> None:
    """One picture of a page that has been open for a few seconds."""
    with browser.new_context(**screen) as context:
        page = context.new_page()
        page.goto(address)
        page.wait_for_timeout(5000)
        page.screenshot(path=target)


def main(seconds: float) -> None:
    """Let each rig run for a while, then look at its page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        with Live(ELASTIC) as live:
            time.sleep(seconds)
            take(browser, f"{live.page}/#/joint/joint1", FOLDER / "page.png", DESK)
        with Live(SEVEN) as live:
            time.sleep(seconds)
            baseline = [sys.executable, "-m", "daq", "baseline", str(live.config), "--set"]
            subprocess.run(baseline, check=False, stdout=subprocess.DEVNULL)
            time.sleep(3)
            take(browser, live.page, FOLDER / "wall.png", WALL)
            take(browser, f"{live.page}/#/joint/joint3", FOLDER / "phone.png", PHONE)
        browser.close()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 45.0)
