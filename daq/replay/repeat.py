"""Replays our own recording turn by turn through the pipeline; the updates are the same bit for bit.

Everything that is not a pure function of the readings is in the recording (see daq/stream/transcript.py). Where one run
of the core is spread over several files, the earlier files are found in the same folder and played first, without
output.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import msgpack
import numpy as np
from numpy.typing import NDArray

from daq.config.routes import Route, routes
from daq.config.sections import Config
from daq.core.pipeline import Pipeline
from daq.core.replayable_executor import LOOKS, DeferredExecutor
from daq.recording.reader import RecordingError, before, blocks, break_of, configuration, said
from daq.replay.replay import Played
from daq.stream.json_messages import without_unknown
from daq.stream.transcript import Batch, TurnBlock
from daq.stream.update import ROBOT, VERSION, Map, Message
from estimators.refit.inline import Inline

NUMBER: Final = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


class Turn(NamedTuple):
    """One repeated turn of the core's loop."""

    pipeline: Pipeline  # a new one after a restart of the core
    batch: Batch
    messages: list[Message]


class Repetition:
    """Replays consecutive recordings: first `lead`, then `turns`."""

    def __init__(self, files: Sequence[Path], config: Config | None = None, listened: bool = True) -> None:
        """config: in place of the recorded one; it must have the same channels; listened: see Pipeline.

        Raises RecordingError.
        """
        recorded = configuration(files[0])
        self.config = config or recorded
        for file in files:
            _same_channels(file, configuration(file), self.config)
        self.files, self._listened = files, listened
        self.played = Played()
        self.gaps: list[str] = []  # missing blocks; updates after a gap differ from the recorded ones
        self._same = (recorded.joints, recorded.publish.rate) == (self.config.joints, self.config.publish.rate)
        self._expected = (0, 0)  # boot and number of the block that comes next
        self._begin(0)

    def lead(self) -> Self:
        """Play what the same run of the core recorded before these files, as far as it is in the same folder.

        Raises RecordingError.
        """
        first = next(blocks(self.files[0]), None)
        for file in before(self.files[0]):
            for block in blocks(file):
                if first is not None and block.boot == first.boot:
                    for _ in self._repeat(block):
                        pass
        self.played = Played()
        return self

    def turns(self) -> Iterator[Turn]:
        """Every turn of the core's loop in the files. Raises RecordingError."""
        for file in self.files:
            for block in blocks(file):
                yield from self._repeat(block)

    def messages(self) -> Iterator[Message]:
        """Every message of all turns. Raises RecordingError."""
        return (message for turn in self.turns() for message in turn.messages)

    @property
    def pipeline(self) -> Pipeline:
        """The present pipeline."""
        return self._pipeline

    def _begin(self, boot: int) -> None:
        """Start a new pipeline. Another configuration submits other refits, so their results count at once."""
        self._refits, self._looks = DeferredExecutor(Inline()), DeferredExecutor(Inline(), LOOKS)
        refits, looks = (self._refits, self._looks) if self._same else (None, None)
        self._pipeline = Pipeline(self.config, boot, refits, looks, self._listened)

    def _repeat(self, block: TurnBlock) -> Iterator[Turn]:
        boot, number = self._expected
        if block.boot != boot:
            number = 0
            self._begin(block.boot)
        if block.number != number:
            self.gaps.append(f"blocks {number} to {block.number - 1} of a start of the core are missing")
        self._expected = (block.boot, block.number + 1)
        if len(block.readings):
            self.played.note(block.readings)
        start = 0
        for batch in block.batches:
            messages = self._turn(batch, block.readings[start : start + batch.length])
            yield Turn(self._pipeline, batch, messages)
            start += batch.length

    def _turn(self, batch: Batch, readings: NDArray[np.void]) -> list[Message]:
        self._refits.release(batch.refits)
        self._looks.release(batch.refits)
        if batch.compiled is not None:
            self._pipeline.set_compiled(batch.compiled)
        if batch.resumed and self._same:
            self._pipeline.resume(batch.resumed)
        if batch.baseline is not None:
            self._pipeline.set_baselines(batch.baseline)
        messages = self._pipeline.acknowledge(batch.seen or {}) + self._pipeline.set_wear(batch.worn or {})
        if batch.length:
            clock = iter(batch.clock)
            recorded = lambda: next(clock, batch.watched)  # noqa: E731
            messages += self._pipeline.absorb(readings, batch.epoch, recorded, batch.late)
        return messages + self._pipeline.check_silence(batch.watched, batch.epoch)


def _same_channels(file: Path, recorded: Config, config: Config) -> None:
    """Raise RecordingError where channels differ: readings are stored by channel, already scaled."""
    for then, now in itertools.zip_longest(routes(recorded), routes(config)):
        if then != now:
            raise RecordingError(f"{file}: expected the channels as recorded: {_words(then)}; found {_words(now)}")


def _words(route: Route | None) -> str:
    if route is None:
        return "no more"
    name, source = f"{route.joint}.{route.role}", f"{route.driver}.{route.signal}"
    return f"{name} = {route.scale:g} × {source} + {route.offset:g}"


def _comparable(topic: str, update: Map) -> tuple[str, Map]:
    """A message without what another version of the stream says otherwise: `v`, reasons, and their words in events."""
    kept = {key: one for key, one in update.items() if key not in ("v", "reasons", "health")}
    if "health" in update:
        kept["status"] = update["health"]["status"]
    if topic.startswith("event/"):
        kept.pop("text", None)
    return topic, kept


def _without_words(value: Any) -> Any:
    """A message with the numbers of each `text` in its place: another edition may put a sentence otherwise."""
    if isinstance(value, dict):
        plain = isinstance(value.get("text"), str)
        rest = {key: _without_words(one) for key, one in value.items()}
        return rest | {"text": NUMBER.findall(value["text"])} if plain else rest
    return [_without_words(one) for one in value] if isinstance(value, list) else value


def compare(repetition: Repetition) -> int:
    """Count the updates that equal the recorded ones to the bit. Raises RecordingError at the first that differs.

    Of a sentence its numbers are compared, and nothing where the recording is of an older version of the stream.
    """
    nothing: tuple[str, Map] = ("nothing", {})
    where = ", ".join(map(str, repetition.files))
    every = (one for file in repetition.files for one in said(file))
    recorded = ((one.topic, one.update) for one in every if "/" in one.topic or one.topic == ROBOT)
    repeated = (
        (topic.decode(), without_unknown(msgpack.unpackb(body))) for topic, body in repetition.lead().messages()
    )
    same = 0
    for then, now in itertools.zip_longest(recorded, repeated, fillvalue=nothing):
        if repetition.gaps:
            raise RecordingError(f"{where}: the updates cannot be compared: {repetition.gaps[0]}")
        if nothing in (then, now) and any(map(break_of, repetition.files)):
            break  # the last block may lack its messages, or the last messages their block
        if then[1].get("v", VERSION) < VERSION:
            then, now = _comparable(*then), _comparable(*now)
        if then != now and (then[0], _without_words(then[1])) != (now[0], _without_words(now[1])):
            keys = [key for key in {**then[1], **now[1]} if then[1].get(key) != now[1].get(key)]
            raise RecordingError(
                f"{where}: after {same} equal updates, expected {then[0]}, found {now[0]}; differing: {keys}"
            )
        same += 1
    return same
