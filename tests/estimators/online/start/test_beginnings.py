"""When a start ends, with what, and what it says on the way: on rows made here, through the estimator as a whole."""

import itertools
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from estimators.base import Event, Phase, Status
from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.online import assembly
from estimators.online.phases import Phases
from estimators.quantities import Floats, Parameter
from estimators.reasons import Reason
from estimators.recursive.forgetting import Alarm
from estimators.refit.inline import Inline
from estimators.refit.outcome import RefitOutcome
from estimators.refit.settings import MonitorSettings
from estimators.rows import Rows, moved

ROW = 0.02  # s
START = 4.0  # s
TRUTH = np.array([1.2, 4.0, 6.0, 0.5])
PARAMETERS = tuple(Parameter(name, "", -1e3, 1e3, "") for name in ("inertia", "viscous", "coulomb", "offset"))
IRREGULAR = ((0.6, 0.3), (1.13, 1.0), (1.91, 4.0), (2.77, 2.0))  # Hz, rad


def tones(seconds: float, which: tuple[tuple[float, float], ...] = IRREGULAR) -> Floats:
    """A speed that passes zero and is never near it, where a joint would rest."""
    t = ROW * np.arange(round(seconds / ROW))
    v = np.asarray(sum(np.cos(2.0 * np.pi * f * t + p) for f, p in which))
    return np.where(np.abs(v) < 0.02, np.copysign(0.02, v), v)


def made(speed: Floats, columns: Floats, truth: Floats, noise: float, samples: Floats | None = None) -> Rows:
    t = ROW * np.arange(1, len(speed) + 1)
    y = columns @ truth + noise * np.random.default_rng(5).standard_normal(len(speed))
    time, place = np.round(1e9 * t).astype(np.int64), ROW * np.cumsum(speed)
    more = () if samples is None else (samples,)
    found = Rows(time, columns[:, None], y[:, None], np.abs(speed)[:, None], *more)
    return found._replace(motion=moved(place[:, None], speed[:, None]))


def rigid(speed: Floats, noise: float = 0.4) -> Rows:
    columns = np.stack([np.gradient(speed, ROW), speed, np.tanh(speed / 0.01), np.ones(len(speed))], axis=1)
    return made(speed, columns, TRUTH, noise)


def linear() -> Phases:
    return assembly.linear(PARAMETERS, (0,), ROW, Alarm(), START, 0.005)


def until_started(joint: Phases, rows: Rows) -> tuple[Event, int]:
    """The event, and how many rows were absorbed by then, block by block."""
    for first in range(0, len(rows.time), joint.parts.loop.block):
        joint.absorb(rows.part(slice(first, first + joint.parts.loop.block)))
        for event in joint.events():
            if event.kind == "started":
                return event, min(first + joint.parts.loop.block, len(rows.time))
    raise AssertionError(f"not started: {joint.estimate()}")


# --- without nonlinear parameters


def test_it_ends_after_its_seconds_of_motion_with_what_least_squares_say_of_all_of_them() -> None:
    rows, joint = rigid(tones(10.0)), linear()
    event, count = until_started(joint, rows)
    assert START <= count * ROW <= START + joint.parts.loop.block * ROW
    assert event.text.startswith(f"from {count * ROW:.1f} s of motion, ")
    assert "but" not in event.text
    assert event.window == (rows.time[0], rows.time[count - 1])
    phi, y = rows.phi[:count, 0], rows.y[:count, 0]
    theta = np.linalg.lstsq(phi, y)[0]
    estimate = joint.estimate()
    assert estimate.phase is Phase.NORMAL
    assert estimate.values == pytest.approx(theta, rel=1e-6)
    deviations = np.sqrt(np.mean((y - phi @ theta) ** 2) * np.diag(np.linalg.inv(phi.T @ phi)))
    # noise of the variance, of 200 rows, and of honesty's 12 batches less 4, which make no deviation smaller
    assert estimate.uncertainty is not None
    allowed = joint.parts.learner.state.seen  # for torques of the angle that this joint has not
    ratio = np.sqrt(np.diag(estimate.uncertainty.covariance - allowed)) / deviations
    assert (ratio > 1.0 - 4.0 * np.sqrt(0.5 / count)).all()
    assert (ratio < np.sqrt(1.0 + 4.0 * np.sqrt(2.0 / 8.0)) * (1.0 + 4.0 * np.sqrt(0.5 / count))).all()


