"""The results of a replay as a table: parameters with value ± σ and unit, mistakes, changes, and what to do next."""

import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TextIO

import msgpack

from daq.config.sections import Config
from daq.core.pipeline import Pipeline
from daq.recording.columns import is_configuration
from daq.recording.ros_bag import is_bag
from daq.replay.plausibility import Mistakes
from daq.stream.update import Message
from estimators.base import Estimate
from estimators.reasons import Reason

CHANGES: Final = 5  # of each joint, at most
KNOWN: Final = ("valid", "held")  # states in which every value counts
ORDINARY: Final = ("held", "moving")  # events of a joint that stops and moves again, which are not changes


class Changes:
    """Collects the events about changes from a pipeline's messages, by joint."""

    def __init__(self) -> None:
        self._events: dict[str, list[str]] = {}

    def absorb(self, message: Message) -> None:
        """Take one message."""
        topic, body = message
        if topic.startswith(b"event/"):
            update = msgpack.unpackb(body)
            if update.get("kind") in ORDINARY:
                return
            joint = topic.decode().partition("/")[2]
            self._events.setdefault(joint, []).append(f"{update.get('kind', '')}: {update.get('text', '')}")

    def of(self, joint: str) -> list[str]:
        """The last events of a joint."""
        every = self._events.get(joint, [])
        earlier = len(every) - CHANGES
        more = [f"{earlier} earlier one{'s' if earlier > 1 else ''}"] if earlier > 0 else []
        return more + every[-CHANGES:]


class Noticed(NamedTuple):
    """Information that is printed in addition to the estimates."""

    config: Config
    mistakes: Mistakes  # of the user, by joint
    changes: Changes
    recording: Path
    given: Path | None  # configuration or table of columns that the user has given
    clock: str = ""  # words for when the data begins, if its times do not count from 0


def units_of(config: Config) -> dict[str, dict[str, str]]:
    """Joint → parameter → unit."""
    models = {name: joint.model.build() for name, joint in config.joints.items()}
    return {name: {one.name: one.unit for one in (*m.parameters, *m.nonlinear)} for name, m in models.items()}


class JointResult(NamedTuple):
    """The results of one joint at the end."""

    name: str
    estimate: Estimate
    refused: tuple[Reason, ...]  # why its frames are not used
    samples: int
    missing: dict[str, int]  # how many readings were not used, or are interpolated, by cause
    changed: tuple[str, ...]  # records of what has changed, in words


def results_of(pipeline: Pipeline) -> list[JointResult]:
    """The result of every joint of a pipeline."""
    return [
        JointResult(
            joint.name,
            joint.estimator.estimate(),
            joint.refused,
            joint.followers.samples,
            {**joint.aligner.lost(), "interpolated": joint.aligner.interpolated()},
            () if joint.comparison.records is None else tuple(one.text for one in joint.comparison.records.records),
        )
        for joint in pipeline.joints
    ]


def tell_joint(
    joint: JointResult, units: Mapping[str, str], noticed: Sequence[str], changes: Sequence[str], stream: TextIO
) -> None:
    """Print one joint."""
    estimate = joint.estimate
    lost = ", ".join(f"{cause} {count}" for cause, count in joint.missing.items() if count) or "nothing lost"
    state = "faulted" if joint.refused else f"{estimate.phase}, {estimate.status}"
    print(f"{joint.name}: {state}; {joint.samples} samples; {lost}", file=stream)
    for reason in joint.refused or estimate.reasons:
        print(f"    {reason}", file=stream)
    for text in joint.changed:
        print(f"    changed: {text}", file=stream)
    if estimate.spectrum.values:
        print(f"    {estimate.spectrum}", file=stream)
    for parameter, value, deviation in zip(estimate.names, estimate.values, estimate.deviations, strict=True):
        number = f"{value:14.6g} ± {deviation:<9.2g}" if math.isfinite(value) else f"{'no value yet':26}"
        line = f"    {parameter:20} {number} {units.get(parameter, '')}"
        print(line.rstrip(), file=stream)
    for word, texts in (("noticed", noticed), ("changes", changes)):
        for text in texts:
            print(f"    {word}: {text}", file=stream)


def remedies(reasons: Mapping[str, Sequence[Reason]]) -> str:
    """What to do about the reasons of each joint; joints with the same remedy are named together."""
    found: dict[str, list[str]] = {}
    for joint, those in reasons.items():
        for reason in those:
            if joint not in found.setdefault(reason.todo, []):
                found[reason.todo].append(joint)
    return "; ".join(f"{', '.join(names)}: {todo}" for todo, names in found.items())


def next_step(joints: Sequence[JointResult], recording: Path, config: Path | None) -> str:
    """What the user should do next. config: the configuration or table of columns that was used."""
    states = {joint.name: joint.estimate for joint in joints}
    refused = remedies({joint.name: joint.refused for joint in joints})
    if refused:
        return refused
    unsure = [name for name, one in states.items() if one.status not in KNOWN]
    if not states:
        return "a configuration with joints"
    if len(unsure) == len(states):
        remedy_lines = remedies({name: one.reasons for name, one in states.items()})
        return f"no joint is valid yet. {remedy_lines}" if remedy_lines else "a longer recording: no joint is valid yet"
    played, named = shlex.quote(str(recording)), shlex.quote(str(config))
    whole = f"jointwatch identify ROBOT.urdf {played} --columns {named} for the whole robot"
    if unsure:
        text = f"{', '.join(unsure)} not valid: see the reasons above; the others can be used"
        coupled = config is not None and not is_configuration(config)
        return f"{text}; if the joints are coupled: {whole}" if coupled else text
    if config is None:
        return f"jointwatch report {played}"
    if is_configuration(config):
        return f"jointwatch run {named} on the wire, then jointwatch baseline {named} --set when the joints are healthy"
    if recording.suffix.lower() == ".csv":
        return f"jointwatch init --from {played} --columns {named} arm.toml for a service, or {whole}"
    if is_bag(recording):
        return f"jointwatch doctor --kind ros2 --at INTERFACE for a service that listens to the live topic, or {whole}"
    return whole
