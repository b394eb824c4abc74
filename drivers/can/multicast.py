"""Reads CAN frames over UDP multicast in bulk, in the format of python-can.

A datagram is a msgpack map of the attributes of a can.Message. Reading with python-can (select, recvmsg, building and
checking a Message) costs some 25 µs a frame, and its socket has space for only 270 frames, so a busy host lost frames.
"""

import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import can
import numpy as np
from numpy.typing import NDArray

from drivers.base import LinkError
from drivers.can.receive_buffer import enlarge
from drivers.can.recvmmsg import BulkReceiver, prepare
from drivers.decode.decoder import Decoder
from drivers.drain import link_error
from drivers.layout.frame import Frames


class MulticastGroup:
    """A group, joined."""

    def __init__(self, channel: str, options: Mapping[str, Any]) -> None:
        """Raises OSError, and all errors of python-can."""
        self._name = channel
        self._bus = can.Bus(interface="udp_multicast", channel=channel, ignore_config=True, **options)
        self._socket = socket.socket(fileno=self._bus.fileno())
        prepare(self._socket)
        enlarge(self._socket, channel)
        self._receiver = BulkReceiver(self._socket.fileno(), packed=True)
        self._lost: LinkError | None = None

    @property
    def counts(self) -> Mapping[str, int]:
        """Return the counts of frames dropped by the kernel, of malformed datagrams, and of frames with a replaced
        stamp."""
        receiver = self._receiver
        return {"dropped": receiver.dropped, "malformed": receiver.malformed, "restamped": receiver.restamped}

    def receive(self, timeout: float) -> Frames:
        """Wait for the first frame, then take all that are there. Raises LinkError."""
        if self._lost is not None:
            raise self._lost
        try:
            return self._receiver.receive(timeout)
        except OSError as error:
            raise self._wrong(error) from error

    def read(self, timeout: float, decoder: Decoder) -> NDArray[np.void]:
        """Receive and decode in one call: a READING array. Raises LinkError."""
        if self._lost is not None:
            raise self._lost
        try:
            return self._receiver.read(timeout, decoder)[1]
        except OSError as error:
            raise self._wrong(error) from error

    def _wrong(self, error: OSError) -> LinkError:
        self._lost = link_error(self._name, error)
        return self._lost

    def close(self) -> None:
        self._socket.detach()  # python-can closes the descriptor
        with suppress(can.CanError, OSError):
            self._bus.shutdown()