def test_two_outputs_weigh_by_the_noise_that_each_of_them_has() -> None:
    """The second tells viscous friction and offset in another way, and ten times worse."""
    rows = rigid(tones(10.0))
    second = rows.phi[:, 0] * (0.0, 2.0, 0.0, -10.0)
    noisy = second @ TRUTH + 4.0 * np.random.default_rng(6).standard_normal(len(second))
    both = rows._replace(phi=np.stack([rows.phi[:, 0], second], axis=1), y=np.stack([rows.y[:, 0], noisy], axis=1))
    joint = assembly.linear(PARAMETERS, (0, 0), ROW, Alarm(), START, 0.005)
    _, count = until_started(joint, both)
    phi, y = both.phi[:count], both.y[:count]
    noise = np.array([0.4, 4.0]) ** 2
    for _ in range(9):  # weights by the noise that they leave
        weight = 1.0 / np.sqrt(noise)
        theta = np.linalg.lstsq((phi * weight[:, None]).reshape(-1, 4), (y * weight).ravel())[0]
        noise = np.mean((y - phi @ theta) ** 2, axis=0)
    # a start weighs a few times, not for ever: its weights are a little off, which moves θ by far less than it varies
    assert joint.parts.learner.rls.noise == pytest.approx(noise, rel=0.02)
    estimate = joint.estimate()
    assert np.abs((estimate.values - theta) / estimate.deviations).max() < 0.05


@pytest.mark.parametrize("period", [2.5, 1.7])
def test_a_motion_that_repeats_is_seen_once_and_its_alarm_is_calibrated_on_the_last_whole_periods_from_two_on(
    period: float,
) -> None:
    v = 3.0 * tones(9.0, ((1.0 / period, 0.3),)) + 0.3 * tones(9.0, ((3.0 / period, 1.0),))
    rows, joint = rigid(v), linear()
    _, count = until_started(joint, rows)
    cycle = joint.parts.motion.span
    assert cycle == pytest.approx(period / ROW, abs=1)
    assert max(START, period) <= (count + 2) * ROW < START + (joint.parts.loop.block + 4) * ROW
    phi, y = rows.phi[:count, 0], rows.y[:count, 0]
    squares = (y - phi @ np.linalg.lstsq(phi, y)[0]) ** 2
    assert joint.parts.learner.rls.noise[0] == pytest.approx(np.mean(squares), rel=1e-6), "none is beyond 5 σ"
    threshold = joint.parts.learner.threshold
    whole = count // cycle * cycle if count >= 2 * cycle else count
    assert threshold.noise == pytest.approx(np.mean(squares[-whole:]) / np.mean(squares), rel=1e-6)
    assert threshold.allowance == 3.0
    assert threshold.limit == pytest.approx(60.0 / 0.72), "of white noise whose rows say nothing of each other"


def test_it_does_not_wait_for_what_the_motion_does_not_tell_apart_but_says_so() -> None:
    rows, joint = rigid(tones(25.0)), linear()
    rows.phi[:, 0, 2] = 1.0  # as if it moved one way only
    rows.y[:, 0] = rows.phi[:, 0] @ TRUTH + 0.4 * np.random.default_rng(5).standard_normal(len(rows.y))
    event, count = until_started(joint, rows)
    assert START <= count * ROW <= START + joint.parts.loop.block * ROW
    assert event.text.startswith(f"from {count * ROW:.1f} s of motion, ")
    estimate = joint.estimate()
    assert estimate.status is Status.VALID, "what it predicts does not rest on what is not told apart"
    assert estimate.known == (True, True, False, False)
    assert (estimate.deviations[2:] > np.abs(TRUTH[2:] - estimate.values[2:])).all(), "either may be any of the sum"
    own = np.linalg.lstsq(rows.phi[:count, 0, :3], rows.y[:count, 0])[0]
    assert estimate.values[:2] == pytest.approx(own[:2], rel=1e-6)
    assert estimate.values[2:].sum() == pytest.approx(own[2], rel=1e-6), "together they are told"
    assert estimate.values[2] == pytest.approx(estimate.values[3], rel=1e-6), "and nothing says which of them it is"


