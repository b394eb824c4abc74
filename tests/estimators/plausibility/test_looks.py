"""A look at frames is one kernel: uncompiled it says the same, and what it remembers is the same to the bit."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from estimators.alignment.resampler import Resampler
from estimators.numerics.jit import INTERPRETED
from estimators.plausibility.signals import VALIDATORS
from estimators.plausibility.signals.watch import STATES, SignalWatch
from jointwatch_numba.layout import Layout

RATE = 250.0
SECONDS = 12.0
ROLES = ("position", "torque")


def looks(modulo: int) -> tuple[SignalWatch, list[tuple[str, ...]]]:
    """A watch, and what each look said: frames come twice, out of order and late; the encoder leaps and freezes, the
    torque is held, drops, is clipped and has a dead zone. modulo: of the counter, 0: there is none."""
    n = np.arange(round(SECONDS * RATE))
    t, chance = n / RATE, np.random.default_rng(5)
    q = 0.8 * np.sin(2.3 * t) + 0.5 * np.sin(0.7 * t) + 1.2 * (t > 9.0)
    torque = 4.0 * np.cos(2.3 * t) + chance.normal(0.0, 0.05, len(n))
    q, torque = np.round(q / 1e-5) * 1e-5, np.round(torque / 1e-3) * 1e-3
    torque[(t > 3.0) & (np.abs(torque) < 0.5)] = 0.0
    torque[(t > 5.0) & (n % 40 == 0)] = 0.0
    torque = np.where(t > 6.5, np.minimum(torque, 3.0), torque)
    q[(t > 7.5) & (t < 7.9)] = q[round(7.5 * RATE)]
    torque = np.where(t > 10.0, torque[n - n % 3], torque)
    order = np.where((t > 4.0) & (t < 4.6), n ^ 1, n)  # neighbours exchanged
    order = np.concatenate([order[:600], order[600:700].repeat(2), order[700:]])
    came = np.maximum.accumulate(1e9 + 1e9 * np.arange(len(order)) / RATE + chance.uniform(0.0, 4e5, len(order)))
    resampler = Resampler(1.0 / RATE, 2, counter_modulo=modulo, frames=[0, 0], watched=True)
    columns = np.arange(3 if modulo else 2, dtype=np.int32)
    watch = SignalWatch(resampler.aligner, ROLES, ["bus.STATE.q", "bus.STATE.t"], limit=50.0)
    found: list[tuple[str, ...]] = []
    for arrival, at in zip(came.astype(np.int64), order, strict=True):
        row = np.array([q[at], torque[at], float(at % modulo) if modulo else 0.0])[: len(columns)]
        resampler.absorb(np.full(len(columns), arrival), row, columns)
        if watch.due:
            found.append(tuple(map(str, watch.look().reasons)))
    return watch, found


def values(state: Layout) -> Iterator[Any]:
    """Every number of a layout, and of those in it."""
    for field in state.fields():
        one = getattr(state, field.name)
        if isinstance(one, Layout):
            yield from values(one)
        elif isinstance(one, tuple):
            for inner in one:
                yield from values(inner)
        else:
            yield one.tobytes() if isinstance(one, np.ndarray) else (field.name, one)


def digest() -> str:
    """What two watches said and remember."""
    told = [(found, list(values(watch.state))) for watch, found in map(looks, (256, 0))]
    return hashlib.sha256(repr(told).encode()).hexdigest()


@pytest.mark.skipif(INTERPRETED, reason="the compiled run compares both")
def test_compiled_and_interpreted_looks_give_the_same_bits() -> None:
    program = f"import sys; sys.path[:0] = {sys.path!r}; from test_looks import digest; print(digest())"
    folder = os.path.dirname(__file__)  # noqa: PTH120
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout.strip() == digest()


@pytest.mark.parametrize("modulo", [256, 0])
def test_these_frames_are_of_many_kinds_of_lies(modulo: int) -> None:
    """Else the comparison above would compare nothing."""
    said = {code for reasons in looks(modulo)[1] for code in reasons}
    assert len(said) >= 4, said
    assert () in looks(modulo)[1]


def test_each_validator_has_the_state_of_its_name() -> None:
    """The kernel sets them by their place."""
    watch = looks(0)[0]
    [stream] = watch._watched
    assert len(STATES) == len(VALIDATORS) == len(stream.state.speaks)
    for name, validator in zip(STATES, stream._validators, strict=True):
        assert getattr(stream.state, name) is validator.state
