"""What is kept of a stream's clock between two frames, and what is counted: names of places in flat arrays."""

from typing import Final

LONGEST_LOSS: Final = 64  # ticks that are given as rows of NaN; more is a restart

# a stream's state: integers, times in ns
(
    FRAMES,
    COUNTER,
    BACKWARDS,
    HELD,
    HOLDING,
    EVIDENCE,
    INDEX,
    FRESH,
    SLIP,
    MOST,
    WINDOW_FRAMES,
    WINDOW_EVIDENCE,
    CLOCK_INTEGERS,
) = range(13)
(
    INSTANT,
    ARRIVED,
    LATENESS,
    EARLIEST,
    LATEST,
    LEAST,
    SINCE,
    SHIFT,
    DECIDED,
    UNSURE,
    DRIFT,
    SLEW,
    WINDOW_LEAST,
    WINDOW_MOST,
    GAP,
    GAP_UNIT,
    HEARD,
    AWAY,
    FALLEN,
    OFF,
    BEHIND,
    PACE,
    EVENED,
    QUEUE,
    QUEUE_SINCE,
    CLOCK_FLOATS,
) = range(26)
# of a device that says when it sampled, in samples: what a frame is OFF the place that its number gives it (soon
# forgiven), and BEHIND its place among EVENED even ones, which are PACE longer than the period; QUEUE: a window's least
# lateness that is no drift, and since when it is no less
HELD_INSTANT, HELD_LATENESS, HELD_ARRIVAL, HELD_FLOATS = range(4)  # of a frame that is held as late

IN_TIME, LATE, SETTLING = range(3)  # values of HELD
DUPLICATE, OUT_OF_ORDER, PLACED = range(3)  # what became of a frame

# totals by cause
LOST, LATE_ROWS, DUPLICATES, DISORDERED, INVALID, GLITCHES, RESTARTS, REJECTED, INTERPOLATED, CAUSES = range(10)
