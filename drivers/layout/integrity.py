"""Integrity of a frame: a counter, a checksum and its rate, from the configuration or a DBC.

A DBC states the cycle time (attribute GenMsgCycleTime; a frame is silent after five cycles without it) and the counter
(signal attribute GenSigFuncType). It cannot state the algorithm of a checksum, so the configuration does.
"""

from collections.abc import Callable
from typing import Annotated, Final

from cantools.database.can import Message
from cantools.database.can import Signal as DbcSignal
from pydantic import Field

from drivers.base import StrictSettings, nearest
from drivers.layout.checksum import CHECKSUMS, Name
from drivers.layout.frame import FrameGuard, Signal

_CYCLES: Final = 5
_SHORTEST: Final = 0.1  # s; with a shorter limit pauses of the host would count as silence
_COUNTERS: Final = ("counter", "cntr", "cnt", "alive")


class ChecksumSettings(StrictSettings):
    """A checksum over all other bytes of a frame."""

    signal: str = Field(description="its place: whole bytes")
    kind: Name
    suffix: tuple[Annotated[int, Field(ge=0, le=255)], ...] = Field(
        default=(), max_length=8, description="bytes that both ends add to the frame's (AUTOSAR's data id)"
    )


class GuardSettings(StrictSettings):
    """Counter, checksum and rate of a frame."""

    counter: str | None = Field(default=None, description="signal that counts the frames of this id: gaps are losses")
    checksum: ChecksumSettings | None = Field(default=None, description="a frame with a wrong one is refused")
    timeout: float | None = Field(default=None, gt=0, description="s without this frame that are worth a word")


def guard(message: Message, settings: GuardSettings, bits: Callable[[DbcSignal], Signal]) -> FrameGuard | None:
    """Return the guard of a frame, or None if nothing is known. Raises ValueError."""
    counter = _counter(message, settings)
    start, big = _checksum(message, settings.checksum)
    timeout = settings.timeout
    cycle = message.cycle_time  # ms; in a damaged file it can be any value
    if timeout is None and isinstance(cycle, int | float) and cycle > 0:
        timeout = max(_SHORTEST, _CYCLES * cycle / 1e3)
    if counter is None and settings.checksum is None and timeout is None:
        return None
    return FrameGuard(
        message.name,
        None if counter is None else bits(counter),
        0 if counter is None else 1 << counter.length,
        "" if settings.checksum is None else settings.checksum.kind,
        start,
        big,
        () if settings.checksum is None else settings.checksum.suffix,
        0 if timeout is None else int(timeout * 1e9),
    )


def _find(message: Message, name: str) -> DbcSignal:
    found = {signal.name: signal for signal in message.signals}
    if name not in found:
        raise ValueError(f'found the unknown signal "{name}" in {message.name}, {nearest(name, found)}')
    return found[name]


def _counter(message: Message, settings: GuardSettings) -> DbcSignal | None:
    if settings.counter is None:
        named = [signal for signal in message.signals if _is_counter(signal)]
        return named[0] if len(named) == 1 else None
    counter = _find(message, settings.counter)
    if counter.length > 32 or counter.is_signed or counter.conversion.is_float or counter.multiplexer_ids:
        raise ValueError(f"expected an unsigned counter of at most 32 bits, always there, found {counter.name}")
    return counter


def _is_counter(signal: DbcSignal) -> bool:
    attribute = signal.dbc.attributes.get("GenSigFuncType") if signal.dbc else None
    if attribute is None:
        return False
    value = attribute.value
    choices = attribute.definition.choices or []
    said = choices[value] if isinstance(value, int) and value < len(choices) else str(value)
    usable = signal.length <= 32 and not signal.is_signed and not signal.multiplexer_ids
    return usable and any(word in said.lower() for word in _COUNTERS)


def _checksum(message: Message, settings: ChecksumSettings | None) -> tuple[int, bool]:
    """Return the index of the checksum's first byte, and whether its more significant byte comes first."""
    if settings is None:
        return 0, False
    signal = _find(message, settings.signal)
    bits, big = CHECKSUMS[settings.kind].bits, signal.byte_order == "big_endian"
    if signal.length != bits or signal.start % 8 != (7 if big else 0):
        raise ValueError(f"expected whole bytes, {bits} bits, for the checksum {settings.kind}, found {signal.name}")
    return signal.start // 8, big
