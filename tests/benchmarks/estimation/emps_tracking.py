"""Every forgetting law on the real EMPS drive: how far off at the end, how far it wanders, what it says of itself.

jointwatch bench emps_tracking [--laws alarm,fixed] [--rates 1000,100,40] [--json]

Published (Janot, Gautier, Brunot 2019): mass 95.1089 kg, viscous 203.5034 N·s/m, Coulomb 20.3935 N, offset −3.1648 N.
Default settings throughout; `honesty` is the rms of (value − published)/deviation from 12 s on: 1 is exact, below is
cautious. The last column adds half the friction again from 18.5 s on and says how long the alarm takes.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any, Final, TextIO

import numpy as np
import scipy.io

from estimators.conditioning.conditioner import Conditioning
from estimators.models.joints.rigid import RigidSettings
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Axis, Floats
from estimators.recursive.forgetting import Alarm, Fixed, Forgetting, Fortescue, Paleologu, RandomWalk, VarianceRatio
from hil_rig.plants.recording import EMPS

NAMES: Final = ("mass", "viscous", "coulomb", "offset")
PUBLISHED: Final = np.array([95.1089, 203.5034, 20.3935, -3.1648])
PERIOD: Final = 1e-3  # s
FROM: Final = 12.0  # s
JUMP: Final = 18.5  # s, in the middle of a motion
LAWS: Final[dict[str, Forgetting]] = {
    "alarm": Alarm(),
    "alarm 30 s": Alarm(memory=30.0),
    "alarm 20 s": Alarm(memory=20.0),
    "variance_ratio": VarianceRatio(),
    "fortescue": Fortescue(),
    "paleologu": Paleologu(),
    "fixed 20 s": Fixed(),
    "fixed 1 s": Fixed(memory=1.0),
    "random_walk": RandomWalk(),
}


def recording() -> tuple[Floats, Floats]:
    """Position, m, and force, N, at 1 kHz: (rows,) each."""
    data = scipy.io.loadmat(str(EMPS))
    return data["qm"].ravel(), data["vir"].ravel() * float(data["gtau"][0, 0])


def estimator(law: Forgetting, rate: float) -> JointEstimator:
    """The default estimator of a slide with this law and row rate, Hz."""
    model = RigidSettings(axis=Axis.PRISMATIC)
    return JointEstimator(
        JointIdentification(model=model, conditioning=Conditioning(row_rate=rate), forgetting=law), PERIOD
    )


def track(law: Forgetting, rate: float, position: Floats, force: Floats) -> tuple[Floats, Floats, JointEstimator]:
    """Published values and deviations every 20 ms from 12 s on: (instants, parameters) each, and the estimator."""
    joint = estimator(law, rate)
    time = np.round(np.arange(len(position)) * PERIOD * 1e9).astype(np.int64)
    values = np.stack([position, force], axis=1)
    history = []
    for first in range(0, len(time), 20):
        joint.absorb(time[first : first + 20], values[first : first + 20])
        if time[first] * 1e-9 >= FROM:
            estimate = joint.estimate()
            history.append((estimate.values, estimate.deviations))
    return np.array([v for v, _ in history]), np.array([s for _, s in history]), joint


def delay(law: Forgetting, rate: float, position: Floats, force: Floats) -> float:
    """Seconds from a 50 % rise of friction to the alarm event; NaN without one."""
    speed = np.gradient(position, PERIOD)
    friction = PUBLISHED[1] * speed + PUBLISHED[2] * np.sign(speed)
    changed = force + 0.5 * friction * (np.arange(len(force)) * PERIOD >= JUMP)
    _, _, joint = track(law, rate, position, changed)
    times = [event.time * 1e-9 - JUMP for event in joint.events() if event.kind == "alarm"]
    return times[0] if times else float("nan")


def table(laws: Iterable[str], rates: Iterable[float], told: TextIO) -> list[dict[str, Any]]:
    """One row per law and rate; errors in per cent of the published values."""
    position, force = recording()
    rows = []
    for rate in rates:
        for name in laws:
            values, deviations, joint = track(LAWS[name], rate, position, force)
            off = 100.0 * (values / PUBLISHED - 1.0)
            rows.append(
                {
                    "law": name,
                    "rate": rate,
                    "end": off[-1].tolist(),
                    "wander": np.abs(off).max(axis=0).tolist(),
                    "honesty": np.sqrt(np.mean(((values - PUBLISHED) / deviations) ** 2, axis=0)).tolist(),
                    "alarms": sum(event.kind == "alarm" for event in joint.events()),
                    "alarm_after": delay(LAWS[name], rate, position, force),
                }
            )
            print(_line(rows[-1]), file=told, flush=True)
    return rows


def _line(row: dict[str, Any]) -> str:
    def numbers(key: str, digits: int) -> str:
        return " ".join(f"{number:6.{digits}f}" for number in row[key])

    return (
        f"{row['law']:14} {row['rate']:5.0f} Hz  end % {numbers('end', 2)}  wander % {numbers('wander', 1)}  "
        f"honesty {numbers('honesty', 2)}  false alarms {row['alarms']}  alarm after {row['alarm_after']:.3f} s"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--laws", default=",".join(LAWS))
    parser.add_argument("--rates", default="1000,100,40")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not EMPS.exists():
        sys.exit(f"no recording at {EMPS}")
    told = sys.stderr if arguments.json else sys.stdout
    print("parameters: " + ", ".join(NAMES), file=told)
    rows = table(arguments.laws.split(","), [float(rate) for rate in arguments.rates.split(",")], told)
    if arguments.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
