"""Rows of `jointwatch bench truth` with faulty signals: joint and model are right, but the measurements are wrong.

Frames pass the validators of signals, as in the service. A fault that keeps the information has the limits of a row
whose model is right: 5 % of the samples lost in bursts, arrivals that jitter, a torque of 8 bits (its rounding, 0.29 of
a step, is noise of 0.11 N·m in addition to 0.2), and clipped torques if the limit is configured. Joints with any other
fault must not be trusted.
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
STEP: Final = 100.0 / 256.0  # N·m, step of 8 bits over ±50 N·m
CLIPPED: Final = 15.0  # N·m, exceeded by a tenth of the joint's torques
ZONE: Final = 2.0  # N·m

Change = Callable[[Floats], Floats]  # of consecutive values (samples, channels)


def faulty(seed: int, change: Change, **trial: Any) -> Trial:
    """The rig's joint with changed measurements; trial: fields of the Trial."""
    sound = rigid(seed)

    def sample(count: int) -> Sampled:
        values, stamps = sound.sample(count)
        return Sampled(change(values), stamps)

    return replace(sound, sample=sample, watched=True, **trial)


def same(values: Floats) -> Floats:
    """Change nothing."""
    return values


def lost(seed: int) -> Change:
    """Lose 5 % of the samples, three in a row."""
    rng = np.random.default_rng([seed, 29])

    def change(values: Floats) -> Floats:
        first = rng.random(len(values)) < 0.05 / BURST
        gone = np.convolve(first, np.ones(BURST))[: len(values)] > 0.0
        return np.where(gone[:, None], np.nan, values)

    return change


def held(every: int, *columns: int) -> Change:
    """Hold channels that have a new value in every n-th frame only, as on a slow bus."""

    def change(values: Floats) -> Floats:
        found = values.copy()
        for column in columns:
            found[:, column] = values[np.arange(len(values)) // every * every, column]
        return found

    return change


def of_torque(change: Callable[[Floats], Floats]) -> Change:
    """Change the torque alone."""

    def changed(values: Floats) -> Floats:
        found = values.copy()
        found[:, TORQUE] = change(values[:, TORQUE])
        return found

    return changed


def clipped(torque: Floats) -> Floats:
    """Clip the torque, as a sensor that saturates does."""
    return np.clip(torque, -CLIPPED, CLIPPED)


def dead(torque: Floats) -> Floats:
    """Apply a dead zone, beyond which values are too small by its width."""
    return np.asarray(np.sign(torque) * np.maximum(0.0, np.abs(torque) - ZONE))


def coarse(torque: Floats) -> Floats:
    """Round the torque to 8 bits."""
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
