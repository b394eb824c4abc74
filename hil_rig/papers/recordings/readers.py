"""Readers of the public recordings: where their files are, and their values in SI units."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import numpy as np

from estimators.numerics.named_arrays import arrays
from estimators.quantities import Floats
from hil_rig.papers.figures import ReproductionError
from hil_rig.plants.recording import DATA, EMPS_NAME

SOURCES: Final = {
    "emps": "Its source is https://www.nonlinearbenchmark.org/benchmarks/emps (DATA_EMPS.mat has the same columns)",
}
FULL_DUTY: Final = 885.0  # counts of the XL330's register Present PWM at a duty cycle of one
XL330_RUNS: Final = 8

Content = TypeVar("Content")


class PublicRecordingError(ReproductionError):
    """A recording does not exist or has unexpected content; the text is the line that is shown."""


class Pendulum(NamedTuple):
    """One run of a servo that moves a mass on an arm."""

    trajectory: str
    gain: int  # proportional gain of the position controller
    mass: float  # kg
    length: float  # m
    time: Floats  # (samples,) s, not equidistant
    position: Floats  # rad, 0 hanging down
    voltage: Floats  # V, mean at the motor: duty cycle × supply as the servo measures it


def data_option(parser: argparse.ArgumentParser) -> None:
    """Add --data, the folder of the recordings."""
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the recordings (%(default)s)")


def emps(data: Path) -> tuple[Floats, Floats]:
    """Read position, m, and force, N, at 1 kHz: (samples,) each (Janot, Gautier, Brunot 2019)."""
    content = _read(data / EMPS_NAME, arrays)
    return content["qm"], content["vir"] * float(content["gtau"])


def xl330(data: Path) -> list[Pendulum]:
    """Read the runs in order of time (Rhoban bam)."""
    folder = data / "bam_xl330" / "raw"
    runs = [_read(file, _pendulum) for file in sorted(folder.glob("*.json"))]
    if len(runs) != XL330_RUNS:
        raise PublicRecordingError(f"{folder}: expected {XL330_RUNS} runs, found {len(runs)}")
    return runs


def xl330_published(data: Path, model: str) -> dict[str, float]:
    """Read the published parameters of one friction model, m1 … m6."""
    content = _read(data / "bam_xl330" / "params" / f"{model}.json", lambda file: json.loads(file.read_text()))
    return {name: value for name, value in content.items() if isinstance(value, float)}


def sea(data: Path, name: str) -> tuple[Floats, Floats, Floats]:
    """Read time, s, deflection, rad, and measured torque, N·m: (samples,) each, not equidistant."""
    return _read(data / "sea_imperial" / name, _bench)


def _bench(file: Path) -> tuple[Floats, Floats, Floats]:
    table = arrays(file)
    return table["time"], np.deg2rad(table["displacement"]), table["torque_out"]


def must_exist(file: Path) -> None:
    """Raise PublicRecordingError, which says where a recording is expected, if it does not exist."""
    if not file.exists():
        raise PublicRecordingError(
            f"{file} does not exist: public recordings are not part of the package. Name the folder that contains "
            f"{file.parent.name}/{file.name}: --data FOLDER, or JOINTWATCH_DATA=FOLDER. "
            + SOURCES.get(file.parent.name, "docs/real-data.md names its source")
        )


def _read(file: Path, reader: Callable[[Path], Content]) -> Content:
    must_exist(file)
    try:
        return reader(file)
    except PublicRecordingError:
        raise
    except Exception as error:  # readers raise any kind of exception for a damaged file
        raise PublicRecordingError(f"{file}: cannot be read: {error!r}") from error


def _pendulum(file: Path) -> Pendulum:
    content = json.loads(file.read_text())
    entries = content["entries"]

    def column(name: str) -> Floats:
        return np.array([entry[name] for entry in entries], np.float64)

    if not all(entry["torque_enable"] for entry in entries):
        raise PublicRecordingError(f"{file}: expected the torque to be enabled throughout, but it is disabled at times")
    counts = column("load")
    counts -= 65536.0 * (counts > 32767.0)  # an int16 that was stored as uint16
    return Pendulum(
        content["trajectory"],
        content["kp"],
        content["mass"],
        content["length"],
        column("timestamp"),
        column("position"),
        counts / FULL_DUTY * column("input_volts"),
    )
