"""`jointwatch reproduce xl330`: does friction that grows with the load predict a Dynamixel XL330 on unseen runs?

In eight runs a servo swings 0.49 kg on an arm of 0.1 m (Rhoban bam). The motor's voltage U = duty · supply is predicted
from the motion alone,

    U = a·q̈ + kt·q̇ + g₁ sin q + g₂ cos q + friction(q̇, T),   T = m l² q̈ + m g l sin q

in V, with all coefficients free. T, the torque at the link, is computed from the motion and from the known mass and
length; it is the load of the friction law. The motor's torque cannot be the load, since it would be predicted from
itself. Rows in which the joint may stick anywhere in the filter's window are left out, because the friction of a joint
that sticks can have any value up to Coulomb friction.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from estimators.conditioning.conditioner import Conditioning
from estimators.models.base import Model
from estimators.models.filler import FILL
from estimators.models.friction import AnyFriction
from estimators.models.friction.load_dependent import LoadDependentSettings
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.joints.rigid import Rigid, RigidSettings, fill_rigid
from estimators.numerics.jit import kernel
from estimators.quantities import Axis, Floats
from estimators.rows import SMOOTH_RATE, Rows, joined
from hil_rig.papers.figures import Figure, Reproduced, main
from hil_rig.papers.recordings.bam import MODELS, voltage
from hil_rig.papers.recordings.fit import condition, fit
from hil_rig.papers.recordings.readers import Pendulum, data_option, xl330, xl330_published
from jointwatch_numba.layout import Own

GRAVITY: Final = 9.80665  # m/s²
PERIOD: Final = 0.005  # s; recorded every 5.3 ms in the median
CONDITIONING: Final = Conditioning(half_width=0.06)  # a step of the encoder, 1.5 mrad, is 60 rad/s² over one period
STICK: Final = 0.1  # rad/s
POSITION = 0  # channel
ASKED: Final = 0.75  # limit, as a share of the RMSE of Coulomb–viscous friction
CLASSICAL: Final = "Coulomb–viscous"
LAWS: Final[dict[str, AnyFriction]] = {
    CLASSICAL: ViscousCoulombSettings(),
    "load-dependent": LoadDependentSettings(stribeck=False),
    "load-dependent Stribeck": LoadDependentSettings(),
}
# Which of the eight runs are fitted, in order of time: gains 100, 200, 400, 800, each sin_sin first, then up_and_down.
HALVES: Final = {
    "gains 100 and 400 → 200 and 800": (0, 1, 4, 5),
    "gains 200 and 800 → 100 and 400": (2, 3, 6, 7),
    "gains 100 and 200 → 400 and 800": (0, 1, 2, 3),
    "gains 400 and 800 → 100 and 200": (4, 5, 6, 7),
    "sin_sin → up_and_down": (0, 2, 4, 6),
    "up_and_down → sin_sin": (1, 3, 5, 7),
}
ONE_WAY: Final = "up_and_down → sin_sin"  # up_and_down never lowers the mass: it cannot tell friction from gravity


class Moving(Rigid):
    """The rigid joint without rows in which it may stick."""

    def __init__(self, friction: AnyFriction) -> None:
        load = friction.law(Axis.ROTARY).loaded()
        super().__init__(RigidSettings(friction=friction, offset=False, gravity_sin=True, gravity_cos=True, load=load))
        self.kernel = fill_moving

    def fill(self, signals: Floats, eta: Floats, phi: Floats, y: Floats) -> None:
        """Fill the rows of a rigid joint, NaN in y where the joint may stick."""
        fill_moving(signals, eta, self.terms, phi, y)


@kernel(FILL)
def fill_moving(signals: Floats, eta: Floats, own: Own, phi: Floats, y: Floats) -> None:
    """Fill the rows of a rigid joint, NaN in y where it may stick; own: RigidTerms."""
    fill_rigid(signals, eta, own, phi, y)
    for row in range(len(signals)):
        if abs(signals[row, POSITION, SMOOTH_RATE]) < STICK:
            y[row, 0] = np.nan


def table(data: Path) -> list[Figure]:
    """Compare the RMSE of the laws on unseen runs with Coulomb–viscous friction and with the published models."""
    runs = [samples(run) for run in xl330(data)]
    conditioned = {name: rows_of(law, runs) for name, law in LAWS.items()}
    rows = _beside("leave one run out", {name: left_out(*one) for name, one in conditioned.items()}, True)
    for label, fitted in HALVES.items():
        half = {name: unseen(*one, fitted) for name, one in conditioned.items()}
        rows += _beside(label, half, label != ONE_WAY)
    return [*rows, *published(data, *conditioned[CLASSICAL][:2])]


def samples(run: Pendulum) -> Floats:
    """Position, voltage and torque at the link, equidistant: (samples, 3)."""
    time = np.arange(run.time[0], run.time[-1], PERIOD)
    position, voltage = (np.interp(time, run.time, channel) for channel in (run.position, run.voltage))
    second = np.zeros(len(time))
    second[1:-1] = np.diff(position, 2) / PERIOD**2
    load = run.mass * run.length * (GRAVITY * np.sin(position) + run.length * second)
    return np.stack([position, voltage, load], axis=1)


def rows_of(law: AnyFriction, runs: Sequence[Floats]) -> tuple[Model, list[Rows], Floats]:
    """Return the model, the regression rows of every run, and the filter taps that smoothed them."""
    model = Moving(law)
    conditioned = [condition(model, PERIOD, CONDITIONING, run[:, : len(model.channels)]) for run in runs]
    return model, [rows for rows, _ in conditioned], conditioned[0][1]


def left_out(model: Model, runs: Sequence[Rows], taps: Floats) -> float:
    """RMSE, V, over all rows if each run is predicted from the others."""
    square = 0.0
    for i, run in enumerate(runs):
        square += fit(model, taps, joined([*runs[:i], *runs[i + 1 :]])).rmse(run) ** 2 * len(run.y)
    return float(np.sqrt(square / sum(len(run.y) for run in runs)))


def unseen(model: Model, runs: Sequence[Rows], taps: Floats, fitted: Sequence[int]) -> float:
    """RMSE, V, of the runs that are not in `fitted`."""
    others = joined([run for i, run in enumerate(runs) if i not in fitted])
    return fit(model, taps, joined([runs[i] for i in fitted])).rmse(others)


def published(data: Path, model: Model, runs: Sequence[Rows]) -> list[Figure]:
    """RMSE, V, of the published models on the same rows, each scaled by one fitted factor; M1 is the reference."""
    rows, names = joined(runs), [parameter.name for parameter in model.parameters]
    motion = rows.phi[:, 0, [names.index(name) for name in ("inertia", "viscous", "gravity_sin", "gravity_cos")]]
    pendulum, y = xl330(data)[0], rows.y[:, 0]
    found = {}
    for name in MODELS:
        predicted = voltage(xl330_published(data, name), motion, pendulum.mass, pendulum.length)
        factor = (predicted @ y) / (predicted @ predicted)
        found[name] = float(np.sqrt(np.mean((y - factor * predicted) ** 2)))
    return [Figure(f"published {name}", found[name], unit="V", reference=found["m1"]) for name in MODELS]


def _beside(label: str, found: Mapping[str, float], asked: bool) -> list[Figure]:
    rows = [Figure(f"{label}: {name}", found[name], unit="V", reference=found[CLASSICAL]) for name in LAWS]
    return [*rows[:-1], rows[-1]._replace(high=ASKED * found[CLASSICAL])] if asked else rows


if __name__ == "__main__":
    sys.exit(main("xl330", __doc__, lambda options: Reproduced(table(options.data)), arguments=data_option))
