"""Signals that are in order: joints of every rig, and real recordings; and what the validators say of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from daq.replay.from_columns import configured
from estimators.alignment.channel_delay import ChannelSeries
from estimators.alignment.resampler import Resampler
from estimators.plausibility.signals.watch import SignalWatch
from estimators.quantities import Floats
from estimators.reasons import Reason
from hil_rig.plants import RIGS
from hil_rig.plants.base import Plant
from tests.support.signals.real_motions import whole

SECONDS: Final = 15.0  # of a rig


class Signal(NamedTuple):
    """One channel as it is sampled."""

    role: str
    name: str  # MESSAGE.FIELD
    values: Floats


def said(times: Floats, rate: float, signals: Sequence[Signal], jitter: float = 0.0) -> list[Reason]:
    """What the validators say of frames that were sampled at these times (s) and came up to `jitter` s late."""
    messages = [one.name.rsplit(".", 1)[0] for one in signals]
    resampler = Resampler(1.0 / rate, len(signals), frames=[messages.index(one) for one in messages], watched=True)
    late = jitter * np.random.default_rng(1).random(len(times))
    arrivals = np.maximum.accumulate(np.round((times - times[0] + late) * 1e9).astype(np.int64)) + 1_000_000_000
    columns, values = np.arange(len(signals), dtype=np.int32), np.column_stack([one.values for one in signals])
    watch = SignalWatch(resampler.aligner, [one.role for one in signals], [one.name for one in signals])
    frames = [columns[[one == message for one in messages]] for message in dict.fromkeys(messages)]
    found: list[Reason] = []
    for arrival, row in zip(arrivals, values, strict=True):
        for frame in frames:  # frames that nobody has looked at before the next one comes are none
            resampler.absorb(np.full(len(frame), arrival), row[frame], frame)
            found += watch.look().reasons if watch.due else ()
    return found


def of_plant(plant: Plant) -> tuple[Floats, list[Signal]]:
    """Times (s) and signals of a plant."""
    rows = plant.rows(round(SECONDS * plant.rate))
    names = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    times = plant.times()
    signals = [
        Signal(role, one.signal, one.scale * rows[:, names.index(one.signal)]) for role, one in plant.roles.items()
    ]
    return (np.arange(len(rows)) / plant.rate if times is None else times[: len(rows)]), signals


def of_rig(
    name: str, seed: int = 1, jitter: float = 0.0, most: int | None = None
) -> Iterator[tuple[str, list[Reason]]]:
    """What is said of a rig's joints, the first `most` if given, whose frames come up to `jitter` s late."""
    rig = RIGS[name]
    for joint, plant in list(rig.settings().robot(rig.joints, seed, []).items())[:most]:
        times, signals = of_plant(plant)
        yield joint, said(times, plant.rate, signals, jitter)


def of_recordings() -> Iterator[tuple[str, list[Reason]]]:
    """What is said of every joint of every recording: name, reasons."""
    for file, motions in whole():
        for joint, motion in motions.items():
            channels = {
                "position": ChannelSeries(motion.time, motion.position),
                "torque": ChannelSeries(motion.time, motion.effort),
            }
            rate = configured(Path(file), {"joint": channels}, None).joints["joint"].rate
            signals = [Signal("position", "a.M.q", motion.position), Signal("torque", "a.M.t", motion.effort)]
            yield f"{file} {joint}", said(motion.time, rate, signals)
