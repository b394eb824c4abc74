"""The stream's lock, from the commands and the configuration to a subscriber: no address is public by accident."""

import json
import stat
import subprocess
from pathlib import Path

import pytest

from daq.config.load import digest, load
from daq.config.words import ConfigError
from tests.support.processes.commands import called

TEMPLATE = (Path(__file__).parents[3] / "daq" / "jointwatch.toml").read_text()
LOCAL = 'endpoint = "tcp://127.0.0.1:5556"'


def write(folder: Path, publish: str) -> Path:
    assert LOCAL in TEMPLATE
    file = folder / "jointwatch.toml"
    file.write_text(TEMPLATE.replace(LOCAL, publish))
    return file


def keys(folder: Path, *clients: str) -> subprocess.CompletedProcess[str]:
    return called("keys", folder, *clients)


@pytest.mark.parametrize("host", ["*", "0.0.0.0", "192.168.1.7", "robot.local", "[::]", "127.evil.com"])
def test_a_public_address_without_a_lock_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, f'endpoint = "tcp://{host}:5556"'))
    (problem,) = caught.value.problems
    assert problem.path.startswith("publish")
    assert "jointwatch keys" in problem.text or "tcp://HOST:PORT" in problem.text


@pytest.mark.parametrize("endpoint", ["tcp://127.0.0.1:1", "tcp://localhost:1", "tcp://127.1.2.3:1", "ipc:///tmp/x"])
def test_an_address_of_this_machine_needs_no_lock(tmp_path: Path, endpoint: str) -> None:
    assert load(write(tmp_path, f'endpoint = "{endpoint}"')).publish.curve is None


def test_told_so_it_serves_everyone(tmp_path: Path) -> None:
    assert load(write(tmp_path, 'endpoint = "tcp://*:5556"\ninsecure = true')).publish.insecure


def test_keys_lock_a_public_address(tmp_path: Path) -> None:
    done = keys(tmp_path / "keys", "laptop", "plotter")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [f"{tmp_path}/keys/{name}.key_secret" for name in ("server", "laptop", "plotter")]
    lock = 'curve = { secret = "keys/server.key_secret", clients = "keys/clients" }'
    curve = load(write(tmp_path, f'endpoint = "tcp://*:5556"\n{lock}')).publish.curve
    assert curve is not None
    assert curve.secret == tmp_path / "keys" / "server.key_secret"
    assert {path.name for path in curve.clients.iterdir()} == {"laptop.key", "plotter.key"}
    again = keys(tmp_path / "keys", "laptop")
    assert again.returncode == 1
    assert again.stderr.startswith("jointwatch: ")
    assert "exists" in again.stderr


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    keys(tmp_path / "keys")
    secret = tmp_path / "keys" / "server.key_secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    secret.chmod(mode)
    lock = 'curve = { secret = "keys/server.key_secret", clients = "keys/nobody" }'
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, f'endpoint = "tcp://*:5556"\n{lock}'))
    texts = " ".join(problem.text for problem in caught.value.problems)
    assert "chmod 600" in texts
    assert "expected a folder of public keys" in texts


def test_listen_with_half_a_key_is_one_line(tmp_path: Path) -> None:
    keys(tmp_path, "laptop")
    done = called("listen", "--key", tmp_path / "laptop.key_secret")
    assert done.returncode == 1
    assert done.stderr == "jointwatch: expected both key and server_key, or neither\n"


def test_the_digest_changes_with_a_setting_and_not_with_the_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    one = digest(load(write(tmp_path, LOCAL)))
    assert digest(load(write(tmp_path / "elsewhere", LOCAL))) == one
    assert digest(load(write(tmp_path, 'endpoint = "tcp://127.0.0.1:7"'))) != one


def test_schemas_are_printed() -> None:
    def printed(*what: str) -> dict[str, object]:
        done = called("schema", *what)
        assert done.returncode == 0
        return json.loads(done.stdout)

    assert printed().keys() == {
        "estimate",
        "residual",
        "event",
        "drift",
        "change",
        "wear",
        "lost_motion",
        "summary",
        "clearance",
        "robot",
        "robot/parameters",
        "mechanism",
        "process",
        "meta",
    }
    assert "parameters" in printed("estimate")["properties"]  # type: ignore[operator]
    assert {"robot", "publish", "drivers", "joints"} <= printed("config")["properties"].keys()  # type: ignore[attr-defined]
    wrong = called("schema", "estimates")
    assert wrong.returncode == 2
    assert "config" in wrong.stderr
