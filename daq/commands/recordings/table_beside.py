"""A table that a process of its own writes: making text of readings is a third of an export, and reads no recording."""

import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, Self

from daq.commands.recordings.tables import FORMATS, Columns, Table
from daq.processes.child import Child


class TableBeside:
    """A table that another process writes while this one reads on; that process ends with the `with` block."""

    def __init__(self) -> None:
        """Fork; before there is a second thread."""
        orders, self._orders = Pipe(duplex=False)
        self._answers, answers = Pipe(duplex=False)
        self._child = Child("export", lambda: _write(orders, answers))
        orders.close()  # so that the end of the other process is seen
        answers.close()
        self._whole = False  # whether all that was sent has been sent to its end

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.send(signal.SIGKILL)  # it is alive only where an exception has ended the block
        self._child.wait()

    def open(self, kind: str, path: Path, names: Sequence[str]) -> Self:
        """Begin the table; kind: of FORMATS. Raises OSError, as do `add` and `close`."""
        self._send((kind, path, names))
        return self

    def add(self, columns: Columns) -> None:
        """Append rows."""
        self._send(columns)

    def close(self) -> None:
        """Wait until all is written; nothing where sending was broken off, or the other process has ended."""
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
        """Wait for the end of the other process. Raises OSError where it could not write."""
        try:
            error: OSError | None = self._answers.recv()
        except EOFError:
            error = ChildProcessError(self._child.wait(), "the process that writes the readings has died")
        if error is not None:
            raise error


def _write(orders: "Connection[Any, Any]", answers: "Connection[Any, Any]") -> int:
    """Write what is ordered, in a process of its own; returns its exit code."""
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
