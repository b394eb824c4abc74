"""Rows of `jointwatch bench truth` whose signals are faulty: the joint and its model are right, what it says is not.

Frames pass the validators of signals, as in the service. A fault that leaves the information whole has the limits of a
row whose model is right: 5 % of the samples lost in bursts, arrivals that jitter, a torque of 8 bits (its rounding,
0.29 of a step, is noise of 0.11 N·m next to 0.2), and clipped torques where the limit is configured. The others have to
be named or not to be trusted.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.truth.rows import rigid
from hil_rig.truth.trial import Sampled, Trial, TruthRow

POSITION: Final = 0  # columns
TORQUE: Final = 1
BURST: Final = 3  # samples
STEP: Final = 100.0 / 256.0  # N·m, of 8 bits over ±50 N·m
CLIPPED: Final = 15.0  # N·m, that a tenth of the joint's torques exceed
ZONE: Final = 2.0  # N·m

Change = Callable[[Floats], Floats]  # values (samples, channels) of one stretch


def faulty(seed: int, change: Change, **trial: Any) -> Trial:
    """The rig's joint with a change of what it says; trial: fields of the Trial."""
    sound = rigid(seed)

    def sample(count: int) -> Sampled:
        values, stamps = sound.sample(count)
        return Sampled(change(values), stamps)

    return replace(sound, sample=sample, watched=True, **trial)


def same(values: Floats) -> Floats:
    """No change."""
    return values


def lost(seed: int) -> Change:
    """5 % of the samples, three in a row."""
    rng = np.random.default_rng([seed, 29])

    def change(values: Floats) -> Floats:
        first = rng.random(len(values)) < 0.05 / BURST
        gone = np.convolve(first, np.ones(BURST))[: len(values)] > 0.0
        return np.where(gone[:, None], np.nan, values)

    return change


def held(every: int, *columns: int) -> Change:
    """Channels that are new in every n-th frame only, as on a slow bus."""

    def change(values: Floats) -> Floats:
        found = values.copy()
        for column in columns:
            found[:, column] = values[np.arange(len(values)) // every * every, column]
        return found

    return change


def of_torque(change: Callable[[Floats], Floats]) -> Change:
    """A change of the torque alone."""

    def changed(values: Floats) -> Floats:
        found = values.copy()
        found[:, TORQUE] = change(values[:, TORQUE])
        return found

    return changed


def clipped(torque: Floats) -> Floats:
    """A sensor that saturates."""
    return np.clip(torque, -CLIPPED, CLIPPED)


def dead(torque: Floats) -> Floats:
    """A dead zone, and values that are too small by it beyond."""
    return np.asarray(np.sign(torque) * np.maximum(0.0, np.abs(torque) - ZONE))


def coarse(torque: Floats) -> Floats:
    """8 bits."""
    return np.asarray(STEP * np.round(torque / STEP))


SIGNALS: Final[dict[str, TruthRow]] = {
    "5 % lost in bursts": TruthRow(True, lambda seed: faulty(seed, lost(seed))),
    "arrivals jitter by 5 ms": TruthRow(True, lambda seed: faulty(seed, same, late=0.005)),
    "torque of 8 bits": TruthRow(True, lambda seed: faulty(seed, of_torque(coarse))),
    "torque saturates, told": TruthRow(
        True, lambda seed: faulty(seed, of_torque(clipped), settings={"saturation": CLIPPED})
    ),
    "torque saturates": TruthRow(False, lambda seed: faulty(seed, of_torque(clipped))),
    "torque dead zone": TruthRow(False, lambda seed: faulty(seed, of_torque(dead))),
    "values held by a bus": TruthRow(False, lambda seed: faulty(seed, held(2, POSITION, TORQUE))),
    "torque held by a bus": TruthRow(False, lambda seed: faulty(seed, held(5, TORQUE))),
}
