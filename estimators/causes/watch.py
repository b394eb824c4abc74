"""Watches one joint for what changes of its signature, and ranks the causes while something has changed.

The first rows of trusted motion are the reference. From then on the residual of the last 20 s is looked at every 5 s of
motion; while it is larger than the reference's, the causes are ranked, by a worker where there is one. Something has
changed when two rankings in a row say so.
"""

from collections import deque
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from typing import Any, Final, NamedTuple

import numpy as np

from estimators.causes.answer import Answer, answer, listed
from estimators.causes.base import FaultWindow
from estimators.causes.healthy_joint import STILL, HealthyJoint
from estimators.causes.ranking import CERTAIN, Ranked, rank, reference
from estimators.causes.sample_rows import CHUNK, ROW, SignatureFormer, SignatureRows
from estimators.causes.time_course import TimeCourse, time_course
from estimators.quantities import Floats, Nanoseconds

#: s, argued: Motion of the reference: some thirty moves from point to point.
REFERENCE: Final = 40.0
#: s, argued: Motion that causes are compared in: ten moves.
WINDOW: Final = 20.0
#: s, argued: Motion between two looks: two confirm a change within half a minute.
EVERY: Final = 5.0
#: s, argued: Motion that is kept, for how a change came about.
KEPT: Final = 90.0
#: 1, argued: Share of a chunk's rows in which the joint must slide for it to count as motion.
MOVING: Final = 0.1
#: 1, argued: Mean square of the residual over the reference's from which causes are ranked: an ordinary day is below.
LARGER: Final = 1.5
#: times, argued: Rankings in a row that must say the same.
CONFIRMED: Final = 2


class Diagnosis(NamedTuple):
    """What is known of a change of one joint."""

    onset: float  # s of the rows' clock
    sudden: bool
    size: float  # rms of the torque that has changed, N·m (N); where only the twist has, a share of it of the torque's
    deviation: float  # of the residual before
    evidence: float  # nats over nothing
    ranked: tuple[tuple[str, float], ...]  # causes with their probabilities, the likeliest first
    answer: Answer
    rankings: int  # since it began


class CauseWatch:
    """The causes of what changes of one joint."""

    def __init__(
        self,
        period: float,
        columns: tuple[int, int, int | None],
        executor: Executor | None = None,
        place: float = 0.0,
    ) -> None:
        """period: s between samples; columns: of position, torque, and link position or None; executor: ranks; place:
        place of the joint among all, from 0 to 1, see SignatureFormer."""
        self.former, self._executor = SignatureFormer(period, columns, place), executor
        self._top = 0.0  # largest speed so far
        self.begin_reference()

    def begin_reference(self) -> None:
        """Another reference: what comes from now on is healthy."""
        self.healthy: HealthyJoint | None = None
        self.diagnosis: Diagnosis | None = None
        self._rows = deque[SignatureRows]()
        self._moved = self._since_look = 0.0
        self._changed, self._fresh = 0, False
        self._job: Future[tuple[Ranked, TimeCourse]] | None = None

    def absorb(self, times: Nanoseconds, values: Floats) -> bool:
        """Take samples (n,) ns, (n, channels); returns whether the diagnosis is another one."""
        rows = self.former.absorb(times, values)
        return self._follow(rows)

    @property
    def due(self) -> bool:
        """Whether `look` has something to do."""
        return self._job is not None or self.former.full

    def look(self) -> bool:
        """Look at what the former has stored since the last look; returns whether the diagnosis is another one."""
        return self._follow(self.former.rows() if self.former.full else None)

    def _follow(self, rows: SignatureRows | None) -> bool:
        """Take a ranking that has ended, and rows; returns whether the diagnosis is another one."""
        self._take_ranking()
        if rows is not None and len(rows.q):
            self._absorb_rows(rows)
        fresh, self._fresh = self._fresh, False
        return fresh

    def _absorb_rows(self, rows: SignatureRows) -> None:
        """Take the rows of a chunk, where the joint has moved in it."""
        self._top = max(self._top, float(np.abs(rows.v).max()))
        moved = ROW * float(np.count_nonzero(np.abs(rows.v) > STILL * self._top))
        if moved < MOVING * ROW * len(rows.q):
            return
        self._rows.append(rows)
        self._moved, self._since_look = self._moved + moved, self._since_look + moved
        if self.healthy is None:
            if self._moved >= REFERENCE:
                self.healthy, self._moved = reference(SignatureRows.joined(list(self._rows))), 0.0
            return
        while len(self._rows) > KEPT / CHUNK:
            self._rows.popleft()
        if self._since_look >= EVERY and self._moved >= WINDOW / 2 and self._job is None:
            self._since_look = 0.0
            self._look(self.healthy)

    def keep(self) -> Mapping[str, Any] | None:
        """The reference as plain data; None before there is one."""
        return None if self.healthy is None else self.healthy.keep()

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Continue with a stored reference. Raises TypeError, KeyError or ValueError where it is of another kind."""
        self.begin_reference()
        self.healthy = HealthyJoint.resumed(saved)

    def _look(self, healthy: HealthyJoint) -> None:
        """Rank the causes where the residual is larger than it was."""
        every = list(self._rows)
        recent = every[-int(WINDOW / CHUNK) :]
        begin = float(recent[0].time[0])
        if healthy.unchanged(healthy.sliding(SignatureRows.joined(recent)), LARGER):
            self._note(None, None)
            return
        rows = SignatureRows.joined(every)
        if self._executor is None:
            self._note(*examine(healthy, rows, begin))
        else:
            self._job = self._executor.submit(examine, healthy, rows, begin)

    def _take_ranking(self) -> None:
        """Take what the worker has found."""
        if self._job is not None and self._job.done():
            job, self._job = self._job, None
            if job.exception() is None:
                self._note(*job.result())

    def _note(self, ranked: Ranked | None, course: TimeCourse | None) -> None:
        """Take a ranking; none: nothing has changed."""
        if ranked is None or course is None or ranked.evidence < CERTAIN or self.healthy is None:
            self._fresh = self.diagnosis is not None
            self._changed, self.diagnosis = 0, None
            return
        self._changed += 1
        if self._changed < CONFIRMED and ranked.probability.get("collision", 0.0) < 0.5:
            return
        before, fit = self.diagnosis, self.healthy.torque
        onset = before.onset if before is not None else course.onset
        self._fresh = True
        self.diagnosis = Diagnosis(
            onset,
            course.sudden > 0.0,
            ranked.size * fit.rms,
            float(np.sqrt(fit.variance)),
            ranked.evidence,
            tuple(listed(ranked.probability)),
            answer(ranked.probability, self.healthy.twist is not None),
            self._changed,
        )


def examine(healthy: HealthyJoint, rows: SignatureRows, begin: float) -> tuple[Ranked, TimeCourse]:
    """Rank the causes of the rows since an instant (s), given how what has changed came about."""
    course = time_course(healthy, rows, begin)
    window = rows.part(rows.time > max(begin, course.burst_end))
    return rank(FaultWindow(healthy, window), course), course
