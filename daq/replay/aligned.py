"""Aligns the readings of our own recordings as the service did, so that samples have their devices' times.

A recording holds readings by arrival: in bursts, late, out of order. That is far too coarse to differentiate them;
alignment recovers the times at which they were measured.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from daq.config.routes import routes
from daq.config.sections import Config
from daq.core.align import Aligner, Sorter
from daq.recording.columns import Channels
from daq.recording.reader import blocks, configuration
from estimators.alignment.channel_delay import ChannelSeries
from estimators.quantities import Floats, Nanoseconds


def aligned(file: Path) -> Channels:
    """Read a recording as joint → role → samples at equidistant ticks, s since the first. Raises RecordingError."""
    config = configuration(file)
    roles = {name: joint.roles() for name, joint in config.joints.items()}
    found = samples((block.readings for block in blocks(file)), config, roles)
    first = min((int(ticks[0]) for ticks, _ in found.values() if len(ticks)), default=0)
    channels: Channels = {}
    for name, (ticks, rows) in found.items():
        time = np.asarray((ticks - first) * 1e-9, np.float64)
        channels[name] = {role: ChannelSeries(time, rows[:, column]) for column, role in enumerate(roles[name])}
    return channels


def samples(
    batches: Iterable[NDArray[np.void]], config: Config, roles: Mapping[str, Sequence[str]]
) -> dict[str, tuple[Nanoseconds, Floats]]:
    """Align all batches: joint → ticks (rows,) ns and rows (rows, roles). Raises what the batches raise."""
    aligners = [Aligner(joint, roles[name]) for name, joint in config.joints.items()]
    sorter = Sorter(routes(config), list(config.joints), roles)
    parts: list[list[tuple[Nanoseconds, Floats]]] = [[] for _ in aligners]
    for readings in batches:
        for index, times, values, columns in sorter.split(readings) if len(readings) else ():
            parts[index].append(aligners[index].absorb(times, values, columns))
    return {
        name: (
            np.concatenate([np.zeros(0, np.int64), *(ticks for ticks, _ in mine)]),
            np.concatenate([np.zeros((0, len(roles[name]))), *(rows for _, rows in mine)]),
        )
        for name, mine in zip(config.joints, parts, strict=True)
    }
