"""Readings of a joint → what is known of it, in one compiled pass for as far as there is nothing to decide.

    readings → samples → regression rows → gate, learner, judgement, sums of the fit → figures of its estimate

Samples are taken up to the first that begins a publishing interval, then those behind it where the update that it makes
due does not depend on them. A pass ends before what needs Python: odd samples, rows that go step by step, those of a
start that ends with a search, a review; `found` says how far it came, and Python goes on from there, to the same bits.
A joint's state is one layout, so a kernel can walk over all joints of a robot whatever their models.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_state import LONGEST_LOSS
from estimators.alignment.resampler import Aligner, align
from estimators.conditioning.front import ODD, Preprocessing, none_due, through
from estimators.conditioning.row_kernels import form
from estimators.numerics.jit import inline, kernel
from estimators.online.inspection import InspectorState, look
from estimators.online.report import ReportState, figures
from estimators.online.steady import Learning, learn_formed
from estimators.quantities import Floats, Nanoseconds
from jointwatch_layout import Integers, Layout, by_address


class Intervals(Layout):
    """When updates are due: the first tick in each interval of time makes one."""

    length: int  # ns
    offset: int  # ns, from where they are counted
    last: int = -1  # number of that of the last tick


class Found(Layout):
    """What a pass has found up to a sample, and how far it came."""

    taken: int = 0  # samples; 0 where something is odd
    begun: bool = False  # whether an interval begins with the last that was taken
    tick: int = 0  # ns, of that one
    first: int = 0  # rows without wild samples: from …
    passed: int = 0  # … and to which they lie
    due: int = 0  # windows of regression rows
    formed: int = 0  # rows that they gave
    learnt: int = 0  # of the rows
    instant: int = 0  # ns, of the last of these
    taught: int = 0  # of those
    finite: int = 0  # … with a finite output
    review: bool = False  # whether one follows
    figured: bool = False  # whether the figures of an estimate are there
    certain: bool = False  # … and all of its values are certain
    resting: bool = False  # … and the joint rests


class EstimatorState(Layout):
    """One joint from its samples on."""

    front: Preprocessing
    learning: Learning
    inspector: InspectorState
    report: ReportState


class JointState(Layout):
    """One joint from its readings on."""

    aligner: Aligner
    estimator: EstimatorState
    seen: Integers  # ns, last arrival of each column
    intervals: Intervals
    found: Found  # up to the first sample that begins an interval
    beyond: Found  # of those behind it, where they begin no other and what is to be told does not depend on them
    heard: int = 0  # readings that were taken
    count: int = 0  # samples of them that have left
    arrival: int = 0  # ns, of the last reading
    torn: bool = False  # whether there are more samples than have room: the others are to be gathered


@inline
def _take(first: int, taken: int, late: bool, joint: JointState, found: Found) -> None:
    """Samples from the first on, up to the first that begins an interval → windows that are due.

    taken: how many there are.
    """
    intervals, front = joint.intervals, joint.estimator.front
    ticks, rows = joint.aligner.out_ticks[first : first + taken], joint.aligner.out_rows[first : first + taken]
    now, count = intervals.last, 0
    while count < taken and now == intervals.last:
        now = (ticks[count] - intervals.offset) // intervals.length
        count += 1
    begun = now > intervals.last
    if now < intervals.last or (late and count < taken) or (first > 0 and begun):
        return
    passed = front.passed if first > 0 else 0
    due = through(ticks[:count], rows[:count], passed, front)
    if due == ODD:
        return
    found.taken, found.tick, found.due, found.begun = count, ticks[count - 1], due, begun
    found.first, found.passed = passed, front.passed
    intervals.last = now


@inline
def _learn(found: Found, estimator: EstimatorState) -> None:
    """Windows that are due → rows, learnt."""
    learning = estimator.learning
    former, loop = learning.former, learning.loop
    count = form(found.due, former)
    found.formed = count
    if count == 0:
        return
    rows, before = former.rows, loop.total
    taken = learn_formed(count, learning)
    found.learnt = taken
    if taken > 0:
        found.taught, found.finite, found.review = loop.taught, loop.total - before, loop.review
        found.instant = rows.time[taken - 1]
        look(count, rows.time, rows.phi, rows.y, rows.speed, rows.samples, rows.motion, estimator.inspector)


@inline
def _tell(found: Found, estimator: EstimatorState) -> bool:
    """Figures of the estimate where they are due; whether nothing that Python is still to tell of depends on rows."""
    learning = estimator.learning
    if not found.begun or found.learnt != found.formed or found.review or learning.left <= 0:
        return False
    found.figured = True
    found.certain = figures(False, learning.alarmed, estimator.report)
    found.resting = learning.gate.resting
    return found.certain and not learning.every


@inline
def _forget(found: Found) -> None:
    """Nothing is found yet."""
    found.taken = found.due = found.formed = found.learnt = found.taught = found.finite = 0
    found.begun = found.review = found.figured = False


READINGS: Final = (
    *("Array(i8, 1, 'A', readonly=True)", "Array(f8, 1, 'A', readonly=True)", "Array(i4, 1, 'A', readonly=True)"),
    "b1",
)


@kernel((*READINGS, JointState))
def walk(
    times: Nanoseconds, values: Floats, columns: NDArray[np.int32], late: bool, joint: JointState
) -> None:  # fmt: skip
    """Readings of one joint in order of arrival, as far as they go.

    times (readings,) ns; values SI; columns: of the samples; late: whether intervals may only begin with the last
    sample.
    """
    estimator, aligner, found, beyond = joint.estimator, joint.aligner, joint.found, joint.beyond
    for i in range(len(times)):
        joint.seen[columns[i]] = times[i]
    _forget(found)
    _forget(beyond)
    heard, count = align(times, values, columns, 0, aligner)
    joint.heard, joint.count, joint.arrival = heard, count, times[len(times) - 1]
    joint.torn = heard != len(times) or count >= len(aligner.out_ticks) - LONGEST_LOSS
    if joint.torn or count == 0:
        return
    _take(0, count, late, joint, found)
    if found.due > 0:
        _learn(found, estimator)
    settled, taken = _tell(found, estimator), found.taken
    if 0 < taken < count and (settled or none_due(count - taken, estimator.learning.former)):
        _take(taken, count - taken, late, joint, beyond)
        if beyond.due > 0:
            _learn(beyond, estimator)


pass_on: Final = by_address("void", *READINGS, JointState)  # within a kernel: `walk` by its address, its arguments