def test_after_the_first_second_of_motion_it_says_what_that_tells_apart_and_what_not() -> None:
    rows, joint = rigid(tones(2.0)), linear()
    rows.phi[:, 0, 2] = 1.0  # as if it moved one way only
    joint.absorb(rows.part(slice(0, 45)))
    assert joint.estimate().spectrum.values == ()
    joint.absorb(rows.part(slice(45, 80)))
    estimate = joint.estimate()
    assert len(estimate.spectrum.values) == 4
    assert [reason for reason in estimate.reasons if reason.parameter in ("coulomb", "offset")]
    assert not [reason for reason in estimate.reasons if reason.parameter in ("inertia", "viscous")]


def test_what_is_shown_by_stops_alone_is_not_known_until_the_joint_has_moved_either_way() -> None:
    """Where a joint stands friction is any torque up to Coulomb's: such rows do not tell it from the offset."""
    t = ROW * np.arange(round(60.0 / ROW))
    speed = np.clip(1.2 + tones(60.0), 0.006, None)  # forwards, and every now and then it all but stops
    both = rigid(np.where(t >= 20.0, -1.0 - 0.5 * np.sin(6.0 * t), speed))
    joint = linear()
    for count in (300, 500, 950):
        joint.absorb(both.part(slice(0 if count == 300 else joint.parts.history.total, count)))
        estimate = joint.estimate()
        assert estimate.phase is Phase.NORMAL
        known = dict(zip(estimate.names, estimate.known, strict=True))
        assert not known["coulomb"], f"after {count * ROW:.0f} s, for all that its stops say"
        assert not known["offset"]
    joint.absorb(both.part(slice(950, None)))
    estimate = joint.estimate()
    assert estimate.status is Status.VALID
    assert dict(zip(estimate.names, estimate.known, strict=True))["coulomb"]
    assert np.abs((estimate.values - TRUTH) / estimate.deviations).max() < 4.0


def test_a_second_of_which_most_is_not_finite_does_not_begin_a_start() -> None:
    rows, joint = rigid(tones(12.0)), linear()
    rows.y[:50][np.arange(50) % 3 > 0] = np.nan
    joint.absorb(rows.part(slice(0, 60)))
    assert joint.estimate().phase is Phase.WAITING
    assert joint.counters()["refused"] == 33
    joint.absorb(rows.part(slice(60, 110)))
    assert joint.estimate().phase is Phase.STARTING
    _, count = until_started(joint, rows.part(slice(110, None)))
    begun = count + 110 - round(START / ROW)
    assert 45 <= begun <= 60 + joint.parts.loop.block, "it counts from the row after that second on"


# --- with nonlinear parameters


OMEGAS, LINEAR = np.array([0.08, 0.2]), np.array([25.0, 300.0, 40.0, 20.0])


def rubbing(seconds: float, noise: float = 0.1, exponent: float = 1.0) -> Rows:
    """Smooth Coulomb friction with a Stribeck peak, viscous friction and a spring."""
    v = 0.25 * tones(seconds)
    q = ROW * np.cumsum(v)
    peak = v * np.exp(-(np.abs(v / OMEGAS[1]) ** exponent))
    columns = np.stack([np.tanh(v / OMEGAS[0]), peak, v, q], axis=1)
    return made(v, columns, LINEAR, noise, np.stack([v, q, 0.0 * v], axis=1)[:, None, :, None])


class Worker(Inline):
    """Runs searches at once; `spoilt` is what becomes of their outcomes."""

    def __init__(self, spoilt: Any = None) -> None:
        self.spoilt, self.asked = spoilt, 0
        self._first: RefitOutcome | None = None

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        self.asked += 1
        if self.spoilt is None:
            return super().submit(fn, *args, **kwargs)
        return super().submit(lambda: self.spoilt(lambda: fn(*args, **kwargs)))


def searched(worker: Worker) -> Phases:
    model = FrictionOnlySettings().build()
    return assembly.searched(model, np.ones(1), 1, ROW, Alarm(), START, 0.001, MonitorSettings(), worker)


def said(joint: Phases, rows: Rows) -> list[Event]:
    events = list[Event]()
    for first in range(0, len(rows.time), joint.parts.loop.block):
        joint.absorb(rows.part(slice(first, first + joint.parts.loop.block)))
        events += joint.events()
    return events


