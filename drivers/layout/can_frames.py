"""Layouts of CAN frames from a table in the configuration or from cantools' messages (dbc.py); cantools checks both."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, Self

import cantools.database
from cantools.database.can import Message
from cantools.database.can import Signal as DbcSignal
from cantools.database.conversion import BaseConversion
from pydantic import Field, FiniteFloat, model_validator

from drivers.base import LayoutError, nearest
from drivers.layout.frame import EXTENDED, FrameGuard, FrameLayout, Selector, Signal
from drivers.layout.integrity import GuardSettings, guard
from drivers.units import Conversion, QuantitySettings, Scale, UnknownUnitError


class Correction(QuantitySettings):
    """A property of a signal that a DBC omits or has wrong."""

    type: Literal["unsigned", "signed", "float"] | None = None


class SignalSettings(Correction):
    """One signal of a frame in the configuration's table."""

    start: int = Field(ge=0, lt=512, description="bit of the LSB (intel) or MSB (motorola), counted 8·byte + bit")
    bits: int = Field(ge=1, le=64)
    order: Literal["intel", "motorola"] = "intel"
    type: Literal["unsigned", "signed", "float"] = "unsigned"
    scale: Scale = 1.0
    offset: FiniteFloat = 0.0
    minimum: FiniteFloat | None = Field(
        default=None, description="in `unit`; a value below is delivered as NaN and counted"
    )
    maximum: FiniteFloat | None = None
    multiplexer: str | None = Field(
        default=None, description="signal of this frame that says whether this one is there"
    )
    when: tuple[int, ...] = Field(default=(), description="values of the multiplexer with which it is")

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if self.unit is None:
            self.conversion("")  # raises if counts_per_rev or rated is given for a bare number
        if (self.multiplexer is None) != (not self.when):
            raise ValueError("expected multiplexer and when together, found only one of them")
        self.check_bits(self.bits, self.type)
        return self


class FrameSettings(GuardSettings):
    """One frame in the configuration's table."""

    name: str = Field(pattern=r"^[^.]+$")
    id: int = Field(ge=0, le=0x1FFF_FFFF)
    extended: bool = Field(default=False, description="29-bit id")
    length: int | None = Field(
        default=None, ge=1, le=64, description="bytes; where left out, just enough for its signals"
    )
    signals: dict[str, SignalSettings] = Field(min_length=1)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self.message()
        return self

    def message(self) -> Message:
        """Return the message in the form of cantools. Raises ValueError if signals overlap or do not fit."""
        selectors = {one.multiplexer for one in self.signals.values()} - {None}
        if not selectors <= self.signals.keys():
            name = min(str(one) for one in selectors - self.signals.keys())
            raise ValueError(f'found the unknown multiplexer "{name}", {nearest(name, self.signals)}')
        signals = [_dbc_signal(name, one, name in selectors) for name, one in self.signals.items()]
        needed = max(_last_byte(_bits(0, one)) for one in signals) + 1
        if needed > 64:
            raise ValueError(f"expected at most 64 bytes in a frame, found signals up to byte {needed}")
        try:
            message = Message(
                self.id,
                self.name,
                self.length or needed,
                signals,
                is_extended_frame=self.extended,
                is_fd=(self.length or needed) > 8,
            )
            guard(message, self, lambda signal: _bits(0, signal))
            return message
        except cantools.Error as error:
            raise ValueError(f"expected signals side by side inside the frame, found: {error}") from error


def _last_byte(signal: Signal) -> int:
    """Return the index of the last byte that a signal occupies."""
    return signal.span()[1] // 8


def from_table(frames: Iterable[FrameSettings]) -> FrameLayout:
    """Make the layout from a table of the configuration. Raises LayoutError."""
    frames = tuple(frames)
    table = {f"{frame.name}.{name}": one for frame in frames for name, one in frame.signals.items()}
    ids: dict[int, str] = {}
    for frame in frames:
        one = frame.id | (EXTENDED if frame.extended else 0)
        if one in ids or frame.name in ids.values():
            what = f"name {frame.name}" if frame.name in ids.values() else f"id {frame.id:#x}"
            other = f", {ids[one]} and {frame.name}" if one in ids and ids[one] != frame.name else ""
            raise LayoutError(f"expected every frame name and id once, found the {what} twice{other}")
        ids[one] = frame.name
    messages = {frame.name: frame.message() for frame in frames}
    return layout_of(messages, table, True, {frame.name: frame for frame in frames})


