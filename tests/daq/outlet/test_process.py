"""The outlet process serves what the configuration says, where it says, and names what cannot be served."""

from pathlib import Path
from typing import Any

import pytest

from daq.config.load import load
from daq.config.sections import Config
from daq.outlet import process
from daq.outlet.server import serve
from daq.processes.heartbeat import Heartbeats, Life
from daq.processes.process import CannotStartError
from daq.state.baselines import Baseline, Baselines, write
from daq.state.files import place
from daq.stream.keys import KeyFileError, create, read_pair
from daq.stream.sockets import EndpointError

TEMPLATE = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text("utf-8")
GIVEN = (
    *("updates", "status", "endpoint", "host", "port", "robot", "joints", "ready", "curve", "baseline", "beside"),
    *("beat", "tls", "watched", "priority", "notifier", "keeper", "inside"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("JOINTWATCH_TOKEN", "STATE_DIRECTORY"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def configured(folder: Path, publish: str = "") -> Config:
    (folder / "jointwatch.toml").write_text(TEMPLATE.replace("\n[publish]\n", f"\n[publish]\n{publish}\n"), "utf-8")
    return load(folder / "jointwatch.toml")


def served(config: Config, folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None = None) -> Any:
    """What is asked of the server; error: what it says."""
    asked: dict[str, Any] = {}

    def serve(*given: object) -> None:
        asked.update(zip(GIVEN, given, strict=True))
        if error is not None:
            raise error

    monkeypatch.setattr(process, "serve", serve)
    beats = Heartbeats(1)
    beats.begin(0)
    process.run("outlet", config, folder, Life(beats, 0))
    assert not beats.ready(0)
    asked["ready"]()
    assert beats.ready(0)
    return asked


def test_it_serves_the_robot_at_the_configured_addresses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = served(configured(folder), folder, monkeypatch)
    assert (asked["updates"], asked["status"]) == (f"ipc://{folder}/updates", f"ipc://{folder}/status")
    assert (asked["endpoint"], asked["host"], asked["port"]) == ("tcp://127.0.0.1:5556", "127.0.0.1", 8080)
    assert (asked["robot"], asked["curve"], asked["tls"], asked["priority"]) == ("arm", None, None, 0)
    [label] = asked["joints"]
    assert (label.name, label.unit, label.gear) == ("elbow", "N·m", False)
    assert label.parameters["inertia"] == "kg·m²"
    assert asked["inside"] == "", "it is not needed"


def test_gateways_find_the_stream_inside_the_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "jointwatch.toml").write_text(f'{TEMPLATE}\n[gateways.view]\nkind = "foxglove"\n', "utf-8")
    config = load(folder / "jointwatch.toml")
    assert served(config, folder, monkeypatch)["inside"] == f"ipc://{folder}/stream"


def test_a_token_lets_the_page_set_baselines_and_one_that_others_may_read_does_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = configured(folder)
    assert served(config, folder, monkeypatch)["baseline"] is not None
    token = place(config, "token")
    assert token.stat().st_mode & 0o777 == 0o600
    token.chmod(0o640)
    assert served(config, folder, monkeypatch)["baseline"] is None
    assert "the page cannot set baselines: " in caplog.text
    assert "others may read this token" in caplog.text


def test_a_lock_on_the_stream_is_the_configured_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "clients").mkdir()
    _, secret = create(folder, "server")
    lock = f'curve = {{ secret = "{secret.name}", clients = "clients" }}'
    curve = served(configured(folder, lock), folder, monkeypatch)["curve"]
    assert curve.secret == read_pair(secret).secret
    assert not curve.allows(bytes(32)), "there is no key"


@pytest.mark.parametrize(("allowed", "priority"), [(True, 5), (False, 0)])
def test_what_forwards_has_the_configured_priority_where_the_system_allows_it(
    allowed: bool, priority: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(folder)
    wanted = config.processes.model_copy(update={"priority": 5})
    monkeypatch.setattr(process, "may_take_priority", lambda number: allowed and number == 5)
    asked = served(config.model_copy(update={"processes": wanted}), folder, monkeypatch)
    assert asked["priority"] == priority


def test_a_history_is_kept_beside_the_state_unless_the_configuration_says_no(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(folder)
    keeper = served(config, folder, monkeypatch)["keeper"]
    assert keeper.path == folder / "arm.history.sqlite"
    without = config.model_copy(update={"history": config.history.model_copy(update={"keep": False})})
    assert served(without, folder, monkeypatch)["keeper"] is None


@pytest.mark.parametrize("error", [EndpointError(98, "page: cannot serve"), KeyFileError("page: cannot serve")])
def test_what_cannot_be_served_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    with pytest.raises(CannotStartError, match=r"^page: cannot serve$"):
        served(configured(folder), folder, monkeypatch, error)


def test_of_a_robot_with_a_model_the_robot_may_have_a_baseline_too(folder: Path) -> None:
    config = configured(folder)
    assert process._models(config) == {"elbow": "rigid"}
    robot = config.robot.model_copy(update={"model": folder / "arm.model.toml"})
    assert process._models(config.model_copy(update={"robot": robot})) == {"elbow": "rigid", "robot": "robot"}


def test_the_time_of_a_joints_baseline_is_that_in_its_file_and_none_where_there_is_none(folder: Path) -> None:
    config = configured(folder)
    file = place(config, "baseline.json")
    assert process._baseline_time(config, "elbow") == 0.0
    found = Baseline(since=1.7e9, model="rigid", values={"inertia": 2.0}, deviations={"inertia": 0.1})
    write(file, Baselines().with_new({"elbow": found}))
    assert (process._baseline_time(config, "elbow"), process._baseline_time(config, "wrist")) == (1.7e9, 0.0)
    file.write_text("nothing")
    assert process._baseline_time(config, "elbow") == 0.0


def test_what_ends_a_task_of_the_server_ends_the_server_with_it(tmp_path: Path) -> None:
    """Not as if somebody had told it to stop: the supervisor starts it anew."""

    async def fails() -> None:
        raise LookupError("the task beside the page")

    with pytest.raises(LookupError, match="the task beside the page"):
        serve(
            f"ipc://{tmp_path}/u", f"ipc://{tmp_path}/s", "tcp://127.0.0.1:0", "127.0.0.1", 0, "arm", [], beside=fails
        )
