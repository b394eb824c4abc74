"""`jointwatch replay RECORDING CONFIG`: plays a recording through the pipeline; two runs are equal bit for bit.

For our own recordings it repeats every turn of the core's loop; --check compares the updates with the recorded ones.
"""

import argparse
import json
import math
import os
import sys
import time
from typing import Any

import msgpack

from daq.commands.codes import EXIT_USAGE, fail, refuse, tell_breaks
from daq.config.load import load
from daq.config.sections import Config
from daq.config.words import ConfigError
from daq.core.joint_pipeline import Message
from daq.core.pipeline import Pipeline
from daq.recording.columns import Columns, is_configuration, load_columns, read
from daq.recording.reader import RecordingError
from daq.recording.ros_bag import is_ours
from daq.replay.from_columns import configured
from daq.replay.plausibility import lines, maps, mistakes_of
from daq.replay.repeat import Repetition, compare
from daq.replay.replay import BOOT, Played, play
from daq.replay.sources import Counts, readings_of
from daq.stream.json_numbers import finite
from drivers.base import DriverError


def run(options: argparse.Namespace) -> int:
    """Play it, then print the final estimates and every loss: on stdout, or with --json on stderr."""
    try:
        ours = is_ours(options.file)
        if options.config is None:
            if ours:
                return _repeat(options, None)
            return fail("replay: expected CONFIG with a recording that is not our own, found none (--help)", EXIT_USAGE)
        if not is_configuration(options.config):  # a table of columns, which are all there is of these joints
            if options.columns is not None:
                return fail("replay: expected --columns beside a configuration, found it beside a table", EXIT_USAGE)
            columns = load_columns(options.config)
            return _play(options, configured(options.file, read(options.file, columns), columns), columns)
        config = load(options.config)
        if ours:
            return _repeat(options, config)
        return _play(options, config, None if options.columns is None else load_columns(options.columns))
    except RecordingError as error:
        return fail(error)
    except ConfigError as mistakes:
        return refuse(mistakes)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _play(options: argparse.Namespace, config: Config, columns: Columns | None) -> int:
    """Play a recording of any other kind; where it breaks off, everything before counts."""
    _look(options, config, columns)
    counts: Counts = {}
    pipeline = Pipeline(config, BOOT)
    begin = time.monotonic()
    failed = ""
    played = Played()
    try:
        source = readings_of(options.file, config, counts, options.driver, columns)
        for message in play(pipeline, source, played, options.speed):
            if options.json:
                print(line(message))
    except (DriverError, RecordingError) as error:
        failed = str(error)
    tell(pipeline, counts, played, time.monotonic() - begin, sys.stderr if options.json else sys.stdout)
    if not failed and not played.readings:
        failed = f"{options.file}: none of its frames carries a configured signal"
    return fail(failed) if failed else 0


def _repeat(options: argparse.Namespace, config: Config | None) -> int:
    """Repeat our own recording turn by turn."""
    begin = time.monotonic()
    try:
        repetition = Repetition([options.file], config)
        if options.check:
            print(f"{compare(repetition)} updates are the same to the bit")
            tell_breaks([options.file])
            return 0
        tell_breaks([options.file])
        _look(options, repetition.config, None)
        for turn in repetition.lead().turns():
            if options.speed is not None:
                ahead = (turn.batch.watched - (repetition.played.first or turn.batch.watched)) * 1e-9 / options.speed
                time.sleep(max(0.0, begin + ahead - time.monotonic()))
            for message in turn.messages if options.json else ():
                print(line(message))
    except RecordingError as error:
        return fail(error)
    for gap in repetition.gaps:
        print(f"the updates differ from the recorded ones: {gap}", file=sys.stderr)
    wall = time.monotonic() - begin
    tell(repetition.pipeline, {}, repetition.played, wall, sys.stderr if options.json else sys.stdout)
    return 0


def _look(options: argparse.Namespace, config: Config, columns: Columns | None) -> None:
    """Print the mistakes of a person that the recording shows, before anything is learnt from it."""
    found = mistakes_of(options.file, config, columns, options.driver)
    for text in lines(found):
        print(text, file=sys.stderr if options.json else sys.stdout)
    for one in maps(found) if options.json else ():
        print(json.dumps({"topic": f"mistake/{one['joint']}"} | one, ensure_ascii=False))


def line(message: Message) -> str:
    """One JSON object; null for unknown numbers."""
    topic, body = message
    return json.dumps({"topic": topic.decode()} | finite(msgpack.unpackb(body)), ensure_ascii=False)


def tell(pipeline: Pipeline, counts: Counts, played: Played, wall: float, stream: Any) -> None:
    """Print the final estimates and every counter."""
    seconds = (played.last - played.first) * 1e-9
    speed = seconds / wall if wall > 0 else math.inf
    print(f"{played.readings} readings of {seconds:.3f} s in {wall:.2f} s ({speed:.0f}×)", file=stream)
    for name, causes in counts.items():
        losses = (f", {cause} {count}" for cause, count in causes.items() if count and cause != "frames")
        print(f"{name}: frames {causes['frames']}{''.join(losses)}", file=stream)
    for joint in pipeline.joints:
        estimate = joint.estimator.estimate()
        missing = {**joint.aligner.lost(), "interpolated": joint.aligner.interpolated()}
        lost = ", ".join(f"{cause} {count}" for cause, count in missing.items())
        print(f"{joint.name}: {estimate.phase}, {estimate.status}; {joint.samples} samples; {lost}", file=stream)
        for reason in estimate.reasons:
            print(f"    {reason}", file=stream)
        for record in joint.comparison.records.records if joint.comparison.records is not None else ():
            print(f"    changed: {record.text}", file=stream)
        if estimate.spectrum.values:
            print(f"    {estimate.spectrum}", file=stream)
        for parameter, value, deviation in zip(estimate.names, estimate.values, estimate.deviations, strict=True):
            print(f"    {parameter:20} {value:14.6g} ± {deviation:.2g}", file=stream)
