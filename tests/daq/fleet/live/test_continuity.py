"""What is missing, and what was there already: the same however messages are cut into batches, and over restarts."""

import itertools

import numpy as np
import pytest

from daq.fleet.live.continuity import METADATA, WrittenContinuity

Message = tuple[int, int, int]  # key, boot, seq
NAMES = [("a", "elbow"), ("b", "elbow")]


def follow(continuity: WrittenContinuity, messages: list[Message]) -> list[tuple[int, bool]]:
    keys, boots, seqs = (np.array([one[at] for one in messages], np.int64) for at in range(3))
    found = continuity.follow(keys, NAMES, boots, seqs)
    return list(zip(found.lost.tolist(), found.kept.tolist(), strict=True))


def test_a_gap_a_repeat_and_a_restart() -> None:
    continuity = WrittenContinuity()
    assert follow(continuity, [(0, 1, 40), (0, 1, 41), (0, 1, 44)]) == [(0, True), (0, True), (2, True)]
    assert follow(continuity, [(0, 1, 44), (0, 1, 46)]) == [(0, False), (1, True)]
    # a core that started while we listened: its first messages are missing; one of the old core is none of ours
    assert follow(continuity, [(0, 2, 3), (0, 1, 47), (0, 2, 4)]) == [(3, True), (0, False), (0, True)]
    assert continuity.stale == {"a": 1}


def test_joints_are_followed_by_themselves() -> None:
    continuity = WrittenContinuity()
    mixed = [(0, 1, 0), (1, 9, 5), (0, 1, 1), (1, 9, 7)]
    assert follow(continuity, mixed) == [(0, True), (0, True), (0, True), (1, True)]


@pytest.mark.parametrize("seed", range(20))
def test_every_number_is_kept_or_lost_once_however_it_is_cut(seed: int) -> None:
    """Each number counts once, as kept or as lost, although messages are missing or come twice.

    Messages of two joints are cut into batches anywhere, and the state is kept and taken up between them.
    """
    random = np.random.default_rng(seed)
    messages: list[Message] = []
    for seq in range(200):
        for key in (0, 1):
            if random.random() < 0.8:
                messages += [(key, 5, seq)] * (1 + int(random.random() < 0.1))
    whole = follow(WrittenContinuity(), messages)
    cuts = [0, *sorted(random.integers(0, len(messages), 6).tolist()), len(messages)]
    continuity, parts = WrittenContinuity(), list[tuple[int, bool]]()
    for begin, end in itertools.pairwise(cuts):
        continuity = WrittenContinuity.of(continuity.keep())
        parts += follow(continuity, messages[begin:end])
    assert parts == whole
    for key in (0, 1):
        mine = [seq for (one, _, seq), (_, kept) in zip(messages, whole, strict=True) if one == key and kept]
        lost = sum(lost for (one, _, _), (lost, _) in zip(messages, whole, strict=True) if one == key)
        assert len(mine) == len(set(mine))
        assert len(mine) + lost == mine[-1] - mine[0] + 1


def test_a_damaged_state_is_said() -> None:
    with pytest.raises(ValueError, match="incorrect header"):
        WrittenContinuity.of({METADATA: b"nothing"})
    with pytest.raises(KeyError):
        WrittenContinuity.of({})
