"""Whole batches of frames to Readings, by tables compiled from the layout: one kernel call a batch."""

import logging
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.base import Wanted
from drivers.decode import extract
from drivers.layout.checksum import CHECKSUMS
from drivers.layout.frame import Frames, Guard, Layout, Selector, Signal
from drivers.reading import READING

# in the order of extract's totals
CAUSES: Final = (
    "unmatched",
    "truncated",
    "remote_frames",
    "error_frames",
    "bad_checksum",
    "lost",
    "restarted",
    "invalid",
    "out_of_range",
    "non_finite",
)
_WATCH: Final = 100_000_000  # ns between two looks for frames that have gone silent
_KINDS: Final = {"signed": extract.SIGNED, "unsigned": extract.UNSIGNED}
_FLOATS: Final = {16: extract.HALF, 32: extract.SINGLE, 64: extract.DOUBLE}

log = logging.getLogger("jointwatch")


class Decoder:
    """Decodes batches of frames to READING arrays, for exactly the wanted signals.

    Signals of one frame stand together, frames are in order of time. `counts` totals the frames and every loss by
    cause: unmatched (id not in the layout), truncated (shorter than the layout), remote and error frames, bad_checksum
    (refused), lost (missing by the frames' own counter), restarted (the counter went back or stood still), silent
    (times that a frame was not heard of within its time-out); and values that were delivered as NaN: invalid (the
    device's own mark), out_of_range (the layout's limits), non_finite.
    """

    def __init__(self, layout: Layout, wanted: Sequence[Wanted]) -> None:
        layout.check(wanted)
        self.totals = np.zeros(extract.TOTALS, np.int64)
        self._silences = 0
        ordered = sorted(wanted, key=lambda one: layout.signals[one.signal].frame)
        signals = _Signals(layout, ordered)
        self._frames = signals.frames
        # as extract takes them
        self.tables = (
            *(_index(sorted(layout.lengths)), signals.frames, signals.table, signals.scales, signals.allowed),
            *(signals.checks, signals.crcs),
        )
        self.most = int(self._frames[:, extract.COUNT].max(initial=0))  # readings of one frame
        self._patience = _patience(layout, {layout.signals[one.signal].frame for one in wanted})
        self._due = 0
        self._silent: set[int] = set()

    @property
    def counts(self) -> dict[str, int]:
        """Totals since the beginning."""
        totals = dict(zip(("frames", *CAUSES), self.totals.tolist(), strict=True))
        return totals | {"silent": self._silences}

    def decode(self, frames: Frames) -> NDArray[np.void]:
        """READING array of the wanted signals in these frames; what is lost is counted."""
        readings = np.empty(len(frames.ids) * self.most, READING)
        made = extract.extract(
            frames.ids,
            _words(frames.payload),
            frames.lengths,
            frames.times,
            frames.flags,
            *self.tables,
            readings.view(np.int64),
            self.totals,
        )
        if made < 0:
            return self.decode(_sorted(frames))
        return readings[:made] if 2 * made >= len(readings) else readings[:made].copy()

    @property
    def watches(self) -> bool:
        """Whether any frame has a time-out."""
        return bool(self._patience)

    def watch(self, now: int) -> None:
        """Count and name the frames that have been silent for longer than their time-out. now: monotonic ns."""
        if not self._patience or now < self._due:
            return
        self._due = now + _WATCH
        for slot, guard in self._patience.items():
            seen = int(self._frames[slot, extract.SEEN])
            if seen == 0:  # its time runs from the first look
                self._frames[slot, extract.SEEN] = now
            elif now - seen > guard.timeout:
                if slot not in self._silent:
                    self._silent.add(slot)
                    self._silences += 1
                    log.warning("%s has been silent for %.2g s", guard.name, (now - seen) / 1e9)
            elif slot in self._silent:
                self._silent.remove(slot)
                log.warning("%s is heard again", guard.name)


