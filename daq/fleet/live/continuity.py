"""Finds what is missing in the summaries of many joints, and what was there already, by `seq` and `boot`.

It follows what is written, not what is received. So messages that were lost in a network, in a full queue or before a
slow disk show alike, as a gap; and since each file says up to where it has got, so do those that came while no
collector ran.
"""

import json
import zlib
from collections import Counter
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

#: 1, argued: Starts of one robot's core that are remembered as past.
PAST: Final = 64
METADATA: Final = b"jointwatch.continuity"


class Followed(NamedTuple):
    """What is found of each message, (messages,)."""

    lost: NDArray[np.int64]  # messages missing just before it
    kept: NDArray[np.bool_]  # false: it was there already, or is of a core that has ended


class WrittenContinuity:
    """The last message of each robot's joint that was written."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], tuple[int, int]] = {}  # robot, joint → boot, seq
        self._past: dict[tuple[str, str], list[int]] = {}
        self.stale = Counter[str]()  # robot → messages of a core that had ended: two services have its name

    def follow(
        self, keys: NDArray[np.int64], names: list[tuple[str, str]], boots: NDArray[np.int64], seqs: NDArray[np.int64]
    ) -> Followed:
        """Follow these messages, in the order in which they came. keys: number in names of each."""
        lost, kept = np.zeros(len(keys), np.int64), np.ones(len(keys), np.bool_)
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        for group in np.split(order, starts[1:]) if len(order) else ():
            name = names[keys[group[0]]]
            boot, seq = self._last.get(name, (-1, -1))
            mine = seqs[group]
            if (boots[group] == boot).all() and mine[0] > seq and (np.diff(mine) > 0).all():
                lost[group] = np.diff(mine, prepend=seq) - 1
                self._last[name] = boot, int(mine[-1])
            else:
                self._one_by_one(name, group, boots, seqs, Followed(lost, kept))
        return Followed(lost, kept)

    def _one_by_one(
        self, name: tuple[str, str], group: NDArray[np.int64], boots: NDArray[np.int64], seqs: NDArray[np.int64],
        found: Followed,
    ) -> None:  # fmt: skip
        """Follow messages of one joint with repeats, or of several starts of a core."""
        past = self._past.setdefault(name, [])
        for at in group.tolist():
            boot, seq = int(boots[at]), int(seqs[at])
            last_boot, last = self._last.get(name, (-1, -1))
            if boot in past:
                self.stale[name[0]] += 1
                found.kept[at] = False
                continue
            if boot == last_boot and seq <= last:
                found.kept[at] = False
                continue
            if last_boot >= 0 and boot != last_boot:
                past.append(last_boot)
                del past[:-PAST]
            # of a core that has started while it was listened to, all before this message are missing
            found.lost[at] = seq - last - 1 if boot == last_boot else seq if last_boot >= 0 else 0
            self._last[name] = boot, seq

    @classmethod
    def of(cls, metadata: dict[bytes, bytes]) -> Self:
        """What a file's metadata has. Raises KeyError or ValueError where there is nothing of the kind."""
        found = cls()
        for robot, joint, boot, seq, past in json.loads(_unpacked(metadata[METADATA])):
            found._last[robot, joint], found._past[robot, joint] = (boot, seq), past
        return found

    def copy(self) -> Self:
        """A copy in the same state."""
        found = type(self)()
        found._last, found.stale = dict(self._last), Counter(self.stale)
        found._past = {name: list(boots) for name, boots in self._past.items()}
        return found

    def keep(self) -> dict[bytes, bytes]:
        """The state as metadata of a file."""
        rows = [[*name, *last, self._past.get(name, [])] for name, last in self._last.items()]
        return {METADATA: zlib.compress(json.dumps(rows).encode(), 1)}


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(str(error)) from error
