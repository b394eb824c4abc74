"""Whole batches of frames to Readings: every wanted signal's bits gathered, scaled and converted to SI at once."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from drivers.base import Wanted
from drivers.frame import ERROR, REMOTE, Frames, Layout, Selector, Signal
from drivers.reading import READING, empty

CAUSES: Final = ("unmatched", "truncated", "remote_frames", "error_frames", "invalid", "out_of_range", "non_finite")

Indices = NDArray[np.intp]


class Decoder:
    """Decodes batches of frames to READING arrays, for exactly the wanted signals.

    Signals of one frame stand together, frames are in order of time. `counts` totals the frames and every loss by
    cause: unmatched (id not in the layout), truncated (shorter than the layout), remote and error frames; and values
    that were delivered as NaN: invalid (the device's own mark), out_of_range (the layout's limits), non_finite.
    """

    def __init__(self, layout: Layout, wanted: Sequence[Wanted]) -> None:
        layout.check(wanted)
        self.counts: dict[str, int] = dict.fromkeys(("frames", *CAUSES), 0)
        self._ids = np.array(sorted(layout.lengths), np.uint32)
        self._lengths = np.array([layout.lengths[int(one)] for one in self._ids], np.int64)
        self._compile(layout, sorted(wanted, key=lambda one: layout.signals[one.signal].frame))

    def _compile(self, layout: Layout, wanted: Sequence[Wanted]) -> None:
        """Signals sorted by frame id: those of frame slot s are first[s] … first[s] + count[s] − 1."""
        signals = [layout.signals[one.signal] for one in wanted]
        self._table = _Table(signals, layout.lengths)
        owner = np.searchsorted(self._ids, np.array([signal.frame for signal in signals], np.uint32))
        self._count = np.bincount(owner, minlength=len(self._ids)).astype(np.intp)
        self._first = np.cumsum(self._count) - self._count
        self._channel = np.array([one.channel for one in wanted], np.int32)
        # value = wanted.scale × (scale × raw + offset) + wanted.offset
        self._scale = np.array([one.scale * signal.scale for one, signal in zip(wanted, signals, strict=True)])
        self._offset = np.array(
            [one.scale * signal.offset + one.offset for one, signal in zip(wanted, signals, strict=True)]
        )
        signed = [1 << (signal.bits - 1) if signal.kind == "signed" else 0 for signal in signals]
        self._sign = np.array(signed, np.uint64)
        kinds = [(signal.kind, signal.bits) for signal in signals]
        odd = {kind for kind in kinds if kind[0] == "float" or kind == ("unsigned", 64)}  # what int64 cannot hold
        self._special = {kind: np.array([kind == other for other in kinds], bool) for kind in odd}
        self._marked = np.array([signal.invalid is not None for signal in signals], bool)
        self._any_marked = bool(self._marked.any())
        self._invalid = np.array([signal.invalid or 0 for signal in signals], np.uint64)
        self._low = np.array([signal.low for signal in signals], np.float64)
        self._high = np.array([signal.high for signal in signals], np.float64)
        self._any_limit = bool((self._low > -np.inf).any() or (self._high < np.inf).any())
        self._selectors = _Selectors(signals, layout.lengths)

    def decode(self, frames: Frames) -> NDArray[np.void]:
        """READING array of the wanted signals in these frames; what is lost is counted."""
        rows, slots = self._match(frames)
        if not len(rows):
            return empty()
        times = frames.times[rows]
        if (times[1:] < times[:-1]).any():
            order = times.argsort(kind="stable")
            rows, slots = rows[order], slots[order]
        count = self._count[slots]
        after = count.cumsum()
        columns = np.arange(after[-1]) + (self._first[slots] - after + count).repeat(count)
        rows = rows.repeat(count)
        if self._selectors.any:
            there = self._selectors.present(frames, rows, columns)
            rows, columns = rows[there], columns[there]
        readings = np.zeros(len(rows), READING)
        readings["time"] = frames.times[rows]
        readings["channel"] = self._channel[columns]
        readings["value"] = self._values(self._table.raw(frames, rows, columns), columns)
        return readings

    def _match(self, frames: Frames) -> tuple[Indices, Indices]:
        """Frames that the layout knows and that are long enough, and each one's slot in the table of ids."""
        total = len(frames.ids)
        self.counts["frames"] += total
        if not len(self._ids):
            slots, known = np.zeros(total, np.intp), np.zeros(total, bool)
            good = known
        else:
            slots = np.minimum(self._ids.searchsorted(frames.ids), len(self._ids) - 1)
            known = self._ids[slots] == frames.ids
            good = known & (frames.lengths >= self._lengths[slots])
        rows = good.nonzero()[0]
        if len(rows) < total:
            error = frames.ids & ERROR != 0
            remote = (frames.ids & REMOTE != 0) & ~error
            self._add("error_frames", error)
            self._add("remote_frames", remote)
            self._add("unmatched", ~(known | error | remote))
            self._add("truncated", known & ~good)
        return rows, slots[rows]

    def _values(self, raw: NDArray[np.uint64], columns: Indices) -> NDArray[np.float64]:
        with np.errstate(over="ignore", invalid="ignore"):  # a device's NaN or overflow is counted, not warned about
            number = self._numbers(raw, columns)
            value: NDArray[np.float64] = self._scale[columns] * number + self._offset[columns]
        lost = ~np.isfinite(value)  # one cause each: the device's own mark before a NaN before a limit
        if self._any_marked:
            marked = self._marked[columns] & (raw == self._invalid[columns])
            self._add("invalid", marked)
            self._add("non_finite", lost & ~marked)
            lost |= marked
        elif lost.any():
            self._add("non_finite", lost)
        if self._any_limit:
            outside = ~lost & ((number < self._low[columns]) | (number > self._high[columns]))
            self._add("out_of_range", outside)
            lost |= outside
        value[lost] = np.nan
        return value

    def _numbers(self, raw: NDArray[np.uint64], columns: Indices) -> NDArray[np.float64]:
        """The raw bits as numbers."""
        sign = self._sign[columns]
        number = ((raw ^ sign) - sign).view(np.int64).astype(np.float64)  # two's complement of any width
        for (kind, bits), which in self._special.items():
            some = which[columns]
            bytes_ = bits // 8
            number[some] = raw[some] if kind == "unsigned" else raw[some].astype(f"<u{bytes_}").view(f"<f{bytes_}")
        return number

    def _add(self, cause: str, which: NDArray[np.bool_]) -> None:
        self.counts[cause] += int(np.count_nonzero(which))


