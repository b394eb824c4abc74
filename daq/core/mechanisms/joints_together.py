"""Combines the samples of several joints on one clock, cuts them where it jumps, and reports joints without samples.

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

#: s, argued: Least duration of the rows that are passed on together.
SETTLED: Final = 0.01
#: s, argued: Longest jump of the clock that is filled with missing rows: more than the low-pass filters need to
#: restart.
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
    """Collects on one clock the samples that the estimators of several joints get."""

    def __init__(self, names: Sequence[str], rates: Sequence[float], columns: Sequence[NDArray[np.int64]]) -> None:
        """rates: Hz of each joint; columns: the channels that are used of each joint, equally many of all."""
        self.names = names
        self.period = 1.0 / rates[0]
        self.last = 0  # ns, time of the last row
        self.faults: tuple[Reason, ...] = ()
        self._clock = CommonClock([1.0 / rate for rate in rates], len(columns[0]), which=columns)
        self._handed = 0  # rows of the first joint that had come when rows were last passed on
        self._last_fault = 0  # monotonic ns of the last update that only a fault caused

    @property
    def dropped(self) -> int:
        """Number of incomplete rows."""
        return self._clock.dropped

    def rows_of(self, joint: str) -> JointRows | None:
        """Return the place to which the samples of a joint are copied; None if the joint is not one of these."""
        return self._clock.rows[self.names.index(joint)] if joint in self.names else None

    @property
    def settled(self) -> bool:
        """Whether enough rows wait to be passed on."""
        return (self._clock.rows[0].came - self._handed) * self.period >= SETTLED

    def batches(self) -> Iterator[tuple[Nanoseconds, Floats]]:
        """Yield complete rows without a jump of the clock: ticks (rows,) ns, rows (rows, joints, columns)."""
        self._handed = self._clock.rows[0].came
        ticks, rows = self._clock.release()
        yield from equidistant(ticks, rows, self.last, self.period)
        if len(ticks):
            self.last = int(ticks[-1])

    def fault_event(
        self, faults: Mapping[str, tuple[Reason, ...]], publication: Publication, all_well: str, timestamp: float
    ) -> list[Message]:
        """Return the event that the first of these joints gives no rows, or that all of them give rows again.

        faults: joint → reason why it gives no rows; all_well: text of the event in the second case; timestamp: Unix s.
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
        """Return the reasons why joints give no rows as text; a reason that several joints share is written once."""
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
        """Whether an update about a fault is due; without rows nothing else causes one. now: monotonic ns."""
        due = bool(self.faults) and now - self._last_fault >= FAULTED_EVERY
        if due:
            self._last_fault = now
        return due
