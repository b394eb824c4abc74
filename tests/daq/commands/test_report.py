"""`jointwatch report`: the page tells what is in the recording, needs nothing else, and prints."""

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import msgpack
import numpy as np
import pytest
from playwright.sync_api import Page, sync_playwright

from daq.__main__ import main
from daq.commands.report.document import document
from daq.commands.report.run import ReportContent, gather
from daq.commands.report.words import number
from daq.config.load import load
from daq.config.sections import Record
from daq.core.pipeline import Pipeline
from daq.core.replayable_executor import DeferredExecutor
from daq.recording.folder import recordings
from daq.recording.process import NextBlock, Recorder
from daq.state.baselines import Baseline
from daq.stream.transcript import Batch, TurnBlock
from drivers.reading import READING
from estimators.refit.inline import Inline

pytestmark = pytest.mark.compiled

TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"
EPOCH = 1_700_000_000_000_000_000
TRUTH = {"inertia": 2.0, "viscous": 3.0, "coulomb": 1.5, "offset": 0.4, "gravity_sin": 5.0, "gravity_cos": -1.0}
SECONDS, BASED, BLOCK = 24, 12, 40  # s; s at which the baseline is set; samples
LOST = 7  # samples


def motion() -> np.ndarray:
    """Readings of the template's joint at 1 kHz, some samples lost."""
    t = np.arange(1, SECONDS * 1000 + 1) * 1e-3
    amplitude, omega = np.array([[0.5], [0.3]]), 2 * np.pi * np.array([[0.5], [1.3]])
    q = np.sum(amplitude * np.sin(omega * t), axis=0)
    v = np.sum(amplitude * omega * np.cos(omega * t), axis=0)
    a = np.sum(-amplitude * omega**2 * np.sin(omega * t), axis=0)
    torque = TRUTH["inertia"] * a + TRUTH["viscous"] * v + TRUTH["coulomb"] * np.sign(v) + TRUTH["offset"]
    torque += TRUTH["gravity_sin"] * np.sin(q) + TRUTH["gravity_cos"] * np.cos(q)
    rows = np.zeros((len(t), 3), READING)
    rows["time"], rows["channel"] = np.round(t * 1e9).astype(np.int64)[:, None], [0, 1, 2]
    rows["value"] = np.column_stack([q, torque, np.arange(len(t)) % 65536])
    kept = np.ones(len(t), bool)
    kept[5000 : 5000 + LOST] = False
    return rows[kept]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a baseline whose inertia is a fifth less, and an event that tries to be a program."""
    folder = tmp_path_factory.mktemp("records")
    config = load(TEMPLATE).model_copy(update={"recorder": Record(folder=folder, reserve=0)})
    latch = DeferredExecutor(Inline())
    recorder, pipeline = Recorder(config, expected := NextBlock(folder / "next")), Pipeline(config, 7, latch)
    values = TRUTH | {"inertia": 0.8 * TRUTH["inertia"]}
    baseline = Baseline(since=1.7e9, model="rigid", values=values, deviations=dict.fromkeys(values, 1e-3))
    rows = motion()
    for count, part in enumerate(np.split(rows, range(BLOCK, len(rows), BLOCK))):
        based = {"elbow": baseline.model_dump()} if count == BASED * 1000 // BLOCK else None
        if based:
            pipeline.set_baselines(based)
        now = int(part["time"][-1, 0])
        messages = pipeline.absorb(part.ravel(), EPOCH, lambda now=now: now) + pipeline.check_silence(now, EPOCH)
        if count == 100:
            event = {"timestamp": EPOCH / 1e9 + 4, "kind": "alarm", "text": "<script>alert('µ')</script>", "seq": 10**6}
            messages.append((b"event/elbow", msgpack.packb(event | {"boot": 7, "joint": "elbow"})))
        batch = Batch(part.size, EPOCH, now, [now] * len(messages), [], based)
        recorder.take(TurnBlock(7, count, [batch], part.ravel(), messages))
    recorder.close()
    expected.close()
    (file,) = recordings(folder, "arm")
    return file


@pytest.fixture(scope="module")
def run(recording: Path) -> ReportContent:
    return gather([recording])


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(254.3, 2, "250"), (-228.38, 5, "−228.38"), (9.75e6, 3, "9750000"), (2.5e9, 2, "2.5e+09"), (3.2e-7, 2, "3.2e−07")],
)
def test_a_number_has_a_power_of_ten_only_where_it_would_be_long(value: float, digits: int, text: str) -> None:
    assert number(value, digits) == text


def test_no_two_columns_of_a_table_have_one_name(run: ReportContent) -> None:
    for head in re.findall(r"<thead>(.*?)</thead>", document(run), re.DOTALL):
        names = [name for name in re.findall(r"<th[^>]*>(.*?)</th>", head) if name]
        assert len(names) == len(set(names)) > 0


def test_the_run_is_what_was_recorded(run: ReportContent) -> None:
    (joint,) = run.joints
    assert dict(zip(joint.units, joint.last(), strict=True)) == pytest.approx(TRUTH, rel=0.02, abs=0.02)
    assert joint.lost["lost"] == LOST
    assert joint.samples > 0.99 * SECONDS * 1000 - LOST
    assert run.readings == 3 * (SECONDS * 1000 - LOST)
    assert run.start == pytest.approx(EPOCH / 1e9, abs=1.0)
    assert run.end == pytest.approx(EPOCH / 1e9 + SECONDS, abs=1.0)
    assert joint.drift["drifted"] == ["inertia"]
    assert joint.drift["percent"]["inertia"] == pytest.approx(25.0, abs=2.0)
    assert {"started", "baseline", "drift"} <= {event["kind"] for event in run.events}
    velocity, friction = joint.points[:, 1], joint.points[:, 2]
    moving = np.abs(velocity) > 0.3
    law = TRUTH["viscous"] * velocity + TRUTH["coulomb"] * np.sign(velocity)
    assert np.median(np.abs(friction - law)[moving]) < 0.1
    assert (run.restarts, run.gaps) == (0, [])


def test_drift_from_its_own_start_is_not_called_one_from_a_baseline(
    run: ReportContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = document(run)
    assert "<small>baseline of 20" in text
    assert "since its start" not in text
    (joint,) = run.joints
    monkeypatch.setattr(joint, "drift", joint.drift | {"reference": "start", "drifted": []})
    worn = {"parameter": "dry_wear", "acknowledged": 0.0, "text": "dry_wear changed gradually"}
    monkeypatch.setattr(
        joint, "changes", [worn, {"parameter": "viscous", "acknowledged": 9.0, "text": "viscous changed"}]
    )
    assert '<td><span class="warn">◆ dry wear</span></td>' in document(run), "in the overview until it is acknowledged"
    monkeypatch.setattr(joint, "changes", [])
    text = document(run)
    assert re.search(r"<small>since its start, 20[^<]*; no baseline was set</small>", text)
    assert ">none since its start<" in text
    assert '<span class="key baseline">at its start</span>' in text
    assert "<small>baseline of" not in text


class Outside(HTMLParser):
    """Everything that a page would have to fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "img", "iframe", "object"):
            self.found.append(tag)
        self.found += [f"{name}={value}" for name, value in attrs if name in ("src", "href") and str(value)[:1] != "#"]
        self.found += [name for name, _ in attrs if name.startswith("on")]


