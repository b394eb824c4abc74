"""Makes a configuration for a recording that has columns only: rigid joints with the usual terms."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from daq.config.sections import Config
from daq.recording.columns import Channels, Columns
from daq.recording.reader import RecordingError
from estimators.alignment.channel_delay import ChannelSeries

EFFORTS: Final = ("torque", "force")  # a joint has one of them; force: a prismatic joint
DRIVER: Final = "recording"
UNBROKEN: Final = 1.5  # usual steps: a longer one is over a lost sample
CLOSE: Final = 1e-3  # relative, of a rate and a whole number: clocks of devices are closer to theirs


def configured(file: Path, channels: Channels, columns: Columns | None) -> Config:
    """A configuration of every joint with position and torque (or force); others are ignored. Raises RecordingError."""
    joints: dict[str, Any] = {}
    problems = []
    for name, roles in channels.items():
        effort = next((one for one in EFFORTS if one in roles), None)
        if "position" not in roles or effort is None:
            listed = ", ".join(roles) or "nothing"
            problems.append(f"{file}: joint {name}: expected position and torque (or force), found {listed}")
            continue
        unit = "" if columns is None else columns.joints[name]["position"].conversion("").unit
        slides = effort == "force" or unit == "m"
        weight = {"axis": "prismatic"} if slides else {"gravity_sin": True, "gravity_cos": True}
        expected = "force" if slides else "torque"
        if effort != expected:
            problems.append(f"{file}: joint {name} is prismatic: rename its {effort} to {expected}")
            continue
        rate = _rate(file, roles["position"])
        used: dict[str, Any] = {role: {"signal": f"{DRIVER}.{name}.{role}"} for role in ("position", effort)}
        if not np.array_equal(roles["position"].time, roles[effort].time):  # each has rows of its own
            used[effort] = {"signal": f"{DRIVER}.{name}_{effort}.{effort}", "rate": _rate(file, roles[effort])}
        joints[name] = {"rate": rate, "model": {"kind": "rigid"} | weight, "channels": used}
    if problems:
        raise RecordingError("\n".join(problems))
    return Config.model_validate({"drivers": {}, "joints": joints, "robot": {"name": "recording"}})


def with_torque(columns: Columns) -> Columns:
    """The table, with the motor's current as the torque of joints that have no other: scale is N·m/A."""
    joints = {
        name: {
            "torque" if role == "current" and not set(EFFORTS) & set(roles) else role: one
            for role, one in roles.items()
        }
        for name, roles in columns.joints.items()
    }
    return columns.model_copy(update={"joints": joints})


def _rate(file: Path, series: ChannelSeries) -> float:
    """The rate, Hz, rounded to a whole number where the times are as close to it as a crystal's are."""
    steps = np.diff(series.time)
    steps = steps[steps > 0.0]
    if not len(steps):
        raise RecordingError(f"{file}: expected rising times")
    step = float(np.median(steps))
    rate = 1.0 / float(np.mean(steps[steps < UNBROKEN * step]))  # the median's where all are alike
    return float(round(rate)) if abs(rate - round(rate)) < CLOSE * rate else rate
