"""The page's files: what is vendored is what was published, and no other host is named."""

import hashlib
from pathlib import Path

DASHBOARD = Path(__file__).parents[4] / "daq" / "outlet" / "dashboard"


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
