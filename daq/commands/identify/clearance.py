"""`jointwatch clearance RECORDING …`: the clearance of one joint's bearing, with a deviation, and whether it has grown.

Each method for which the recordings have channels is used:

- two proximity sensors (roles `near_x`, `near_y`, m)
- an encoder on the link's ring with one read head, in addition to the motor's (`ring` or `link_position`, with
  --ring-radius): as in the service, or with --mass and --pin by the direction of the load
- the torque of a motion whose load turns (with --mass and --pin)

docs/mechanisms.md describes what each method needs.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from daq.commands.codes import EXIT_RUNTIME, fail, refuse
from daq.config.words import ConfigError
from daq.recording.columns import load_columns
from daq.recording.reader import RecordingError
from daq.replay.robot_runs import read_aligned
from estimators.alignment.channel_delay import ChannelSeries
from estimators.models.mechanisms.bearing import RingBearingSettings
from estimators.models.mechanisms.clearance import CLEARANCE, Known
from estimators.models.mechanisms.pin_circle import circle
from estimators.models.mechanisms.ring import RingRows, load_direction
from estimators.offline.clearance import IMPLAUSIBLE, SEEN, ClearanceRun, least, measured, siblings
from estimators.online.clearance.ring import judged, ring_rows, ring_windows
from estimators.quantities import Floats

RINGS: Final = ("ring", "link_position")
NEAR: Final = ("near_x", "near_y")
GROWN: Final = 3.0  # deviations of a difference from which growth is reported
FASTEST: Final = 200.0  # Hz, below which a recording is too slow: the pin's motion is filtered at 40 Hz
THIN: Final = 0.01  # s between used rows of the proximity sensors


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "recording", nargs="+", type=Path, metavar="RECORDING", help="recordings of the joint in its present state"
    )
    parser.add_argument("--joint", metavar="NAME", help="which joint, if a recording has several")
    parser.add_argument("--columns", type=Path, metavar="TABLE", help="table of the recordings' columns (.toml)")
    parser.add_argument(
        "--before", nargs="+", action="extend", default=[], type=Path, metavar="RECORDING",
        help="earlier recordings of the same joint, to compare with",
    )  # fmt: skip
    parser.add_argument("--mass", type=_positive, metavar="KG", help="mass that the pin carries")
    parser.add_argument("--pin", type=_positive, metavar="M", help="radius of the pin")
    parser.add_argument(
        "--slip",
        type=_positive,
        default=1e-3,
        metavar="M/S",
        help="sliding speed at which friction is fully developed (0.001)",
    )
    parser.add_argument(
        "--gravity", nargs="+", type=float, default=[9.81], metavar="M/S²",
        help="gravity across the axis, along −x; 0: vertical axis; one value, or one for each recording",
    )  # fmt: skip
    parser.add_argument("--ring-radius", type=_positive, metavar="M", help="of the link's ring with one read head")
    parser.add_argument(
        "--centre", type=_positive, metavar="M", help="of all that the pin carries, from the axis; for a ring alone"
    )
    parser.add_argument(
        "--upright", type=float, default=0.0, metavar="RAD", help="angle at which that centre is above (0)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print the clearance by every method; exit code 0 if one of them identifies it, 1 if none does."""
    try:
        now = _of(options, options.recording, options.gravity)
        before = _of(options, options.before, options.gravity[:1]) if options.before else []
    except ConfigError as error:
        return refuse(error)
    except (RecordingError, ValueError) as error:
        return fail(error)
    growth = [_growth(one, old) for one in now for old in before if one["way"] == old["way"]]
    if options.json:
        print(json.dumps({"now": now, "before": before, "growth": growth}, ensure_ascii=False))
    else:
        _print(now, "")
        _print(before, "before, ")
        for one in growth:
            print(f"{one['way']}: {one['text']}")
    return 0 if any(one["told"] for one in now) else EXIT_RUNTIME


