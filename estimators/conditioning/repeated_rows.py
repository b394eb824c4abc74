"""Finds rows of a recording that were sent once more, and the instants at which the others were measured.

A program that sends the newest state on a clock of its own, a little faster than the state's, sends one twice at times.
All its values are exactly those of the row before, in the middle of a motion: a joint seems to stop for one row, which
no torque explains. After it the motion goes on by one step, and not by two. Such rows are left out, and the rows
between two of them are one step of the state apart, and not one of the stamps.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.quantities import Floats

#: steps, argued: Smallest steps of a position, beyond which it does not stand from one row to the next.
MUCH: Final = 8.0
#: rows, argued: How often a row is repeated at most; a joint whose values stay equal for longer may be at rest.
LONGEST: Final = 4
#: rows, argued: Rows on either side of a repeat, whose mean step is the usual one.
AROUND: Final = 8
#: steps, argued: Usual steps, half way from one to two: two follow a row that came late, or too soon.
LONGER: Final = 1.5
#: 1, argued: Repeats that show two clocks at least: one or two may be of any cause.
FEWEST: Final = 3
#: 1, argued: Share of the repeats, after which the motion goes on by one step, from which they show two clocks.
MOST: Final = 0.8


def without_repeats(time: Floats, positions: Floats, others: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """When each row was measured, and which rows are no repeats: (rows,) each.

    time: (rows,) s, rising; positions, others: (rows, …) of all joints, NaN where there is no value.
    """
    kept = np.ones(len(time), np.bool_)
    first, last, by_one = _found(positions, others)
    if np.count_nonzero(by_one) < max(FEWEST, MOST * len(first)):
        return time, kept
    for begin, end in zip(first.tolist(), last.tolist(), strict=True):
        kept[begin + 1 : end + 1] = False
    begin, end = time[first], time[last]  # the first row of each repeat is as old as its stamp
    wider = np.diff(begin) / (begin[1:] - end[:-1])
    wider = np.concatenate([wider[:1], wider, wider[-1:]])  # before, between and after the repeats
    part = np.searchsorted(first, np.arange(len(time)), side="left")  # repeats before each row
    sent, measured = np.concatenate([begin[:1], end])[part], np.concatenate([begin[:1], begin])[part]
    return measured + (time - sent) * wider[part], kept


def _found(positions: Floats, others: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """First and last row of each repeat, and whether the motion goes on by one step around it."""
    steps = np.abs(np.diff(positions, axis=0))
    alike = (steps == 0.0).all(axis=1) & ((np.diff(others, axis=0) == 0.0) | np.isnan(others[1:])).all(axis=1)
    smallest = np.array([one[one > 0.0].min(initial=np.inf) for one in steps.T])
    ends = np.flatnonzero(np.diff(np.concatenate([[False], alike, [False]]).astype(np.int64))).reshape(-1, 2)
    found = []
    for begin, end in ends.tolist():
        if not 0 < begin < end < len(steps) or end - begin > LONGEST:
            continue
        before, behind = steps[begin - 1], steps[end]
        joint = int(np.argmax(np.minimum(before, behind) / smallest))
        if min(before[joint], behind[joint]) > MUCH * smallest[joint]:
            usual = float(np.mean(steps[max(begin - AROUND, 0) : end + AROUND, joint]))
            found.append((begin, end, int(max(before[joint], behind[joint]) <= LONGER * usual)))
    first, last, by_one = np.array(found, np.int64).reshape(-1, 3).T
    return first, last, by_one == 1
