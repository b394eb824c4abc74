"""Why a compiled pass stops: what Python has to do before the same pass goes on."""

from typing import Final

DONE: Final = 0  # nothing: all that was given is taken
INTERVAL: Final = 1  # a sample has begun a publishing interval: an update is due
REVIEW: Final = 2  # a block of rows has ended with something to decide
TAUGHT: Final = 3  # rows of a start, or of directions that no motion has identified yet, are to be handed over
LIMITS: Final = 4  # the next row may see other limits of standstill
ROOM: Final = 5  # the rows that are kept for looking back need room
SPAN: Final = 6  # a span of samples is full, over which channels are watched
ENCODER: Final = 7  # an encoder has moved often enough to know its step
UNEVEN: Final = 8  # a position was sampled often enough in motion to know how evenly
DRAIN: Final = 9  # what reads along has to be read before there is room for more
COLUMN: Final = 10  # a reading of no channel
