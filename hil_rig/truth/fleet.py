"""A simulated fleet of equal arms, recorded several times: small spread, one robot that differs and one that drifts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from hil_rig.plants.joints.rigid import RigidPlantSettings

SPREAD: Final = 0.03  # standard deviation of every parameter over the robots, relative
PARAMETERS: Final = ("inertia", "viscous", "coulomb", "offset", "gravity_sin", "gravity_cos")
ODD: Final = 1.6  # factor of the odd robot's Coulomb friction
DRIFT: Final = 0.5  # relative growth of the drifting robot's viscous friction over all of its recordings


class Fleet(NamedTuple):
    """How many robots and recordings there are, and which robots differ."""

    robots: int
    recordings: int  # of each robot
    joints: int = 1
    seconds: float = 20.0
    odd: int = 2  # number of the odd robot
    drifting: int = 5
    seed: int = 1


def record(fleet: Fleet, folder: Path) -> Iterator[Path]:
    """Write FOLDER/robotNNN/NN.npz with columns time, jointN.position, jointN.torque; yield each file when written."""
    for robot in range(fleet.robots):
        own = 1.0 + SPREAD * np.random.default_rng([fleet.seed, robot]).standard_normal((fleet.joints, len(PARAMETERS)))
        for run in range(fleet.recordings):
            columns: dict[str, Any] = {}
            for joint in range(fleet.joints):
                base = RigidPlantSettings()
                values = {name: getattr(base, name) * own[joint, k] for k, name in enumerate(PARAMETERS)}
                if joint == 0 and robot == fleet.odd:
                    values["coulomb"] *= ODD
                if joint == 0 and robot == fleet.drifting:
                    values["viscous"] *= 1.0 + DRIFT * run / max(fleet.recordings - 1, 1)
                plant = base.model_copy(update=values).build(1, fleet.seed + 1000 * robot + run, ())
                rows = plant.rows(round(fleet.seconds * plant.rate))
                columns[f"joint{joint + 1}.position"] = rows[:, 0]
                columns[f"joint{joint + 1}.torque"] = plant.roles["torque"].scale * rows[:, 1]
            columns["time"] = np.arange(len(rows)) / plant.rate
            file = folder / f"robot{robot:03}" / f"{run:02}.npz"
            file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(file, **columns)
            yield file
