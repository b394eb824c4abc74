"""`jointwatch top`: shows the overview in a terminal twice a second, from the dashboard's /api/state.

Keys: ↑ ↓ (or k, j) choose the joint whose parameters are shown, q leaves. Without a terminal it prints once.
"""

import argparse
import contextlib
import json
import os
import select
import sys
import termios
import time
import tty
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, Literal, TypeVar

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from daq.commands.codes import fail
from daq.stream.reasons import in_words
from drivers.base import TRAFFIC

EVERY: Final = 0.5  # s between two drawings
TIMEOUT: Final = 2.0  # s
STALE: Final = 1.5  # s without an update after which a joint is called stale
RATE_OVER: Final = 8  # reports of the totals over which a rate is computed
NARROW: Final = 110  # characters
KEPT: Final = 24  # points of a sparkline
BLOCKS: Final = "▁▂▃▄▅▆▇█"
# a shape and a colour of Okabe & Ito's palette, which colour-blind people can tell apart
PHASES: Final = {
    "waiting": ("…", "#8a98a5"),
    "starting": ("▶", "#56b4e9"),
    "normal": ("✓", "#009e73"),
    "transient": ("~", "#e69f00"),
    "held": ("‖", "#8a98a5"),
    "faulted": ("✗", "#d55e00"),
    "changed": ("◆", "#e69f00"),
}

State = dict[str, Any]
Cell = TypeVar("Cell")


