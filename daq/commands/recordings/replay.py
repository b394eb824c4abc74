"""`jointwatch replay RECORDING CONFIG`: plays a recording through the pipeline; two runs are equal bit for bit.

For our own recordings it repeats every turn of the core's loop; --check compares the updates with the recorded ones.
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import msgpack

from daq.commands.codes import EXIT_USAGE, fail, refuse, tell_breaks
from daq.commands.progress import Progress
from daq.commands.recordings.inputs import (
    how_to_configure,
    missing,
    no_configuration,
    swapped,
    tell_open_questions,
)
from daq.commands.recordings.results import (
    Changes,
    JointResult,
    Noticed,
    next_step,
    results_of,
    tell_joint,
    units_of,
)
from daq.config.load import load
from daq.config.sections import Config
from daq.config.words import ConfigError
from daq.core.changes.change_records import instant
from daq.recording.columns import Channels, Columns, check_times, is_configuration, load_columns, read
from daq.recording.reader import RecordingError
from daq.recording.ros_bag import is_ours
from daq.replay.from_columns import configured, with_torque
from daq.replay.plausibility import Mistakes, facts_of, lines, look_at_channels, maps, mistakes_of
from daq.replay.repeat import Repetition, compare
from daq.replay.replay import Played
from daq.replay.shares import Shares
from daq.replay.sources import Batch, Counts, readings_of
from daq.stream.json_messages import finite
from daq.stream.update import Message


def run(options: argparse.Namespace) -> int:
    """Play the recording, then print the final estimates and all losses: on stdout, or with --json on stderr."""
    if absent := missing(options.file, options.config, options.columns):
        return fail(absent)
    if wrong := swapped(options.file, options.config):
        return fail(f"replay: {wrong}", EXIT_USAGE)
    try:
        ours = is_ours(options.file)
        if options.config is None:
            if ours:
                return _repeat(options, None)
            return fail(f"replay: {how_to_configure(options.file)}", EXIT_USAGE)
        if wrong := no_configuration(options.config):
            return fail(f"replay: {wrong}", EXIT_USAGE)
        tell_open_questions(options.config, options.columns)
        if not is_configuration(options.config):  # a table of columns, which are all there is of these joints
            if options.columns is not None:
                return fail("replay: --columns needs a configuration, but a table was given", EXIT_USAGE)
            columns = with_torque(load_columns(options.config))
            channels = _read(options, columns)
            if too_slow := _pace(options, channels, columns):
                return fail(too_slow)
            return _play(options, configured(options.file, channels, columns), columns, _begin(channels))
        config = load(options.config)
        if ours:
            return _repeat(options, config)
        table = None if options.columns is None else load_columns(options.columns)
        if table is not None and (too_slow := _pace(options, _read(options, table), table)):
            return fail(too_slow)
        return _play(options, config, table)
    except (RecordingError, ChildProcessError) as error:
        return fail(error)
    except ConfigError as mistakes:
        return refuse(mistakes)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _read(options: argparse.Namespace, columns: Columns) -> Channels:
    with Progress("replay") as progress:
        progress.read("reading", [options.file])
        return read(options.file, columns)


def _pace(options: argparse.Namespace, channels: Channels, columns: Columns) -> str:
    """Why a recording is too slow to be played (times in ms that are read as s); prints its other mistakes first."""
    try:
        check_times(options.file, channels)
    except RecordingError as error:
        with Progress("replay") as progress:
            progress.stage("looking for what is wrong with it")
            found = look_at_channels(channels, facts_of(columns))
        for text in lines(found):
            print(text, file=sys.stderr if options.json else sys.stdout)
        return str(error)
    return ""


def _begin(channels: Channels) -> float:
    """The first time of a recording in columns, s of its clock; infinite if it has no rows."""
    return min(
        (float(one.time[0]) for of in channels.values() for one in of.values() if len(one.time)), default=math.inf
    )


def _play(options: argparse.Namespace, config: Config, columns: Columns | None, begin_at: float = math.inf) -> int:
    """Play a recording of any other kind; if it breaks off, everything before that is used.

    begin_at: of columns, s.
    """
    begin, changes = time.monotonic(), Changes()

    def source(counts: Counts, played: Played) -> Iterator[Batch]:
        for batch in readings_of(options.file, config, counts, options.driver, columns):
            played.expected += len(batch)
            yield batch

    with (
        Shares(config, source, results_of, options.json, options.speed) as shares,  # before there is a second thread
        Progress("replay") as progress,
    ):
        progress.read("looking for mistakes", [options.file] if columns is not None else [])
        noticed = _look(options, config, columns)
        # the number of frames is not known in advance, but the number of bytes is; columns come as one batch
        progress.stage("playing", options.file.stat().st_size if columns is None else 0, "B" * (columns is None))

        def reached(played: Played) -> None:
            if columns is not None:
                progress.reach(played.readings, played.expected, "readings")

        for message in shares.messages(reached):
            changes.absorb(message)
            if options.json:
                print(line(message))
    stream = sys.stderr if options.json else sys.stdout
    beside = Noticed(
        config, noticed, changes, options.file, options.config, _clock(shares.played.first * 1e-9, begin_at)
    )
    joints = [joint for result in shares.results for joint in result]
    tell(joints, shares.counts, shares.played, time.monotonic() - begin, stream, beside)
    failed = shares.failed
    if not failed and not shares.played.readings:
        failed = f"{options.file}: none of its frames carries a configured signal"
    return fail(failed) if failed else 0


def _clock(first: float, begin_at: float) -> str:
    """Words for when the data begins; empty if its times count from 0. first: s, as it was played."""
    if begin_at < 0.0:
        return f"the recording begins at {begin_at:.1f} s of the data's clock: times count from there"
    return f"the recording begins at {instant(first)}" if first >= 1.0 else ""


def _repeat(options: argparse.Namespace, config: Config | None) -> int:
    """Repeat our own recording turn by turn."""
    begin = time.monotonic()
    changes = Changes()
    try:
        with Progress("replay") as progress:
            repetition = Repetition([options.file], config, listened=options.json or options.check)
            size = options.file.stat().st_size
            if options.check:
                progress.stage("comparing", 2 * size, "B")
                print(f"{compare(repetition)} updates are the same to the bit")
                tell_breaks([options.file])
                return 0
            tell_breaks([options.file])
            noticed = _look(options, repetition.config, None)
            repetition.lead()
            progress.stage("repeating", size, "B")
            for turn in repetition.turns():
                if options.speed is not None:
                    first = repetition.played.first or turn.batch.watched
                    ahead = (turn.batch.watched - first) * 1e-9 / options.speed
                    time.sleep(max(0.0, begin + ahead - time.monotonic()))
                for message in turn.messages:
                    changes.absorb(message)
                    if options.json:
                        print(line(message))
    except RecordingError as error:
        return fail(error)
    for gap in repetition.gaps:
        print(f"the updates differ from the recorded ones: {gap}", file=sys.stderr)
    wall = time.monotonic() - begin
    stream = sys.stderr if options.json else sys.stdout
    beside = Noticed(repetition.config, noticed, changes, options.file, options.config)
    tell(results_of(repetition.pipeline), {}, repetition.played, wall, stream, beside)
    return 0


def _look(options: argparse.Namespace, config: Config, columns: Columns | None) -> Mistakes:
    """Print the user's mistakes that the recording shows, before anything is learnt from it."""
    found = mistakes_of(options.file, config, columns, options.driver)
    for text in lines(found):
        print(text, file=sys.stderr if options.json else sys.stdout)
    for one in maps(found) if options.json else ():
        print(json.dumps({"topic": f"mistake/{one['joint']}"} | one, ensure_ascii=False))
    return found


def line(message: Message) -> str:
    """One JSON object; null for unknown numbers."""
    topic, body = message
    return json.dumps({"topic": topic.decode()} | finite(msgpack.unpackb(body)), ensure_ascii=False)


def tell(joints: list[JointResult], counts: Counts, played: Played, wall: float, stream: Any, beside: Noticed) -> None:
    """Print the final estimates, all counters, mistakes, changes, and what to do next."""
    seconds = (played.last - played.first) * 1e-9
    speed = seconds / wall if wall > 0 else math.inf
    clock = f"; {beside.clock}" if beside.clock else ""
    print(f"{played.readings} readings of {seconds:.3f} s in {wall:.2f} s ({speed:.0f}×){clock}", file=stream)
    for name, causes in counts.items():
        losses = (f", {cause} {count}" for cause, count in causes.items() if count and cause != "frames")
        print(f"{name}: frames {causes['frames']}{''.join(losses)}", file=stream)
    units = units_of(beside.config)
    for joint in joints:
        noticed = [str(one) for one in beside.mistakes.get(joint.name, ())]
        tell_joint(joint, units.get(joint.name, {}), noticed, beside.changes.of(joint.name), stream)
    print(f"next: {next_step(joints, beside.recording, beside.given)}", file=stream)
