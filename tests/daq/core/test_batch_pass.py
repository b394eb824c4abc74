"""In which order a turn goes on: joints with nothing to decide come before those whose pass ended before a review."""

from pathlib import Path

import numpy as np

from daq.config.load import load
from daq.core.pipeline import Pipeline
from drivers.reading import READING
from estimators.conditioning.stop import REVIEW

START = 1_000_000_000  # ns
JOINTS = ("elbow", "wrist", "hand")


def readings(seconds: float) -> list[np.ndarray]:
    """Position, torque and counter of three joints in frames of their own, 7 ms at once; each begins 30 ms later than
    the one before it, so that their blocks of rows end in different turns."""
    t = np.arange(round(1000 * seconds)) * 1e-3
    table = np.zeros((len(t), 9), READING)
    table["time"] = START + np.round(t * 1e9).astype(np.int64)[:, None]
    table["channel"] = np.arange(9)
    torque = 3.0 * np.cos(3.0 * t) - 18.0 * np.sin(3.0 * t) + np.sign(np.cos(3.0 * t))
    table["value"] = np.tile(np.column_stack([np.sin(3.0 * t), torque, np.arange(len(t)) % 65536]), 3)
    there = t[:, None] >= 0.03 * (np.arange(9) // 3)
    return [table[i : i + 7][there[i : i + 7]] for i in range(0, len(t), 7)]


def test_who_has_something_to_decide_goes_last() -> None:
    config = load(Path(__file__).parents[3] / "daq" / "jointwatch.toml")
    elbow = config.joints["elbow"]
    joints = {name: elbow if name == "elbow" else elbow.model_copy() for name in JOINTS}
    pipeline = Pipeline(config.model_copy(update={"joints": joints}), boot=1)
    stops: list[list[bool]] = []
    through = pipeline._pass.through

    def seen(batch: np.ndarray, late: bool):  # type: ignore[no-untyped-def]
        turn: list[bool] = []
        stops.append(turn)
        for index, own in through(batch, late):
            turn.append(pipeline.joints[index].state.estimator.stop == REVIEW)
            yield index, own

    pipeline._pass.through = seen  # type: ignore[method-assign]
    for batch in readings(6.0):
        pipeline.absorb(batch, 0, lambda: 0)
    assert all(turn == sorted(turn) for turn in stops)
    mixed = [turn for turn in stops if 0 < sum(turn) < 3]
    assert len(mixed) > 30, "each decides at the end of every block of a tenth of a second"
