"""Delays between the encoders of a real KUKA KR300 and what taking them off leaves; draws docs/skew.png.

jointwatch bench skew [--plot docs/skew.png] [--json]

Recordings A and B of Weigand 2021 (axes 1–3 have an encoder on either side of the gear), from ../shared/data/kr300.
Asked: 3.0–3.2 ms ± 0.15 on every axis; std(motor − link) at least 5 times less on axis 1.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from scipy.interpolate import CubicSpline

from daq.recording.columns import Channels, load_columns, read
from daq.replay.delays import find
from hil_rig.plants.recording import DATA

ROOT: Final = Path(__file__).parents[3]
FOLDER: Final = DATA / "kr300"


def plot(channels: Channels, found: dict[str, Any], file: Path) -> None:
    """Axis 1: motor − link encoder as recorded, and with the delay taken off."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    motor, link = channels["axis1"]["position"], channels["axis1"]["link_position"]
    spline, t, late = CubicSpline(motor.time, motor.values), link.time[10:-10], found["delay"]
    figure, axes = pyplot.subplots(figsize=(8, 3.2), layout="constrained")
    for shift, color, text in (
        (0.0, "#c44e52", "as recorded"),
        (late, "#1f6f8b", f"link encoder {late * 1e3:.2f} ms earlier"),
    ):
        difference = 1e3 * (spline(t - shift) - link.values[10:-10])
        axes.plot(
            t - t[0],
            difference - difference.mean(),
            color=color,
            lw=1.1,
            label=f"{text}: std {difference.std():.2f} mrad",
        )
    axes.set(xlabel="time, s", ylabel="motor − link, mrad", xlim=(0, t[-1] - t[0]))
    axes.set_title("KUKA KR300, axis 1, run A: two encoders of one joint", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, loc="upper right", fontsize=9)
    figure.savefig(file, dpi=110)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not FOLDER.exists():
        print(f"needs {FOLDER}", file=sys.stderr)
        return 1
    table = load_columns(ROOT / "docs" / "kr300-columns.toml")
    results = []
    for run in "AB":
        channels = read(FOLDER / f"traj_{run}.mat", table)
        findings = [{"run": run} | one for one in find(channels, 0.1) if "delay" in one]
        results += findings
        if run == "A" and options.plot:
            plot(channels, findings[0], options.plot)
    if options.json:
        print(json.dumps(results))
        return 0
    for one in results:
        late = f"{one['delay'] * 1e3:7.3f} ± {one['deviation'] * 1e3:.3f} ms"
        std = f"std {one['before']:.3g} → {one['after']:.3g}, {one['before'] / one['after']:.1f}×"
        print(f"{one['run']} {one['joint']} {one['channel']:14} {late}   {std}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
