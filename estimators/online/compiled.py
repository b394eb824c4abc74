"""What of an estimator is compiled so far: a first start learns while kernels that it needs later are still compiled.

Everywhere else all kernels are compiled or loaded when their modules are imported, and nothing waits.
"""

from dataclasses import dataclass
from typing import Final

# files of estimators/models/friction with a law of their own
LAWS: Final = (
    *("arctangent", "cubic_viscous", "cyclic", "directional", "load_dependent", "lugre"),
    *("position_dependent", "prandtl_ishlinskii", "tanh_stribeck", "viscous_coulomb"),
)
# modules whose kernels a joint without nonlinear parameters does not need before it has moved for a second …
LEARNING: Final = (
    "estimators.conditioning.spikes",
    "estimators.misfit.recent_values",
    "estimators.misfit.regressors",
    "estimators.misfit.scores",
    "estimators.numerics.directions",
    "estimators.numerics.symmetric",
    "estimators.online.judgement.block_end",
    "estimators.online.judgement.step_effects",
    "estimators.online.judgement.validity",
    "estimators.quantisation.shifted_quantiser",
    "estimators.recursive.estimator",
    "estimators.recursive.kernel",
    "estimators.recursive.unidentifiable",
)
# … or before its start ends
ENDING: Final = (
    "estimators.causes.sample_rows",
    "estimators.online.judgement.widening",
    "estimators.quantisation.quantisation_weights",
    "estimators.recursive.weights.timing_weights",
)
# of these a joint needs the kernel of its model and that of its law, when the configuration is read; and no others
OTHER_MODELS: Final = (
    *(f"estimators.models.joints.{name}" for name in ("friction_only", "rigid", "transmission", "two_mass")),
    *(f"estimators.models.friction.{name}" for name in LAWS),
    *("estimators.online.gear.rows", "estimators.recursive.blocks", "estimators.wear.thermal_state"),
)


@dataclass(slots=True)
class CompiledSoFar:
    """Which kernels there are; the joints of a service share one."""

    learning: bool = True  # those of LEARNING: without them a joint waits, and does not begin to learn
    ending: bool = True  # those of ENDING: without them a start goes on, and does not end
