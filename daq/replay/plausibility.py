"""The plausibility look at a recording: which mistakes of a person its channels show, joint by joint."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from daq.config.sections import Config
from daq.recording.columns import Channels, Columns, read
from daq.recording.reader import RecordingError, blocks
from daq.recording.ros_bag import is_ours
from daq.replay.aligned import samples
from daq.replay.sources import Batch, readings_of
from drivers.base import DriverError
from estimators.alignment.channel_delay import ChannelSeries
from estimators.online.settings import LINK
from estimators.online.start.plausibility_look import motion_facts
from estimators.plausibility.mistakes.base import Motion
from estimators.plausibility.mistakes.look import look_at_joints
from estimators.plausibility.signals.recorded import held_in
from estimators.quantities import Axis, Floats
from estimators.reasons import Reason

#: rows, argued: Rows that are looked at, at most: a minute at 1 kHz, which takes a second.
LONGEST: Final = 60_000
#: rows, argued: Rows by which two windows differ that are compared for the one in which the joint moves most.
APART: Final = 10_000
#: s, argued: Readings of a recording that are aligned for the look, at most; a joint that moves later is looked at when
#: it starts.
FIRST: Final = 120.0
EFFORTS: Final = ("torque", "force", "effort", "current")
NOTHING: Final = Motion(np.zeros(0), np.zeros(0), np.zeros(0))

Mistakes = dict[str, tuple[Reason, ...]]  # joint → what was found


def mistakes_of(file: Path, config: Config, columns: Columns | None, driver: str | None = None) -> Mistakes:
    """Look at a recording of any kind; one that cannot be read has none: reading it says why."""
    try:
        if columns is not None:
            return look_at_channels(read(file, columns), facts_of(columns))
        batches: Iterable[Batch] = (
            (block.readings for block in blocks(file))
            if is_ours(file)
            else readings_of(file, config, {}, driver, columns)
        )
        return mistakes_in(_first(batches), config)
    except (RecordingError, DriverError, ValueError):
        return {}


def mistakes_in(batches: Iterable[Batch], config: Config) -> Mistakes:
    """Look at readings of the configured channels. Raises what the batches raise."""
    roles = {name: list(joint.channels) for name, joint in config.joints.items()}
    channels: Channels = {
        name: {role: ChannelSeries(1e-9 * (ticks - ticks[0]), rows[:, i]) for i, role in enumerate(roles[name])}
        for name, (ticks, rows) in samples(batches, config, roles).items()
        if len(ticks)
    }
    return look_at_channels(channels, {name: motion_facts(joint) for name, joint in config.joints.items()})


def _first(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The readings of the first seconds; where a recording breaks off, those before."""
    begin = None
    try:
        for batch in batches:
            if len(batch):
                begin = int(batch["time"][0]) if begin is None else begin
                inside = batch["time"] < begin + 1e9 * FIRST
                yield batch if inside.all() else batch[inside]
                if not inside[-1]:
                    return
    except (RecordingError, DriverError):
        return


def facts_of(columns: Columns) -> dict[str, Motion]:
    """What a table of columns states besides the channels: the axis, and what a torque without a unit is called."""
    found = {}
    for name, roles in columns.joints.items():
        position, effort = roles.get("position"), roles.get("torque") or roles.get("force")
        slides = "force" in roles or (position is not None and position.conversion("").unit == "m")
        plain = effort is not None and effort.unit is None and abs(effort.scale) == 1.0
        found[name] = NOTHING._replace(
            axis=Axis.PRISMATIC if slides else Axis.ROTARY, source=effort.column if effort and plain else ""
        )
    return found


def look_at_channels(channels: Channels, facts: Mapping[str, Motion]) -> Mistakes:
    """Look at every joint with a position and a torque; facts: what else is known of each, see motion_facts."""
    motions = {}
    for name, roles in channels.items():
        effort = next((one for one in EFFORTS if one in roles), None)
        if "position" not in roles or effort is None:
            continue
        time = roles["position"].time
        motions[name] = _window(
            facts.get(name, NOTHING)._replace(
                time=time,
                position=roles["position"].values,
                effort=_on(time, roles[effort]),
                velocity=_on(time, roles["velocity"]) if "velocity" in roles else None,
                link=_on(time, roles[LINK]) if LINK in roles else None,
            )
        )
    found = look_at_motions(motions)
    for name, motion in motions.items():
        held = held_in(motion.time, np.column_stack([motion.position, motion.effort]), f"{name}.position")
        found |= {} if held is None else {name: (*found.get(name, ()), held)}
    return found


def look_at_motions(motions: Mapping[str, Motion]) -> Mistakes:
    """Look at motions of the joints of one robot."""
    with np.errstate(all="ignore"):
        try:
            return look_at_joints(motions)
        except np.linalg.LinAlgError:  # values whose products overflow: nothing can be said of them
            return {}


def _on(time: Floats, series: ChannelSeries) -> Floats:
    """The values of a channel at these times; NaN outside of it."""
    if series.time is time or np.array_equal(series.time, time):
        return series.values
    known = np.isfinite(series.values)
    if not known.any():
        return np.full(len(time), np.nan)
    return np.interp(time, series.time[known], series.values[known], np.nan, np.nan)


def _window(motion: Motion) -> Motion:
    """The rows in which the joint moves most, where there are more than LONGEST."""
    count = len(motion.time)
    if count <= LONGEST:
        return motion
    path = np.concatenate([[0.0], np.nancumsum(np.abs(np.diff(motion.position)))])
    begin = max(range(0, count - LONGEST + 1, APART), key=lambda first: path[first + LONGEST - 1] - path[first])
    cut = {
        field: one[begin : begin + LONGEST]
        for field in ("time", "position", "effort", "velocity", "link")
        if (one := getattr(motion, field)) is not None
    }
    return motion._replace(**cut)


def lines(found: Mistakes) -> Iterator[str]:
    """What is found in words: for each mistake a line, and a line of what to do."""
    for joint, reasons in found.items():
        for reason in reasons:
            yield f"{joint}: {reason}"
            yield f"    → {reason.todo}"


def maps(found: Mistakes) -> list[dict[str, Any]]:
    """The mistakes as plain values, one map each."""
    pairs = itertools.chain.from_iterable(((joint, one) for one in reasons) for joint, reasons in found.items())
    return [{"joint": joint, **one.plain, "text": str(one), "todo": one.todo} for joint, one in pairs]
