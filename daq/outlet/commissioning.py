"""Sets baselines from the present values, writes them to their file, and sends them to the core.

It also tells the core which joints' changes a person has acknowledged.

The file counts: after any change the core gets the new content within a second or two. The core itself does not read
the disk while it runs. The file is read and written in a thread, so a slow disk delays nothing here.
"""

import asyncio
import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Final

import msgpack

from daq.outlet.history import History
from daq.processes.logs import log
from daq.state.baselines import JUDGED, NOT_KNOWN, SEEN, TOPIC, WATCHED, WEAR, Baseline, Baselines, parse, read, write
from daq.state.files import BaselineError
from daq.stream.reasons import in_words
from daq.stream.sockets import Socket

EVERY: Final = 1.0  # s between two looks at the file


class Commissioning:
    """The baselines of one robot."""

    def __init__(self, file: Path, models: Mapping[str, str], core: Socket) -> None:
        """models: joint → kind of its model; core: the socket to the core."""
        self._file, self._models, self._core = file, models, core
        self._one = asyncio.Lock()
        self._content = self._newest = b""  # of the file; the newest of each joint
        self._trouble = ""
        self.wear: Callable[[], bytes] = bytes  # what the history says of wear, as the core takes it; empty: nothing

    async def set(self, history: History, joint: str | None) -> None:
        """Set the baseline of a joint, or of all (None), to the present values. Raises ValueError with the reason."""
        found = {name: self._now(history, name) for name in ([joint] if joint else self._models)}
        async with self._one:
            try:
                await asyncio.to_thread(self._add, found)
            except BaselineError as error:
                raise ValueError(str(error)) from error
        log.info("baseline set: %s", ", ".join(found))
        await self._look()

    async def share(self) -> None:
        """Send the core the content of the file every second: the core may have restarted."""
        while True:
            await self._look()
            if worn := self.wear():
                self._core.send_multipart((WEAR, worn))
            await asyncio.sleep(EVERY)

    def watched(self, wanted: Collection[str]) -> None:
        """Tell the core that somebody watches the page. wanted: joints of which it has to send the raw channels."""
        self._core.send_multipart((WATCHED, msgpack.packb(sorted(wanted))))

    async def acknowledge(self, history: History, joint: str | None) -> None:
        """Tell the core that a person has seen what has changed of a joint, or of all (None).

        Raises ValueError where nothing has changed that is not acknowledged.
        """
        found = [name for name in history.changed() if joint in (None, name)]
        if not found:
            raise ValueError(f"nothing has changed of {joint or 'any joint'} that is not acknowledged")
        log.info("changes acknowledged: %s", ", ".join(found))
        self._core.send_multipart((SEEN, msgpack.packb(found)))

    def _now(self, history: History, name: str) -> Baseline:
        found = history.current_values(name)
        if found is None or found.status not in JUDGED:
            why = (in_words(found.reasons) or f"it is {found.status}") if found else "nothing comes from it"
            raise ValueError(f"the values of {name} are no baseline: {why}")
        values = found.values if found.known is None else found.known
        known = tuple(one for one in values if math.isfinite(found.deviations[one]))
        if not known:
            raise ValueError(f"the values of {name} cannot be a baseline: none of them is known")
        try:
            return Baseline(
                since=found.time,
                model=self._models[name],
                friction=found.friction,
                values=found.values,
                deviations={name: min(one, NOT_KNOWN) for name, one in found.deviations.items()},
                known=known if len(known) < len(found.values) else None,
            )
        except ValueError as error:
            raise ValueError(f"the values of {name} cannot be a baseline: not all of them are finite") from error

    def _add(self, found: Mapping[str, Baseline]) -> None:
        write(self._file, read(self._file).with_new(found))

    async def _look(self) -> None:
        try:
            content = await asyncio.to_thread(self._file.read_bytes)
            if content != self._content:
                self._content = content
                newest = parse(content, self._file).newest()
                self._newest = (
                    Baselines(joints={name: [one] for name, one in newest.items()}).model_dump_json().encode()
                )
        except FileNotFoundError:
            return
        except (OSError, BaselineError) as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                log.warning("the file of baselines cannot be used, the last ones stay in use: %s", error)
        if self._newest:
            self._core.send_multipart((TOPIC, self._newest))
