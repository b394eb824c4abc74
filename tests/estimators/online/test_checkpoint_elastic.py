"""An elastic joint with searched η goes on after a restart, and the rows that were not kept are not missed."""

import msgpack
import numpy as np
import pytest

from estimators.base import Phase, Status
from estimators.online.checkpoint import NotTheSameError
from estimators.online.joint import JointEstimator
from estimators.online.settings import Identification
from hil_rig.plants.joints.two_mass import TwoMassSettings as Rig

pytestmark = pytest.mark.compiled


class Joint:
    """The rig's joint and the estimator that its configuration asks for."""

    def __init__(self) -> None:
        self.plant = Rig.model_validate({"identify": "friction"}).build(1, 1, [])
        self.estimator = self.build()
        self._told = 0
        columns = [f"{message.name}.{field.name}" for message in self.plant.messages for field in message.fields]
        roles = [self.plant.roles[role] for role in self.estimator.channels]
        self._places = [(columns.index(role.signal), role.scale) for role in roles]

    def build(self) -> JointEstimator:
        settings = {"model": self.plant.model, "start": 8.0, "standstill": 0.01}
        return JointEstimator(Identification.model_validate(settings), 1e-3)

    def run(self, seconds: float) -> None:
        rows = self.plant.rows(round(seconds * 1000))
        values = np.column_stack([rows[:, place] * scale for place, scale in self._places])
        self.estimator.absorb((self._told + np.arange(len(values))) * 1_000_000, values)
        self._told += len(values)


def test_it_goes_on() -> None:
    joint = Joint()
    joint.run(5.0)
    assert joint.estimator.keep() is None, "still starting"
    joint.run(6.0)
    kept, before = joint.estimator.keep(), joint.estimator.estimate()
    assert before.phase is Phase.NORMAL
    assert kept is not None
    joint.estimator = joint.build()
    joint.estimator.resume(msgpack.unpackb(msgpack.packb(kept)))
    after = joint.estimator.estimate()
    assert np.array_equal(after.values, before.values)
    assert np.array_equal(after.deviations, before.deviations)
    joint.run(0.5)  # what moved while nobody looked
    joint.run(12.0)
    estimate = joint.estimator.estimate()
    assert (estimate.phase, estimate.status) == (Phase.NORMAL, Status.VALID)
    found = dict(zip(estimate.names, estimate.values, strict=True))
    for name, value in joint.plant.truth().items():
        assert found[name] == pytest.approx(value, rel=0.03), name
    kinds = [event.kind for event in joint.estimator.events()]
    assert kinds[0] == "resumed"
    assert not {"alarm", "refit_started", "fault"} & set(kinds)
    with pytest.raises(NotTheSameError, match="another friction law"):
        joint.build().resume(kept | {"law": {}})
