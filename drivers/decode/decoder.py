"""Decodes batches of frames to readings with tables compiled from the layout, by one kernel call a batch."""

import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.base import Wanted
from drivers.decode import extract
from drivers.decode.extract import CompiledFrame, CompiledLayout, CompiledSignal, DecodingTotals
from drivers.layout.checksum import CHECKSUMS, NO_CHECKSUM, CompiledChecksum
from drivers.layout.frame import FrameGuard, FrameLayout, Frames, Selector, Signal
from drivers.reading import READING

CAUSES: Final = tuple(one.name for one in DecodingTotals.fields() if one.name != "frames")
_WATCH: Final = 100_000_000  # ns between two checks for silent frames
_KINDS: Final = {"signed": extract.SIGNED, "unsigned": extract.UNSIGNED}
_FLOATS: Final = {16: extract.HALF, 32: extract.SINGLE, 64: extract.DOUBLE}

log = logging.getLogger("jointwatch")


class Decoder:
    """Decodes batches of frames to READING arrays of exactly the requested signals.

    Readings of one frame are adjacent, and frames are in order of time. `counts` contains the number of frames and
    every loss by cause: unmatched (id not in the layout), truncated (shorter than the layout), remote and error frames,
    bad_checksum (refused), lost (missing by the frames' own counter), restarted (the counter went back or did not
    change), silent (how often a frame exceeded its time-out); and values delivered as NaN: invalid (marked by the
    device), out_of_range (limits of the layout), non_finite.
    """

    def __init__(self, layout: FrameLayout, wanted: Sequence[Wanted]) -> None:
        layout.check(wanted)
        self._silences = 0
        ordered = sorted(wanted, key=lambda one: layout.signals[one.signal].frame)
        self.layout = _compiled(layout, ordered)  # in the form that extract.py reads
        self.most = max((one.count for one in self.layout.frames), default=0)  # largest number of readings of one frame
        self._patience = _patience(layout, {layout.signals[one.signal].frame for one in wanted})
        self._due = 0
        self._silent: set[int] = set()

    @property
    def counts(self) -> dict[str, int]:
        """Totals since the beginning."""
        totals = self.layout.totals
        return {name: getattr(totals, name) for name in ("frames", *CAUSES)} | {"silent": self._silences}

    def decode(self, frames: Frames) -> NDArray[np.void]:
        """Return the READING array of the requested signals in these frames; losses are counted."""
        readings = np.empty(len(frames.ids) * self.most, READING)
        made = extract.extract(
            frames.ids,
            _words(frames.payload),
            frames.lengths,
            frames.times,
            frames.flags,
            self.layout,
            readings.view(np.int64),
        )
        if made < 0:
            return self.decode(_sorted(frames))
        return readings[:made] if 2 * made >= len(readings) else readings[:made].copy()

    @property
    def watches(self) -> bool:
        """Whether any frame has a time-out."""
        return bool(self._patience)

    def watch(self, now: int) -> None:
        """Count and log the frames that have been silent for longer than their time-out. now: monotonic ns."""
        if not self._patience or now < self._due:
            return
        self._due = now + _WATCH
        for slot, guard in self._patience.items():
            frame = self.layout.frames[slot]
            seen = frame.seen
            if seen == 0:  # its time-out begins with the first check
                frame.seen = now
            elif now - seen > guard.timeout:
                if slot not in self._silent:
                    self._silent.add(slot)
                    self._silences += 1
                    log.warning("%s has been silent for %.2g s", guard.name, (now - seen) / 1e9)
            elif slot in self._silent:
                self._silent.remove(slot)
                log.warning("%s is heard again", guard.name)


def _compiled(layout: FrameLayout, wanted: Sequence[Wanted]) -> CompiledLayout:
    """Compile the requested signals of a layout, sorted by frame."""
    ids = sorted(layout.lengths)
    signals = _Signals(layout, wanted)
    owners = np.searchsorted(ids, [layout.signals[one.signal].frame for one in wanted])
    counts = np.bincount(owners, minlength=len(ids)).tolist() if ids else []
    frames, first = [], 0
    for ident, count in zip(ids, counts, strict=True):
        frames.append(_frame(layout.lengths[ident], first, count, layout.guards.get(ident), signals))
        first += count
    signals.finish()
    keys, slots = _index(ids)
    return CompiledLayout(
        keys=keys,
        slots=slots,
        frames=tuple(frames),
        signals=tuple(signals.rows),
        allowed=np.array(signals.values, np.int64),
        totals=DecodingTotals.zeros(),
    )