class UnreachableError(Exception):
    """The page does not answer; the text says which page and why."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--page", default="http://127.0.0.1:8080", metavar="URL", help="dashboard of the service (%(default)s)"
    )
    parser.add_argument("--once", action="store_true", help="print the overview once")


def run(options: argparse.Namespace) -> int:
    """Show the overview until q, Ctrl-C or the end of the terminal."""
    console = Console()
    overview = Overview()
    if not (console.is_terminal and sys.stdin.isatty()) or options.once:
        try:
            overview.absorb(fetch(options.page))
        except UnreachableError as error:
            return fail(error)
        console.print(overview.render(*console.size))
        return 0
    with contextlib.suppress(KeyboardInterrupt), keys() as pressed, Live(console=console, screen=True) as live:
        while True:
            try:
                overview.absorb(fetch(options.page))
                overview.trouble = ""
            except UnreachableError as error:
                overview.trouble = str(error)
            live.update(overview.render(*console.size), refresh=True)
            for key in pressed(EVERY):
                if key == "q":
                    return 0
                overview.move({"k": -1, "j": 1}.get(key, 0))
                live.update(overview.render(*console.size), refresh=True)
    return 0


def fetch(page: str) -> State:
    """Get the present state from the page. Raises UnreachableError."""
    try:
        with urllib.request.urlopen(f"{page.rstrip('/')}/api/state", timeout=TIMEOUT) as answer:
            state: State = json.load(answer)
            return state
    except urllib.error.URLError as error:
        raise UnreachableError(f"{page} does not answer: {error.reason}; is jointwatch running there?") from error
    except (OSError, ValueError) as error:
        raise UnreachableError(f"{page} does not answer as jointwatch does: {error}") from error


@contextlib.contextmanager
def keys() -> Iterator[Any]:
    """Yields a function that waits up to some seconds for keys and returns them; arrows are k and j."""
    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    tty.setcbreak(stdin)

    def pressed(timeout: float) -> Iterator[str]:
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            if select.select([stdin], [], [], left)[0]:
                data = os.read(stdin, 64)
                if not data:
                    yield "q"
                    return
                yield from data.decode(errors="ignore").replace("\x1b[A", "k").replace("\x1b[B", "j")

    try:
        yield pressed
    finally:
        termios.tcsetattr(stdin, termios.TCSADRAIN, before)


class Overview:
    """The overview: the last states, and the traces of its sparklines."""

    def __init__(self) -> None:
        self.trouble = ""  # why there is no new state
        self._state: State | None = None
        self._chosen = 0
        self._narrow = False
        self._traces: dict[tuple[str, str], deque[float]] = {}
        self._past: deque[State] = deque(maxlen=RATE_OVER)  # states with other totals

    def absorb(self, state: State) -> None:
        """Take a new state."""
        self._state = state
        if not self._past or self._past[-1]["counted"] != state["counted"]:
            self._past.append(state)
        for name, joint in state["joints"].items():
            self._trace(name, "error", joint.get("error"))
            for parameter, entry in joint["parameters"].items():
                self._trace(name, parameter, entry["value"])

    def move(self, steps: int) -> None:
        """Choose another joint."""
        if self._state and self._state["joints"]:
            self._chosen = (self._chosen + steps) % len(self._state["joints"])

    def render(self, width: int, height: int) -> RenderableType:
        """The overview for a terminal of this size in characters; a narrow one gets no sparklines."""
        self._narrow = width < NARROW
        if self._state is None:
            return Panel(Text(self.trouble or "Connecting…"), title="jointwatch")
        parts: list[RenderableType] = [self._head(self._state), self._joints(self._state)]
        names = list(self._state["joints"])
        room = height - 4 - len(names)
        if names:
            chosen = names[self._chosen % len(names)]
            parts.append(self._parameters(chosen, self._state["joints"][chosen]))
            room -= 4 + len(self._state["joints"][chosen]["parameters"])
        if self._state["drivers"]:
            parts.append(self._drivers(self._state))
            room -= 3 + len(self._state["drivers"])
        if room > 3:
            parts.append(_events(self._state, room - 2))
        return Group(*parts)

    def _head(self, state: State) -> Text:
        phases = [_condition(joint) for joint in state["joints"].values()]
        head = Text.assemble(("jointwatch ", "bold #56b4e9"), (state["robot"], "bold"), f"  {len(phases)} joints: ")
        for phase in PHASES:
            if count := phases.count(phase):
                head.append(f"{count} {phase} ", PHASES[phase][1])
        if self.trouble:
            head.append(f"  {self.trouble}", "bold #d55e00")
        return head

    def _joints(self, state: State) -> Table:
        table = _table(
            "joint", "state", ">error", *self._wide("last seconds"), ">alarm", ">lost", *self._wide(">latency"), "why"
        )
        for index, (name, joint) in enumerate(state["joints"].items()):
            phase = _condition(joint)
            sign, colour = PHASES.get(phase, ("?", "white"))
            age = state["now"] - joint["received"] if "received" in joint else None
            word = f"{sign} {phase}" if age is None or age < STALE else f"{sign} stale {age:.0f} s"
            table.add_row(
                Text(("› " if index == self._chosen else "  ") + name, "bold"),
                Text(word, colour),
                _percent(joint.get("error")),
                *self._wide(Text(self._spark(name, "error"), "#cc79a7")),
                _percent((joint.get("alarm") or [None])[0]),
                str(sum(joint.get("lost", {}).values())),
                *self._wide(_milliseconds(joint.get("latency"))),
                Text(_why(joint), colour),
            )
        return table

    def _parameters(self, name: str, joint: State) -> Table:
        table = _table(
            "  parameter",
            ">value",
            ">± σ",
            "unit",
            ">σ / value",
            ">excited",
            ">drift",
            *self._wide("last seconds"),
            title=name,
        )
        for parameter, entry in joint["parameters"].items():
            value, deviation = entry["value"], entry["deviation"]
            known = value is not None and deviation is not None
            excited = joint.get("excitation", {}).get(parameter)
            table.add_row(
                f"  {parameter.replace('_', ' ')}",
                Text("–" if value is None else f"{value:.5g}", "bold"),
                "–" if deviation is None else f"{deviation:.2g}",
                Text(entry["unit"], "dim"),
                _percent(abs(deviation / value)) if known and value else "–",
                _percent(excited, 0),
                _drift(joint.get("drift") or {}, parameter),
                *self._wide(Text(self._spark(name, parameter), "#56b4e9")),
            )
        return table

    def _drivers(self, state: State) -> Table:
        table = _table("  driver", "link", ">frames/s", ">values/s", "not decoded", ">lost", ">restarts")
        for name, driver in state["drivers"].items():
            counters = driver["counters"]
            errors = ", ".join(f"{cause} {n}" for cause, n in counters.items() if n and cause not in TRAFFIC)
            colour = PHASES["normal" if driver["up"] else "faulted"][1]
            frames = next((key for key in TRAFFIC if key in counters), None)
            table.add_row(
                f"  {name}",
                Text("✓ open" if driver["up"] else f"✗ {driver['cause'] or 'closed'}", colour),
                self._rate(lambda state, name=name, key=frames: state["drivers"][name]["counters"][key]),
                self._rate(lambda state, name=name: state["drivers"][name]["readings"]),
                errors or "0",
                str(driver["lost"]),
                str(driver["restarts"]),
            )
        return table

    def _rate(self, read: Any) -> str:
        first, last = self._past[0], self._past[-1]
        seconds = last["counted"] - first["counted"]
        try:
            return f"{max(0, read(last) - read(first)) / seconds:.0f}" if seconds > 0 else "–"
        except (KeyError, TypeError):
            return "–"

    def _wide(self, cell: Cell) -> tuple[Cell, ...]:
        return () if self._narrow else (cell,)

    def _trace(self, joint: str, what: str, value: float | None) -> None:
        if value is not None:
            self._traces.setdefault((joint, what), deque(maxlen=KEPT)).append(value)

    def _spark(self, joint: str, what: str) -> str:
        trace = self._traces.get((joint, what), ())
        if not trace:
            return ""
        low, high = min(trace), max(trace)
        scale = (len(BLOCKS) - 1) / (high - low) if high > low else 0.0
        return "".join(BLOCKS[round((value - low) * scale)] for value in trace)


def _table(*columns: str, title: str = "") -> Table:
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False, title=title or None, title_justify="left")
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.startswith(">") else "left"
        stretch = 1 if column in ("why", "cause", "not decoded") else None
        table.add_column(
            column.removeprefix(">"),
            justify=justify,
            no_wrap=True,
            ratio=stretch,
            min_width=KEPT if column == "last seconds" else None,
        )
    return table


def _events(state: State, lines: int) -> Table:
    table = _table("  time", "joint", "event", "cause")
    for event in state["events"][: -lines - 1 : -1]:
        clock = time.strftime("%H:%M:%S", time.localtime(event["timestamp"]))
        table.add_row(f"  {clock}", event["joint"], event["kind"].replace("_", " "), event["text"])
    return table


def _open_changes(joint: State) -> list[State]:
    """Changes of a joint that are not acknowledged."""
    return [one for one in joint.get("changes", ()) if not one["acknowledged"]]


def _condition(joint: State) -> str:
    """The phase, or that something has changed, as on the dashboard."""
    phase: str = joint.get("phase", "waiting")
    return "changed" if _open_changes(joint) and phase not in ("faulted", "transient") else phase


def _why(joint: State) -> str:
    """Words for what has changed, then for why the values are not valid."""
    changes = [one["text"] for one in _open_changes(joint)]
    return "; ".join([*changes, *filter(None, [in_words(joint.get("health", {}).get("reasons", ()))])])


def _drift(drift: State, parameter: str) -> Text:
    """Change from the baseline in per cent; z if there is no percentage."""
    percent, z = (drift.get(key, {}).get(parameter) for key in ("percent", "z"))
    word = f"{percent:+.1f} %" if percent is not None else f"z {z:+.1f}" if z is not None else "–"
    beyond = parameter in drift.get("drifted", ())
    return Text(f"◆ {word}" if beyond else word, "bold #e69f00" if beyond else "")


def _percent(ratio: float | None, decimals: int = 2) -> str:
    return "–" if ratio is None else f"{100 * ratio:.{decimals}f} %"


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1e3 * seconds:.2f} ms"