def _of(options: argparse.Namespace, files: list[Path], gravity: list[float]) -> list[dict[str, Any]]:
    """Results of every method for which these recordings of one state of the joint have channels."""
    columns = None if options.columns is None else load_columns(options.columns)
    if len(gravity) not in (1, len(files)):
        raise ValueError(f"expected one --gravity or {len(files)}, one for each recording; found {len(gravity)}")
    parts = [_roles(file, read_aligned(file, columns), options.joint) for file in files]
    found = []
    if all(name in roles for roles in parts for name in NEAR):
        found.append(_by_proximity(parts))
    ring = next((name for name in RINGS if all(name in roles for roles in parts)), None)
    rings = ring if options.ring_radius is not None else None
    if all("torque" in roles for roles in parts) and options.mass is not None and options.pin is not None:
        found += _by_motion(options, files, parts, gravity * (len(files) // len(gravity)), rings)
    elif rings is not None:
        found.append(_by_ring(options, files, parts, gravity * (len(files) // len(gravity)), rings))
    if not found:
        raise ValueError(
            f"{files[0]}: expected near_x and near_y, or torque with --mass and --pin, or ring or link_position with "
            f"--ring-radius; found {', '.join(parts[0])}"
        )
    return found


def _roles(file: Path, joints: dict[str, dict[str, ChannelSeries]], name: str | None) -> dict[str, ChannelSeries]:
    if name is None and len(joints) == 1:
        name = next(iter(joints))
    if name not in joints:
        what = "--joint" if name is None else f'the joint "{name}"'
        raise ValueError(f"{file}: expected {what}; the recording has {', '.join(joints)}")
    if "position" not in joints[name]:
        raise ValueError(f"{file}: expected the position of {name}; found {', '.join(joints[name])}")
    return joints[name]


def _by_proximity(parts: list[dict[str, ChannelSeries]]) -> dict[str, Any]:
    places = []
    for roles in parts:
        time = roles["near_x"].time
        grid = np.arange(time[0], time[-1], THIN)
        places.append(np.column_stack([_on(grid, roles[name]) for name in NEAR]))
    x, y = np.concatenate(places).T
    found = circle(x, y)
    deviation = float(np.hypot(found.deviation, SEEN * found.clearance))
    return _result("proximity sensors", found.clearance, deviation, found.remark)


def _by_motion(
    options: argparse.Namespace,
    files: list[Path],
    parts: list[dict[str, ChannelSeries]],
    gravity: list[float],
    ring: str | None,
) -> list[dict[str, Any]]:
    """Clearance by the torque, and by the ring encoder if there is one."""
    period = _period(files, parts)
    runs = []
    for roles, across in zip(parts, gravity, strict=True):
        grid = _grid(roles, period)
        angle, torque = _on(grid, roles["position"]), _on(grid, roles["torque"])
        seen = None if ring is None else _on(grid, roles[ring])
        runs.append(ClearanceRun(angle, torque, Known(options.mass, options.pin, options.slip, across), seen))
    fitted = siblings(runs, period)["clearance"]
    c = fitted.theta[CLEARANCE] if fitted.significant() else fitted.insignificant
    why = (
        ""
        if fitted.significant()
        else "this motion does not identify it: the load must turn fast, or the pin must change sides"
    )
    found = [_result("torque", float(c), float(fitted.deviations[CLEARANCE]), why)]
    if ring is not None:
        value, deviation = measured(runs, fitted, options.ring_radius, period)
        at_least = least(runs, options.ring_radius, period)
        flies = value < at_least - deviation  # the fitted value is less than the pin's motion
        sure = 2.0 * deviation < value < IMPLAUSIBLE and not flies
        why = "" if sure else f"at least {1e6 * at_least:.1f} µm by its extremes{', the pin flies' if flies else ''}"
        found.append(_result(ring, value, deviation, why))
    return found


def _by_ring(
    options: argparse.Namespace,
    files: list[Path],
    parts: list[dict[str, ChannelSeries]],
    gravity: list[float],
    ring: str,
) -> dict[str, Any]:
    """Clearance by the encoders alone, with the reasons of the service."""
    period = _period(files, parts)
    smooth, stride = ring_windows(period)
    rows, directions = [], []
    for roles, across in zip(parts, gravity, strict=True):
        bearing = RingBearingSettings(
            ring_radius=options.ring_radius, gravity=across, centre=options.centre, upright=options.upright
        )
        grid = _grid(roles, period)
        torque = _on(grid, roles["torque"]) if "torque" in roles else np.zeros(len(grid))
        samples = np.column_stack([_on(grid, roles["position"]), _on(grid, roles[ring]), torque])
        found, _ = ring_rows(samples, options.ring_radius, smooth, stride)
        rows.append(found)
        directions.append(load_direction(RingRows(*found.T), bearing.pull, bearing.upright))
    measured_ring, reasons = judged(RingRows(*np.concatenate(rows).T), np.concatenate(directions), options.ring_radius)
    return _result(ring, measured_ring.clearance, measured_ring.deviation, "; ".join(map(str, reasons)))


def _period(files: list[Path], parts: list[dict[str, ChannelSeries]]) -> float:
    """Period of the slowest recording's ticks, s."""
    period = max(float(np.median(np.diff(roles["position"].time))) for roles in parts)
    if not period < 1.0 / FASTEST:
        raise ValueError(f"{files[0]}: expected more than {FASTEST:g} rows a second, found {1.0 / period:.4g}")
    return period


def _grid(roles: dict[str, ChannelSeries], period: float) -> Floats:
    """Equidistant instants of a recording, s."""
    time = roles["position"].time
    return np.asarray(time[0] + period * np.arange(int((time[-1] - time[0]) / period * (1.0 + 1e-9)) + 1))


def _result(way: str, clearance: float, deviation: float, why: str) -> dict[str, Any]:
    return {"way": way, "clearance": clearance, "deviation": deviation, "told": not why, "why": why}


def _growth(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Whether the clearance has grown, by one method."""
    change = now["clearance"] - before["clearance"]
    deviation = float(np.hypot(now["deviation"], before["deviation"]))
    known = now["told"] and before["told"]
    grown = bool(known and change > GROWN * deviation)
    text = f"{1e6 * change:+.1f} ± {1e6 * deviation:.1f} µm"
    text = f"grown, {text}" if grown else f"not grown beyond its deviation, {text}" if known else "not known"
    return {"way": now["way"], "change": change, "deviation": deviation, "grown": grown, "text": text}


def _print(found: list[dict[str, Any]], when: str) -> None:
    for one in found:
        value = f"{1e6 * one['clearance']:.1f} ± {1e6 * one['deviation']:.1f} µm"
        print(f"{when}{one['way']}: {value}" if one["told"] else f"{when}{one['way']}: no number ({one['why']})")
        if one["told"] and one["way"] == "torque":
            print("(if the pin lags behind its load, the torque gives up to 25 % too much)", file=sys.stderr)


def _on(grid: Floats, series: ChannelSeries) -> Floats:
    good = np.isfinite(series.values)
    return np.asarray(np.interp(grid, series.time[good], series.values[good]))


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < np.inf:
        raise argparse.ArgumentTypeError("expected a number above 0")
    return value
