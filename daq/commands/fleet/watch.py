"""`jointwatch fleet watch LAKE`: shows robots that differ from siblings of the same type, use and temperature."""

import argparse
import contextlib
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from daq.commands.codes import EXIT_USAGE, fail, refuse
from daq.commands.fleet.live_page import document
from daq.commands.fleet.words import as_map, known
from daq.commands.history.limits import limits
from daq.commands.history.source import UNITS, SourceError, since
from daq.config.words import ConfigError
from daq.fleet.comparison import JudgedQuantity
from daq.fleet.live.lake import LakeError
from daq.fleet.live.settings import load_collector
from daq.fleet.live.standing import FleetStanding, Reader
from daq.fleet.live.time_left import FleetTimeLeft, times_left

LISTED: Final = 20  # rows of the table; --json has all
NAMED: Final = 8  # robots in a line


def run(options: argparse.Namespace) -> int:
    """Refresh until Ctrl-C; without a terminal print once, unless --json or --page is given."""
    try:
        seconds, wanted = time.time() - since(options.last, time.time()), limits(options.limit)
        if options.last[-1] not in UNITS or options.every <= 0:
            raise SourceError(f"expected --last 30m, 1h, 14d, … and --every above 0, found {options.last}")
        place = load_collector(Path(options.lake)).lake.place if options.lake.endswith(".toml") else options.lake
        reader = Reader(place)

        def look() -> tuple[FleetStanding, list[FleetTimeLeft]]:
            end = time.time() if options.until is None else since(options.until, time.time())
            standing = reader.standing(end - seconds, end)
            left = times_left(reader, wanted, end) if wanted else []
            if options.page is not None:
                _replace(options.page, document(standing, left, 0.0 if options.once else options.every))
            return standing, left

        with contextlib.suppress(KeyboardInterrupt):
            _show(look, options)
    except ConfigError as mistakes:
        return refuse(mistakes)
    except SourceError as error:
        return fail(error, EXIT_USAGE)
    except LakeError as error:
        return fail(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        return fail(f"{error.filename or place}: {error.strerror or error}")
    return 0


def _show(look: Any, options: argparse.Namespace) -> None:
    """Print the findings, and refresh them as the options say."""
    console = Console()
    again = not options.once
    if options.json:
        while True:
            print(json.dumps(_as_map(*look()), ensure_ascii=False), flush=True)
            if not again:
                return
            time.sleep(options.every)
    if not again or not (console.is_terminal or options.page is not None):
        console.print(render(*look()))
        return
    with Live(console=console, screen=console.is_terminal) as live:
        while True:
            live.update(render(*look()), refresh=True)
            time.sleep(options.every)


def render(standing: FleetStanding, left: Sequence[FleetTimeLeft]) -> RenderableType:
    """The table of robots that stand out, and remarks."""
    out = outstanding(standing.quantities)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)  # a row fits 80 columns
    for name in ("robot", "joint", "", "quantity", "value", "siblings", "z", "change", "z of it"):
        right = name in ("z", "z of it", "value", "siblings", "change")
        table.add_column(name, justify="right" if right else "left", no_wrap=name == "value")
    for one in out[:LISTED]:
        word = " and ".join(word for word, applies in (("odd", one.odd), ("drifts", one.drifts)) if applies)
        table.add_row(
            one.robot, one.joint, Text(word, "bold #d55e00" if one.odd else "#e69f00"), one.quantity,
            f"{one.value:.4g} ± {one.deviation:.2g} {one.unit}".replace(" ± nan", ""), f"{one.median:.4g}",
            _number(one.z, "+.1f"), _number(one.change, "+.3g"), _number(one.change_z, "+.1f"),
        )  # fmt: skip
    parts: list[RenderableType] = [Text(headline(standing), "bold"), *([table] if out else [])]
    if len(out) > LISTED:
        parts.append(Text(f"and {len(out) - LISTED} more"))
    parts += [Text(f"{one.robot} {one.joint} {one.time_left.parameter} = {one.time_left.limit:g}: {one.time_left.text}")
              for one in left[:LISTED]]  # fmt: skip
    return Group(*parts)


def headline(standing: FleetStanding) -> str:
    """Line with the number of robots, of those that stand out, of silent ones, and of missing summaries."""
    robots = {one.robot for one in standing.joints}
    clock = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(standing.end))
    found = [f"{clock} UTC, the last {_span(standing.end - standing.first)} by {standing.grain}: {len(robots)} robots"]
    if not robots:
        return f"{found[0]}, nothing was received in this time"
    out = {one.robot for one in outstanding(standing.quantities)}
    compared = any(math.isfinite(one.z) for one in standing.quantities)
    found.append(f"{len(out)} stand out" if out else "none stands out" if compared else
                 "none can be compared: at least five robots with the same joint are needed")  # fmt: skip
    if standing.silent:
        named = ", ".join(standing.silent[:NAMED]) + (" …" if len(standing.silent) > NAMED else "")
        found.append(f"{len(standing.silent)} silent ({named})")
    lost, there = (sum(getattr(one, name) for one in standing.joints) for name in ("lost", "messages"))
    if lost:
        found.append(f"{lost} of {lost + there} summaries missing")
    return ", ".join(found)


def _span(seconds: float) -> str:
    """A time in words."""
    if seconds < 2 * 3600:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:.3g} h" if seconds < 3 * 86_400 else f"{seconds / 86_400:.3g} days"


def outstanding(quantities: Sequence[JudgedQuantity]) -> list[JudgedQuantity]:
    """The quantities that are odd or drift, the worst first."""
    return sorted((one for one in quantities if one.odd or one.drifts), key=lambda one: -one.worst)


def _as_map(standing: FleetStanding, left: Sequence[FleetTimeLeft]) -> dict[str, Any]:
    joints = [{name: known(value) if isinstance(value, float) else value for name, value in one._asdict().items()}
              for one in standing.joints]  # fmt: skip
    return {
        "first": standing.first,
        "end": standing.end,
        "grain": standing.grain,
        "silent": standing.silent,
        "joints": joints,
        "quantities": [as_map(one) for one in standing.quantities],
        "limits": [one.as_map() for one in left],
    }


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else "–"


def _replace(page: Path, text: str) -> None:
    """Write the page as a whole."""
    draft = page.with_name(f".{page.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(page)