class _Signals:
    """The tables of extract: signals sorted by frame, then counters of frames, then selectors."""

    def __init__(self, layout: Layout, wanted: Sequence[Wanted]) -> None:
        ids = sorted(layout.lengths)
        self._rows: list[list[int]] = []
        self._scales: list[tuple[float, float, float, float]] = []
        self._values: list[int] = []
        self._selectors: dict[Selector, int] = {}
        self.frames = np.full((len(ids), extract.FRAME_COLUMNS), -1, np.int64)
        owners = np.searchsorted(ids, [layout.signals[one.signal].frame for one in wanted])
        count = np.bincount(owners, minlength=len(ids)) if ids else np.zeros(0, np.int64)
        self.frames[:, extract.COUNT] = count
        self.frames[:, extract.FIRST] = np.cumsum(count) - count
        self.frames[:, extract.SEEN] = 0
        pending: list[tuple[int, Selector]] = []
        for one in wanted:
            signal = layout.signals[one.signal]
            if signal.selector is not None:
                pending.append((len(self._rows), signal.selector))
            self._add(signal, one)
        self._guard(layout, ids)
        while pending:
            row, selector = pending.pop()
            above = self._select(row, selector)
            if above is not None and selector.signal.selector is not None:
                pending.append((above, selector.signal.selector))
        self.table = np.array(self._rows, np.int64).reshape(-1, extract.SIGNAL_COLUMNS)
        self.scales = np.array(self._scales, np.float64).reshape(-1, 4)
        self.allowed = np.array(self._values, np.int64)

    def _add(self, signal: Signal, wanted: Wanted) -> int:
        """One more row; value = wanted.scale × (scale × raw + offset) + wanted.offset."""
        left = 64 - signal.bits
        word, spill, shift = _place(signal)
        kind = _FLOATS[signal.bits] if signal.kind == "float" else _KINDS[signal.kind]
        kind = extract.WIDE if (signal.kind, signal.bits) == ("unsigned", 64) else kind
        mark = int(np.uint64((signal.invalid or 0) << left).view(np.int64))
        self._rows.append(
            [
                *(word, spill, shift, signal.motorola, kind, left, wanted.channel),
                *(-1, 0, 0, signal.invalid is not None, mark),
            ]
        )
        scale, offset = wanted.scale * signal.scale, wanted.scale * signal.offset + wanted.offset
        self._scales.append((scale, offset, signal.low, signal.high))
        return len(self._rows) - 1

    def _select(self, row: int, selector: Selector) -> int | None:
        """Put a selector above a row; its own row where it is new."""
        known = self._selectors.get(selector)
        above = self._add(selector.signal, Wanted(0, "")) if known is None else known
        self._selectors[selector] = above
        self._rows[row][extract.SELECTOR] = above
        self._rows[row][extract.FIRST_VALUE] = len(self._values)
        self._rows[row][extract.VALUES] = len(selector.values)
        self._values += sorted(selector.values)
        return above if known is None else None

    def _guard(self, layout: Layout, ids: Sequence[int]) -> None:
        checks: list[NDArray[np.int64]] = []
        tables: list[NDArray[np.int64]] = []
        for slot, ident in enumerate(ids):
            frame, length, guard = self.frames[slot], layout.lengths[ident], layout.guards.get(ident)
            frame[extract.IDENT], frame[extract.LENGTH] = ident, length
            if guard is None:
                continue
            if guard.counter is not None:
                frame[extract.COUNTER] = self._add(guard.counter, Wanted(0, ""))
                frame[extract.MODULO] = guard.modulo
            if guard.checksum:
                one = CHECKSUMS[guard.checksum]
                frame[extract.CHECK], frame[extract.CHECK_START] = len(checks), guard.start
                frame[extract.CHECK_EXTENT], frame[extract.CHECK_BIG] = length, guard.big
                frame[extract.SUFFIX], frame[extract.SUFFIXES] = len(self._values), len(guard.suffix)
                self._values += guard.suffix
                checks.append(one.settings())
                tables.append(one.table())
        self.checks = np.array(checks, np.int64).reshape(-1, 4)
        self.crcs = np.array(tables, np.int64).reshape(-1, 256)


def _place(signal: Signal) -> tuple[int, int, int]:
    """Word of the least significant bit, the other word (or −1) where the signal spills over, bits to shift right."""
    first, last = signal.span()
    if signal.motorola:  # bit 0 of the wire is the most significant of word 0
        return last // 64, first // 64 if first // 64 < last // 64 else -1, 63 - last % 64
    return first // 64, last // 64 if last // 64 > first // 64 else -1, first % 64


def _index(ids: Sequence[int]) -> NDArray[np.int64]:
    """Ids and their slots by open addressing, at most a quarter full."""
    size = 1 << max(4, (4 * len(ids)).bit_length())
    index = np.full((2, size), -1, np.int64)
    for slot, ident in enumerate(ids):
        place = ((ident * 40503) >> 4) % size
        while index[1, place] >= 0:
            place = (place + 1) % size
        index[:, place] = ident, slot
    return index


def _words(payload: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """As the kernel reads them; of odd width or read-only (what no driver of ours makes) by a copy."""
    if payload.shape[1] % 8 or not payload.flags.writeable or not payload.flags.c_contiguous:
        payload = np.pad(payload, ((0, 0), (0, -payload.shape[1] % 8)))
    return payload.view(np.uint64)


def _sorted(frames: Frames) -> Frames:
    """Equal times stay in order of arrival."""
    return frames.part(frames.times.argsort(kind="stable"))


def _patience(layout: Layout, frames: set[int]) -> dict[int, Guard]:
    """Slot → guard of the frames that are waited for."""
    slots = {ident: slot for slot, ident in enumerate(sorted(layout.lengths))}
    return {slots[one]: guard for one, guard in layout.guards.items() if one in frames and guard.timeout}
