"""`jointwatch skew RECORDING [CONFIG]`: measures the delay of each channel, and prints lines for the configuration."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from daq.commands.codes import fail, refuse
from daq.config.load import load
from daq.config.sections import Config
from daq.config.words import ConfigError
from daq.recording.columns import is_configuration, load_columns, read
from daq.recording.reader import RecordingError, blocks, configuration
from daq.recording.ros_bag import is_ours
from daq.replay.delays import Finding, aligned, find, of_frames
from drivers.base import DriverError


def run(options: argparse.Namespace) -> int:
    """Measure the delays and print them."""
    config: Config | None = None
    try:
        if options.config is not None and is_configuration(options.config):
            config = load(options.config)
            channels = of_frames(options.recording, config)
        elif options.config is None and is_ours(options.recording):
            config = configuration(options.recording)
            channels = aligned((block.readings for block in blocks(options.recording)), config)
        else:
            channels = read(options.recording, None if options.config is None else load_columns(options.config))
    except ConfigError as mistakes:
        return refuse(mistakes)
    except (RecordingError, DriverError) as error:
        return fail(error)
    joints = {} if config is None else config.joints
    signals = {(one, role): c.signal for one, joint in joints.items() for role, c in joint.channels.items()}
    findings = list(find(channels, options.longest * 1e-3))
    if options.json:
        print(json.dumps(findings, indent=1, ensure_ascii=False))
    else:
        _tell(findings, options.recording, signals)
    return 0 if any("delay" in finding for finding in findings) else 1


def _tell(findings: list[Finding], recording: Path, signals: Mapping[tuple[str, str], str]) -> None:
    """Print a table on stderr, and lines for the configuration on stdout."""
    print(f"{'joint':12} {'channel':16} {'late by':>20}   {'std against position':28} gain", file=sys.stderr)
    for one in findings:
        head = f"{one['joint']:12} {one['channel']:16}"
        if "why" in one:
            print(f"{head} {one['why']}", file=sys.stderr)
            continue
        late = f"{one['delay'] * 1e3:.3f} ± {one['deviation'] * 1e3:.3f} ms"
        ratio = one["before"] / one["after"]
        std = f"{one['before']:.3g} → {one['after']:.3g} ({ratio:.1f}×)"
        print(f"{head} {late:>20}   {std:28} {one['gain']:.5f} ± {one['gain_deviation']:.5f}", file=sys.stderr)
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
    """The delay with two more digits than the deviation justifies, never finer than 0.1 µs."""
    digits = 7
    while digits > 3 and deviation > 10.0 ** (2 - digits):
        digits -= 1
    return f"{late:.{digits}f}"
