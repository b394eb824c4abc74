"""Blocks of readings: the same bits after packing, whatever they are; handed over in order, and never waited for."""

import itertools
import struct
import time
from types import SimpleNamespace
from typing import Any

import msgpack
import numpy as np
import pytest
import zmq

import daq.stream.transcript as transcript_module
from daq.stream.transcript import QUEUE, Batch, Transcript, TurnBlock, pack, received, unpack
from drivers.reading import READING

TURN = Batch(0, 5, 6, [7, 8], [0], None)


def readings(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = np.zeros(count, READING)
    rows["time"] = rng.integers(-(2**62), 2**62, count)
    rows["value"] = rng.integers(0, 2**64, count, np.uint64).view(np.float64)  # every bit pattern, NaNs with payloads
    rows["channel"] = rng.integers(0, 65536, count)
    rows["flags"] = rng.integers(0, 2**32, count)
    return rows


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_packing_keeps_every_bit(count: int) -> None:
    rows = readings(count, count)
    given = (count, 1, -2, [3], [], {"a": 1.5}, None, True, {"elbow": 9.5}, {"elbow": {"wear": 0.1}}, 1)
    block = unpack(pack(TurnBlock(2**47, 3, [Batch(*given)], rows)))
    assert block.readings.tobytes() == rows.tobytes()
    assert (block.boot, block.number) == (2**47, 3)
    assert [tuple(one) for one in block.batches] == [given]


def test_a_number_at_the_end_of_an_older_recordings_batch_means_nothing() -> None:
    block = unpack(pack(TurnBlock(1, 0, [Batch(0, 1, -2, [3], [], None, None, False, 17)], readings(0, 0))))  # type: ignore[arg-type]
    assert block.batches[0].seen is None


def test_quantised_motion_takes_a_third() -> None:
    rows = np.zeros(3000, READING)
    rows["channel"] = np.tile([0, 1, 2], 1000)
    rows["time"] = np.repeat(np.arange(1000) * 1_000_000, 3)
    rows["value"][0::3] = np.round(np.sin(np.arange(1000) * 1e-3) * 1e6) * 1e-6
    rows["value"][2::3] = np.arange(1000)
    assert len(pack(TurnBlock(1, 0, [TURN], rows))) < rows.nbytes / 3


@pytest.mark.parametrize("damage", [b"", b"rubbish", struct.pack("<4sII", b"JWB1", 9, 9)])
def test_what_is_no_block_is_said(damage: bytes) -> None:
    with pytest.raises(ValueError, match="block"):
        unpack(damage)


def test_blocks_arrive_whole_numbered_and_in_order(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = itertools.count()
    monkeypatch.setattr(transcript_module, "time", SimpleNamespace(monotonic=lambda: 1.0 + 0.004 * next(turns)))
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with context.socket(zmq.PULL) as recorder:
        recorder.bind(f"ipc://{tmp_path}/t")
        transcript = Transcript(f"ipc://{tmp_path}/t", 7)
        parts = [readings(3, seed) for seed in range(30)]
        for part in parts:
            transcript.note(part, TURN._replace(length=3), [(b"estimate/a", msgpack.packb({"n": 1}))])
        assert recorder.poll(60_000), "it is connected: what follows needs no time"
        transcript.close()
        blocks = []
        for _ in range(transcript.sent):
            assert recorder.poll(60_000)
            blocks.append(received(recorder.recv()))
    context.term()
    assert [block.number for block in blocks] == list(range(len(blocks)))
    assert len(blocks) == 4, "30 turns of 4 ms: at once, after 40 and 80 ms, and the rest at the end"
    assert b"".join(block.readings.tobytes() for block in blocks) == b"".join(part.tobytes() for part in parts)
    assert sum(len(block.batches) for block in blocks) == sum(len(block.messages) for block in blocks) == 30


def test_a_recorder_that_is_away_or_stuck_costs_no_time_and_little_memory(tmp_path: Any) -> None:
    transcript = Transcript(f"ipc://{tmp_path}/nobody", 7)
    transcript._due = 0.0
    begin = time.thread_time()
    for _ in range(3 * QUEUE):
        transcript._due = 0.0
        transcript.note(readings(21), TURN, [])
    assert time.thread_time() - begin < 10.0
    assert transcript.sent == 3 * QUEUE
    transcript.close()
