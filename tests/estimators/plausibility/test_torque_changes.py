"""Which torques may be held: those that change often enough, and nearly always by several of their smallest steps."""

import numpy as np
import pytest

from estimators.plausibility.signals.torque_held import BLOCKS, FEWEST, FINE, NEARLY_ALL, LastTorques, _changes_widely

ROOM = 60


def as_numpy_says(blocks: list[np.ndarray]) -> bool:
    sizes = np.abs(np.diff(np.concatenate(blocks)))
    changes = np.flatnonzero(sizes)
    if len(changes) < FEWEST or not np.isfinite(sizes).all():
        return False
    return bool(np.mean(sizes[changes] >= FINE * sizes[changes].min()) >= NEARLY_ALL)


@pytest.mark.parametrize("step", [0.001, 0.5, 2.0])
def test_the_kernel_says_of_the_last_blocks_what_numpy_says(step: float) -> None:
    chance = np.random.default_rng(round(1000 * step))
    told = []
    for _ in range(60):
        newest = int(chance.integers(BLOCKS))
        torque = LastTorques(values=np.full((BLOCKS, ROOM), 7.0), count=chance.integers(0, ROOM + 1, BLOCKS))
        every = int(chance.integers(1, 9))
        for at in range(BLOCKS):
            held = np.repeat(chance.normal(0.0, 1.0, ROOM), every)[:ROOM]
            torque.values[at] = np.round(held / step) * step
        if chance.random() < 0.1:
            torque.values[newest, 0] = np.nan
        order = [(newest + 1 + k) % BLOCKS for k in range(BLOCKS)]
        blocks = [torque.values[at, : torque.count[at]] for at in order]
        told.append(as_numpy_says(blocks))
        assert _changes_widely(torque, newest) == told[-1]
    assert any(told) == (step < 0.1)
    assert not all(told)
