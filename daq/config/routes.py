"""The table of channels: which signal of which driver feeds which role of which joint."""

from typing import Final, NamedTuple

from daq.config.sections import Config
from drivers.base import Wanted

COUNTER: Final = "counter"  # role of a device's own count, or of its time


class Route(NamedTuple):
    """One line of the table of channels: which signal of which driver feeds which role of which joint."""

    joint: str
    role: str  # a channel's role, or COUNTER (the device's own time takes the place of a role)
    driver: str
    signal: str  # MESSAGE.signal
    scale: float
    offset: float


def routes(config: Config) -> list[Route]:
    """The table of channels; a reading's `channel` is an index into it. The channels of a joint are adjacent."""
    table: list[Route] = []
    for name, joint in config.joints.items():
        for role, channel in joint.channels.items():
            driver, signal = channel.signal.split(".", 1)
            table.append(Route(name, role, driver, signal, channel.scale, channel.offset))
        if joint.counter is not None:
            driver, signal = joint.counter.signal.split(".", 1)
            table.append(Route(name, COUNTER, driver, signal, 1.0, 0.0))
        if joint.device_time is not None:
            driver, signal = joint.device_time.signal.split(".", 1)
            table.append(Route(name, COUNTER, driver, signal, joint.device_time.scale, 0.0))
    return table


def wanted(config: Config, driver: str) -> list[Wanted]:
    """The signals that one driver has to deliver."""
    return [
        Wanted(index, route.signal, route.scale, route.offset)
        for index, route in enumerate(routes(config))
        if route.driver == driver
    ]
