"""A recording played as the frames of a controller: position and current (or voltage, or torque), in real time.

Columns of .mat, .npz and .csv files are found by name; "name:2" (or "name[2]") is channel 2 of a matrix, "a.b" a field
of a struct.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field as Setting

from hil_rig.messages import Message, MessageField
from hil_rig.plants.base import Floats, Jump, PlantSettings, RigError, Role

PLACES: Final = (Path(__file__).parents[3] / "shared/data", Path("../shared/data"), Path("recordings"), Path())
EMPS_NAME: Final = Path("emps/nlid_emps_sim_data_training.mat")


def _data() -> Path:
    """Return the folder of the recordings: JOINTWATCH_DATA, next to a source checkout, or here; the first that
    exists."""
    named = os.environ.get("JOINTWATCH_DATA")
    if named:
        return Path(named)
    return next((one for one in PLACES if (one / "emps").is_dir()), Path("recordings"))


DATA: Final = _data()
EMPS: Final = DATA / EMPS_NAME
KINDS: Final = (".mat", ".npz", ".csv")
ROTARY: Final = ("rad", "deg")


class RecordingSettings(PlantSettings):
    """A file and its columns; by default the EMPS drive (Janot, Gautier, Brunot 2019)."""

    file: Path = EMPS
    time: str = "t"  # s
    position: str = "qm"
    effort: str = "vir"
    position_unit: Literal["m", "mm", "rad", "deg"] = "m"
    effort_name: str = "voltage"  # of the signal on the wire
    effort_unit: str = "V"
    effort_scale: float = Setting(default=35.1507, description="N·m (N) per unit of effort")
    gravity: bool = False
    loop: bool = False

    def build(self, node: int, _seed: int, jumps: Sequence[Jump]) -> "RecordedJoint":
        """Load the recording. Raises RigError if it cannot be read, or if jumps or several joints are requested."""
        if jumps or node > 1:
            raise RigError("a recording has one joint and plays what was measured: expected no --jump and no --joints")
        return RecordedJoint(self)


class RecordedJoint:
    """One recorded joint, whose true parameters are unknown."""

    def __init__(self, settings: RecordingSettings) -> None:
        times, position, effort = _series(settings)
        if len(times) < 2:
            raise RigError(f"{settings.file}: expected at least 2 rows, found {len(times)}")
        for name, column in ((settings.position, position), (settings.effort, effort)):
            if not np.isfinite(column).any():
                raise RigError(f'{settings.file}: expected numbers in column "{name}"')
        steps = np.diff(times)
        if not (np.isfinite(times).all() and (steps > 0).all()):
            raise RigError(f'{settings.file}: expected increasing times, but those of column "{settings.time}" are not')
        self.rate = _round(1 / float(np.median(steps)))
        self._rows = np.column_stack((position, effort))
        self._times: Floats = times - times[0]
        self._next = 0
        self._loop = settings.loop
        rotary = settings.position_unit in ROTARY
        fields = (
            MessageField("position", 32, "rad" if rotary else "m", _decimal(position, 32)),
            MessageField(settings.effort_name, 16, settings.effort_unit, _nice(effort, 16)),
        )
        self.messages: tuple[Message, ...] = (Message("STATE", fields),)
        self.model: Mapping[str, Any] = {"kind": "rigid", "axis": "rotary" if rotary else "prismatic"}
        if settings.gravity:
            self.model = {**self.model, "gravity_sin": True, "gravity_cos": True}
        self.roles: Mapping[str, Role] = {
            "position": Role("STATE.position"),
            "torque" if rotary else "force": Role(f"STATE.{settings.effort_name}", settings.effort_scale),
        }

    def rows(self, count: int) -> Floats:
        """Return (≤ count, 2): position (rad or m), effort (in its own unit); empty at the end, unless it loops."""
        if self._loop:
            self._next %= len(self._rows)
        start, self._next = self._next, min(self._next + count, len(self._rows))
        return self._rows[start : self._next]

    def times(self) -> Floats | None:
        """Times as recorded, s."""
        return self._times

    def truth(self) -> Mapping[str, float]:
        """Return nothing, since the true parameters of a recorded joint are unknown."""
        return {}

    def parameters(self) -> Mapping[str, float]:
        """Return nothing, since a recording has no parameters."""
        return {}


def _series(settings: RecordingSettings) -> tuple[Floats, Floats, Floats]:
    """Times (s), position (m or rad) and effort (in its unit), (samples,) each, read as daq does. Raises RigError."""
    from daq.recording.columns import Column, Columns, read  # imports configurations, which no other plant needs
    from daq.recording.reader import RecordingError

    position = Column(column=_path(settings.position), unit=settings.position_unit)
    table = Columns(
        time=_path(settings.time),
        joints={"joint": {"position": position, "effort": Column(column=_path(settings.effort))}},
    )
    if settings.file.suffix not in KINDS:
        raise RigError(f"expected a .mat, .npz or .csv file, found {settings.file}")
    if not settings.file.exists():
        raise RigError(f"{settings.file} does not exist; `--file PATH` names the recording")
    try:
        channels = read(settings.file, table)["joint"]
    except RecordingError as error:
        raise RigError(str(error)) from error
    return channels["position"].time, channels["position"].values, channels["effort"].values


def _path(column: str) -> str:
    """Turn `name:2` into `name[2]`."""
    return re.sub(r":(\d+)$", r"[\1]", column)


def _round(rate: float) -> float:
    """Round a rate, since times with few digits cannot distinguish 999.98 Hz from 1 kHz."""
    return float(np.rint(rate)) if abs(rate - np.rint(rate)) < 1e-3 * rate else rate


def _decimal(values: Floats, bits: int) -> float:
    """Return the smallest power of ten, from 1e-9 on, with which every value fits in this number of bits."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    exponent = -9
    while largest / 10.0**exponent > 2 ** (bits - 1) - 1:
        exponent += 1
    return float(10.0**exponent)


def _nice(values: Floats, bits: int) -> float:
    """Return the smallest 1, 2 or 5 × 10ⁿ, from 1e-6 on, with which every value fits in this number of bits."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    candidates = (float(f"{digit}e{exponent}") for exponent in range(-6, 12) for digit in (1, 2, 5))
    return next(scale for scale in candidates if largest / scale <= 2 ** (bits - 1) - 1)
