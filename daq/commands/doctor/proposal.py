"""Proposes a configuration from what was received on a wire; guesses are marked."""

import json
from typing import Any, Final

import numpy as np

from daq.commands.doctor.bus import GuessedField, Talk, fields, nominal
from daq.commands.doctor.framing import framing_of
from drivers.layout.frame import EXTENDED
from drivers.serial.deframer import Deframer
from drivers.serial.packets import COBS, Framing

_KINDS: Final = {("unsigned", 8): "u8", ("unsigned", 16): "u16", ("signed", 16): "i16", ("signed", 32): "i32"}
_NAMES: Final = ("position", "torque")


def bus_proposal(interface: str, channel: str, bitrate: int | None, found: list[Talk]) -> str:
    """A configuration with a table of the received frames."""
    lines = [
        "# Proposed by `jointwatch doctor` from what it received; signals are guesses: name them, give scale and unit.",
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
            *(
                []
                if talk.fields
                else ["signals.raw = { start = 0, bits = 8 }  # no smoothly changing bytes were found"]
            ),
        ]
        if not talk.length:
            lines = lines[: -3 - extended - 2]
    return "\n".join([*lines, "", *_joint(found)]) + "\n"


def _signal(one: GuessedField) -> str:
    start = 8 * one.byte + (7 if one.motorola else 0)
    order = ', order = "motorola"' if one.motorola else ""
    return f'start = {start}, bits = {one.bits}, type = "{one.kind}"{order}'


def _joint(found: list[Talk]) -> list[str]:
    """A joint for each frame with fields for position and torque; a commented-out one if there is no such frame."""
    speaking = [talk for talk in found if len(_measured(talk)) >= len(_NAMES)]
    lines: list[str] = []
    for number, talk in enumerate(speaking, 1):
        lines += [*_of_frame(f"joint{number}", talk), ""]
    best = max(found, key=lambda talk: (len(_measured(talk)), talk.rate), default=None)
    return lines[:-1] if lines else [f"# {line}" for line in _of_frame("joint1", best)]


def _measured(talk: Talk | None) -> list[GuessedField]:
    return [one for one in talk.fields if not one.counter] if talk else []


def _of_frame(joint: str, talk: Talk | None) -> list[str]:
    """The tables of a joint whose values are in this frame."""
    measured = _measured(talk)
    name = f"bus.ID_{talk.id & ~EXTENDED:X}" if talk else "bus.FRAME"
    counter = next((one for one in talk.fields if one.counter), None) if talk else None
    lines = [
        f"[joints.{joint}]  # a guess: this frame may have the values of a joint",
        f"rate = {talk.guess if talk and np.isfinite(talk.guess) else 1000.0:g}",
        'model = { kind = "rigid" }',
    ]
    if counter is not None:
        lines.append(f'counter = {{ signal = "{name}.{counter.name}", modulo = {1 << counter.bits} }}')
    lines.append(f"[joints.{joint}.channels]")
    for role, index in zip(_NAMES, range(len(_NAMES)), strict=True):
        signal = measured[index].name if index < len(measured) else "SIGNAL"
        lines.append(f'{role} = {{ signal = "{name}.{signal}", scale = 1.0 }}  # which signal, and its scale to SI?')
    return lines


def port_proposal(port: str, baudrate: int, text: bytes, seconds: float) -> tuple[list[dict[str, Any]], list[str], str]:
    """The packets found in the bytes of a line: (as data, in words, as a configuration to start from)."""
    found_framing = framing_of(text)
    if found_framing is None or not found_framing[1]:
        common = np.bincount(np.frombuffer(text, np.uint8), minlength=256).argsort()[::-1][:4]
        said = ", ".join(f"0x{byte:02x}" for byte in common.tolist())
        why = f"found no COBS, SLIP or HDLC packets with a known checksum (most frequent bytes: {said})"
        return [], [f"{why}; see [drivers.NAME.framing]"], ""
    framing, lengths = found_framing
    frames = Deframer(lengths, framing).feed(text, 0)
    found, words = [], []
    lines = [
        "# Proposed by `jointwatch doctor` from what it received; fields are guesses: name them, give scale and unit.",
        "[drivers.port]",
        'kind = "serial"',
        f'port = "{port}"',
        f"baudrate = {baudrate}",
    ]
    if framing != COBS:
        lines.append(f"framing = {{ {_framing(framing)} }}")
        words.append(f"the framing of packets is {_framing(framing)}")
    for one, length in sorted(lengths.items()):
        payload = frames.payload[frames.ids == one, framing.head : length]
        rate = nominal(len(payload) / seconds)
        guesses = [f'{{ name = "{kind}_{byte}", type = "{kind}" }}' for byte, _, kind in _cover(payload)]
        found.append({"id": one, "length": length, "count": len(payload), "rate": len(payload) / seconds})
        words.append(f"packet {one}: {length - framing.head} bytes of fields, {len(payload)} packets, {rate:g} Hz")
        lines += [
            "",
            "[[drivers.port.packets]]",
            f'name = "PACKET_{one}"  # {rate:g} Hz',
            f"id = {one}",
            f"fields = [{', '.join(guesses)}]",
        ]
    return found, words, "\n".join(lines) + "\n"


def _framing(framing: Framing) -> str:
    """The settings that differ from the default, and the kind, as a TOML table."""
    values = {"kind": framing.kind} | framing.model_dump(exclude_defaults=True, mode="json")
    return ", ".join(f"{name} = {json.dumps(value)}" for name, value in values.items())


def _cover(payload: np.ndarray) -> list[tuple[int, int, str]]:
    """Fields that cover all bytes of a packet: the guesses, and single bytes between them."""
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
