"""Counts the error frames of a CAN interface by cause, and logs new causes in one sentence.

Classes and details are those of linux/can/error.h. An error such as a missing acknowledgement repeats a thousand times
a second, so each cause is logged once, and again after ten seconds without it.
"""

import logging
import time
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

QUIET: Final = 10.0  # s

log = logging.getLogger("jointwatch")


class BusErrorCause(NamedTuple):
    """One cause that an error frame can report."""

    bit: int  # bit of the id
    detail: int  # bits of the payload's byte 1, of which one must be set; 0: any
    text: str  # meaning and remedy


CAUSES: Final = {
    "bus_off": BusErrorCause(
        0x40,
        0,
        "bus-off: the controller left the bus after too many errors. Check wiring, termination (120 Ω at both ends) "
        "and bit rate; `sudo ip link set {name} type can restart-ms 100` lets it come back by itself",
    ),
    "bus_restarted": BusErrorCause(0x100, 0, "the controller is back on the bus"),
    "error_passive": BusErrorCause(
        0x4,
        0x30,
        "error-passive: many frames were damaged. Check wiring, termination, bit rate and sample point of all nodes",
    ),
    "error_warning": BusErrorCause(0x4, 0x0C, "error-warning: frames are being damaged. Check wiring and termination"),
    "error_active": BusErrorCause(0x4, 0x40, "error-active: the controller sees few errors again"),
    "controller_overflow": BusErrorCause(
        0x4, 0x03, "the controller's own buffer ran over: frames are lost before the kernel sees them"
    ),
    "not_acknowledged": BusErrorCause(
        0x20, 0, "no node acknowledges: no other node is on, or it has another bit rate, or listens only"
    ),
    "bus_errors": BusErrorCause(
        0x88, 0, "damaged bits on the bus (stuffing, CRC). Check wiring, termination and bit rate"
    ),
    "transceiver": BusErrorCause(0x10, 0, "the transceiver reports a fault: check CAN_H, CAN_L, ground and supply"),
    "send_timeout": BusErrorCause(0x1, 0, "a frame of this host could not be sent in time"),
    "arbitration_lost": BusErrorCause(0x2, 0, ""),  # normal operation of a bus, not an error
}


class BusErrors:
    """Counts error frames by cause and logs new causes."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.counts = dict.fromkeys(CAUSES, 0)
        self._name, self._clock = name, clock
        self._heard = dict.fromkeys(CAUSES, -QUIET)  # s, time at which each cause last occurred

    def absorb(self, ids: NDArray[np.uint32], payload: NDArray[np.uint8]) -> None:
        """Count the error frames of one batch."""
        now = self._clock()
        for name, cause in CAUSES.items():
            said = ids & cause.bit != 0
            if cause.detail:
                said &= payload[:, 1] & cause.detail != 0
            count = int(np.count_nonzero(said))
            if not count:
                continue
            self.counts[name] += count
            if cause.text and now - self._heard[name] >= QUIET:
                log.warning("%s: %s", self._name, cause.text.format(name=self._name))
            self._heard[name] = now