def layout_of(
    messages: Mapping[str, Message],
    corrections: Mapping[str, Correction],
    limits: bool,
    said: Mapping[str, GuardSettings],
    as_written: bool = False,
) -> FrameLayout:
    """Make the layout of valid messages with distinct ids, by the names used in a configuration. Raises LayoutError.

    limits: whether limits of the messages are used; said: guards by name; as_written: whether values keep the messages'
    units instead of SI.
    """
    lengths: dict[int, int] = {}
    signals: dict[str, Signal] = {}
    unusable: dict[str, str] = {}
    unknown_units: dict[str, str] = {}
    guards: dict[int, FrameGuard] = {}
    for title, message in messages.items():
        frame = message.frame_id | (EXTENDED if message.is_extended_frame else 0)
        lengths[frame] = message.length
        for signal in message.signals:
            name = f"{title}.{signal.name}"
            try:
                correction = corrections.get(name, Correction())
                si = Conversion(signal.unit or "") if as_written else _conversion(name, signal, correction)
                signals[name] = _signal(frame, message, signal, correction, si, limits)
            except ValueError as error:
                if isinstance(error.__cause__, UnknownUnitError):
                    unknown_units[name] = str(error.__cause__)
                unusable[name] = str(error)
        try:
            found = guard(message, said.get(title, GuardSettings()), partial(_bits, frame))
        except ValueError as error:
            raise LayoutError(str(error)) from error
        if found is not None:
            guards[frame] = found
    return FrameLayout(lengths, signals, unusable, guards, unknown_units=unknown_units)


def _conversion(name: str, signal: DbcSignal, correction: Correction) -> Conversion:
    try:
        return correction.conversion(signal.unit or "")
    except ValueError as error:
        raise ValueError(f'{error} (say what it is under corrections."{name}")') from error


def _signal(
    frame: int, message: Message, signal: DbcSignal, correction: Correction, si: Conversion, limits: bool
) -> Signal:
    if signal.length > 64:
        raise ValueError(f"expected at most 64 bits, found {signal.length}")
    scale, offset = float(signal.scale), float(signal.offset)
    if scale == 0:
        raise ValueError("expected a scale other than zero, found 0")
    bits = _bits(frame, signal, correction.type)
    correction.check_bits(bits.bits, bits.kind)
    bounds = (signal.minimum, signal.maximum) if limits else (None, None)
    low, high = sorted(_raw_limit(*pair, scale, offset) for pair in zip(bounds, (-math.inf, math.inf), strict=True))
    invalid = signal.raw_invalid if correction.invalid is None else correction.invalid
    return replace(
        bits,
        scale=si.factor * scale,
        offset=si.factor * offset + si.offset,
        unit=si.unit,
        invalid=None if invalid is None else int(invalid) & ((1 << signal.length) - 1),
        low=low,
        high=high,
        selector=_selector(frame, message, signal),
    )


def _bits(frame: int, signal: DbcSignal, corrected: str | None = None) -> Signal:
    declared = "float" if signal.conversion.is_float else "signed" if signal.is_signed else "unsigned"
    return Signal(frame, signal.start, signal.length, signal.byte_order == "big_endian", corrected or declared)


def _raw_limit(limit: float | None, none: float, scale: float, offset: float) -> float:
    """Convert a limit of the physical value to a limit of the raw value, with a margin for rounding."""
    if limit is None:
        return math.copysign(none, none * scale)
    raw = (float(limit) - offset) / scale
    return raw + math.copysign(1e-9 * max(1.0, abs(raw)), none * scale)


def _selector(frame: int, message: Message, signal: DbcSignal) -> Selector | None:
    if not signal.multiplexer_ids or signal.multiplexer_signal is None:
        return None
    above = message.get_signal_by_name(signal.multiplexer_signal)
    if above.length > 32:
        raise ValueError(f"expected a multiplexer of at most 32 bits, found {above.length} in {above.name}")
    mask = (1 << above.length) - 1
    whole = replace(_bits(frame, above), selector=_selector(frame, message, above))
    return Selector(whole, tuple(value & mask for value in signal.multiplexer_ids))


def _dbc_signal(name: str, one: SignalSettings, selects: bool) -> DbcSignal:
    return DbcSignal(
        name,
        one.start,
        one.bits,
        "big_endian" if one.order == "motorola" else "little_endian",
        one.type == "signed",
        conversion=BaseConversion.factory(one.scale, one.offset, is_float=one.type == "float"),
        minimum=one.minimum,
        maximum=one.maximum,
        unit=one.unit,
        is_multiplexer=selects,
        multiplexer_ids=list(one.when) or None,
        multiplexer_signal=one.multiplexer,
    )
