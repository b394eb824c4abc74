"""The real EMPS drive, default settings: ends at the published parameters at any row rate, without a false alarm."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io

from estimators.base import Phase, Status
from estimators.conditioning.conditioner import Conditioning
from estimators.models.joints.rigid import RigidSettings
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Axis, Floats

DATA = Path(__file__).parents[3] / "shared" / "data" / "emps" / "nlid_emps_sim_data_training.mat"
PUBLISHED = np.array([95.1089, 203.5034, 20.3935, -3.1648])

pytestmark = [
    pytest.mark.skipif(not DATA.exists(), reason=f"the EMPS recording is not at {DATA}"),
    pytest.mark.compiled,
]


@pytest.fixture(scope="module")
def recording() -> tuple[np.ndarray, Floats]:
    data = scipy.io.loadmat(str(DATA))
    force = data["vir"].ravel() * data["gtau"][0, 0]
    return np.arange(len(force)) * 1_000_000 + 1, np.stack([data["qm"].ravel(), force], axis=1)


@pytest.mark.parametrize("rate", [1000.0, 100.0, 40.0])
def test_ends_at_the_published_parameters(recording: tuple[np.ndarray, Floats], rate: float) -> None:
    time, values = recording
    settings = JointIdentification(model=RigidSettings(axis=Axis.PRISMATIC), conditioning=Conditioning(row_rate=rate))
    joint = JointEstimator(settings, 1e-3)
    joint.absorb(time[:3000], values[:3000])
    assert joint.estimate().phase is Phase.STARTING
    assert abs(joint.estimate().values[0] / PUBLISHED[0] - 1) < 0.05  # a viewer sees the mass after three seconds
    joint.absorb(time[3000:], values[3000:])
    estimate = joint.estimate()
    assert estimate.names == ("mass", "viscous", "coulomb", "offset")
    assert np.all(np.abs(estimate.values / PUBLISHED - 1) < [0.005, 0.03, 0.03, 0.05])
    assert np.all(np.abs(estimate.values - PUBLISHED) < 2 * estimate.deviations)
    assert estimate.status is Status.VALID
    assert estimate.error < 0.05
    assert [event.kind for event in joint.events()] == ["started"]


def test_half_again_the_friction_is_an_alarm_within_a_quarter_of_a_second(
    recording: tuple[np.ndarray, Floats],
) -> None:
    time, values = recording
    changed = values.copy()
    speed = np.gradient(values[:, 0], 1e-3)
    changed[18_500:, 1] += 0.5 * (PUBLISHED[1] * speed + PUBLISHED[2] * np.sign(speed))[18_500:]
    joint = JointEstimator(JointIdentification(model=RigidSettings(axis=Axis.PRISMATIC)), 1e-3)
    joint.absorb(time, changed)
    alarms = [event.time for event in joint.events() if event.kind == "alarm"]
    assert 18.5e9 < alarms[0] < 18.75e9
