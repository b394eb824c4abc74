"""What `check` accepts, `run` can do: every mismatch that was found, one line each, before anything opens."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daq.config.load import load
from daq.config.words import ConfigError

GOOD = """
[robot]
name = "arm"
[publish]
endpoint = "tcp://127.0.0.1:5556"
page = "http://127.0.0.1:8080"
[recorder]
folder = "records"
[drivers.bus]
kind = "can"
interface = "virtual"
channel = "x"
[[drivers.bus.frames]]
id = 1
name = "STATE"
[drivers.bus.frames.signals]
q = { start = 0, bits = 32, unit = "rad" }
tau = { start = 32, bits = 16, unit = "N·m" }
n = { start = 48, bits = 16 }
[joints.elbow]
rate = 1000
model = { kind = "rigid" }
counter = { signal = "bus.STATE.n", modulo = 65536 }
[joints.elbow.channels]
position = { signal = "bus.STATE.q", scale = 1.0 }
torque = { signal = "bus.STATE.tau" }
"""


def refused(folder: Path, text: str) -> str:
    file = folder / "x.toml"
    file.write_text(text)
    begin = time.thread_time()
    with pytest.raises(ConfigError) as found:
        load(file)
    assert time.thread_time() - begin < 20.0
    return str(found.value)


def test_the_good_one_is_good(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(GOOD)
    assert load(tmp_path / "x.toml").processes.hang == 10


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("127.0.0.1:5556", "127.0.0.1:99999", "port from 0 to 65535, found 99999"),
        ("127.0.0.1:8080", "127.0.0.1:99999", "port from 0 to 65535"),
        ("127.0.0.1:8080", "127.0.0.1:5556", "a port of its own for the page, found 5556"),
        ("127.0.0.1:8080", "localhost:5556", "a port of its own for the page, found 5556"),
        ("127.0.0.1:8080", "0.0.0.0:8080", "expected tls for the public page"),
        ("http://127.0.0.1:8080", "https://127.0.0.1:8080", "both a page at https:// and tls"),
        ("modulo = 65536", "modulo = 1e30", "modulo"),
        ("rate = 1000", "rate = 1e-300", "rate"),
        ('page = "http://127.0.0.1:8080"', "rate = 1e-300", "rate"),
        ("scale = 1.0", "scale = 0", "a factor other than 0"),
        ("scale = 1.0", "scale = 1e300", "a factor other than 0"),
        ('folder = "records"', 'folder = "records"\nkeep = inf', "expected a finite number, found inf"),
        ('name = "arm"', f'name = "{"a" * 300}"', "64 at most"),
        ("joints.elbow", f"joints.{'a' * 300}", "64 at most"),
        ("[drivers.bus", "[drivers.core", "another name than that of a process of the service, found core"),
        ('folder = "records"', 'folder = "a\\u0000b"', "text without NUL"),
        ('name = "arm"', f"name = {'[' * 5000}{']' * 5000}", "nested too deeply"),
        ('name = "arm"', f"name = {'[' * 20}{']' * 20}", "at most 12 tables or lists in each other"),
        ('channel = "x"\n[[drivers.bus.frames]]', 'channel = "x"\ndbc = "/dev/zero"\n[[drivers.bus.frames]]', ""),
    ],
)
def test_what_run_cannot_do_check_refuses(tmp_path: Path, before: str, after: str, words: str) -> None:
    assert before in GOOD
    assert words in refused(tmp_path, GOOD.replace(before, after))


def test_a_dbc_that_never_ends_is_none(tmp_path: Path) -> None:
    text = GOOD[: GOOD.index("[[drivers")] + 'dbc = "/dev/zero"\n' + GOOD[GOOD.index("[joints.elbow]") :]
    assert "expected a DBC file of at most" in refused(tmp_path, text)


def test_dev_zero_as_configuration_is_one_line_and_78(run_program: Callable[..., Any]) -> None:
    for command in ("check", "run"):
        done = run_program("daq", command, "/dev/zero", timeout=300)
        assert done.returncode == 78
        assert done.stderr.count("\n") == 1, done.stderr
        assert "more than 1000000 bytes" in done.stderr


def test_insecure_allows_a_public_page_in_so_many_words(tmp_path: Path) -> None:
    text = GOOD.replace("127.0.0.1:8080", "0.0.0.0:8080").replace("[publish]", "[publish]\ninsecure = true")
    (tmp_path / "x.toml").write_text(text)
    assert load(tmp_path / "x.toml").publish.insecure
