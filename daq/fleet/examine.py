"""Examines recordings: identification, refits and skew of the joints of each as plain numbers; a pure function of it.

All recordings of a fleet are examined here or on the workers of a cluster; the results are the same to the bit.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgpack

from daq.config.sections import Config
from daq.core.joint_pipeline import JointPipeline
from daq.core.pipeline import Pipeline
from daq.fleet.addresses import Address, at_hand
from daq.processes.cluster import Cluster
from daq.recording.columns import Channels, Columns, read
from daq.recording.reader import RecordingError, blocks, break_of, configuration
from daq.recording.ros_bag import is_bag, is_ours
from daq.replay.delays import aligned, find, of_frames
from daq.replay.from_columns import configured
from daq.replay.replay import BOOT, Played, play
from daq.replay.sources import Batch, readings_of
from drivers.base import DriverError
from estimators.reasons import joined

DELAY: Final = "delay."  # prefix of the role of a channel whose delay was measured
LONGEST: Final = 0.1  # s that a channel may be late
#: s, argued: A first time beyond this counts from 1970 (it is in 2001); smaller ones count from a recorder's own start.
UNIX: Final = 1e9
COLUMNAR: Final = (".csv", ".npz", ".mat")
MODULES: Final = ("daq.fleet.examine", "estimators.refit.job")  # with the kernels that one recording may need


class Plan(NamedTuple):
    """How every recording is examined; our own recordings hold their configuration."""

    config: Config | None
    columns: Columns | None
    skew: bool


class RecordedQuantity(NamedTuple):
    """One number that a recording gives for a joint: a parameter, or the delay of a channel."""

    name: str
    unit: str
    value: float
    deviation: float


class JointFound(NamedTuple):
    """One joint at the end of a recording."""

    joint: str
    model: str
    phase: str
    status: str
    reasons: str
    samples: int
    lost: int
    error: float  # rms(prediction error) / rms(measured), lately
    alarms: int
    refits: int  # accepted
    refused: int  # refits that were not accepted
    quantities: tuple[RecordedQuantity, ...]


class ExaminedRecording(NamedTuple):
    """The result of one recording; `problem` says why it has no joints, or where it breaks off."""

    address: str
    robot: str
    began: float  # Unix s; NaN where the recording does not say
    seconds: float
    joints: tuple[JointFound, ...]
    problem: str


def examine(address: Address, plan: Plan) -> ExaminedRecording:
    """Examine a recording; a mistake in it becomes the result's `problem` and is not raised."""
    try:
        with at_hand(address.text) as file:
            return _examine(file, address, plan)
    except (RecordingError, DriverError) as error:
        return failed(address, str(error).replace("\n", "; "))


def failed(address: Address, why: str) -> ExaminedRecording:
    """The result of a recording that could not be examined."""
    return ExaminedRecording(address.text, address.robot, math.nan, 0.0, (), why)


def _examine(file: Path, address: Address, plan: Plan) -> ExaminedRecording:
    ours = is_ours(file)
    config = plan.config or _configuration(file, address, plan, ours)
    began, played, counts = math.nan, Played(), Counter[tuple[str, str]]()
    pipeline = Pipeline(config, BOOT)
    if ours:
        first = next(blocks(file), None)
        began = math.nan if first is None else (int(first.readings["time"][:1].sum()) + first.batches[0].epoch) * 1e-9
    source = _ours(file) if ours else readings_of(file, config, {}, None, plan.columns)
    for topic, body in play(pipeline, source, played):
        if topic.startswith(b"event/"):
            counts[topic.decode().partition("/")[2], msgpack.unpackb(body)["kind"]] += 1
    if not ours and played.first * 1e-9 > UNIX:
        began = played.first * 1e-9
    delays = _delays(file, config, plan, ours) if plan.skew else {}
    joints = tuple(_joint(joint, config, counts, delays.get(joint.name, ())) for joint in pipeline.joints)
    robot = config.robot.name if ours else address.robot
    seconds = (played.last - played.first) * 1e-9
    problem = break_of(file) if ours else "" if played.readings else "none of its frames carries a configured signal"
    return ExaminedRecording(address.text, robot, began, seconds, joints if played.readings else (), problem)


def _configuration(file: Path, address: Address, plan: Plan, ours: bool) -> Config:
    """The recording's own configuration, or one of rigid joints where it has columns only."""
    if ours:
        return configuration(file)
    if plan.columns is None and file.suffix.lower() not in COLUMNAR and not is_bag(file):
        raise RecordingError(f"{address.text}: a log of frames needs --config, which describes the frames")
    return configured(file, read(file, plan.columns), plan.columns)


def _ours(file: Path) -> Iterator[Batch]:
    return (block.readings for block in blocks(file) if len(block.readings))


def _joint(
    joint: JointPipeline, config: Config, counts: Counter[tuple[str, str]], delays: tuple[RecordedQuantity, ...]
) -> JointFound:
    estimate = joint.estimator.estimate()
    model = config.joints[joint.name].model
    built = model.build()
    units = {one.name: one.unit for one in (*built.parameters, *built.nonlinear)}
    parameters = zip(estimate.names, estimate.values.tolist(), estimate.deviations.tolist(), strict=True)
    return JointFound(
        joint.name,
        str(model.kind),
        str(estimate.phase),
        str(estimate.status),
        joined(estimate.reasons),
        joint.followers.samples,
        sum(joint.aligner.lost().values()),
        estimate.error,
        counts[joint.name, "alarm"],
        counts[joint.name, "refit_accepted"],
        counts[joint.name, "refit_rejected"],
        (
            *(RecordedQuantity(name, units.get(name, ""), value, deviation) for name, value, deviation in parameters),
            *delays,
        ),
    )


def _delays(file: Path, config: Config, plan: Plan, ours: bool) -> dict[str, tuple[RecordedQuantity, ...]]:
    """Joint → the delays of its channels."""
    channels: Channels
    if ours:
        channels = aligned(_ours(file), config)
    elif plan.columns is not None or file.suffix.lower() in COLUMNAR or is_bag(file):
        channels = read(file, plan.columns)
    else:
        channels = of_frames(file, config)
    asked = {
        name: {role: one for role, one in channels[name].items() if role in joint.channels}
        for name, joint in config.joints.items()
        if name in channels
    }
    found: dict[str, tuple[RecordedQuantity, ...]] = {}
    for one in find(asked, LONGEST):
        if "delay" in one:
            mine = RecordedQuantity(DELAY + one["channel"], "s", one["delay"], one["deviation"])
            found[one["joint"]] = (*found.get(one["joint"], ()), mine)
    return found


def here(addresses: Sequence[Address], plan: Plan) -> Iterator[ExaminedRecording]:
    """Examine them in this process."""
    return (examine(address, plan) for address in addresses)


def on(cluster: Cluster, addresses: Sequence[Address], plan: Plan) -> Iterator[ExaminedRecording]:
    """Examine them on workers, in the order in which they finish; one that kills its workers is reported as failed."""
    for number, found in cluster.run(examine, [(address, plan) for address in addresses]):
        if isinstance(found, ExaminedRecording):
            yield found
        else:
            yield failed(addresses[number], f"{type(found).__name__}: {found}")
