"""Collects the content of a report, joint by joint: from the recorded messages, and from a replay of the readings."""

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgpack
import numpy as np
from numpy.typing import NDArray

from daq.config.sections import Config, JointSection
from daq.core.pipeline import Pipeline
from daq.recording.reader import Said, configuration, contents, digest
from daq.replay.repeat import Repetition
from daq.stream import curve_points as samples
from daq.stream.reasons import texts
from daq.stream.update import Map
from daq.subscriber import Continuity
from estimators.models.curves import POINT, Curves

Floats = NDArray[np.float64]

LOOK_EVERY: Final = 1_000_000_000  # ns of the recording between two inspections, which keep rows of 1.28 s
POINTS: Final = 3000  # of a curve, at most
UNKNOWN: Final = float("nan")


class JointRun:
    """One joint over the whole recording. Times are Unix s; unknown values are NaN."""

    def __init__(self, name: str, joint: JointSection) -> None:
        model = joint.model.build()
        self.name, self.unit, self.curves = name, joint.model.unit(), Curves(model)
        self.units = {one.name: one.unit for one in (*model.parameters, *model.nonlinear)}
        self.phases: Counter[str] = Counter()  # updates by phase
        self.status, self.reasons = "unestimated", list[str]()  # the last ones
        self.drift: Map = {}  # the newest, see daq.stream.schema; empty without a baseline
        self.changes: list[Map] = []  # the records of the newest change/<joint>
        self.wear = ""  # the newest sentence of wear/<joint>; empty: not judged
        self.points: Floats = np.zeros((0, 1 + len(POINT)))  # time, then POINT
        self.excitation: Floats = np.zeros(0)
        self.samples = 0
        self.lost: Counter[str] = Counter()
        self._estimates, self._residuals = array("d"), array("d")

    def absorb(self, family: str, update: Map) -> None:
        """Take one message."""
        if family == "estimate":
            self.phases[update["phase"]] += 1
            self.status, self.reasons = update["health"]["status"], texts(update["health"]["reasons"])
            self._estimates.extend((update["timestamp"], update.get("error", UNKNOWN)))
            for found in (update["parameters"], update["deviations"]):
                self._estimates.extend(found.get(name, UNKNOWN) for name in self.units)
        elif family == "residual":
            self._residuals.extend((update["timestamp"], update.get("residual", UNKNOWN)))
        elif family == "drift":
            self.drift = update
        elif family == "change":
            self.changes = update["records"]
        elif family == "wear":
            self.wear = update["text"]
        elif family == "event" and update["kind"] == "baseline":
            self.drift = {}  # from now on there is another baseline, or none

    @property
    def estimates(self) -> Floats:
        """(updates, 2 + 2 × parameters): time, error, values, deviations, in the order of units."""
        return np.array(self._estimates, np.float64).reshape(-1, 2 + 2 * len(self.units))

    @property
    def residuals(self) -> Floats:
        """(updates, 2): time, residual."""
        return np.array(self._residuals, np.float64).reshape(-1, 2)

    def history(self, parameter: str) -> tuple[Floats, Floats]:
        """Values and deviations, (updates,) each."""
        at = 2 + list(self.units).index(parameter)
        return self.estimates[:, at], self.estimates[:, at + len(self.units)]

    def last(self) -> Floats:
        """The last values that were all known, in the order of units; empty when there are none."""
        values = self.estimates[:, 2 : 2 + len(self.units)]
        known = values[np.isfinite(values).all(axis=1)]
        return known[-1] if len(known) else np.zeros(0)


@dataclass(slots=True)
class ReportContent:
    """Everything that a report shows."""

    files: list[Path]
    config: Config
    digest: str  # of the configuration
    joints: list[JointRun]
    events: list[Map] = field(default_factory=list)
    start: float = 0.0  # Unix s
    end: float = 0.0
    restarts: int = 0  # of the core
    gaps: list[str] = field(default_factory=list)  # blocks of readings that are missing
    breaks: list[str] = field(default_factory=list)  # where recordings break off
    missed: int = 0  # messages that are missing, by their sequence
    readings: int = 0


def gather(files: Sequence[Path], stage: Callable[[str], None] = lambda _: None) -> ReportContent:
    """Read consecutive recordings; stage is called with what begins. Raises RecordingError."""
    config = configuration(files[0])
    joints = {name: JointRun(name, joint) for name, joint in config.joints.items()}
    run = ReportContent(list(files), config, digest(files[0]), list(joints.values()))
    repetition = Repetition(files, listened=False)
    continuity = Continuity()
    stage("step 1 of 3, reading messages")
    for file in files:
        if words := _read(run, joints, continuity, file):
            run.breaks.append(words)
    run.missed, run.restarts = sum(continuity.gaps.values()), continuity.restarts
    run.events.sort(key=lambda event: float(event["timestamp"]))
    stamps = np.concatenate([joint.estimates[:, 0] for joint in run.joints])
    run.start, run.end = (float(stamps.min()), float(stamps.max())) if len(stamps) else (0.0, 0.0)
    stage("step 2 of 3, repeating the readings")
    _repeat(run, joints, repetition)
    return run


def _read(run: ReportContent, joints: dict[str, JointRun], continuity: Continuity, file: Path) -> str:
    """Take the messages of a file; where it breaks off, in words."""
    reading = contents(file)
    while True:
        try:
            one = next(reading)
        except StopIteration as end:
            words: str = end.value
            return words
        if isinstance(one, Said):
            _take(run, joints, continuity, one)


def _take(run: ReportContent, joints: dict[str, JointRun], continuity: Continuity, one: Said) -> None:
    family, _, name = one.topic.partition("/")
    if name not in joints:
        return
    continuity.follow(one.topic, one.update)
    if family == "event":
        run.events.append(one.update)
    joints[name].absorb(family, one.update)


def _repeat(run: ReportContent, joints: dict[str, JointRun], repetition: Repetition) -> None:
    """Replay the readings for points of curves, excitation and losses."""
    parts: dict[str, list[Floats]] = {name: [] for name in joints}
    due = 0
    pipeline = repetition.lead().pipeline
    _count(run, pipeline, -1)
    for turn in repetition.turns():
        if turn.pipeline is not pipeline:
            _count(run, pipeline)
            pipeline = turn.pipeline
        if not 0 <= turn.batch.watched - due < LOOK_EVERY:
            due = turn.batch.watched
            for topic, body in pipeline.inspect(turn.batch.epoch):
                update: dict[str, Any] = msgpack.unpackb(body)
                name = topic.decode().partition("/")[2]
                parts[name].append(samples.points(update))
                joints[name].excitation = np.array(update["excitation"])
                if update["law"] is not None:
                    joints[name].curves = joints[name].curves.using(update["law"])
    _count(run, pipeline)
    run.gaps, run.readings = repetition.gaps + run.breaks, repetition.played.readings
    for name, found in parts.items():
        rows = np.concatenate([joints[name].points, *found])
        rows = rows[np.isfinite(rows[:, 2])]
        joints[name].points = rows[:: max(1, -(-len(rows) // POINTS))]


def _count(run: ReportContent, pipeline: Pipeline, sign: int = 1) -> None:
    for joint, replayed in zip(run.joints, pipeline.joints, strict=True):
        joint.samples += sign * replayed.followers.samples
        for cause, count in replayed.aligner.lost().items():
            joint.lost[cause] += sign * count