def test_the_page_needs_nothing_else(run: ReportContent) -> None:
    text = document(run)
    outside = Outside()
    outside.feed(text)
    assert outside.found == []
    assert not re.search(r"url\(|@import", text)
    assert "&lt;script&gt;" in text
    assert "nan" not in re.sub(r"<[^>]*>", "", text).lower().split()
    assert not re.search(r'(points|d)="[^"]*nan', text)


@pytest.fixture(scope="module")
def page(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    out = tmp_path_factory.mktemp("report") / "run.html"
    assert main(["report", str(recording), "--out", str(out)]) == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        opened = browser.new_page(viewport={"width": 1280, "height": 900})
        opened.set_default_timeout(60_000)
        opened.goto(out.as_uri())
        yield opened
        browser.close()


def test_a_browser_draws_parameters_drift_curves_and_events(page: Page) -> None:
    assert page.locator("h1").inner_text() == "arm"
    assert page.locator("#joint-elbow figure > svg").count() == 1 + len(TRUTH) + 2, "curve, parameters, two more"
    row = page.locator(".drift tbody tr", has_text="inertia").inner_text()
    assert "◆ +2" in row
    assert page.locator(".events tbody tr", has_text="<script>").count() == 1
    assert page.locator("path.cloud").bounding_box()["width"] > 200  # type: ignore[index]
    for width in (1280, 400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_recording_without_updates_is_reported_as_such(tmp_path: Path) -> None:
    config = load(TEMPLATE).model_copy(update={"recorder": Record(folder=tmp_path, reserve=0)})
    recorder = Recorder(config, expected := NextBlock(tmp_path / "next"))
    recorder.take(TurnBlock(1, 0, [Batch(0, EPOCH, 1, [], [], None)]))
    recorder.close()
    expected.close()
    text = document(gather(recordings(tmp_path, "arm")))
    assert "nothing was recorded" in text


def test_what_cannot_be_made_is_said_in_one_line(
    recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.mcap").write_bytes(b"rubbish")
    assert main(["report", str(tmp_path / "x.mcap")]) == 1
    assert main(["report", str(recording), "--out", str(tmp_path / "none" / "x.html")]) == 1
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["report", str(recording), "--out", str(tmp_path / "x.html"), "--pdf"]) == 1
    said = capsys.readouterr().err.splitlines()
    lines = [line for line in said if not line.startswith("report: ")]  # progress, on a busy machine
    assert [line[: len("jointwatch: ")] for line in lines] == ["jointwatch: "] * 3
    assert "apt-get install chromium" in lines[2]


def test_pdf(recording: Path, tmp_path: Path) -> None:
    assert main(["report", str(recording), "--out", str(tmp_path / "x.html"), "--pdf"]) == 0
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF-")
