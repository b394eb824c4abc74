"""Take the README's picture: python docs/screenshot.py (needs Debian's chromium and the test environment)."""

import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from hil_rig.live import Live

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run")


def main(target: Path, path: str = "/#/joint/joint1", seconds: float = 45.0) -> None:
    """Let the demo's rig run for a while, then look at its page."""
    with Live(["two_mass", "--wire", "slcan"]) as live, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme="light")
        page.goto(live.page + path)
        time.sleep(seconds)
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("page.png")), *sys.argv[2:3])
