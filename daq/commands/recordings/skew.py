"""`jointwatch skew RECORDING [CONFIG]`: measures the delay of each channel, and prints lines for the configuration."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from daq.commands.codes import EXIT_USAGE, fail, refuse
from daq.commands.progress import Progress
from daq.commands.recordings.inputs import missing, no_configuration
from daq.config.load import load
from daq.config.sections import Config
from daq.config.words import ConfigError
from daq.recording.columns import Columns, check_times, is_configuration, load_columns, read
from daq.recording.reader import RecordingError, blocks, configuration
from daq.recording.ros_bag import is_ours
from daq.replay.delays import REFERENCE, Finding, aligned, find, of_frames
from daq.state.toml_text import toml_text
from drivers.base import DriverError


def run(options: argparse.Namespace) -> int:
    """Measure the delays and print them."""
    if absent := missing(options.recording, options.config):
        return fail(absent)
    if options.config is not None and (wrong := no_configuration(options.config)):
        return fail(f"skew: {wrong}", EXIT_USAGE)
    table: Columns | None = None
    config: Config | None = None
    try:
        with Progress("skew") as progress:
            progress.read("reading", [options.recording])
            if options.config is not None and is_configuration(options.config):
                config = load(options.config)
                channels = of_frames(options.recording, config)
            elif options.config is None and is_ours(options.recording):
                config = configuration(options.recording)
                channels = aligned((block.readings for block in blocks(options.recording)), config)
            else:
                table = None if options.config is None else load_columns(options.config)
                channels = read(options.recording, table)
            check_times(options.recording, channels)
            samples = {(joint, role): len(one.time) for joint, roles in channels.items() for role, one in roles.items()}
            progress.stage("comparing", sum(samples[key] for key in samples if key[1] != REFERENCE), "samples")
            findings: list[Finding] = []
            done = 0
            for one in find(channels, options.longest * 1e-3):
                findings.append(one)
                done += samples.get((one["joint"], one["channel"]), 0)
                progress.reach(done)
    except ConfigError as mistakes:
        return refuse(mistakes)
    except (RecordingError, DriverError) as error:
        return fail(error)
    if options.json:
        print(json.dumps(findings, indent=1, ensure_ascii=False))
    else:
        _tell(findings)
        for line in _proposed(findings, options.recording, config, table):
            print(line)
    return 0 if any("delay" in finding for finding in findings) else 1


def _tell(findings: list[Finding]) -> None:
    """Print a table on stderr."""
    print(f"{'joint':12} {'channel':16} {'late by':>20}   {'std against position':28} gain", file=sys.stderr)
    for one in findings:
        head = f"{one['joint']:12} {one['channel']:16}"
        if "why" in one:
            print(f"{head} {one['why']}", file=sys.stderr)
            continue
        late = f"{one['delay'] * 1e3:.3f} ± {one['deviation'] * 1e3:.3f} ms"
        ratio = one["before"] / one["after"]
        std = f"{one['before']:.3g} → {one['after']:.3g} ({ratio:.1f}×)"
        known = "" if _beyond(one) else "  not significant: no line for it"
        print(f"{head} {late:>20}   {std:28} {one['gain']:.5f} ± {one['gain_deviation']:.5f}{known}", file=sys.stderr)


def _beyond(one: Finding) -> bool:
    """Whether a delay is larger than its own standard deviation."""
    return "delay" in one and abs(one["delay"]) > one["deviation"]


def _proposed(findings: list[Finding], recording: Path, config: Config | None, table: Columns | None) -> Iterator[str]:
    """Lines for the given file: channels of a configuration, or columns of a table, with their delays."""
    shown = ""
    for one in filter(_beyond, findings):
        joint, role, late = one["joint"], one["channel"], _rounded(one["delay"], one["deviation"])
        if config is None and table is not None:
            column = table.joints[joint][role]
            if joint != shown:
                yield f"[joints.{joint}]  # delays from {recording.name}"
            keys = toml_text(column.model_dump(exclude_defaults=True, exclude_none=True)).strip().replace("\n", ", ")
            yield f"{role} = {{ {keys}, delay = {late} }}  # ± {one['deviation']:.1g} s"
        else:
            if joint != shown:
                yield f"[joints.{joint}.channels]  # delays from {recording.name}"
            known = config.joints[joint].channels if config is not None else {}
            signal = known[role].signal if role in known else "DRIVER.MESSAGE.SIGNAL"
            yield f'{role} = {{ signal = "{signal}", delay = {late} }}  # ± {one["deviation"]:.1g} s'
        shown = joint


def _rounded(late: float, deviation: float) -> str:
    """The delay with two more digits than the deviation justifies, never finer than 0.1 µs."""
    digits = 7
    while digits > 3 and deviation > 10.0 ** (2 - digits):
        digits -= 1
    return f"{late:.{digits}f}"
