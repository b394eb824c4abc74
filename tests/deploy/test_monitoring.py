"""What is shipped for Prometheus and Grafana: valid by their own checkers, every metric known, every query answered."""

import http
import json
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Histogram

from daq.outlet.metrics import TABLE
from hil_rig.ports import free_port

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DEPLOY = ROOT / "deploy"
BOARDS = sorted((DEPLOY / "grafana").glob("*.json"))
KNOWN = {
    f"jointwatch_{metric.name}{suffix}"
    for metric in TABLE
    for suffix in (("_bucket", "_count", "_sum") if metric.kind is Histogram else ("",))
}
LABELS = {f"jointwatch_{metric.name}": set(metric.labels) for metric in TABLE}
FROM_THE_SCRAPE = {"job", "instance", "robot", "le"}


def metrics_in(text: str) -> set[str]:
    return set(re.findall(r"\bjointwatch_[a-z_]+", text))


def expressions(board: dict[str, Any]) -> list[str]:
    found = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    found += [annotation["expr"] for annotation in board["annotations"]["list"]]
    return found + [variable["definition"] for variable in board["templating"]["list"] if "definition" in variable]


def all_expressions() -> list[str]:
    rules = (DEPLOY / "alerts.yml").read_text()
    found = re.findall(r"expr: (.*)", rules)
    for path in BOARDS:
        found += expressions(json.loads(path.read_text()))
    return found


def promtool(*words: str | Path) -> str:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_promtool_accepts_the_configuration_and_the_rules() -> None:
    assert "valid prometheus config" in promtool("check", "config", DEPLOY / "prometheus.yml")
    assert "SUCCESS" in promtool("check", "rules", DEPLOY / "alerts.yml")


def test_every_alert_fires_on_its_cause_and_only_then() -> None:
    assert "SUCCESS" in promtool("test", "rules", HERE / "alerts.test.yml")
    names = re.findall(r"alert: (\w+)", (DEPLOY / "alerts.yml").read_text())
    tested = (HERE / "alerts.test.yml").read_text()
    assert [name for name in names if name not in tested] == []
    assert len(names) > 10


@pytest.mark.parametrize("expression", all_expressions())
def test_every_metric_and_label_stands_in_the_table(expression: str) -> None:
    assert metrics_in(expression) <= KNOWN
    for name, matchers in re.findall(r"\b(jointwatch_[a-z_]+)\{([^}]*)\}", expression):
        labels = set(re.findall(r"([a-z_]+)\s*[=!]~?", matchers))
        base = re.sub(r"_(bucket|count|sum)$", "", name) if name not in LABELS else name
        assert labels <= LABELS[base] | FROM_THE_SCRAPE, name


def test_every_metric_that_tells_of_trouble_is_watched() -> None:
    """Each counter of a loss and each state has its place on a dashboard."""
    shown = metrics_in(" ".join(all_expressions()))
    asked = {
        f"jointwatch_{metric.name}" for metric in TABLE if re.search("lost|missed|error|malformed|up$", metric.name)
    }
    assert asked <= shown


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_a_dashboard_is_whole(path: Path) -> None:
    board = json.loads(path.read_text())
    assert board["uid"].startswith("jointwatch-")
    panels = board["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        own = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not own & cells, f"{panel['title']} overlaps"
        cells |= own
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}", "no data source of the author's machine"
    names = {variable["name"] for variable in board["templating"]["list"]}
    used = set(re.findall(r"\$(\w+)", " ".join(expressions(board)))) - {"__rate_interval"}
    assert used <= names


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prometheus with the shipped rules that scrapes an outlet fed by seven joints."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("prometheus is missing: apt-get install prometheus")
    folder = tmp_path_factory.mktemp("scraped")
    sockets = [f"ipc://{folder}/u", f"ipc://{folder}/s"]
    page, address = (f"127.0.0.1:{free_port()}" for _ in range(2))
    config = (DEPLOY / "prometheus.yml").read_text().replace("127.0.0.1:8080", page)
    config = config.replace("alerts.yml", str(DEPLOY / "alerts.yml"))
    (folder / "prometheus.yml").write_text(config.replace("interval: 5s", "interval: 1s"))
    fakes = ROOT / "tests" / "support" / "processes"
    children = [
        subprocess.Popen(
            [sys.executable, fakes / "fake_outlet.py", *sockets, "tcp://127.0.0.1:0", "--port", page.split(":")[1]],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PYTHONPATH": str(ROOT)},
        ),
        subprocess.Popen([sys.executable, fakes / "fake_core.py", *sockets, "--whole"], env={"PYTHONPATH": str(ROOT)}),
        subprocess.Popen(
            [program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address={address}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ),
    ]  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while len(ask(address, "count_over_time(jointwatch_samples_total[1m]) > 2")) < 7:
            assert time.monotonic() < deadline, "Prometheus has not scraped in time"
            time.sleep(0.2)  # between two questions
        yield address
    finally:
        for child in reversed(children):
            child.terminate()
        for child in children:
            child.wait(60)


def ask(address: str, expression: str) -> list[Any]:
    try:
        query = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://{address}/api/v1/query?{query}", timeout=60) as answer:
            found: list[Any] = json.load(answer)["data"]["result"]
            return found
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.SERVICE_UNAVAILABLE:  # it is up and reads its data
            return []
        pytest.fail(f"{expression}: {error.read().decode()}")
    except OSError:  # not up yet
        return []


def answered(address: str, expression: str) -> list[Any]:
    """What is found in the end: a scrape that a busy machine does not answer in time leaves nothing until the next."""
    deadline = time.monotonic() + 120
    while not (found := ask(address, expression)) and time.monotonic() < deadline:
        time.sleep(0.2)  # between two questions
    return found


# What is empty while nothing is wrong.
QUIET = re.compile(r"> 0$|ALERTS|\[24h\].*/|kind=\"(alarm|drift)\"")


@pytest.mark.parametrize("path", BOARDS, ids=lambda path: path.stem)
def test_a_real_prometheus_answers_every_panel(path: Path, scraped: str) -> None:
    board = json.loads(path.read_text())
    values = {"robot": "arm", "joint": "base" if path.stem == "robot" else "shoulder", "__rate_interval": "5s"}
    values["parameter"] = "motor_viscous" if path.stem == "robot" else "inertia"
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            expression = re.sub(r"\$(\w+)", lambda name: values[name[1]], target["expr"])
            assert QUIET.search(expression) or answered(scraped, expression), f"{panel['title']}: {expression}"


def test_the_shipped_rules_see_the_faulted_joint(scraped: str) -> None:
    found = answered(scraped, 'ALERTS{alertname="JointwatchJointFaulted", alertstate="firing"}')
    assert [(alert["metric"]["robot"], alert["metric"]["joint"]) for alert in found] == [("arm", "wrist_pitch")]
    down = answered(scraped, 'ALERTS{alertname="JointwatchDriverDown"}')
    assert [alert["metric"]["driver"] for alert in down] == ["can1"]


def test_compose_mounts_what_is_there() -> None:
    mounts = re.findall(r"- (\./[^:]+):", (DEPLOY / "compose.yaml").read_text())
    assert len(mounts) >= 6
    assert [mount for mount in mounts if not (DEPLOY / mount).exists()] == []
