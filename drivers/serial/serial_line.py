"""A serial line for drivers: opened exclusively, read through its descriptor, and closed at the end of `with`."""

from typing import Self

import serial

from drivers.base import LinkError
from drivers.drain import link_error


class SerialLine:
    """The base of drivers of a serial port, which read from `opened()`."""

    def __init__(self, port: str, baudrate: int) -> None:
        """baudrate: bit/s."""
        self._port, self._baudrate = port, baudrate
        self._serial: serial.Serial | None = None

    def start(self) -> None:
        """Reset the state of decoding when the line is opened."""

    def __enter__(self) -> Self:
        self.start()
        try:
            self._serial = serial.Serial(self._port, self._baudrate, timeout=0, exclusive=True)
        except (OSError, ValueError) as error:  # pyserial's own errors are OSErrors
            raise link_error(self._port, error) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._serial is not None:
            self._serial.close()
            self._serial = None

    def opened(self) -> serial.Serial:
        """Return the open port. Raises LinkError if it is not open."""
        if self._serial is None:
            raise LinkError(f"{self._port}: not open")
        return self._serial
