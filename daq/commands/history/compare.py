"""`jointwatch compare A B`: shows differences between two days of a robot, or between two robots, with σ and z."""

import argparse
import json
import math
from typing import Any, Final, NamedTuple

from daq.commands.codes import EXIT_USAGE, fail, refuse
from daq.commands.history.source import Source, SourceError, day, source
from daq.config.words import ConfigError
from daq.state.history.file import HistoryError
from daq.state.history.friction import TEMPERATURE
from daq.state.history.interval import Quantity
from daq.state.history.reading import reading
from daq.state.history.summary import Difference, Summary, change_of, difference, summary
from daq.state.history.tables import DAY, HOUR
from daq.stream.json_messages import finite

#: 1, argued: Standard deviations of a difference that are called a change: 1 of 370 that is none is beyond it.
CHANGED: Final = 3.0
#: K, argued: Difference of temperature that is printed with the values, since friction changes by a per cent a kelvin.
WARMER: Final = 3.0


class Side(NamedTuple):
    """One of the two times that are compared."""

    name: str  # the file and its days
    values: dict[Quantity, Summary]
    hours: dict[str, float]  # joint → h in motion


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    text = "configuration or .sqlite file, then @2026-01-31 or @2026-01-01..2026-01-31 (UTC); default: its last day"
    parser.add_argument("a", metavar="A", help=text)
    parser.add_argument("b", metavar="B", help="to compare with, in the same form")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print the differences; 1 if nothing can be read or one side is empty, 2 for invalid days."""
    try:
        before, after = (_side(source(words)) for words in (options.a, options.b))
    except ConfigError as mistakes:
        return refuse(mistakes)
    except SourceError as error:
        return fail(error, EXIT_USAGE)
    except HistoryError as error:
        return fail(error)
    both = {
        quantity: (one, after.values[quantity], difference(one, after.values[quantity]))
        for quantity, one in before.values.items()
        if quantity in after.values
    }
    alone = [
        f"{joint}: only {side.name} has {', '.join(names)}"
        for side, other in ((before, after), (after, before))
        for joint, names in _lacking(side, other).items()
    ]
    if options.json:
        print(json.dumps(finite(_as_map(before, after, both, alone)), ensure_ascii=False))
    else:
        print("\n".join(_lines(before, after, both, alone)))
    return 0


def _side(given: Source) -> Side:
    """The values of one side. Raises HistoryError if there are none."""
    with reading(given.path) as history:
        first, end = given.first, given.end
        if first is None or end is None:
            last = history.span()[1]
            first, end = float(last), float(last + DAY.seconds)
        name = f"{given.path.name} {given._replace(first=first, end=end).days()}"
        joints = history.joints()
        values = {
            quantity: summary(quantity.name, rows)
            for joint in joints
            for quantity, rows in history.values(HOUR, first, end, joint).items()
        }
        hours = {
            joint: sum(row.counts.seconds for row in history.use(HOUR, first, end, joint)) / 3600 for joint in joints
        }
        if not values:
            kept = " to ".join(day(one) for one in history.span())
            raise HistoryError(f"{name}: no valid values; the file has {kept}")
    return Side(name, values, hours)


def _lacking(side: Side, other: Side) -> dict[str, list[str]]:
    """Joint → its quantities that only the first of two sides has."""
    found: dict[str, list[str]] = {}
    for quantity in side.values:
        if quantity not in other.values:
            found.setdefault(quantity.joint, []).append(quantity.name)
    return found


Both = dict[Quantity, tuple[Summary, Summary, Difference]]


def _lines(before: Side, after: Side, both: Both, alone: list[str]) -> list[str]:
    lines = [f"A: {before.name}", f"B: {after.name}"]
    for joint in dict.fromkeys(quantity.joint for quantity in both):
        hours = [side.hours.get(joint, 0.0) for side in (before, after)]
        lines.append(f"{joint}: {hours[0]:.1f} h and {hours[1]:.1f} h in motion")
        lines.append(f"  {'':24}{'A':>22}{'B':>22}{'change':>10}{'z':>7}")
        for quantity, (one, other, apart) in both.items():
            if quantity.joint != joint:
                continue
            name = f"{quantity.name} {quantity.unit}".rstrip()
            values = [f"{side.value:.4g} ± {side.deviation:.2g}".replace(" ± nan", "") for side in (one, other)]
            percent = change_of(quantity.name, apart)
            z = "" if math.isnan(apart.z) else f"{apart.z:+.1f}"
            mark = "  changed" if abs(apart.z) >= CHANGED and quantity.name != TEMPERATURE else ""
            lines.append(f"  {name:24}{values[0]:>22}{values[1]:>22}{percent:>10}{z:>7}{mark}")
        warmth = both.get(Quantity(joint, TEMPERATURE, "°C"))
        if warmth is not None and abs(warmth[2].change) >= WARMER:
            kelvins = warmth[2].change
            word = "warmer" if kelvins > 0.0 else "colder"
            lines.append(f"  B was {abs(kelvins):.1f} K {word}: friction follows temperature")
    return lines + alone


def _as_map(before: Side, after: Side, both: Both, alone: list[str]) -> dict[str, Any]:
    return {
        "a": {"name": before.name, "hours": before.hours},
        "b": {"name": after.name, "hours": after.hours},
        "differences": [
            {
                **quantity._asdict(),
                "a": one._asdict(),
                "b": other._asdict(),
                **apart._asdict(),
                "changed": abs(apart.z) >= CHANGED,
            }
            for quantity, (one, other, apart) in both.items()
        ],
        "alone": alone,
    }
