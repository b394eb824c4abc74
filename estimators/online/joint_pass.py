"""Joint pass: from readings of a joint to its estimate, in one compiled pass that runs until Python must decide.

    readings → samples → regression rows → gate, learner, judgement, sums of the fit → figures of its estimate

A pass first does the last stage for which something waits: it learns rows, else makes an update, else takes samples,
else aligns readings. Where it stops, and why, is in the state (`stop`). Python handles that stop, and the same pass
goes on. Stops lie at samples and rows that the data determine, never at the end of a batch, so results do not depend on
how readings are cut. The state of a joint is one layout, so one kernel serves all joints whatever their models.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.alignment.clock_state import LONGEST_LOSS
from estimators.alignment.resampler import AlignerState, align
from estimators.conditioning.preprocessing import Preprocessing, preprocess
from estimators.conditioning.row_kernels import RowFormer, form
from estimators.conditioning.stop import COLUMN, DONE, DRAIN, INTERVAL
from estimators.numerics.jit import inline, kernel
from estimators.online.learning import Learning, learn_rows
from estimators.online.reporting.inspection import InspectorState, look
from estimators.online.reporting.report import ReportState, figures
from estimators.quantities import Floats, Nanoseconds
from jointwatch_numba.layout import Flags, Function, Integers, Layout, Matrix, by_address


class Intervals(Layout):
    """When updates are due: at the first sample in each interval of time."""

    length: int  # ns; 0: never
    offset: int = 0  # ns, time at which interval 0 begins
    last: int = -1  # number of the interval of the last sample
    begun: bool = False  # whether an interval begins with the last sample that was taken
    tick: int = 0  # ns, of the sample with which the last interval began
    no_update_before: int = 0  # ns: no interval stops the pass before a row of this time: its update is not wanted


class EstimatorState(Layout):
    """State of one joint from its samples on."""

    ticks: Integers  # ns, of samples that wait
    samples: Matrix  # (samples, channels)
    bridged: Flags  # (samples,) whether a value is interpolated across missing ones
    preprocessing: Preprocessing
    learning: Learning
    inspector: InspectorState
    report: ReportState
    intervals: Intervals
    learn: Function = learn_rows  # called by address: otherwise it would be compiled into this pass once more
    count: int = 0  # samples that wait, from …
    next: int = 0  # … this one on
    stop: int = DONE  # why the last pass stopped
    late: bool = False  # whether the core is behind: of several intervals that samples begin, only the last counts
    followed: bool = False  # whether Python reads the samples along, and has to have them up to each update
    more: bool = False  # whether readings, samples or rows still wait after the stop
    certain: bool = False  # whether all values of the estimate whose figures were just written are certain
    resting: bool = False  # whether the joint rested then


learn: Final = by_address("i8", Learning)  # calls `learn_rows` by its address, in a kernel


@inline
def _until_interval(state: EstimatorState) -> int:
    """Return how many samples to take: up to the first that begins an interval, or the last one where it is late."""
    intervals, ticks = state.intervals, state.ticks
    count = state.count - state.next
    if intervals.length == 0:
        return count
    until, now = count, intervals.last
    for i in range(count):
        slot = (ticks[state.next + i] - intervals.offset) // intervals.length
        if slot > now:
            until = i + 1
            if not state.late:
                return until
        now = slot
    return until


@inline
def _take_samples(state: EstimatorState) -> bool:
    """Clean samples, and form the regression rows that they complete; returns whether there was room for any sample."""
    preprocessing, learning, intervals = state.preprocessing, state.learning, state.intervals
    first, last = state.next, state.next + _until_interval(state)
    taken = preprocess(state.ticks[first:last], state.samples[first:last], state.bridged[first:last], preprocessing)
    if taken == 0:
        return False
    if intervals.length > 0:
        for i in range(first, first + taken):
            slot = (state.ticks[i] - intervals.offset) // intervals.length
            intervals.begun = slot > intervals.last and (first + taken == last or not state.late)
            intervals.last = slot
    state.next = first + taken
    learning.first = learning.count = 0
    if preprocessing.former.windows > 0:
        learning.count = form(preprocessing.former.windows, preprocessing.former)
        rows = learning.formed.rows
        look(
            learning.count, rows.time, rows.phi, rows.y, rows.speed, rows.samples, rows.motion, state.inspector
        )  # fmt: skip
    return True


@inline
def _none_due(count: int, former: RowFormer) -> bool:
    """Whether so many samples, at least one, complete no row."""
    return 0 < count < former.decimation - (former.seen - former.support) % former.decimation


@kernel((EstimatorState,))
def advance_samples(state: EstimatorState) -> int:
    """Go on with the samples that have been written into the state, up to a stop; returns its reason (stop.py)."""
    preprocessing, learning, intervals = state.preprocessing, state.learning, state.intervals
    preprocessing.passed = 0
    while True:
        stop = int(learn(state.learn, learning))
        if stop != DONE:
            return stop
        if preprocessing.stop != DONE:
            stop = preprocessing.stop
            preprocessing.stop = DONE
            return stop
        if intervals.begun:
            intervals.begun = False
            if learning.time >= intervals.no_update_before:
                state.certain = figures(learning.idle, learning.alarmed, state.report)
                state.resting = learning.gate.resting
                intervals.tick = state.ticks[state.next - 1]
                for channel in range(len(preprocessing.ranges.named)):
                    preprocessing.ranges.reported[channel] = preprocessing.ranges.named[channel]
                if not state.followed and _none_due(state.count - state.next, preprocessing.former):
                    _take_samples(state)  # this changes nothing that is published now, and saves a call
                return INTERVAL
        if state.next == state.count:
            return DONE
        if not _take_samples(state):
            return DRAIN


@inline
def _waits(state: EstimatorState) -> bool:
    """Whether samples or rows wait, or those already taken still have to cause a stop."""
    waits = state.next < state.count or state.learning.first < state.learning.count
    return waits or state.preprocessing.stop != DONE or state.intervals.begun


#: blocks, argued: A review further ahead is not foreseen: an update comes first, and then it is computed again.
FORESEEN: Final = 4


@inline
def samples_to_review(state: EstimatorState) -> int:
    """How many samples from here the next review of normal mode is due, if every row teaches; 0: that is not known."""
    learning, former, loop = state.learning, state.preprocessing.former, state.learning.loop
    if learning.review_each_block or learning.gate.resting or _waits(state):
        return 0
    block_rest = loop.block - loop.filled
    missing = max(0, learning.review_due - loop.total - block_rest)
    if missing > FORESEEN * loop.block:
        return 0
    rows = block_rest + -(-missing // loop.block) * loop.block
    return int(rows * former.decimation - (former.seen - former.support) % former.decimation)


class JointPassState(Layout):
    """State of one joint from its readings on."""

    aligner: AlignerState
    estimator: EstimatorState
    last_arrivals: Integers  # ns, last arrival of each column
    advance: Function = advance_samples  # called by address: otherwise it would be compiled into this pass once more
    taken: int = 0  # how many of the given readings are used
    arrival: int = 0  # ns, of the last reading
    full: bool = False  # whether the aligner has no room for more samples until these are taken
    aligned: bool = False  # whether the last pass has aligned readings to samples, which nothing else has read yet


run_samples: Final = by_address("i8", EstimatorState)  # calls `advance_samples` by its address, in a kernel
READINGS: Final = (
    *("Array(i8, 1, 'A', readonly=True)", "Array(f8, 1, 'A', readonly=True)", "Array(i4, 1, 'A', readonly=True)"),
)


@kernel((*READINGS, JointPassState))
def advance_readings(times: Nanoseconds, values: Floats, columns: NDArray[np.int32], joint: JointPassState) -> None:
    """Go on with readings of one joint in order of arrival, up to a stop, whose reason is in its state.

    times: (readings,) ns; values: (readings,) SI; columns: (readings,) column of each in the samples. The same readings
    are given again until all are taken. At a stop other than DRAIN, samples of these readings may still wait.
    """
    state, aligner = joint.estimator, joint.aligner
    joint.aligned = not _waits(state) and (joint.taken < len(times) or joint.full)
    if joint.aligned:
        if joint.taken == 0:
            joint.arrival = times[len(times) - 1]
            for i in range(len(times)):
                joint.last_arrivals[columns[i]] = times[i]
        taken, count = align(times, values, columns, joint.taken, aligner)
        if taken < 0:
            state.stop = COLUMN
            return
        joint.taken, joint.full = taken, count >= len(aligner.waiting.out_ticks) - LONGEST_LOSS
        state.next, state.count = 0, count
    stop = int(run_samples(joint.advance, state))
    unread = joint.taken < len(times) or joint.full
    state.stop = DRAIN if stop == DONE and unread else stop
    state.more = unread or _waits(state)


run_pass: Final = by_address("void", *READINGS, JointPassState)  # calls `advance_readings` by its address, in a kernel
