"""A table that another process writes, since formatting readings takes a third of an export and needs no recording."""

import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, Self

from daq.commands.recordings.tables import FORMATS, Columns, Table
from daq.processes.child import Child


class TableBeside:
    """A table that another process writes while this one continues to read; it ends with the `with` block."""

    def __init__(self) -> None:
        """Fork the process, which must happen before there is a second thread."""
        orders, self._orders = Pipe(duplex=False)
        self._answers, answers = Pipe(duplex=False)
        self._child = Child("export", lambda: _write(orders, answers))
        orders.close()  # so that the end of the other process is seen
        answers.close()
        self._whole = False  # whether all that was sent has been sent to its end

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.send(signal.SIGKILL)  # it is still alive only if an exception has ended the block
        self._child.wait()

    def open(self, kind: str, path: Path, names: Sequence[str]) -> Self:
        """Begin the table; kind: of FORMATS. Raises OSError, as do `add` and `close`."""
        self._send((kind, path, names))
        return self

    def add(self, columns: Columns) -> None:
        """Append rows."""
        self._send(columns)

    def close(self) -> None:
        """Wait until all is written; does nothing if sending was interrupted or the other process has ended."""
        if self._whole:
            self._send(None)
            self._whole = False
            self._wait()

    def _send(self, order: Any) -> None:
        self._whole = False
        try:
            self._orders.send(order)
        except BrokenPipeError:
            self._wait()
            raise
        self._whole = True

    def _wait(self) -> None:
        """Wait for the end of the other process. Raises OSError if it could not write."""
        try:
            error: OSError | None = self._answers.recv()
        except EOFError:
            error = ChildProcessError(self._child.wait(), "the process that writes the readings has died")
        if error is not None:
            raise error


def _write(orders: "Connection[Any, Any]", answers: "Connection[Any, Any]") -> int:
    """Write tables as ordered, in the other process; returns its exit code."""
    table: Table | None = None
    try:
        while (order := orders.recv()) is not None:
            if table is None:
                kind, path, names = order
                table = FORMATS[kind](path, names)
            else:
                table.add(order)
        if table is not None:
            table.close()
    except OSError as error:
        answers.send(error)
        return 1
    answers.send(None)
    return 0
