"""`jointwatch reproduce sea`: torsional stiffness of a series-elastic actuator's spring, two runs (Imperial College).

    torque = k·Δθ + b·Δθ̇ + C·sign(Δθ̇) + offset

is fitted to each whole run, including hold phases and both branches of the hysteresis, as published: the published
values are slopes of ordinary least squares of torque over deflection. The law is the position-dependent friction law.
"""

import sys
from pathlib import Path
from typing import Final

import numpy as np

from estimators.conditioning.conditioner import Conditioning
from estimators.models.friction.position_dependent import PositionDependentSettings
from estimators.models.joints.friction_only import FrictionOnlySettings
from hil_rig.papers.figures import Figure, Reproduced, main, within
from hil_rig.papers.recordings.fit import condition, fit
from hil_rig.papers.recordings.readers import data_option, sea

PUBLISHED: Final = {  # N·m/rad
    "kt-2-10-49-5-09032023-141424.csv": 2280.3,
    "kt-5-4-58-5-09032023-142348.csv": 1692.2,
}
PERIOD: Final = 0.002  # s; recorded every 1.9 ms in the median
TOLERANCE: Final = 0.02
SPRING: Final = FrictionOnlySettings(friction=PositionDependentSettings(), offset=True)


def table(data: Path) -> list[Figure]:
    """Compare the stiffness of both runs with the published values."""
    return [within(name[:4], "N·m/rad", k, stiffness(data, name), TOLERANCE) for name, k in PUBLISHED.items()]


def stiffness(data: Path, name: str, conditioning: Conditioning | None = None) -> float:
    """The stiffness of one run, N·m/rad."""
    recorded, deflection, torque = sea(data, name)
    time = np.arange(recorded[0], recorded[-1], PERIOD)
    values = np.stack([np.interp(time, recorded, channel) for channel in (deflection, torque)], axis=1)
    model = SPRING.build()
    rows, taps = condition(model, PERIOD, conditioning or Conditioning(), values)
    names = [parameter.name for parameter in model.parameters]
    return float(fit(model, taps, rows).theta[names.index("stiffness")])


if __name__ == "__main__":
    sys.exit(main("sea", __doc__, lambda options: Reproduced(table(options.data)), arguments=data_option))