class _Table:
    """Signals as columns, so that one indexing operation serves a whole batch."""

    def __init__(self, signals: Sequence[Signal], lengths: Mapping[int, int]) -> None:
        places = [signal.place() for signal in signals]
        last = np.array([lengths[signal.frame] - 1 for signal in signals], np.intp)
        first = np.array([place[0] for place in places], np.intp)
        step = np.array([place[1] for place in places], np.intp)
        bits = np.array([signal.bits for signal in signals], np.uint64)
        # nine bytes hold 64 bits at any shift; those beyond the frame only meet bits that are masked away
        nine = first[:, None] + step[:, None] * np.arange(9)
        self.bytes = np.minimum(np.maximum(nine, 0), last[:, None])
        self.shift = np.array([place[2] for place in places], np.uint64)
        self.mask = np.uint64(0xFFFF_FFFF_FFFF_FFFF) >> (np.uint64(64) - bits)
        self.ninth = self.shift + bits > 64
        self.any_ninth = bool(self.ninth.any())

    def raw(self, frames: Frames, rows: Indices, columns: Indices) -> NDArray[np.uint64]:
        """Bits of signal columns[i] in frame rows[i], as unsigned integers."""
        flat, base = frames.payload.reshape(-1), rows * frames.payload.shape[1]
        where = self.bytes[columns]
        raw: NDArray[np.uint64] = flat[base[:, None] + where[:, :8]].view("<u8")[:, 0] >> self.shift[columns]
        if self.any_ninth:
            some = np.flatnonzero(self.ninth[columns])
            raw[some] |= flat[base[some] + where[some, 8]].astype(np.uint64) << (64 - self.shift[columns[some]])
        return raw & self.mask[columns]


class _Selectors:
    """Which signals of a multiplexed frame are there: every selector up the chain must have one of its values."""

    def __init__(self, signals: Sequence[Signal], lengths: Mapping[int, int]) -> None:
        chain: list[Selector] = []
        for signal in signals:
            selector = signal.selector
            while selector is not None:
                if selector not in chain:
                    chain.append(selector)
                selector = selector.signal.selector
        index = {selector: i for i, selector in enumerate(chain)} | {None: -1}
        self.any = bool(chain)
        self._table = _Table([selector.signal for selector in chain], lengths)
        self._of = np.array([index[signal.selector] for signal in signals], np.intp)
        self._above = np.array([index[selector.signal.selector] for selector in chain], np.intp)
        # a selector has at most 32 bits: (selector, value) in one integer
        keys = [(i << 32) | value for i, selector in enumerate(chain) for value in selector.values]
        self._allowed = np.array(sorted(keys), np.uint64)

    def present(self, frames: Frames, rows: Indices, columns: Indices) -> NDArray[np.bool_]:
        """For each (frame, signal): is it there?"""
        there = np.ones(len(rows), bool)
        selector = self._of[columns]
        while (selector >= 0).any():
            some = np.flatnonzero(selector >= 0)
            keys = self._table.raw(frames, rows[some], selector[some]) | (selector[some].astype(np.uint64) << 32)
            there[some] &= np.isin(keys, self._allowed)
            selector[some] = self._above[selector[some]]
        return there
