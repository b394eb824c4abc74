"""Plays a recording in as many processes as there are processors, each of them some of the joints.

Joints do not know each other, so every process reads the whole recording and its pipeline takes the readings of its own
joints. The messages are those of one process, turn by turn and in each turn joint by joint. Where a model of the whole
robot or a mechanism needs all joints together, and on one processor, this process plays all of them itself.
"""

import heapq
import os
import signal
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, Pipe
from typing import Final, Generic, NamedTuple, Self, TypeVar

from daq.config.sections import Config
from daq.core.pipeline import Pipeline
from daq.processes.child import Child
from daq.recording.reader import RecordingError
from daq.replay.replay import BOOT, Played, turns
from daq.replay.sources import Batch, Counts
from daq.stream.update import Message
from drivers.base import DriverError
from drivers.files.bytes_read import note, observed

#: turns, argued: Turns whose messages travel together: a second of the recording, so that progress is seen to move.
TOGETHER: Final = 50
EVENT: Final = b"event/"  # how the topics of events begin

Result = TypeVar("Result")
Source = Callable[[Counts, Played], Iterator[Batch]]  # opens the recording; fills the counts at its end


class Heard(NamedTuple):
    """One message, and where it stands among those of all joints."""

    turn: int
    joint: int
    message: Message


class Ended(NamedTuple, Generic[Result]):
    """What is left at the end of a recording, or where it broke off."""

    result: Result
    counts: Counts
    failed: str  # why it broke off; "": it did not


class PlayedTurns(NamedTuple, Generic[Result]):
    """What a process says of some turns."""

    heard: list[Heard]
    played: Played  # so far
    read: int  # bytes of the recording since the last part; 0 where they are reported as they are read
    ended: Ended[Result] | None


class Shares(Generic[Result]):
    """The processes that play one recording; they begin at once, and end with the `with` block."""

    def __init__(
        self,
        config: Config,
        source: Source,
        result_of: Callable[[Pipeline], Result],
        listened: bool = True,
        speed: float | None = None,
        processors: int | None = None,
    ) -> None:
        """result_of: the result of a pipeline in the end, which can be pickled; listened: see Pipeline, and whether
        all messages are wanted: else only the events are; speed: see play(); processors: of this machine where left
        out."""
        self._results: dict[int, Result] = {}  # by process
        self.counts: Counts = {}
        self.played = Played()
        self.failed = ""
        self._config, self._source, self._result_of = config, source, result_of
        self._listened, self._speed = listened, speed
        together = config.robot.model is not None or bool(config.mechanism)
        count = 1 if together else min(processors or len(os.sched_getaffinity(0)), len(config.joints))
        names = list(config.joints)
        shares = [names[at * len(names) // count : (at + 1) * len(names) // count] for at in range(count)]
        self._children: list[Child] = []
        self._parts = [self._begin(share) for share in shares] if count > 1 else [self._play(names)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.send(signal.SIGKILL)  # it is alive only where this process plays no further
            child.wait()

    @property
    def results(self) -> list[Result]:
        """The result of the pipeline of each process that has come to the end, in the order of the joints."""
        return [self._results[at] for at in sorted(self._results)]

    def messages(self, reached: Callable[[Played], None]) -> Iterator[Message]:
        """Every message that is wanted; `reached` is called with how far it is.

        Raises ChildProcessError where a process has died.
        """
        streams = (self._heard(at, parts, reached) for at, parts in enumerate(self._parts))
        return (one.message for one in heapq.merge(*streams, key=lambda one: one[:2]))

    def _heard(
        self, at: int, parts: Iterator[PlayedTurns[Result]], reached: Callable[[Played], None]
    ) -> Iterator[Heard]:
        """The messages of one process; all read the same, so one of them says how far it is."""
        for part in parts:
            if at == 0:
                note(part.read)
                self.played = part.played
                reached(part.played)
            yield from part.heard
            if part.ended is not None:
                self._results[at] = part.ended.result
                self.counts, self.failed = part.ended.counts, part.ended.failed

    def _play(self, joints: list[str]) -> Iterator[PlayedTurns[Result]]:
        """Play these joints."""
        counts, played, failed = Counts(), Played(), ""
        pipeline = Pipeline(self._config, BOOT, listened=self._listened, only=joints)
        places = {name.encode(): place for place, name in enumerate(self._config.joints)}
        heard = list[Heard]()
        try:
            source = self._source(counts, played)
            for turn, messages in enumerate(turns(pipeline, source, played, self._speed)):
                if not self._listened:  # a full pipe that is not read would block the process
                    messages = [one for one in messages if one[0].startswith(EVENT)]
                found = [Heard(turn, places.get(one[0].partition(b"/")[2], len(places)), one) for one in messages]
                heard += sorted(found, key=lambda one: one.joint)
                if turn % TOGETHER == 0:
                    yield PlayedTurns(heard, played, 0, None)
                    heard = []
        except (DriverError, RecordingError) as error:
            failed = str(error)
        yield PlayedTurns(heard, played, 0, Ended(self._result_of(pipeline), counts, failed))

    def _begin(self, joints: list[str]) -> Iterator[PlayedTurns[Result]]:
        """Let a process of its own play these joints."""
        receiver, sender = Pipe(duplex=False)
        self._children.append(Child("replay", lambda: self._send(joints, sender)))
        sender.close()
        return _received(receiver, joints)

    def _send(self, joints: list[str], sender: Connection) -> int:
        """Play these joints in a process of their own, and send what it says; returns its exit code."""
        read = list[int]()
        with observed(read.append):
            for part in self._play(joints):
                sender.send(part._replace(read=sum(read)))
                read.clear()
        return 0


def _received(receiver: Connection, joints: list[str]) -> Iterator[PlayedTurns[Result]]:
    """What a process sends, up to its end. Raises ChildProcessError where it ends before that."""
    ended = False
    while not ended:
        try:
            part: PlayedTurns[Result] = receiver.recv()
        except EOFError:
            raise ChildProcessError(f"the process that played {', '.join(joints)} has died") from None
        ended = part.ended is not None
        yield part
