"""The samples of our own recording as the service had them: on their devices' clocks, not on arrival.

A recording holds readings as they arrived: in bursts, late, out of order. For whatever is differentiated that is too
coarse by far; the instants are those that alignment recovers.
"""

from pathlib import Path

import numpy as np

from daq.config.routes import routes
from daq.core.align import Aligner, Sorter
from daq.recording.columns import Channels
from daq.recording.reader import blocks, configuration
from estimators.alignment.channel_delay import Series
from estimators.quantities import Floats, Nanoseconds


def aligned(file: Path) -> Channels:
    """Joint → role → samples at equidistant ticks, s since the first. Raises RecordingError."""
    config = configuration(file)
    roles = {name: joint.model.roles() for name, joint in config.joints.items()}
    aligners = [Aligner(joint, roles[name]) for name, joint in config.joints.items()]
    sorter = Sorter(routes(config), list(config.joints), roles)
    found: list[list[tuple[Nanoseconds, Floats]]] = [[] for _ in aligners]
    for block in (one for one in blocks(file) if len(one.readings)):
        for index, times, values, columns in sorter.split(block.readings):
            found[index].append(aligners[index].absorb(times, values, columns))
    first = min((int(ticks[0]) for parts in found for ticks, _ in parts if len(ticks)), default=0)
    channels: Channels = {}
    for (name, own), parts in zip(roles.items(), found, strict=True):
        ticks = np.concatenate([np.zeros(0, np.int64), *(one for one, _ in parts)])
        rows = np.concatenate([np.zeros((0, len(own))), *(one for _, one in parts)])
        time = (ticks - first) * 1e-9
        channels[name] = {role: Series(time, rows[:, column]) for column, role in enumerate(own)}
    return channels
