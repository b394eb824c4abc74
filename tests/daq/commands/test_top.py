"""`jointwatch top` in a real terminal (tmux), and without one."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from estimators.base import Estimate, Phase
from estimators.reasons import Reason
from tests.support.processes.commands import called

ROOT = Path(__file__).parents[3]
TOP = [sys.executable, "-W", "error", "-m", "daq", "top"]


class Terminal:
    """A tmux session of its own server."""

    def __init__(self, name: str, *command: object) -> None:
        self._tmux = ["tmux", "-L", name, "-f", "/dev/null"]
        words = " ".join(f"'{word}'" for word in command)
        # -u: UTF-8 whatever the machine's locale
        subprocess.run([*self._tmux, "-u", "new-session", "-d", "-x", "140", "-y", "40", "-c", ROOT, words], check=True)

    def shows(self) -> str:
        done = subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False)
        return done.stdout

    def press(self, *names: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *names], check=True)

    def resize(self, width: int, height: int) -> None:
        subprocess.run([*self._tmux, "resize-window", "-x", str(width), "-y", str(height)], check=True)

    def lives(self) -> bool:
        return subprocess.run([*self._tmux, "has-session"], capture_output=True, check=False).returncode == 0

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def terminal(tmp_path: Path, outlet: Any) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is missing: apt-get install tmux")
    opened = Terminal(f"jointwatch-{tmp_path.name}-{tmp_path.stat().st_ino}", *TOP, "--page", outlet.page)
    yield opened
    opened.close()


def test_it_shows_follows_and_leaves(
    terminal: Terminal, outlet: Any, core: Any, wait: Callable[..., None], make_estimate: Callable[..., Estimate]
) -> None:
    def shows(*texts: str, **estimate: Any) -> Callable[[], bool]:
        def look() -> bool:
            core.estimate("elbow", make_estimate(**estimate))
            core.estimate("base", make_estimate(inertia=2.5))
            seen = terminal.shows()
            return all(text in seen for text in texts)

        return look

    wait(shows("2 normal", "elbow", "✓ normal", "1.10 %"))
    jumped = {"phase": Phase.FAULTED, "reasons": (Reason("channel_dead", "torque", {"seconds": 2.0}),)}
    wait(shows("✗ faulted", "torque gave no finite", "1 normal 1 faulted", **jumped))
    chosen = next(line for line in terminal.shows().splitlines() if "›" in line).split()[1]
    terminal.press("Down")
    wait(lambda: f"› {chosen}" not in terminal.shows())
    terminal.resize(80, 24)
    wait(lambda: "latency" not in terminal.shows())
    assert max(map(len, terminal.shows().splitlines())) <= 80
    outlet.stop()
    wait(lambda: "does not answer" in terminal.shows())
    terminal.press("q")
    wait(lambda: not terminal.lives())


def test_without_a_terminal_it_prints_once(outlet: Any, core: Any, wait: Callable[..., None]) -> None:
    def printed() -> bool:
        core.estimate("elbow")
        done = called("top", "--page", outlet.page)
        assert (done.returncode, done.stderr) == (0, "")
        return "normal" in done.stdout and "elbow" in done.stdout

    wait(printed)


def test_no_service_is_one_clear_line() -> None:
    done = called("top", "--page", "http://127.0.0.1:1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "does not answer" in done.stderr


def test_drift_stands_beside_the_values(outlet: Any, core: Any, wait: Callable[..., None]) -> None:
    drift = {
        "since": 1.0, "drifted": ["inertia"], "baseline": {"inertia": 0.4, "viscous": 0.0},
        "change": {"inertia": 0.1, "viscous": 0.1}, "percent": {"inertia": 25.04, "viscous": float("nan")},
        "z": {"inertia": 50.0, "viscous": 2.04},
    }  # fmt: skip

    def shown() -> str:
        core.estimate("base")
        core.updates.send_multipart(core.publications["base"].drift(drift, 1.0))
        return called("top", "--page", outlet.page, "--once").stdout

    wait(lambda: "◆ +25.0 %" in shown())
    assert "z +2.0" in shown()
