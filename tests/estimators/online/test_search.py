"""What a search costs the core that takes it, and that it says the same wherever and whenever it is done."""

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from estimators.online.joint import JointEstimator
from estimators.online.settings import JointIdentification
from estimators.quantisation import effect
from estimators.quantities import Floats
from estimators.refit.outcome import RefitOutcome
from hil_rig.plants.base import Jump
from hil_rig.plants.joints.two_mass import TwoMassPlantSettings as Rig

pytestmark = pytest.mark.compiled

TURN = 20  # samples
JUMP, END = 11.0, 15.0  # s


class Worker(Executor):
    """Does what was asked for between two turns of the core, at a multiple of so many."""

    def __init__(self, every: int = 1) -> None:
        self.every, self.tasks, self.outcomes = every, list[tuple[Any, ...]](), list[RefitOutcome]()
        self._asked: list[tuple[Future[Any], bytes]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        self._asked.append((future, pickle.dumps((fn, *args))))
        return future

    def work(self, turn: int) -> None:
        """What is done on the way of a pickle, as between processes."""
        if turn % self.every:
            return
        for future, sent in self._asked:
            fn, *args = pickle.loads(sent)
            self.tasks.append((fn, *args))
            self.outcomes.append(fn(*args))
            future.set_result(self.outcomes[-1])
        self._asked = []


def turns(worker: Worker, identify: str, wrong: float = 1.0) -> Iterator[tuple[JointEstimator, set[str]]]:
    """A joint after each turn, and the kinds of events in it; wrong: times the inertia that is taken as known."""
    plant = Rig.model_validate({"identify": identify, "motor_bits": 14, "link_bits": 16}).build(
        1, 1, [Jump(JUMP, "nonlinear", 1.2)]
    )
    columns = [f"{message.name}.{field.name}" for message in plant.messages for field in message.fields]
    measured, model = plant.rows(round(END * 1000)), dict(plant.model)
    for name in {"inertia", "inertia_motor"} & set(model):
        model[name] *= wrong
    settings = {"model": model, "start": 8.5, "standstill": 0.01}
    joint = JointEstimator(JointIdentification.model_validate(settings), 1e-3, worker)
    roles = [plant.roles[role] for role in joint.channels]
    table = np.column_stack([measured[:, columns.index(one.signal)] * one.scale for one in roles])
    for turn, first in enumerate(range(0, len(table), TURN)):
        part = slice(first, first + TURN)
        joint.absorb(np.arange(first, first + TURN) * 1_000_000, table[part])
        yield joint, {event.kind for event in joint.events()}
        worker.work(turn)


@pytest.mark.parametrize(("identify", "wrong"), [("friction", 1.0), ("elastic", 1.0), ("elastic", 1.3)])
def test_the_turn_that_takes_a_refit_reads_no_window_again(
    monkeypatch: pytest.MonkeyPatch, identify: str, wrong: float
) -> None:
    read, taken, readings = [0], 0, effect._readings

    def counted(*given: Any) -> Any:
        read[0] += 1
        return readings(*given)

    monkeypatch.setattr(effect, "_readings", counted)
    worker = Worker()
    for joint, kinds in turns(worker, identify, wrong):
        if "refit_accepted" in kinds:
            assert read[0] == 0, f"{read[0]} windows were read again in this turn"
            nonlinear, found = joint.phases.parts.nonlinear, worker.outcomes[-1].steps
            assert nonlinear is not None
            assert found is not None
            assert np.array_equal(nonlinear.eta.state.steps, found[-2:, -2:])
            taken += 1
        read[0] = 0
    assert taken >= 1


def test_what_the_steps_do_is_of_the_window_and_not_of_when_it_is_taken() -> None:
    found: list[list[Floats]] = []
    for every in (1, 20):
        steps = []
        for joint, kinds in turns(Worker(every), "friction"):
            nonlinear = joint.phases.parts.nonlinear
            if "refit_accepted" in kinds and nonlinear is not None:
                steps.append(np.append(nonlinear.eta.state.steps, nonlinear.lookback.state.owed))
        found.append(steps)
    assert found[0][0].any()
    assert np.array_equal(found[0][0], found[1][0])


def test_another_process_finds_the_same_to_the_bit() -> None:
    worker = Worker()
    for _ in turns(worker, "elastic"):
        if worker.tasks:
            break
    (fn, *args), here = worker.tasks[0], worker.outcomes[0]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(fn, *args).result()
    assert here.steps is not None
    assert here.steps.any()
    assert here.imitated
    assert pickle.dumps(there) == pickle.dumps(here)
