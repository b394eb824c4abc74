"""Describes frames whose layout is unknown: ids, rates, jitter, bus load, bytes that change, likely fields."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drivers.layout.frame import ERROR, EXTENDED, REMOTE, Frames

ROUND: Final = tuple(base * 10.0**power for power in range(5) for base in (1, 1.25, 2, 2.5, 4, 5, 8))
NEAR: Final = 0.03  # relative distance from a round rate that is rounded to it
LEAST: Final = 40  # frames at least, from which fields are guessed
SMOOTH: Final = 0.3  # ratio of largest step to range below which bytes are taken for a measured quantity


class GuessedField(NamedTuple):
    """A guess that these bytes are one number."""

    name: str
    byte: int
    bits: int
    kind: str  # unsigned, signed, float
    motorola: bool
    counter: bool


class Talk(NamedTuple):
    """Properties of the frames with one id."""

    id: int  # with EXTENDED
    length: int  # bytes, of the shortest
    frames: int
    rate: float  # Hz, NaN for a single frame
    guess: float  # Hz, the round rate nearby
    jitter: float  # s, std of the intervals
    longest: float  # s, the longest interval
    moving: tuple[int, ...]  # bytes that change
    fields: tuple[GuessedField, ...]


def talks(frames: Frames) -> list[Talk]:
    """Describe every id of data frames, sorted by id."""
    data = frames.ids & np.uint32(REMOTE | ERROR) == 0
    found = []
    for one in np.unique(frames.ids[data]):
        mine = frames.ids == one
        times, lengths = np.sort(frames.times[mine]), frames.lengths[mine]
        length = int(lengths.min())
        payload = frames.payload[mine, :length]
        gaps = np.diff(times) * 1e-9
        rate = len(gaps) / gaps.sum() if gaps.sum() > 0 else np.nan
        moving = np.flatnonzero(np.ptp(payload, axis=0)) if length else np.zeros(0, np.int64)
        found.append(
            Talk(
                int(one), length, len(times), float(rate), nominal(float(rate)),
                float(gaps.std()) if len(gaps) else np.nan, float(gaps.max(initial=0.0)),
                tuple(moving.tolist()), tuple(fields(payload)) if len(times) >= LEAST else (),
            )
        )  # fmt: skip
    return found


def nominal(rate: float) -> float:
    """Return a round rate that is close, or this rate with three digits."""
    if not np.isfinite(rate) or rate <= 0:
        return np.nan
    best = min(ROUND, key=lambda one: abs(one / rate - 1))
    return best if abs(best / rate - 1) < NEAR else float(f"{rate:.3g}")


def load(frames: Frames, seconds: float, bitrate: int, data_bitrate: int | None = None) -> tuple[float, float]:
    """The share of time in which the bus is busy: without stuff bits, and with the largest number of stuff bits.

    Classic frames: Davis, Burns et al. 2007. If a frame is longer than eight bytes, all are taken for CAN FD
    (ISO 11898-1:2015), whose rate switches to data_bitrate after the arbitration; without data_bitrate the load is
    computed with bitrate and is too large. seconds: duration of listening; bitrates: bit/s.
    """
    extended = (frames.ids & np.uint32(EXTENDED)) != 0
    data = np.where(frames.ids & np.uint32(REMOTE) != 0, 0, 8 * frames.lengths)
    if data.max(initial=0) <= 64:
        bits = np.where(extended, 67, 47) + data
        stuffed = bits + (np.where(extended, 54, 34) + data - 1) // 4
        return float(bits.sum() / (seconds * bitrate)), float(stuffed.sum() / (seconds * bitrate))
    before = np.where(extended, 36, 17)  # start of frame to BRS
    slow = before + 12  # acknowledgement, end of frame, interframe space
    # ESI, DLC, data, stuff count, CRC with its fixed stuff bits, delimiter
    fast = 5 + data + np.where(data <= 128, 4 + 17 + 6 + 1, 4 + 21 + 7 + 1)
    early, stuff = (before - 1) // 4, (before + 5 + data - 1) // 4
    quick = data_bitrate or bitrate
    bare = slow.sum() / bitrate + fast.sum() / quick
    whole = bare + early.sum() / bitrate + (stuff - early).sum() / quick
    return float(bare / seconds), float(whole / seconds)


def fields(payload: NDArray[np.uint8]) -> list[GuessedField]:
    """Guess the fields in the frames of one id (frames, length): counters first, then smooth quantities."""
    free = np.ones(payload.shape[1], bool)
    found = list(_counters(payload, free))
    at = 0
    while at < len(free):
        size = next((size for size in (4, 2) if free[at : at + size].sum() == size), 0)
        best = _best(payload, free, at) if size else None
        if best is None:
            at += 1
            continue
        found.append(best)
        free[at : at + best.bits // 8] = False
        at += best.bits // 8
    return sorted(found, key=lambda one: one.byte)


def _counters(payload: NDArray[np.uint8], free: NDArray[np.bool_]) -> list[GuessedField]:
    found = []
    for size in (2, 1):
        for motorola in (False, True)[:size]:
            for at in range(payload.shape[1] - size + 1):
                if not free[at : at + size].all():
                    continue
                steps = np.diff(_number(payload, at, 8 * size, "unsigned", motorola)) % 2.0 ** (8 * size)
                wraps = size == 1 or np.ptp(payload[:, at if motorola else at + 1]) > 0
                if wraps and np.mean(steps == 1) > 0.9:
                    found.append(GuessedField(f"counter_{at}", at, 8 * size, "unsigned", motorola, True))
                    free[at : at + size] = False
    return found


def _best(payload: NDArray[np.uint8], free: NDArray[np.bool_], at: int) -> GuessedField | None:
    """Guess the field that begins at a byte: the first smooth one of float, short and long integer, or None."""
    for bits, kind in ((32, "float"), (16, "signed"), (32, "signed")):
        size = bits // 8
        if free[at : at + size].sum() != size:
            continue
        scores = []
        for motorola in (False, True):
            values = _number(payload, at, bits, kind, motorola)
            believable = kind != "float" or (1e-6 < float(np.abs(values).max(initial=0.0)) < 1e6)
            signs = kind == "signed" and bits == 16 and _extended(payload, at, motorola, free)
            scores.append(_roughness(values) if believable and not signs else np.inf)
        if min(scores) < SMOOTH:
            prefix = {"float": "f", "signed": "i"}[kind]
            return GuessedField(f"{prefix}{bits}_{at}", at, bits, kind, scores[1] < scores[0], False)
    return None


def _extended(payload: NDArray[np.uint8], at: int, motorola: bool, free: NDArray[np.bool_]) -> bool:
    """Whether the next two bytes only extend the sign of these, so that together they are one long integer."""
    if motorola or free[at : at + 4].sum() != 4:
        return False
    sign = np.where(payload[:, at + 1] & 0x80, 0xFF, 0)
    return bool((payload[:, at + 2] == sign).all() and (payload[:, at + 3] == sign).all())


def _roughness(values: NDArray[np.float64]) -> float:
    if not np.isfinite(values).all():
        return np.inf
    width = float(np.ptp(values))
    return float(np.abs(np.diff(values)).max() / width) if width > 0 else np.inf


def _number(payload: NDArray[np.uint8], at: int, bits: int, kind: str, motorola: bool) -> NDArray[np.float64]:
    letter = {"unsigned": "u", "signed": "i", "float": "f"}[kind]
    dtype = np.dtype(f"{'>' if motorola else '<'}{letter}{bits // 8}")
    raw = np.ascontiguousarray(payload[:, at : at + bits // 8]).view(dtype)[:, 0]
    with np.errstate(invalid="ignore", over="ignore"):
        return raw.astype(np.float64)