class _Signals:
    """Table of signals sorted by frame, then counters of frames, then selectors."""

    def __init__(self, layout: FrameLayout, wanted: Sequence[Wanted]) -> None:
        self.rows: list[CompiledSignal] = []
        self.values: list[int] = []
        self._selectors: dict[Selector, int] = {}
        self._pending: list[tuple[int, Selector]] = []
        for one in wanted:
            signal = layout.signals[one.signal]
            if signal.selector is not None:
                self._pending.append((len(self.rows), signal.selector))
            self.add(signal, one)

    def add(self, signal: Signal, wanted: Wanted) -> int:
        """Add a row; value = wanted.scale × (scale × raw + offset) + wanted.offset."""
        left = 64 - signal.bits
        word, spill, shift = _place(signal)
        kind = _FLOATS[signal.bits] if signal.kind == "float" else _KINDS[signal.kind]
        kind = extract.WIDE if (signal.kind, signal.bits) == ("unsigned", 64) else kind
        self.rows.append(
            CompiledSignal(
                word=word,
                spill=spill,
                shift=shift,
                motorola=signal.motorola,
                kind=kind,
                left=left,
                channel=wanted.channel,
                scale=wanted.scale * signal.scale,
                offset=wanted.scale * signal.offset + wanted.offset,
                low=signal.low,
                high=signal.high,
                marked=signal.invalid is not None,
                invalid=int(np.uint64((signal.invalid or 0) << left).view(np.int64)),
            )
        )
        return len(self.rows) - 1

    def finish(self) -> None:
        """Add the selectors of the signals that have them."""
        while self._pending:
            row, selector = self._pending.pop()
            above = self._select(row, selector)
            if above is not None and selector.signal.selector is not None:
                self._pending.append((above, selector.signal.selector))

    def _select(self, row: int, selector: Selector) -> int | None:
        """Assign a selector to a row; a new selector gets its own row."""
        known = self._selectors.get(selector)
        above = self.add(selector.signal, Wanted(0, "")) if known is None else known
        self._selectors[selector] = above
        below = self.rows[row]
        below.selector, below.first_value, below.values = above, len(self.values), len(selector.values)
        self.values += sorted(selector.values)
        return above if known is None else None


def _frame(length: int, first: int, count: int, guard: FrameGuard | None, signals: _Signals) -> CompiledFrame:
    """Compile a frame with its signals from `first` on; its counter and suffix are added to the signals."""
    frame = CompiledFrame(length=length, first=first, count=count, checksum=NO_CHECKSUM)
    if guard is None:
        return frame
    if guard.counter is not None:
        frame.counter, frame.modulo = signals.add(guard.counter, Wanted(0, "")), guard.modulo
    if guard.checksum:
        frame.checksum = _checksum(guard.checksum)
        frame.check_start, frame.check_extent, frame.check_big = guard.start, length, guard.big
        frame.suffix, frame.suffixes = len(signals.values), len(guard.suffix)
        signals.values += guard.suffix
    return frame


@lru_cache
def _checksum(name: str) -> CompiledChecksum:
    """Return the compiled checksum, which frames with the same algorithm share."""
    return CHECKSUMS[name].compiled()


def _place(signal: Signal) -> tuple[int, int, int]:
    """Return the word of the least significant bit, the word into which the signal extends (or −1), and bits to shift
    right."""
    first, last = signal.span()
    if signal.motorola:  # bit 0 on the wire is the most significant bit of word 0
        return last // 64, first // 64 if first // 64 < last // 64 else -1, 63 - last % 64
    return first // 64, last // 64 if last // 64 > first // 64 else -1, first % 64


def _index(ids: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Build the hash table from ids to slots by open addressing, at most a quarter full."""
    size = 1 << max(4, (4 * len(ids)).bit_length())
    keys, slots = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    for slot, ident in enumerate(ids):
        place = ((ident * 40503) >> 4) % size
        while slots[place] >= 0:
            place = (place + 1) % size
        keys[place], slots[place] = ident, slot
    return keys, slots


NOTHING: Final = _compiled(FrameLayout({}, {}), ())  # the layout of a bus without requested signals


def _words(payload: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the payload as 64-bit words for the kernel; payloads of odd width or read-only ones (not ours) are
    copied."""
    if payload.shape[1] % 8 or not payload.flags.writeable or not payload.flags.c_contiguous:
        payload = np.pad(payload, ((0, 0), (0, -payload.shape[1] % 8)))
    return payload.view(np.uint64)


def _sorted(frames: Frames) -> Frames:
    """Sort frames by time; frames with equal times keep their order of arrival."""
    return frames.part(frames.times.argsort(kind="stable"))


def _patience(layout: FrameLayout, frames: set[int]) -> dict[int, FrameGuard]:
    """Return slot → guard of the frames that have a time-out."""
    slots = {ident: slot for slot, ident in enumerate(sorted(layout.lengths))}
    return {slots[one]: guard for one, guard in layout.guards.items() if one in frames and guard.timeout}
