"""Aligns readings to samples: one row per joint and tick, every channel at the time of the joint's reference channel.

A Sample is a tick (int64 ns, equidistant on the device's clock) and one value per channel (NaN where it is missing).
The arithmetic (clock recovery, delays, unwrapping, interpolation) is in the kernel of
estimators/alignment/resampler.py; this file decides which reading goes to which joint and column.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from daq.config.routes import COUNTER, Route
from daq.config.sections import JointSection
from drivers.reading import words
from estimators.alignment.resampler import Resampler
from estimators.conditioning.bridge import bridgeable
from estimators.numerics.jit import kernel
from estimators.quantities import Floats, Nanoseconds


class Aligner:
    """Builds the samples of one joint; `columns` are the roles in the order that its estimator expects."""

    def __init__(self, joint: JointSection, columns: Sequence[str], watched: bool = False) -> None:
        """watched: whether frames are kept for the validators of signals, see Resampler."""
        channels = [joint.channels[role] for role in columns]
        self.signals = [channel.signal for channel in channels]
        messages = [channel.signal.rsplit(".", 1)[0] for channel in channels]  # driver.MESSAGE: one frame, one clock
        self.resampler = Resampler(
            period=1.0 / joint.rate,
            channels=len(columns),
            reference=columns.index(joint.reference),
            delays=[channel.delay for channel in channels],
            wraps=[channel.wrap or 0.0 for channel in channels],
            counter_modulo=joint.counter.modulo if joint.counter else 0,
            device_wrap=(joint.device_time.wrap or math.inf) if joint.device_time else 0.0,
            patience=joint.patience,
            bridge=bridgeable(joint.conditioning, 1.0 / joint.rate) if joint.bridge is None else joint.bridge,
            periods=[1.0 / (channel.rate or joint.rate) for channel in channels],
            frames=[messages.index(message) for message in messages],
            watched=watched,
        )

    def absorb(self, times: Nanoseconds, values: Floats, columns: NDArray[np.int32]) -> tuple[Nanoseconds, Floats]:
        """Readings of this joint in order of arrival → ticks (n,) ns, rows (n, channels)."""
        return self.resampler.absorb(times, values, columns)

    def lost(self) -> Mapping[str, int]:
        """Count the readings that were not used, by cause: lost, late, out_of_order, invalid, restart, …"""
        return {cause: count for cause, count in self.resampler.counters().items() if cause != "interpolated"}

    def interpolated(self) -> int:
        """Count the rows that contain interpolated values."""
        return self.resampler.counters()["interpolated"]


class Sorter:
    """Splits a batch of readings by joint: it knows the joint of each channel and its column there."""

    def __init__(self, routes: Sequence[Route], joints: Sequence[str], columns: Mapping[str, Sequence[str]]) -> None:
        """joints: names of the joints whose readings are used, in order; readings of other joints are ignored."""
        self.joint = np.full(len(routes), -1, np.int32)  # −1: the channel belongs to none of these joints
        self.column = np.zeros(len(routes), np.int32)
        for at, route in enumerate(routes):
            if route.joint in joints:
                roles = columns[route.joint]
                self.joint[at] = joints.index(route.joint)
                self.column[at] = len(roles) if route.role == COUNTER else roles.index(route.role)
        self.places = np.zeros((len(joints), 4), np.int64)

    def split(self, readings: NDArray[np.void]) -> Iterator[tuple[int, Nanoseconds, Floats, NDArray[np.int32]]]:
        """Yield (index of the joint, times, values, columns) of every joint with readings, in order of arrival."""
        count, rows = len(readings), words(readings)
        times, values, columns = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int32)
        present = sort(rows, rows.view(np.float64), self.joint, self.column, self.places, times, values, columns)
        for joint, start, end, _ in self.places[:present].tolist():
            yield joint, times[start:end], values[start:end], columns[start:end]


@kernel(
    "i8(Array(i8, 2, 'C', readonly=True), Array(f8, 2, 'C', readonly=True), i4[::1], i4[::1], i8[:, ::1], i8[::1], "
    "f8[::1], i4[::1])"
)
def sort(
    rows: NDArray[np.int64],
    reals: Floats,
    joints: NDArray[np.int32],
    wanted: NDArray[np.int32],
    places: NDArray[np.int64],
    times: Nanoseconds,
    values: Floats,
    columns: NDArray[np.int32],
) -> int:
    """Sort readings by joint, each joint's in order of arrival; returns how many joints have readings.

    rows, reals: readings as integers and as floats; joints, wanted: joint (−1: ignored) and column of each channel;
    places (joints, 4): joint, index of its first reading, index after its last reading, and a spare column; times,
    values, columns (readings,).
    """
    places[:, 1:] = 0
    for i in range(len(rows)):
        joint = joints[rows[i, 2] & 0xFFFFFFFF]
        if joint >= 0:
            places[joint, 2] += 1
    end = 0
    for joint in range(len(places)):
        places[joint, 0], places[joint, 1] = joint, end
        end += places[joint, 2]
        places[joint, 2] = places[joint, 1]
    for i in range(len(rows)):
        channel = rows[i, 2] & 0xFFFFFFFF
        if joints[channel] < 0:
            continue
        at = places[joints[channel], 2]
        places[joints[channel], 2] += 1
        times[at], values[at], columns[at] = rows[i, 0], reals[i, 1], wanted[channel]
    present = 0
    for joint in range(len(places)):
        if places[joint, 2] > places[joint, 1]:
            for k in range(3):
                places[present, k] = places[joint, k]
            present += 1
    return present
