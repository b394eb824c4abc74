"""The picture of a trajectory: every joint's position, velocity and acceleration between its limits."""

import sys
from pathlib import Path

import numpy as np

from estimators.offline.excitation.trajectory import FINER, Fourier, LimitCheck, TrajectoryLimits


def draw(
    path: Path, names: tuple[str, ...], fourier: Fourier, limits: TrajectoryLimits, verdicts: list[LimitCheck]
) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("cannot draw: matplotlib is not installed (pip install 'jointwatch[bench]')", file=sys.stderr)
        return
    motion = fourier.grid(FINER)
    times = np.arange(len(motion.q)) / len(motion.q) * fourier.period
    figure = Figure(figsize=(2.6 * len(names) + 1, 7), layout="constrained")
    axes = figure.subplots(3, len(names), sharex=True, squeeze=False)
    bounds = [(limits.lower, limits.upper), (-limits.velocity, limits.velocity)]
    bounds.append((-limits.acceleration, limits.acceleration))
    for k, (values, (low, high), word) in enumerate(zip(motion, bounds, ("q", "q̇", "q̈"), strict=True)):
        for j, name in enumerate(names):
            one = axes[k][j]
            kept = verdicts[3 * j + k].kept
            one.plot(times, values[:, j], color="C0" if kept else "C3", linewidth=1.2)
            for limit in (low[j], high[j]):
                one.axhline(limit, color="0.4", linestyle="--", linewidth=0.8)
            one.grid(alpha=0.3)
            if k == 0:
                one.set_title(name)
            if j == 0:
                one.set_ylabel(f"{word}, rad{('', '/s', '/s²')[k]}")
            if k == 2:
                one.set_xlabel("time, s")
    figure.savefig(path, dpi=110)
