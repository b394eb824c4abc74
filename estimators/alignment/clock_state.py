"""What is kept of a stream's clock between two frames, the frames that it holds, and what is counted."""

from typing import Annotated, Final

from jointwatch_numba.layout import Layout, Vector

#: ticks, argued: A longer loss is a restart; a shorter one becomes rows of NaN.
LONGEST_LOSS: Final = 64
#: frames, argued: Entries of a ring beyond the frames that may be held, so that a batch that ends early still fits.
SPARE: Final = 8

# what becomes of a frame
DUPLICATE: Final = 0
OUT_OF_ORDER: Final = 1
PLACED: Final = 2

# why frames are held
IN_TIME: Final = 0  # none is
LATE: Final = 1  # delayed, or after lost ones
SETTLING: Final = 2  # the clock is not set yet


class Totals(Layout):
    """What was counted, by cause."""

    lost: int  # frames that never came
    late: int  # values that missed their tick
    duplicate: int  # frames not used: their counter says that they were there already
    out_of_order: int  # frames not used: their counter or their instant runs backwards
    invalid: int  # values that are not finite, counters without their frame
    glitch: int  # values of encoders beyond reason
    restart: int  # clocks set anew
    rejected: int  # frames not used: their device time runs ahead
    refused: int  # frames not used while the signals of their joint cannot be true
    interpolated: int  # rows given across missing values


class HeldFrames(Layout):
    """Frames that are held as late, the oldest first."""

    instants: Annotated[Vector, "frames"]  # ns
    lateness: Annotated[Vector, "frames"]  # ns
    arrivals: Annotated[Vector, "frames"]  # ns
    count: int  # how many there are


class ClockState(Layout):
    """The clock of one stream of frames, and what the last frame changed. ns, since the first reading of all."""

    # settings
    period: float  # ns from sample to sample; 0: a frame's arrival is its instant
    modulo: int  # where the frames' counter starts again; 0: they have none
    unit: float  # what the counter grows by per sample: 1, or for a device's time in ns the period
    turn: int  # ticks that pass unseen while the counter turns once; 1 without one
    held: HeldFrames
    # the last frame
    frames: int  # since the clock was set anew
    index: int  # number of its sample
    counter: int  # its counter; -1: it came without
    backwards: int  # counter of a frame after it that was refused; -1: none was
    instant: float  # ns, when it was sampled
    arrival: float  # ns
    lateness: float  # ns, of its arrival after its instant
    heard: float  # ns, arrival of the last counter, that of a duplicate too
    fresh: bool  # whether the clock was set anew with it
    # what it changed of the frames that were held before
    shift: float  # ns by which they move
    slip: int  # ticks by which they move
    unsure: bool  # whether they move by a loss whose place is a guess
    decided: float  # ns, instant up to which they are final; −∞: none is
    # why frames are held, and what is known since
    mode: int  # IN_TIME, LATE or SETTLING
    evidence: int  # frames that were the last of their burst
    most: int  # evidence that a mere delay ever took on this link
    earliest: float  # ns, least lateness of all, …
    latest: float  # … and the largest, …
    least: float  # … and the least of the evidence
    since: float  # ns, arrival from which there is evidence
    fallen: float  # ns, lateness from which there is evidence
    # a silence
    gap: float  # ns of a silence whose losses are not counted yet
    gap_unit: int  # ticks: losses in it are a multiple of them
    away: float  # ns that a silence may have delayed the frames after it; 0: none has
    # frames that are not used while the signals of the joint cannot be true (passed_over.py)
    passed_over: int  # how many since the last frame that was used; -1: there is no such frame to count from
    counter_before: int  # of the last frame that was used
    arrival_before: float  # ns, of that frame
    # how fast the device's clock runs against the host's
    drift: float  # ρ, share of a period
    slew: float  # σ, ns a sample
    window_frames: int  # of the window of frames from which ρ and σ are learnt
    window_evidence: int  # of them, those that were the last of their burst
    window_least: float  # ns, least lateness
    window_most: float  # ns, largest lateness
    queue: float  # ns, a window's least lateness that is no drift; 0: there is none
    queue_since: float  # ns, arrival since which it is no less
    # of a device that says when it sampled, in samples
    off: float  # what the last frame is off the place that its number gives it, soon forgiven
    behind: float  # what it is behind its place among even ones
    pace: float  # what even ones are longer than the period
    evened: float  # frames that say where even ones would be
    whole: int  # ticks from the frame before to the last one; 0: both belong to one tick
    watched: int  # frames for which a stall or a loss is still looked at …
    caught_up: int  # … and for which a device is one that catches up
    calm: int  # frames in a row that came in time
    stalls: bool  # whether it has ever done so since the clock was set anew
    ahead: int  # ticks without a frame less frames without a tick, since the clock was set anew …
    counted: int  # … and what of it is counted as lost or is nothing
    least_ahead: int  # least of `ahead` in a block of frames …
    block: int  # … and frames in it
