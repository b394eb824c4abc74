"""A joint that stands for a minute or for a night: nothing it has learnt is harmed, and the next motion goes on."""

from typing import Any

import numpy as np
import pytest

from estimators.base import Event, Phase, Status
from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantities import Floats
from estimators.reasons import Reason
from estimators.rows import Rows
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings as Rig

pytestmark = pytest.mark.compiled

PERIOD = 1e-3  # s
BEFORE, AFTER = 13.0, 5.0  # s of motion before the joint stands, and after
NIGHT = 8 * 3600.0  # s
TICK = 1_000_000  # ns
STICTION = 8.0  # N·m


class Standing:
    """The rig's joint: motion up to a reversal, then rest as its sensors tell it, then the motion goes on."""

    def __init__(self, identify: str) -> None:
        plant = Rig.model_validate({"identify": identify}).build(1, 1, [])
        columns = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
        measured = plant.rows(round((BEFORE + AFTER) / PERIOD))
        settings = {"model": dict(plant.model), "start": 8.5, "standstill": 0.01}
        self.truth = plant.truth()
        self.joint: JointEstimator = JointEstimator(JointIdentification.model_validate(settings), PERIOD)
        roles = [plant.roles[role] for role in self.joint.channels]
        self._values = np.column_stack([measured[:, columns.index(one.signal)] * one.scale for one in roles])
        near = round(BEFORE / PERIOD) - 2000 + np.arange(2000)
        speed = np.convolve(np.gradient(self._values[:, 0]), np.full(31, 1 / 31), "same")
        self._stop = int(near[np.argmin(np.abs(speed[near]))])
        self._now = 0
        self.events: list[Event] = []

    def _absorb(self, values: Floats) -> None:
        self.joint.absorb((self._now + np.arange(len(values))) * TICK, values)
        self._now += len(values)
        self.events += self.joint.events()

    def move(self) -> None:
        """Up to the reversal."""
        self._absorb(self._values[: self._stop])

    def rest(self, seconds: float) -> Floats:
        """The position sensors show one count, or now and then the next; the torque wanders, noisy, within a stiction
        of 8 N·m."""
        rng = np.random.default_rng(3)
        values = np.repeat(self._values[self._stop - 1 : self._stop], round(seconds / PERIOD), axis=0)
        for column, role in enumerate(self.joint.channels):
            if "position" in role:
                values[:, column] += (rng.random(len(values)) < 0.01) * 2 * np.pi / (1 << 20)
            else:
                t = np.arange(len(values)) * PERIOD
                values[:, column] += STICTION * np.sin(2 * np.pi * t / 7.0) + rng.normal(0.0, 0.5, len(values))
        return values

    def stand(self, seconds: float) -> None:
        self._absorb(self.rest(seconds))

    def stand_long(self, seconds: float, rate: float) -> None:
        """A long rest, of which `rate` rows a second reach the phases, the same ones again and again."""
        joint = self.joint
        rows = joint.conditioner.absorb((self._now + np.arange(10_000)) * TICK, self.rest(10.0))
        begin, count, at = int(rows.time[0]), round(seconds * rate), 0
        while at < count:
            part: Rows = rows.part(slice(0, count - at))
            instants = begin + np.round((at + np.arange(len(part.time))) * 1e9 / rate).astype(np.int64)
            joint.phases.absorb(part._replace(time=instants))
            at += len(part.time)
        self._now += round(seconds / PERIOD)
        self.events += joint.events()

    def go_on(self) -> None:
        self._absorb(self._values[self._stop :])

    def learnt(self) -> list[Any]:
        """All that the rest must leave as it is: θ, P and the monitor's memory; η and its covariance."""
        estimate, parts = self.joint.estimate(), self.joint.phases.parts
        assert parts.nonlinear is not None
        eta = parts.nonlinear.eta.state
        learnt = parts.learner.rls.state.as_dict()
        kept = (estimate.values, estimate.deviations, *learnt.values(), eta.covariance, eta.sigma)
        return [np.array(one) for one in kept]


def check_the_rest(run: Standing, learnt: list[Any]) -> None:
    assert all(np.array_equal(before, after) for before, after in zip(learnt, run.learnt(), strict=True))
    estimate = run.joint.estimate()
    assert (estimate.phase, estimate.status, estimate.reasons) == (Phase.HELD, Status.HELD, (Reason("at_standstill"),))


def check_the_motion_after(run: Standing) -> None:
    before = run.joint.estimate()
    run.go_on()
    estimate = run.joint.estimate()
    assert (estimate.phase, estimate.status) == (Phase.NORMAL, Status.VALID), estimate.reasons
    kinds = [event.kind for event in run.events if event.kind != "sharpened"]
    assert kinds == ["refit_started", "refit_accepted", "refit", "started", "held", "moving"]
    assert (np.abs(estimate.values - before.values) <= 3.0 * before.deviations + 0.002 * np.abs(before.values)).all()


@pytest.mark.parametrize("identify", ["friction", "elastic"])
def test_a_minute_of_rest(identify: str) -> None:
    run = Standing(identify)
    run.move()
    run.stand(1.0)
    learnt = run.learnt()
    run.stand(59.0)
    check_the_rest(run, learnt)
    check_the_motion_after(run)


@pytest.mark.parametrize(
    ("identify", "rate"),
    [("elastic", 10.0), pytest.param("friction", 100.0, marks=pytest.mark.slow)],
)
def test_a_night_of_rest(identify: str, rate: float) -> None:
    run = Standing(identify)
    run.move()
    run.stand(1.0)
    learnt = run.learnt()
    run.stand_long(NIGHT, rate)
    check_the_rest(run, learnt)
    check_the_motion_after(run)
