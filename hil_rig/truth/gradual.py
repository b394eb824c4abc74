"""A joint whose Coulomb friction grows for a minute, as with a swelling seal or a brake that begins to drag."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.truth.given import GivenMotion, drawn, joint, measured
from hil_rig.truth.left_out import free_motion
from hil_rig.truth.trial import Trial

RATE: Final = 500.0  # Hz
BITS: Final = 19
BEGIN: Final = 60.0  # s
LENGTH: Final = 60.0  # s
SECONDS: Final = 180.0


def ramp(seed: int) -> Trial:
    """Coulomb friction that grows by 30 to 80 % within a minute."""
    rng = np.random.default_rng([seed, 51])
    motion, truth, most = free_motion(rng, RATE, seconds=SECONDS), drawn(rng), float(rng.uniform(0.3, 0.8))
    t = np.arange(len(motion.place)) / RATE
    grown = most * np.clip((t - BEGIN) / LENGTH, 0.0, 1.0)

    def extra(motion: GivenMotion, _torque: Floats) -> Floats:
        return np.asarray(grown * truth["coulomb"] * np.sign(motion.speed))

    trial, taken = measured(rng, motion, joint(rng, motion, truth, extra), RATE, BITS, changes=(BEGIN,)), {"count": 0}

    def sample(count: int) -> Any:
        taken["count"] += count
        return trial.sample(count)

    def now() -> Mapping[str, float]:
        return truth | {"coulomb": truth["coulomb"] * (1.0 + float(grown[min(taken["count"], len(grown)) - 1]))}

    return replace(trial, sample=sample, truth=now)