def test_it_ends_with_a_search_that_is_certain() -> None:
    joint, rows = searched(Worker()), rubbing(4.3)
    assert said(joint, rows.part(slice(0, 100))) == []
    early = joint.estimate()
    assert (early.phase, early.status) == (Phase.STARTING, Status.LEARNING)
    assert np.isfinite(early.values).all()
    assert np.isnan(early.deviations[4:]).all(), "nothing is known of η yet"
    first = searched(Worker())
    first.absorb(rows.part(slice(0, 80)))
    assert len(first.estimate().spectrum.values) > 0, "after the first second it says what that tells apart"
    events = said(joint, rows.part(slice(100, None)))
    assert [event.kind for event in events] == ["refit_started", "refit_accepted", "refit", "started"]
    assert events[0].text == "start, 4.00 s of motion"
    assert events[3].text.startswith("from 4.0 s of motion, ")
    estimate = joint.estimate()
    assert estimate.phase is Phase.NORMAL
    truth = np.concatenate([LINEAR, OMEGAS])
    assert np.abs((estimate.values - truth) / estimate.deviations).max() < 4.0
    assert (estimate.deviations < 0.1 * truth).all()
    threshold = joint.parts.learner.threshold
    assert (threshold.allowance, threshold.limit) == (2.0, 25.0), "a false alarm costs little here, a late one more"


def test_a_law_that_explains_the_motion_better_is_used_and_reported() -> None:
    joint = searched(Worker())
    events = said(joint, rubbing(4.3, exponent=2.0))
    (law,) = (event for event in events if event.kind == "law")
    assert law.text == "exponent = 2.0 explains the motion better than what is configured, and is used from now on"
    assert events[-1].kind == "started"
    estimate = joint.estimate()
    truth = np.concatenate([LINEAR, OMEGAS])
    assert np.abs((estimate.values - truth) / estimate.deviations).max() < 4.0


def test_a_search_that_fails_is_tried_again_with_a_fifth_more_motion_until_patience_ends() -> None:
    def fail(_search: Callable[[], RefitOutcome]) -> RefitOutcome:
        raise ValueError("no minimum")

    joint, rows = searched(Worker(fail)), rubbing(24.0)
    events = said(joint, rows.part(slice(0, 220)))
    assert Reason("search_failed", words={"cause": "no minimum"}) in joint.estimate().reasons, (
        "what is missing is said meanwhile"
    )
    events += said(joint, rows.part(slice(220, None)))
    tried = [event.text for event in events if event.kind == "refit_started"]
    seconds = [float(text.removeprefix("start, ").removesuffix(" s of motion")) for text in tried]
    assert seconds[0] == START
    block = joint.parts.loop.block * ROW
    for before, after in itertools.pairwise(seconds):
        assert 1.2 * before - ROW <= after <= 1.2 * before + block + ROW, seconds
    rejected = [event.text for event in events if event.kind == "refit_rejected"]
    assert rejected == [f"{text}: no minimum" for text in tried]
    assert 20.0 <= seconds[-1] < 24.0 + block, "five times the start"
    (fault,) = (event for event in events if event.kind == "fault")
    assert f"no η was found in {seconds[-1]:.0f} s of motion: no minimum" in fault.text


def test_a_search_that_is_uncertain_is_tried_again_and_taken_with_its_doubts_when_patience_ends() -> None:
    """Its first outcome is as certain as can be; the worker says ever after that it was a hundred times less so."""
    found = list[RefitOutcome]()

    def doubt(search: Callable[[], RefitOutcome]) -> RefitOutcome:
        found.append(search() if len(found) in (0, 9) else found[-1])  # 9: at the end of patience
        return replace(found[-1], covariance=1e4 * found[-1].covariance)

    joint = searched(Worker(doubt))
    events = said(joint, rubbing(24.0))
    kinds = [event.kind for event in events]
    assert kinds[:4] == ["refit_started", "refit_rejected"] * 2
    assert "omega_stribeck = " in events[1].text
    assert " is uncertain by " in events[1].text
    assert kinds[-3:] == ["refit_accepted", "refit", "started"]
    assert joint.estimate().phase is Phase.NORMAL
    assert joint.estimate().deviations[-1] > 0.08 * OMEGAS[1], "as uncertain as it was told"
