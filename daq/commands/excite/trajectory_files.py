"""Files of trajectories: the table of coefficients that the search writes, and samples for a controller."""

import csv
from pathlib import Path
from typing import Any

import numpy as np

from estimators.offline.excitation.trajectory import FINER, Fourier, TrajectoryMotion, joined, sampled
from estimators.quantities import Floats


def read_trajectory(file: Path, names: tuple[str, ...]) -> tuple[TrajectoryMotion, TrajectoryMotion, Fourier | None]:
    """Read the motion to judge, on its own grid and on a finer one. Raises ValueError."""
    try:
        with file.open(newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: cannot be read: {error}") from error
    if not rows:
        raise ValueError(f"{file}: expected rows of a trajectory, found none")
    try:
        if "frequency" in rows[0]:
            fourier = _series(file, rows, names)
            return fourier.grid(), fourier.grid(FINER), fourier
        times = np.array([float(row["t"]) for row in rows])
        q = np.array([[float(row[name]) for name in names] for row in rows])
    except KeyError as error:
        wanted = f"joint, frequency, q0, a1 …, b1 …, or t and {', '.join(names)}"
        raise ValueError(f"{file}: expected the columns {wanted}; found no {error}") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: expected numbers: {error}") from error
    if len(times) < 4 or not (np.diff(times) > 0).all() or not np.isfinite(q).all():
        raise ValueError(f"{file}: expected at least four samples, rising in t, all finite")
    return sampled(times, q, 1), sampled(times, q), None


def _series(file: Path, rows: list[dict[str, str]], names: tuple[str, ...]) -> Fourier:
    harmonics = sum(name.startswith("a") and name[1:].isdigit() for name in rows[0])
    order = range(1, harmonics + 1)
    by_name = {row["joint"]: row for row in rows}
    missing = [name for name in names if name not in by_name]
    frequencies = {float(row["frequency"]) for row in rows}
    if missing or len(frequencies) != 1 or harmonics < 1 or not min(frequencies) > 0:
        lacks = f"found none for {', '.join(missing)}" if missing else f"found the frequencies {sorted(frequencies)}"
        raise ValueError(f"{file}: expected one row for each joint, all with one frequency above 0; {lacks}")
    ours = [by_name[name] for name in names]
    a, b = (np.array([[float(row[f"{letter}{k}"]) for k in order] for row in ours]) for letter in "ab")
    return Fourier(frequencies.pop(), np.array([float(row["q0"]) for row in ours]), a, b)


def write_table(file: Any, names: tuple[str, ...], fourier: Fourier) -> None:
    """Write one row for each joint."""
    order = range(1, fourier.a.shape[1] + 1)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["joint", "frequency", "q0", *(f"a{k}" for k in order), *(f"b{k}" for k in order)])
    for j, name in enumerate(names):
        values = [fourier.frequency, fourier.q0[j], *fourier.a[j], *fourier.b[j]]
        writer.writerow([name, *(repr(float(value)) for value in values)])


def write_samples(
    file: Path, names: tuple[str, ...], fourier: Fourier, rate: float, ramp: float, periods: int, home: Floats
) -> None:
    """Write positions, velocities and accelerations for a controller; rate: Hz, ramp: s, home: (n,)."""
    times, motion = joined(fourier, rate, ramp, periods, home)
    header = ["t", *names, *(f"d{name}" for name in names), *(f"dd{name}" for name in names)]
    with file.open("w", newline="", encoding="utf-8") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        for row in np.column_stack((times, *motion)):
            writer.writerow([f"{value:.9g}" for value in row])
