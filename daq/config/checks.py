"""Checks across sections of the configuration: signals against drivers, roles against models, shared wires."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from daq.config import physics
from daq.config.sections import JointSection
from daq.config.words import unknown
from drivers.base import DriverSettings, LayoutError, Wanted
from estimators.alignment.clock_state import LONGEST_LOSS
from estimators.online.settings import NEAR

RESERVED: Final = frozenset(("core", "outlet", "recorder", "supervisor", "refits", "readings", "running"))
DEEPEST: Final = 12
#: Hz, argued: Rate of a joint at least. A move of half a second has ramps of two samples or three there, and fewer do
#: not show an acceleration.
LEAST_RATE: Final = 20.0
LARGEST: Final = 1 << 64


def unusable(data: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Values that no setting can have: NUL characters, numbers that are not finite or too large, too deep tables."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), data)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, (dict, list)):
            if len(path) > DEEPEST:
                yield path, f"expected at most {DEEPEST} tables or lists in each other, found more"
                continue
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, str(key)), one) for key, one in inside]
        elif isinstance(value, float) and not math.isfinite(value):
            yield path, f"expected a finite number, found {value}"
        elif isinstance(value, str) and "\0" in value:
            yield path, "expected text without NUL"
        elif isinstance(value, int) and abs(value) > LARGEST:
            yield path, f"expected a number of at most 64 bits, found one of {value.bit_length()}"


def cross_check(data: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Check roles against the models, signals against the drivers; yields (path, what is wrong).

    Signals are looked up in the data as read, so that a mistake elsewhere in a joint does not hide a wrong signal.
    """
    drivers = _table(data, "drivers")
    yield from _check_wires(drivers, parts["drivers"])
    for name in sorted(RESERVED & drivers.keys()):
        yield ("drivers", name), f"expected another name than that of a process of the service, found {name}"
    for path, source in _sources(_table(data, "joints")):
        driver, _, signal = source.partition(".")
        if driver not in drivers:
            yield path, unknown(driver, sorted(drivers), "driver")
        elif driver in parts["drivers"]:
            try:
                parts["drivers"][driver].check([Wanted(0, signal)])
            except LayoutError as error:
                yield path, f"expected a signal of {driver}, found: {error}"
    for name, joint in parts["joints"].items():
        yield from _check_roles(name, joint)
    yield from physics.mistakes(parts["joints"], {name: driver.signals() for name, driver in parts["drivers"].items()})


def _check_wires(
    tables: Mapping[str, Any], drivers: Mapping[str, DriverSettings]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Two drivers on one wire, which would take each other's bytes or deliver every frame twice."""
    owners: dict[tuple[str, ...], str] = {}
    for name, driver in drivers.items():
        wire = driver.wire()
        owner = owners.setdefault(wire, name) if wire else name
        if owner != name:
            table = _table(tables, name)
            names = ("path",) if driver.named == "file" else ("channel", "port", "host", "topic")
            key = next((key for key in names if isinstance(table.get(key), str)), "")
            place = str(table[key]) if key else " ".join(wire)
            text = f'expected a wire of its own, found "{place}", which is driver {owner}\'s'
            yield ("drivers", name, key) if key else ("drivers", name), text


def _sources(joints: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every well-formed driver.MESSAGE.signal that a joint names, and where."""
    for name in joints:
        joint = _table(joints, name)
        places = {("channels", role): _table(_table(joint, "channels"), role) for role in _table(joint, "channels")}
        clocks = {(key,): _table(joint, key) for key in ("counter", "device_time")}
        for path, place in (places | clocks).items():
            source = place.get("signal")
            if isinstance(source, str) and source.count(".") == 2:
                yield ("joints", name, *path, "signal"), source


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _check_roles(name: str, joint: JointSection) -> Iterator[tuple[tuple[str, ...], str]]:
    if joint.rate < LEAST_RATE:
        text = f"expected at least {LEAST_RATE:g} Hz, found {joint.rate:g}: slower samples do not show accelerations"
        yield ("joints", name, "rate"), text
    needed = set(joint.roles())
    lacking = [role for role in NEAR if role not in joint.channels]
    if len(lacking) == 1:
        yield ("joints", name, "channels"), f"expected both proximity sensors {' and '.join(NEAR)}, {lacking[0]} lacks"
    for role in sorted(joint.channels.keys() - needed):
        yield ("joints", name, "channels", role), unknown(role, sorted(needed), "channel")
    for role in sorted(needed - joint.channels.keys()):
        yield ("joints", name, "channels"), f'the model "{joint.model.kind}" needs the channel "{role}", found none'
    if joint.counter is not None and joint.device_time is not None:
        yield ("joints", name, "device_time"), "expected either counter or device_time, found both"
    for key, clock in (("counter", joint.counter), ("device_time", joint.device_time)):
        if clock is not None and joint.reference in joint.channels:
            message = joint.channels[joint.reference].signal.rpartition(".")[0]
            if clock.signal.rpartition(".")[0] != message:
                text = f'expected a signal of {message}, the frame of the reference channel, found "{clock.signal}"'
                yield ("joints", name, key, "signal"), text
    if joint.device_time is not None and joint.device_time.wrap is not None:
        least = 8 * LONGEST_LOSS / joint.rate
        if joint.device_time.wrap < least:
            text = f"expected at least {least:g} s at {joint.rate:g} Hz, found {joint.device_time.wrap:g}"
            yield ("joints", name, "device_time", "wrap"), text
    if joint.channels and joint.reference not in joint.channels:  # without any, the model says what it needs
        message = unknown(joint.reference, sorted(joint.channels), "reference channel")
        yield ("joints", name, "reference"), message
