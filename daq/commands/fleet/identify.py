"""`jointwatch fleet identify FOLDER …`: identifies the joints of many recordings and compares robots."""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from daq.commands.codes import EXIT_INTERRUPTED, EXIT_USAGE, fail, refuse
from daq.commands.fleet.page import document
from daq.commands.fleet.words import as_map, known, sentence
from daq.config.load import load
from daq.config.words import ConfigError
from daq.fleet.addresses import find
from daq.fleet.comparison import JudgedQuantity
from daq.fleet.examine import MODULES, ExaminedRecording, Plan, here, on
from daq.fleet.parquet import write
from daq.fleet.verdict import in_order, judge, unsettled
from daq.processes.cluster import Cluster, ClusterError
from daq.recording.columns import load_columns
from daq.recording.reader import RecordingError

PRINTED = 12  # largest number of printed lines of each kind


def run(options: argparse.Namespace) -> int:
    """Examine all recordings, then print and write the results."""
    if options.scheduler and options.workers is not None:
        return fail("fleet: expected --scheduler or --workers, found both", EXIT_USAGE)
    if (options.workers or 0) < 0:
        return fail(f"fleet: expected --workers of 0 or more, found {options.workers}", EXIT_USAGE)
    if options.parquet is not None and not _has_pyarrow():
        return fail("--parquet needs pyarrow: pip install 'jointwatch[fleet]', or leave out --parquet")
    began = time.monotonic()
    try:
        plan = Plan(
            None if options.config is None else load(options.config),
            None if options.columns is None else load_columns(options.columns),
            not options.no_skew,
        )
        found = list(_examined(options, plan))
        judged = judge(found)
        options.page.write_text(document(found, judged), encoding="utf-8")
        if options.parquet is not None:
            write(options.parquet, found, judged)
    except KeyboardInterrupt:
        return fail("interrupted: nothing was written", EXIT_INTERRUPTED)
    except ConfigError as mistakes:
        return refuse(mistakes)
    except (RecordingError, ClusterError) as error:
        return [fail(line) for line in str(error).splitlines()][-1]
    except OSError as error:
        return fail(f"{error.filename or options.page}: {error.strerror or error}")
    print(f"{len(found)} recordings in {time.monotonic() - began:.0f} s", file=sys.stderr)
    if options.json:
        print(json.dumps(summary(found, judged), indent=1, ensure_ascii=False))
    else:
        _tell(found, judged)
        print(options.page)
    return 0 if any(one.joints for one in found) else 1


def _examined(options: argparse.Namespace, plan: Plan) -> Iterator[ExaminedRecording]:
    """Examine the recordings with a progress bar on stderr."""
    addresses = find(options.place)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("starting", total=len(addresses))
        if options.workers == 0:
            for one in here(addresses, plan):
                progress.update(bar, advance=1, description="one process")
                yield one
            return
        with Cluster(options.scheduler, options.workers or 0, MODULES) as cluster:
            where = options.scheduler or f"{len(cluster.pids())} processes"
            progress.update(bar, description=where)
            for one in on(cluster, addresses, plan):
                progress.update(bar, advance=1)
                yield one


def _has_pyarrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def summary(found: Iterable[ExaminedRecording], judged: Iterable[JudgedQuantity]) -> dict[str, Any]:
    """The object that --json prints; NaN becomes null."""
    recordings = [
        {
            "address": one.address,
            "robot": one.robot,
            "began": known(one.began),
            "seconds": one.seconds,
            "problem": one.problem or None,
            "joints": {joint.joint: {"status": joint.status, "refits": joint.refits} for joint in one.joints},
        }
        for one in in_order(found)
    ]
    return {"recordings": recordings, "quantities": [as_map(one) for one in judged]}


def _tell(found: list[ExaminedRecording], judged: list[JudgedQuantity]) -> None:
    """Print the robots that stand out, and the recordings that could not be read."""
    out = sorted((one for one in judged if one.odd or one.drifts), key=lambda one: -one.worst)
    robots = {one.robot for one in found}
    joints = {(one.robot, one.joint) for one in judged}
    print(f"{len(robots)} robots, {len(joints)} joints with known values, {len(found)} recordings")
    if not any(math.isfinite(one.z) for one in judged):
        print("no robot can be compared: at least five robots with the same joint are needed")
    elif not out:
        print("no robot stands out")
    for one in out[:PRINTED]:
        print(sentence(one))
    if len(out) > PRINTED:
        print(f"and {len(out) - PRINTED} more")
    loose = unsettled(found)
    for one_found, joint, why in loose[:PRINTED]:
        print(f"{one_found.robot} {joint} was not valid at the end of {one_found.address}: {why}")
    if len(loose) > PRINTED:
        print(f"and {len(loose) - PRINTED} more were not valid at the end")
    for broken in [one for one in found if one.problem][:PRINTED]:
        print(f"jointwatch: {broken.problem}", file=sys.stderr)
