"""`jointwatch reproduce emps-laws`: the EMPS drive (Janot, Gautier, Brunot 2019), online and with every friction law.

Online: the estimator of the pipeline with the classical law and default settings, over the whole recording. Laws: each
is fitted to the first half; the best is chosen there, by predicting each quarter of that half from the other three; its
error on the second half is then compared with that of the classical law. The load-dependent law is left out: its load
is the measured force, which would be predicted from itself.
"""

import sys
from pathlib import Path
from typing import Final

import numpy as np

from estimators.conditioning.conditioner import Conditioning
from estimators.models.friction import AnyFriction
from estimators.models.friction.arctangent import ArctangentSettings
from estimators.models.friction.cubic_viscous import CubicViscousSettings
from estimators.models.friction.cyclic import CyclicSettings
from estimators.models.friction.directional import DirectionalSettings
from estimators.models.friction.position_dependent import PositionDependentSettings
from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.joints.rigid import RigidSettings
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Axis, Floats
from estimators.rows import Rows
from hil_rig.papers.figures import Figure, Reproduced, main, within
from hil_rig.papers.recordings.fit import condition, fit
from hil_rig.papers.recordings.readers import data_option, emps

PERIOD: Final = 1e-3  # s
PUBLISHED: Final = {"mass": (95.1089, "kg"), "viscous": (203.5034, "N·s/m"), "coulomb": (20.3935, "N")}
TOLERANCE: Final = 0.01
CLASSICAL: Final = "viscous_coulomb"
BLOCKS: Final = 4  # parts of the first half
STROKE: Final = 0.25  # m
LAWS: Final[dict[str, AnyFriction]] = {
    CLASSICAL: ViscousCoulombSettings(),
    "cubic_viscous": CubicViscousSettings(),
    "tanh_stribeck, δ 0.5": TanhStribeckSettings(exponent=0.5),
    "tanh_stribeck, δ 1": TanhStribeckSettings(exponent=1.0),
    "tanh_stribeck, δ 2": TanhStribeckSettings(exponent=2.0),
    "tanh_stribeck, δ 2, stiffness": TanhStribeckSettings(exponent=2.0, stiffness=True),
    "arctangent": ArctangentSettings(),
    "directional": DirectionalSettings(),
    "directional, ε 1 mm/s": DirectionalSettings(transition=1e-3),
    "position_dependent": PositionDependentSettings(),
    "cyclic, once a stroke": CyclicSettings(wave_number=2.0 * np.pi / STROKE),
}


def table(data: Path) -> list[Figure]:
    """Return the figures of the parameters online, then of the laws."""
    position, force = emps(data)
    values = np.stack([position, force], axis=1)
    return [*online(values), *laws(values)]


def online(values: Floats) -> list[Figure]:
    """Compare the published parameters with the estimate at the end of the recording."""
    joint = JointEstimator(JointIdentification(model=RigidSettings(axis=Axis.PRISMATIC)), PERIOD)
    joint.absorb(np.round(np.arange(1, len(values) + 1) * PERIOD * 1e9).astype(np.int64), values)
    estimate = joint.estimate()
    ours = dict(zip(estimate.names, estimate.values, strict=True))
    return [within(f"online: {name}", unit, value, ours[name], TOLERANCE) for name, (value, unit) in PUBLISHED.items()]


def laws(values: Floats) -> list[Figure]:
    """Compare the errors of every law with the classical law's, on blocks of the first half, then on the second."""
    within_half, after = {}, {}
    for name, law in LAWS.items():
        within_half[name], after[name] = errors(law, values)
    rows = [_row(f"first half, blocks: {name}", within_half, name) for name in LAWS]
    rows += [_row(f"second half: {name}", after, name) for name in LAWS]
    best = min(LAWS, key=lambda name: within_half[name])
    chosen = _row(f"second half, chosen on the first: {best}", after, best)
    return [*rows, chosen._replace(high=100.0 * after[CLASSICAL])]


def errors(law: AnyFriction, values: Floats) -> tuple[float, float]:
    """‖y − ŷ‖/‖y‖ over the blocks of the first half, each predicted from the others, and over the second half."""
    model = RigidSettings(axis=Axis.PRISMATIC, friction=law).build()
    rows, taps = condition(model, PERIOD, Conditioning(), values)
    half = len(rows.y) // 2
    first = rows.part(slice(half))
    square = 0.0
    for block in np.array_split(np.arange(half), BLOCKS):
        others = np.ones(half, np.bool_)
        others[block] = False
        part: Rows = first.part(~others)
        square += fit(model, taps, first.part(others)).rmse(part) ** 2 * len(block)
    size = float(np.sum(first.y**2))
    return float(np.sqrt(square / size)), fit(model, taps, first).relative(rows.part(slice(half, None)))


def _row(label: str, found: dict[str, float], name: str) -> Figure:
    return Figure(label, 100.0 * found[name], unit="%", reference=100.0 * found[CLASSICAL])


if __name__ == "__main__":
    sys.exit(main("emps-laws", __doc__, lambda options: Reproduced(table(options.data)), arguments=data_option))
