"""Makes a complete configuration of a service that listens to one rig."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from daq.config.toml_file import is_mechanism
from hil_rig.messages import COUNTER, Message, MessageField
from hil_rig.plants.base import Plant
from hil_rig.plants.mechanisms.shared import Driven
from hil_rig.wire.base import Wire
from hil_rig.wire.robot import RigRobot
from hil_rig.wire.samples import Described

DRIVER: Final = "wire"
BAUDRATE: Final = 3_000_000
BITRATE: Final = 1_000_000


def toml(
    rig: str,
    kind: str,
    wires: Sequence[Wire],
    robot: RigRobot,
    endpoint: str,
    page: str,
    model: Path | None = None,
    record: Path | None = None,
) -> str:
    """Return the text of the file. kind: name of the wires, one a bus; endpoint, page: addresses of the service.

    model: file of an identified model of the whole robot or of a mechanism with loops; record: folder of recordings.
    """
    lines = [
        f"# Written by the rig {rig} on {kind}: listens to exactly what it plays.",
        "[robot]",
        f"name = {_value(rig)}",
        *([] if model is None else [f"{_kind(model)} = {_value(str(model.resolve()))}"]),
        "",
        "[publish]",
        f"endpoint = {_value(endpoint)}",
        f"page = {_value(page)}",
    ]
    if record is not None:
        lines += ["", "[recorder]", f"folder = {_value(str(record.resolve()))}"]
    for bus, wire in enumerate(wires):
        if isinstance(wire, Described):
            lines += ["", f"[drivers.{_name(bus)}]", *wire.table()]
            continue
        lines += ["", f"[drivers.{_name(bus)}]", *_driver(kind, wire)]
        for message in (one for messages in robot.messages.values() for one in messages if one.bus == bus):
            lines += _packet(message) if kind == "serial" else _frame(message)
    for name, plant in robot.joints.items():
        lines += _joint(name, plant, robot.messages[name], kind, wires)
    return "\n".join(lines) + "\n"


def _kind(model: Path) -> str:
    """Return the key of [robot] for a model file."""
    return "mechanism" if is_mechanism(model) else "model"


def _name(bus: int) -> str:
    """Return the name of the driver that listens to a bus."""
    return DRIVER if bus == 0 else f"{DRIVER}{bus + 1}"


def _driver(kind: str, wire: Wire) -> list[str]:
    device = _value(wire.device)
    if kind == "serial":
        return ['kind = "serial"', f"port = {device}", f"baudrate = {BAUDRATE}"]
    if kind == "slcan":
        return ['kind = "can"', 'interface = "slcan"', f"channel = {device}", f"bitrate = {BITRATE}"]
    options = _value({"port": getattr(wire, "port", 0)})
    return ['kind = "can"', 'interface = "udp_multicast"', f"channel = {device}", f"options = {options}"]


def _frame(message: Message) -> Iterator[str]:
    yield from (
        "",
        f"[[drivers.{_name(message.bus)}.frames]]",
        f"name = {_value(message.name)}",
        f"id = {message.can_id:#x}",
    )
    start = 0
    for field in message.fields:
        place = {"start": start, "bits": field.bits, "type": "signed"}
        yield f"signals.{field.name} = {_value(place | _quantity(field))}"
        start += field.bits
    yield f"signals.counter = {_value({'start': start, 'bits': 16})}"


def _packet(message: Message) -> Iterator[str]:
    yield from (
        "",
        f"[[drivers.{_name(message.bus)}.packets]]",
        f"name = {_value(message.name)}",
        f"id = {message.packet_id}",
    )
    yield "fields = ["
    for field in message.fields:
        yield f"    {_value({'name': field.name, 'type': f'i{field.bits}'} | _quantity(field))},"
    yield "]"


def _quantity(field: MessageField) -> dict[str, Any]:
    quantity: dict[str, Any] = {"unit": field.unit}
    if field.scale != 1.0:
        quantity["scale"] = field.scale
    if field.counts_per_rev is not None:
        quantity["counts_per_rev"] = field.counts_per_rev
    return quantity | {"invalid": field.invalid}


def _joint(name: str, plant: Plant, messages: tuple[Message, ...], kind: str, wires: Sequence[Wire]) -> Iterator[str]:
    own = {one.name: ours for one, ours in zip(plant.messages, messages, strict=True)}
    reference = own[plant.roles["position"].signal.partition(".")[0]]
    yield from ("", f"[joints.{name}]", f"rate = {_value(plant.rate)}", f"model = {_value(plant.model)}")
    if isinstance(plant, Driven):
        yield from (f"{key} = {_value(table)}" for key, table in plant.tables.items())
    for key, source in _clock(reference, kind, wires[reference.bus]).items():
        place = {"signal": f"{_name(reference.bus)}.{source['signal']}"}
        yield f"{key} = {_value({**source, **place})}"
    yield f"[joints.{name}.channels]"
    for role, (signal, scale) in plant.roles.items():
        message, _, wanted = signal.partition(".")
        ours = own[message]
        field = next(field for field in ours.fields if field.name == wanted)
        wire = wires[ours.bus]
        there = wire.signal(ours, wanted) if isinstance(wire, Described) else f"{ours.name}.{wanted}"
        channel: dict[str, Any] = {"signal": f"{_name(ours.bus)}.{there}"}
        if scale != 1.0:
            channel["scale"] = scale
        if field.turn is not None:
            channel["wrap"] = field.turn * scale
        yield f"{role} = {_value(channel)}"


def _clock(reference: Message, kind: str, wire: Wire) -> Mapping[str, Any]:
    """Return the clock of the reference's message: counter or device_time → its settings."""
    if isinstance(wire, Described):
        return wire.clock(reference)
    counter = "sequence" if kind == "serial" else "counter"
    return {"counter": {"signal": f"{reference.name}.{counter}", "modulo": COUNTER}}


def _value(value: Any) -> str:
    """Return a value in TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
