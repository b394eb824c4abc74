"""`jointwatch skew RECORDING [CONFIG]`: how late each channel of a joint is, and the lines to paste."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from daq.commands.codes import fail, refuse
from daq.config.load import load
from daq.config.routes import routes
from daq.config.sections import Config, Joint
from daq.config.words import ConfigError
from daq.core.align import Aligner, Sorter
from daq.recording.columns import Channels, is_configuration, load_columns, read
from daq.recording.reader import RecordingError
from daq.replay.sources import readings_of
from drivers.base import DriverError
from estimators.alignment.channel_delay import Relation, Series, SkewError, delay
from estimators.quantities import Floats, Nanoseconds

REFERENCE: Final = "position"
_EFFORTS: Final = ("torque", "force", "effort", "current")
_RELATIONS: Final = {"position": Relation.SAME, "velocity": Relation.RATE, "speed": Relation.RATE} | dict.fromkeys(
    _EFFORTS, Relation.EFFORT
)

Finding = dict[str, Any]


def run(options: argparse.Namespace) -> int:
    """Measure it, and tell."""
    signals: dict[tuple[str, str], str] = {}
    try:
        if options.config is not None and is_configuration(options.config):
            config = load(options.config)
            channels = _aligned(options.recording, config)
            signals = {
                (one, role): c.signal for one, joint in config.joints.items() for role, c in joint.channels.items()
            }
        else:
            channels = read(options.recording, None if options.config is None else load_columns(options.config))
    except ConfigError as mistakes:
        return refuse(mistakes)
    except (RecordingError, DriverError) as error:
        return fail(error)
    findings = list(find(channels, options.longest * 1e-3))
    if options.json:
        print(json.dumps(findings, indent=1, ensure_ascii=False))
    else:
        _tell(findings, options.recording, signals)
    return 0 if any("delay" in finding for finding in findings) else 1


def find(channels: Channels, longest: float) -> Iterator[Finding]:
    """What is known of the delay of every channel against its joint's position; longest: s."""
    for joint, roles in channels.items():
        reference = roles.get(REFERENCE)
        if reference is None:
            yield {"joint": joint, "channel": REFERENCE, "why": f'found no "{REFERENCE}" to compare with'}
            continue
        effort = next((roles[role] for role in roles if any(word in role for word in _EFFORTS)), None)
        for role, channel in roles.items():
            if role != REFERENCE:
                yield {"joint": joint, "channel": role} | _compare(role, reference, channel, effort, longest)


def _aligned(recording: Path, config: Config) -> Channels:
    """The channels of a recording of frames, each on its own clock, as the service would have them without delays."""
    columns = {name: list(joint.channels) for name, joint in config.joints.items()}
    aligners = [Aligner(_undelayed(joint), columns[name]) for name, joint in config.joints.items()]
    sorter = Sorter(routes(config), list(columns), columns)
    parts: list[list[tuple[Nanoseconds, Floats]]] = [[] for _ in aligners]
    for readings in readings_of(recording, config, {}):
        for index, times, values, which in sorter.split(readings) if len(readings) else ():
            parts[index].append(aligners[index].absorb(times, values, which))
    found: Channels = {}
    for (name, roles), mine in zip(columns.items(), parts, strict=True):
        ticks = np.concatenate([np.zeros(0, np.int64), *(part[0] for part in mine)])
        rows = np.concatenate([np.zeros((0, len(roles))), *(part[1] for part in mine)])
        seconds = (ticks - ticks[:1].sum()) * 1e-9
        found[name] = {role: Series(seconds, rows[:, column]) for column, role in enumerate(roles)}
    return found


def _undelayed(joint: Joint) -> Joint:
    channels = {role: channel.model_copy(update={"delay": 0.0}) for role, channel in joint.channels.items()}
    return joint.model_copy(update={"channels": channels})


def _compare(role: str, reference: Series, channel: Series, effort: Series | None, longest: float) -> Finding:
    relation = next((one for word, one in _RELATIONS.items() if word in role), None)
    if relation is None:
        return {"why": "neither a position, a velocity nor a torque: its delay does not show in motion"}
    try:
        found = delay(reference, channel, relation, effort, longest)
    except SkewError as error:
        return {"why": str(error)}
    return {"against": REFERENCE, "relation": str(relation)} | found._asdict()


def _tell(findings: list[Finding], recording: Path, signals: Mapping[tuple[str, str], str]) -> None:
    """For a person: a table on stderr, the lines to paste on stdout."""
    print(f"{'joint':12} {'channel':16} {'late by':>20}   {'std against position':28} gain", file=sys.stderr)
    for one in findings:
        head = f"{one['joint']:12} {one['channel']:16}"
        if "why" in one:
            print(f"{head} {one['why']}", file=sys.stderr)
            continue
        late = f"{one['delay'] * 1e3:.3f} ± {one['deviation'] * 1e3:.3f} ms"
        ratio = one["before"] / one["after"]
        std = f"{one['before']:.3g} → {one['after']:.3g} ({ratio:.1f}×)"
        print(f"{head} {late:>20}   {std:28} {one['gain']:.5f}", file=sys.stderr)
    told = ""
    for one in findings:
        if "delay" in one:
            if one["joint"] != told:
                print(f"[joints.{one['joint']}.channels]  # delays from {recording.name}")
                told = one["joint"]
            signal = signals.get((one["joint"], one["channel"]), "DRIVER.MESSAGE.SIGNAL")
            keys = f'signal = "{signal}", delay = {_rounded(one["delay"], one["deviation"])}'
            print(f"{one['channel']} = {{ {keys} }}  # ± {one['deviation']:.1g} s")


def _rounded(late: float, deviation: float) -> str:
    """As many digits as the deviation allows, and two more; never finer than 0.1 µs."""
    digits = 7
    while digits > 3 and deviation > 10.0 ** (2 - digits):
        digits -= 1
    return f"{late:.{digits}f}"
