"""Several joints as one: their samples on one clock, cut where it jumps, and events where joints give none.

The pipelines of a whole robot and of a mechanism use it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from daq.stream.update import Message, Publication
from estimators.alignment.common_clock import CommonClock, JointRows
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason, joined
from estimators.thresholds import GAP

#: s, argued: Rows that are handed over together, at least.
SETTLED: Final = 0.01
#: s, argued: Time that a jump of the clock counts as missing rows, at most: more than the low-passes need to restart.
BREAK: Final = 0.1
#: ns, argued: Time between two updates of a robot or a mechanism while one of its joints gives no rows.
FAULTED_EVERY: Final = 500_000_000


def equidistant(ticks: Nanoseconds, rows: Floats, last: int, period: float) -> Sequence[tuple[Nanoseconds, Floats]]:
    """Cut rows into batches without jumps of the clock; at each jump, rows of NaN replace the missing ones."""
    if not len(ticks):
        return []
    steps = ticks - np.concatenate(((last or ticks[0] - round(period * 1e9),), ticks[:-1]))
    off = np.abs(steps - period * 1e9)
    if off.max() <= GAP * 1e9 * period:
        return [(ticks, rows)]
    jumps = np.flatnonzero(off > GAP * 1e9 * period)
    found: list[tuple[Nanoseconds, Floats]] = []
    missing = np.full((round(BREAK / period), *rows.shape[1:]), np.nan)
    for part in np.split(np.arange(len(ticks)), jumps):
        if len(part):
            if part[0] in jumps:
                found.append((np.full(len(missing), ticks[part[0]]), missing))
            found.append((ticks[part], rows[part]))
    return found


class JointsTogether:
    """Collects the samples of several joints, as their own estimators get them, on one clock."""

    def __init__(self, names: Sequence[str], rates: Sequence[float], columns: Sequence[NDArray[np.int64]]) -> None:
        """rates: Hz of each joint; columns: of each joint, which of its channels are taken, as many of every joint."""
        self.names = names
        self.period = 1.0 / rates[0]
        self.last = 0  # ns, of the last row
        self.faults: tuple[Reason, ...] = ()
        self._clock = CommonClock([1.0 / rate for rate in rates], len(columns[0]), which=columns)
        self._handed = 0  # rows of the first joint that had come when rows were handed over
        self._last_fault = 0  # monotonic ns of the last update that a fault alone has made

    @property
    def dropped(self) -> int:
        """Rows that were not complete."""
        return self._clock.dropped

    def rows_of(self, joint: str) -> JointRows | None:
        """Where the samples that one joint's own estimator gets are to be copied; None where it is not one of these."""
        return self._clock.rows[self.names.index(joint)] if joint in self.names else None

    @property
    def settled(self) -> bool:
        """Whether enough rows wait to be handed over."""
        return (self._clock.rows[0].came - self._handed) * self.period >= SETTLED

    def batches(self) -> Iterator[tuple[Nanoseconds, Floats]]:
        """What is complete: ticks (rows,) ns, and rows (rows, joints, columns) without a jump of the clock."""
        self._handed = self._clock.rows[0].came
        ticks, rows = self._clock.release()
        yield from equidistant(ticks, rows, self.last, self.period)
        if len(ticks):
            self.last = int(ticks[-1])

    def fault_event(
        self, faults: Mapping[str, tuple[Reason, ...]], publication: Publication, all_well: str, timestamp: float
    ) -> list[Message]:
        """The event where the first of these joints gives no rows, or all of them do again.

        faults: joint → why it gives none; all_well: the event's text in the second case; timestamp: Unix s.
        """
        reasons = tuple(
            Reason("joint_faulted", name, words={"cause": joined(faults[name])})
            for name in self.names
            if name in faults
        )
        changed, self.faults = bool(reasons) != bool(self.faults), reasons
        if not changed:
            return []
        kind, text = ("fault", self._causes(faults)) if reasons else ("recovered", all_well)
        return [publication.event(kind, text, timestamp)]

    def _causes(self, faults: Mapping[str, tuple[Reason, ...]]) -> str:
        """Why joints give no rows, in words; a cause that several have in common is written once."""
        causes: dict[str, list[str]] = {}
        for name in self.names:
            if name in faults:
                causes.setdefault(joined(faults[name]), []).append(name)
        every = f"all {len(self.names)} joints" if len(self.names) > 1 else ""
        return "; ".join(
            f"{every if every and len(names) == len(self.names) else ', '.join(names)}: {cause}"
            for cause, names in causes.items()
        )

    def fault_due(self, now: int) -> bool:
        """Whether an update about a fault is due, which without rows nothing else causes; now: monotonic ns."""
        due = bool(self.faults) and now - self._last_fault >= FAULTED_EVERY
        if due:
            self._last_fault = now
        return due
