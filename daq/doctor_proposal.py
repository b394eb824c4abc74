"""From what was heard on a wire to a configuration to start from, guesses marked as such."""

from typing import Any, Final

import numpy as np

from daq.doctor_bus import Field, Talk, fields, nominal
from drivers.deframe import Deframer
from drivers.frame import EXTENDED

_KINDS: Final = {("unsigned", 8): "u8", ("unsigned", 16): "u16", ("signed", 16): "i16", ("signed", 32): "i32"}
_NAMES: Final = ("position", "torque")
_CRC: Final = 2  # bytes


def bus_proposal(interface: str, channel: str, bitrate: int | None, found: list[Talk]) -> str:
    """A configuration with a table of the frames that were heard."""
    lines = [
        "# Proposed by `jointwatch doctor` from what it heard; signals are guesses: name them, give scale and unit.",
        "[drivers.bus]",
        'kind = "can"',
        f'interface = "{interface}"',
        f'channel = "{channel}"',
    ]
    if bitrate and interface not in ("socketcan", "udp_multicast", "virtual"):
        lines.append(f"bitrate = {bitrate}")
    for talk in found:
        extended = bool(talk.id & EXTENDED)
        lines += [
            "",
            "[[drivers.bus.frames]]",
            f'name = "ID_{talk.id & ~EXTENDED:X}"  # {talk.frames} frames, {talk.guess:g} Hz',
            f"id = {talk.id & ~EXTENDED:#x}",
            *(["extended = true"] if extended else []),
            f"length = {talk.length}",
            *(f"signals.{one.name} = {{ {_signal(one)} }}" for one in talk.fields),
            *([] if talk.fields else ["signals.raw = { start = 0, bits = 8 }  # nothing that moves smoothly was seen"]),
        ]
        if not talk.length:
            lines = lines[: -3 - extended - 2]
    return "\n".join([*lines, "", *_joint(found)]) + "\n"


def _signal(one: Field) -> str:
    start = 8 * one.byte + (7 if one.motorola else 0)
    order = ', order = "motorola"' if one.motorola else ""
    return f'start = {start}, bits = {one.bits}, type = "{one.kind}"{order}'


def _joint(found: list[Talk]) -> list[str]:
    """A joint of the frame that has most of what one needs; commented out where none has."""
    best = max(found, key=lambda talk: (sum(not one.counter for one in talk.fields), talk.rate), default=None)
    measured = [one for one in best.fields if not one.counter] if best else []
    enough = best is not None and len(measured) >= len(_NAMES)
    mark = "" if enough else "# "
    name = f"bus.ID_{best.id & ~EXTENDED:X}" if best else "bus.FRAME"
    counter = next((one for one in best.fields if one.counter), None) if best else None
    lines = [
        "[joints.joint1]  # a guess at which frame speaks of a joint",
        f"rate = {best.guess if best and np.isfinite(best.guess) else 1000.0:g}",
        'model = { kind = "rigid" }',
    ]
    if counter is not None:
        lines.append(f'counter = {{ signal = "{name}.{counter.name}", modulo = {1 << counter.bits} }}')
    lines.append("[joints.joint1.channels]")
    for role, index in zip(_NAMES, range(len(_NAMES)), strict=True):
        signal = measured[index].name if index < len(measured) else "SIGNAL"
        lines.append(f'{role} = {{ signal = "{name}.{signal}", scale = 1.0 }}  # which signal, and its scale to SI?')
    return [mark + line for line in lines]


def port_proposal(port: str, baudrate: int, text: bytes, seconds: float) -> tuple[list[dict[str, Any]], list[str], str]:
    """Packets found in the bytes of a line: (what was found, the same in words, a configuration to start from)."""
    lengths = _lengths(text)
    if not lengths:
        common = np.bincount(np.frombuffer(text, np.uint8), minlength=256).argsort()[::-1][:4]
        said = ", ".join(f"0x{byte:02x}" for byte in common.tolist())
        return [], [f"no COBS packets with a CRC-16 in it (commonest bytes: {said}); see [drivers.NAME.framing]"], ""
    frames = Deframer(lengths).feed(text, 0)
    found, words = [], []
    lines = [
        "# Proposed by `jointwatch doctor` from what it heard; fields are guesses: name them, and give scale and unit.",
        "[drivers.port]",
        'kind = "serial"',
        f'port = "{port}"',
        f"baudrate = {baudrate}",
    ]
    for one, length in sorted(lengths.items()):
        payload = frames.payload[frames.ids == one, 3:length]
        rate = nominal(len(payload) / seconds)
        guesses = [_plain(byte, size, kind) for byte, size, kind in _cover(payload)]
        found.append({"id": one, "length": length, "count": len(payload), "rate": len(payload) / seconds})
        words.append(f"packet {one}: {length - 3} bytes of fields, {len(payload)} packets, {rate:g} Hz")
        lines += [
            "",
            "[[drivers.port.packets]]",
            f'name = "PACKET_{one}"  # {rate:g} Hz',
            f"id = {one}",
            f"fields = [{', '.join(guesses)}]",
        ]
    return found, words, "\n".join(lines) + "\n"


def _lengths(text: bytes) -> dict[int, int]:
    """id → bytes of id, sequence and fields of the packets whose CRC is good, by trying every length that occurs."""
    sizes: dict[int, dict[int, int]] = {}
    for piece in text.split(b"\0")[1:-1]:
        if 6 <= len(piece) <= 254 and piece[0] >= 1:
            sizes.setdefault(len(piece) - 1 - _CRC, {}).setdefault(_first(piece), 0)
    found: dict[int, int] = {}
    for length, ids in sizes.items():
        for one in ids:
            frames = Deframer({one: length}).feed(text, 0)
            if len(frames.ids) >= 3 and one not in found:
                found[one] = length
    return found


def _first(piece: bytes) -> int:
    """The first byte of what a piece was before stuffing: zero where its code says so."""
    return 0 if piece[0] == 1 else piece[1]


def _cover(payload: np.ndarray) -> list[tuple[int, int, str]]:
    """Fields without gaps over a packet's bytes: the guesses, and single bytes between them."""
    guesses = {one.byte: one for one in (fields(payload) if len(payload) >= 8 else []) if not one.motorola}
    found: list[tuple[int, int, str]] = []
    at = 0
    while at < payload.shape[1]:
        one = guesses.get(at)
        size = one.bits // 8 if one else 1
        kind = "f32" if one and one.kind == "float" else _KINDS[(one.kind, one.bits)] if one else "u8"
        found.append((at, size, kind))
        at += size
    return found


def _plain(byte: int, _size: int, kind: str) -> str:
    return f'{{ name = "{kind}_{byte}", type = "{kind}" }}'
