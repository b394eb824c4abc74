"""Reads a serial port on which a device sends packets, in bulk through its descriptor."""

import os.path
import time
from collections.abc import Mapping, Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, model_validator

from drivers.base import DriverSettings, LayoutError, Wanted
from drivers.decode.decoder import Decoder
from drivers.drain import drain
from drivers.layout.frame import FrameLayout
from drivers.serial import packets
from drivers.serial.packets import COBS, Framing, PacketSettings
from drivers.serial.serial_line import SerialLine


class SerialPortSettings(DriverSettings):
    """A serial port and the packets that come from it."""

    kind: Literal["serial"]
    port: str = Field(min_length=1, description="device, best by its lasting name under /dev/serial/by-id")
    baudrate: int = Field(default=115200, gt=0, description="bit/s")
    packets: tuple[PacketSettings, ...] = Field(min_length=1)
    framing: Framing = Field(default=COBS, description="how packets are framed in the stream, where not by ours")
    _layout: FrameLayout = PrivateAttr()

    @model_validator(mode="after")
    def _layout_of_packets(self) -> Self:
        try:
            self._layout = packets.layout(self.packets, self.framing)
        except LayoutError as error:
            raise ValueError(str(error)) from error
        return self

    def signals(self) -> Mapping[str, str]:
        """Return every signal of every packet, and each packet's sequence: "PACKET.signal" → SI unit."""
        return self._layout.units()

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Raise LayoutError with every unknown signal, and the most similar known one."""
        self._layout.check(wanted)

    def modules(self) -> tuple[str, ...]:
        """Kernels of the decoder and of the framing."""
        return "drivers.serial.port", "drivers.serial.deframer"

    def wire(self) -> tuple[str, ...]:
        """The port, under whatever name."""
        return "port", os.path.realpath(self.port)

    def open(self, wanted: Sequence[Wanted]) -> "SerialPort":
        """A driver for exactly these signals. Raises LayoutError."""
        return SerialPort(self, self._layout, wanted)


class SerialPort(SerialLine):
    """One serial port, open for reading; readings are stamped when their bytes have been read."""

    def __init__(self, settings: SerialPortSettings, layout: FrameLayout, wanted: Sequence[Wanted]) -> None:
        layout.check(wanted)
        super().__init__(settings.port, settings.baudrate)
        self._settings = settings
        self._layout, self._wanted = layout, wanted
        self.start()

    def start(self) -> None:
        """Reset the state of decoding."""
        self._decoder = Decoder(self._layout, self._wanted)
        from drivers.serial.deframer import Deframer  # kernels that only a serial line needs

        self._deframer = Deframer(self._layout.lengths, self._settings.framing)

    def read(self, timeout: float) -> NDArray[np.void]:
        """Return the readings of the packets that end in the available bytes. Raises LinkError."""
        data = drain(self.opened().fileno(), self._settings.port, timeout)
        now = time.monotonic_ns()
        readings = self._decoder.decode(self._deframer.feed(data, now))
        self._decoder.watch(now)
        return readings

    def counters(self) -> Mapping[str, int]:
        """Return the number of packets with a valid CRC, and every loss by cause (see Decoder and Deframer)."""
        counts = self._decoder.counts
        return counts | {cause: counts.get(cause, 0) + count for cause, count in self._deframer.counts.items()}
