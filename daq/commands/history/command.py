"""`jointwatch history CONFIG`: shows the values of each joint over days, months and years, and how much it moved."""

import argparse
import csv
import json
import sys
import time
from pathlib import Path
from typing import Any, Final

from daq.commands.codes import EXIT_USAGE, fail, refuse
from daq.commands.history.limits import limits, time_left
from daq.commands.history.source import SourceError, day, file_of, since
from daq.config.words import ConfigError
from daq.state.history.file import HistoryError
from daq.state.history.reading import HistoryReader, grain_of, reading
from daq.state.history.summary import change_of, difference, summary
from daq.state.history.tables import DAY, GRAINS, HOUR, Grain
from daq.state.history.time_left import TimeLeft
from daq.stream.json_messages import finite

COLUMNS: Final = ("joint", "quantity", "unit", "start", "seconds", "n", "mean", "deviation", "low", "high")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("file", type=Path, help="configuration of the service, or the .sqlite file itself")
    parser.add_argument("--joint", action="append", metavar="NAME", help="this joint only; may be repeated")
    parser.add_argument("--since", default="30d", metavar="WHEN", help="90m, 12h, 30d, 2w, 1y, or 2026-01-31 (30d)")
    parser.add_argument(
        "--grain", choices=[grain.table for grain in GRAINS], help="interval of the values of --json and --csv"
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="PARAMETER=VALUE",
        help="time until the parameter reaches this value, once a change was reported; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print values, use and changes as one JSON object")
    parser.add_argument("--csv", action="store_true", help="print values, one line for each quantity and interval")


def run(options: argparse.Namespace) -> int:
    """Print the history of the joints; 2 for a time or a joint that does not exist, 1 if no file can be read."""
    now = time.time()
    try:
        start, wanted = since(options.since, now), limits(options.limit)
        with reading(file_of(options.file), now) as history:
            known = history.joints()
            for name in options.joint or ():
                if name not in known:
                    raise SourceError(f"found no joint {name}, expected one of {', '.join(known)}")
            joints = options.joint or known
            left = {name: [time_left(history, name, one, now) for one in wanted] for name in joints}
            grain = next((one for one in GRAINS if one.table == options.grain), grain_of(now - start))
            if options.json:
                found = {name: _of_joint(history, name, grain, start, now) for name in joints}
                for name, ones in left.items():
                    found[name]["limits"] = [_as_map(one) for one in ones]
                print(json.dumps(finite({"joints": found, "notes": history.notes()}), ensure_ascii=False))
            elif options.csv:
                _print_csv(history, joints, grain, start, now)
            else:
                for name in joints:
                    print("\n".join(_table(history, name, start, now)))
                    for one in left[name]:
                        print(f"  limit {one.parameter} = {one.limit:g}: {one.text}")
    except ConfigError as mistakes:
        return refuse(mistakes)
    except SourceError as error:
        return fail(error, EXIT_USAGE)
    except HistoryError as error:
        return fail(error)
    return 0


def _of_joint(history: HistoryReader, joint: str, grain: Grain, start: float, end: float) -> dict[str, Any]:
    total = history.total_use(joint)
    return {
        "seconds": grain.seconds,
        "values": [
            {"quantity": quantity.name, "unit": quantity.unit, "rows": [row._asdict() for row in rows]}
            for quantity, rows in history.values(grain, start, end, joint).items()
        ],
        "use": [{"start": row.start, **row.counts._asdict()} for row in history.use(grain, start, end, joint)],
        "total_use": None if total is None else {"since": total.since, "unit": total.unit, **total.counts._asdict()},
        "changes": history.changes(joint, start),
    }


def _as_map(found: TimeLeft) -> dict[str, Any]:
    return found._asdict() | {"left": None if found.left is None else found.left._asdict()}


def _print_csv(history: HistoryReader, joints: list[str], grain: Grain, start: float, end: float) -> None:
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(COLUMNS)
    for joint in joints:
        for quantity, rows in history.values(grain, start, end, joint).items():
            for row in rows:
                table.writerow((joint, quantity.name, quantity.unit, row.start, grain.seconds, *row[1:]))


def _table(history: HistoryReader, joint: str, start: float, end: float) -> list[str]:
    """First and last day of each quantity, and the use, as lines of text."""
    total = history.total_use(joint)
    lines = [joint]
    if total is not None:
        used = sum(row.counts.seconds for row in history.use(HOUR, start - HOUR.seconds, end, joint)) / 3600
        lines.append(
            f"  in motion {total.counts.seconds / 3600:,.1f} h, {total.counts.travel:,.0f} {total.unit}, "
            f"{total.counts.reversals:,} reversals, {total.counts.starts:,} starts since {day(total.since)}; "
            f"{used:,.1f} h of it since {day(start)}"
        )
    found = history.values(HOUR, start - HOUR.seconds, end, joint)
    if found:
        lines.append(f"  {'':24}{'first day':>22}{'last day':>22}{'change':>10}{'z':>7}{'lowest':>11}{'highest':>11}")
    for quantity, rows in found.items():
        days = sorted({row.start // DAY.seconds for row in rows})
        first, last = (
            summary(quantity.name, [row for row in rows if row.start // DAY.seconds == one])
            for one in (days[0], days[-1])
        )
        text = difference(first, last)
        name = f"{quantity.name} {quantity.unit}".rstrip()
        values = [f"{one.value:.4g} ± {one.deviation:.2g}".replace(" ± nan", "") for one in (first, last)]
        change = "" if len(days) == 1 else change_of(quantity.name, text)
        z = "" if len(days) == 1 or text.z != text.z else f"{text.z:+.1f}"
        lowest, highest = min(row.low for row in rows), max(row.high for row in rows)
        lines.append(f"  {name:24}{values[0]:>22}{values[1]:>22}{change:>10}{z:>7}{lowest:>11.4g}{highest:>11.4g}")
    if not found:
        lines.append(f"  no valid values since {day(start)}")
    lines += [f"  {day(one['told'])}: {one['text']}" for one in history.changes(joint, start)]
    return lines
