"""The progress of a long command: its stage, the completed share, the speed, and the remaining time.

On a terminal this is one line on stderr that is overwritten; elsewhere a line every few seconds. Nothing is printed in
the first two seconds. A thread prints, so that progress is shown during long steps of a library, too.
"""

import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO

from drivers.files import bytes_read as bytes_of_logs
from estimators.numerics.tables import bytes_read as bytes_of_tables

FIRST: Final = 2.0  # s of silence
EVERY: Final = 5.0  # s between lines at first
LATER: Final = 30.0  # s between lines of a stage that takes longer than this
QUICK: Final = 0.25  # s between lines that overwrite each other


class Progress:
    """Prints while it is open; call `stage` when a stage begins, and `reach` to note its progress."""

    def __init__(self, command: str, stream: TextIO | None = None, first: float = FIRST) -> None:
        """first: s of silence."""
        self._command, self._stream, self._first = command, sys.stderr if stream is None else stream, first
        self._name, self._done, self._total, self._unit = "", 0.0, 0.0, ""
        self._since = self._begin = time.monotonic()
        self._stop = threading.Event()
        self._shown = False
        self._thread = threading.Thread(target=self._print, daemon=True)
        self._observed = (bytes_of_logs.observed(self.add), bytes_of_tables.observed(self.add))

    def __enter__(self) -> Self:
        for one in self._observed:
            one.__enter__()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self._observed:
            one.__exit__(kind, error, trace)
        self._stop.set()
        self._thread.join()
        if self._shown and self._stream.isatty():
            print("\r\033[K", end="", file=self._stream, flush=True)

    def stage(self, name: str, total: float = 0.0, unit: str = "") -> None:
        """Begin a stage; total: its size in units, 0 if unknown. Bytes that are read count automatically."""
        self._name, self._done, self._total, self._unit = name, 0.0, float(total), unit
        self._since = time.monotonic()

    def reach(self, done: float, total: float | None = None, unit: str | None = None) -> None:
        """Note how many of the stage's units are done; total and unit: if they were not known before."""
        self._done = done
        self._total, self._unit = self._total if total is None else total, self._unit if unit is None else unit

    def read(self, name: str, files: Iterable[Path]) -> None:
        """Begin a stage that reads these files or folders."""
        self.stage(name, bytes_of(files), "B")

    def add(self, count: float) -> None:
        """Note that so many more bytes were read."""
        if self._unit in ("", "B"):
            self._unit = "B"
            self._done += count

    def line(self) -> str:
        """The printed line."""
        passed = time.monotonic() - self._since
        said = [f"{self._command}: {self._name or 'reading'}"]
        rate = self._done / passed if passed > 0 else 0.0
        if self._total > 0 and self._done > 0:
            share = min(1.0, self._done / self._total)
            said.append(f"{100 * share:.0f} %")
        if self._done > 0 and self._unit and (rate >= 1.0 or self._unit == "B"):
            said.append(f"{rate / 1e6:.3g} MB/s" if self._unit == "B" else f"{rate:,.0f} {self._unit}/s")
        if self._total > self._done > 0:
            said.append(f"about {_seconds((self._total - self._done) / rate)} left")
        else:
            said.append(f"{_seconds(time.monotonic() - self._begin)} so far")
        return ", ".join(said)

    def _print(self) -> None:
        terminal = self._stream.isatty()
        printed = 0.0
        while not self._stop.wait(min(self._first, QUICK)):
            now = time.monotonic()
            # each stage has its own time, so that a new stage is reported soon after it begins
            every = 0.0 if terminal else EVERY if now - self._since < LATER else LATER
            if now < max(self._begin + self._first, printed + every):
                continue
            printed = now
            self._shown = True
            if terminal:
                print(f"\r\033[K{self.line()}", end="", file=self._stream, flush=True)
            else:
                print(self.line(), file=self._stream, flush=True)


def bytes_of(files: Iterable[Path]) -> int:
    """Total size of files, and of the files in folders; missing files count as empty."""
    every = (one for file in files for one in (file.iterdir() if file.is_dir() else (file,)))
    return sum(one.stat().st_size for one in every if one.is_file())


def _seconds(seconds: float) -> str:
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    if seconds < 600.0:
        return f"{seconds // 60.0:.0f} min {seconds % 60.0:02.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
