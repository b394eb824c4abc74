"""What a window tells apart, against the singular values of the regressor written out."""

from itertools import pairwise

import numpy as np
import pytest

from estimators.base import Phase, Spectrum
from estimators.online import assembly
from estimators.online.phases import Phases
from estimators.online.start.rows import StartRows
from estimators.quantities import Floats, Parameter
from estimators.recursive.forgetting import Alarm
from estimators.rows import VELOCITY, Rows
from estimators.window.spectrum import spectrum
from hil_rig.papers.space_joint.case2 import OMEGAS, PERIOD, case, estimator

pytestmark = pytest.mark.compiled

NAMES = ("inertia", "viscous", "coulomb", "offset")


def written_out(columns: Floats) -> tuple[Floats, Floats]:
    """Singular values and right singular vectors of (equations, parameters), columns of length one."""
    _, values, directions = np.linalg.svd(columns / np.linalg.norm(columns, axis=0), full_matrices=False)
    return values, directions


def motion(seconds: float, seed: int = 0, outputs: int = 1) -> Rows:
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds / PERIOD)) * PERIOD
    speed = 0.8 * sum(np.cos(2 * np.pi * f * t + p) for f, p in zip((0.6, 1.1, 2.7), rng.uniform(0, 6, 3), strict=True))
    phi = np.stack([np.gradient(speed, PERIOD), speed, np.tanh(speed / 0.01), np.ones_like(t)], axis=1)
    phi = np.stack([phi * rng.uniform(0.5, 2.0, 4) for _ in range(outputs)], axis=1)
    y = phi @ (1.2, 4.0, 6.0, 0.5) + 0.4 * rng.standard_normal((len(t), outputs)) * [1.0, 5.0][:outputs]
    return Rows(np.round(t * 1e9).astype(np.int64) + 1, phi, y, np.abs(speed)[:, None])


def rigid(outputs: int = 1) -> Phases:
    parameters = tuple(Parameter(name, "", -1e3, 1e3, "") for name in NAMES)
    return assembly.linear(parameters, (0,) * outputs, PERIOD, Alarm(), 6.0, 0.0)


def absorb(joint: Phases, rows: Rows, step: int = 1000) -> None:
    for first in range(0, len(rows.time), step):
        joint.absorb(rows.part(slice(first, first + step)))


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_rigid_start_reports_the_singular_values_of_its_whole_window(outputs: int) -> None:
    rows = motion(20.0, outputs=outputs)
    rows.y[500:520, 0] = np.nan
    joint = rigid(outputs)
    absorb(joint, rows)
    (started,) = joint.events()
    assert started.window is not None
    own = rows.part((rows.time >= started.window[0]) & (rows.time <= started.window[1]))
    assert started.window[0] == rows.time[0]
    found = joint.estimate().spectrum
    told = np.isfinite(own.y)
    weight = 1.0 / np.sqrt(joint.parts.learner.rls.noise)
    values, directions = written_out((own.phi * weight[:, None])[told])
    assert found.values == pytest.approx(values, rel=1e-9)
    assert found.condition == pytest.approx(values[0] / values[-1], rel=1e-9)
    largest = NAMES[int(np.argmax(np.abs(directions[-1])))]
    assert found.weakest.startswith(f"{largest} against ")
    assert f"condition {found.condition:.1f}, least identifiable: {largest} against " in started.text


def test_a_start_with_eta_counts_its_tangents() -> None:
    rows = case(3, 0.01, end=13.0).rows
    joint = estimator()
    absorb(joint, rows)
    started = joint.events()[-1]
    assert started.kind == "started"
    assert started.window is not None
    estimate = joint.estimate()
    own = rows.part((rows.time >= started.window[0]) & (rows.time <= started.window[1]))
    v, eta = own.samples[:, 0, VELOCITY, 0], estimate.values[4:]
    joint.parts.nonlinear.eta.block.refill(own, eta)
    theta, *_ = np.linalg.lstsq(own.phi[:, 0], own.y[:, 0])
    # ∂(Φθ)/∂ln η by hand: τ = C1·tanh(v/ω1) + C2·v·exp(−|v/ω_s|)
    tangents = [
        -theta[0] * v / eta[0] / np.cosh(v / eta[0]) ** 2,
        theta[1] * v * np.exp(-np.abs(v / eta[1])) * np.abs(v) / eta[1],
    ]
    values, directions = written_out(np.column_stack([own.phi[:, 0], *tangents]))
    assert estimate.spectrum.values == pytest.approx(values, rel=1e-3), "the slopes are central differences"
    assert len(values) == 6
    assert estimate.spectrum.weakest.startswith(estimate.names[int(np.argmax(np.abs(directions[-1])))])


def test_while_it_starts_it_is_looked_at_once_a_second_and_a_restart_forgets_it() -> None:
    rows, joint, seen = motion(20.0), rigid(), []
    for first in range(0, 550, 10):
        joint.absorb(rows.part(slice(first, first + 10)))
        assert bool(joint.estimate().spectrum.values) == (joint.phase is Phase.STARTING)
        seen.append(joint.estimate().spectrum)
    changes = [10 * i for i, (before, after) in enumerate(pairwise(seen), 2) if before != after]
    assert changes == [100, 200, 300, 400, 500]
    values, _ = written_out(rows.phi[:500, 0])
    assert seen[-1].values == pytest.approx(values, rel=1e-9)
    absorb(joint, rows.part(slice(550, 1500)))
    joint.parts.learner.rls.theta[0] = np.nan
    absorb(joint, rows.part(slice(1500, 1510)))
    assert joint.phase is Phase.FAULTED
    assert joint.estimate().spectrum == Spectrum((), "")


@pytest.mark.parametrize("elastic", [False, True])
def test_it_does_not_depend_on_how_rows_are_cut(elastic: bool) -> None:
    rows = case(1, 0.01, nonlinear_at=20.0, end=26.0).rows if elastic else motion(26.0)
    if not elastic:
        rows.y[2000:] *= 1.5
    for end in (370, 2600):
        outcomes = set()
        for step in (1, 7, 1000):
            joint = estimator() if elastic else rigid()
            absorb(joint, rows.part(slice(0, end)), step)
            outcomes.add((repr(joint.estimate().spectrum), str(joint.events())))
        assert len(outcomes) == 1
        assert joint.estimate().spectrum.values


def test_a_refit_is_looked_at_with_what_was_known_before() -> None:
    run = case(1, 0.01, nonlinear_at=22.0, end=26.0)
    joint = estimator()
    absorb(joint, run.rows.part(slice(0, 2200)))
    before = joint.estimate().spectrum
    joint.events()
    absorb(joint, run.rows.part(slice(2200, None)), 10)
    accepted = [event for event in joint.events() if event.kind == "refit_accepted"]
    assert accepted
    assert joint.estimate().spectrum != before
    assert len(joint.estimate().spectrum.values) == 6


def test_columns_that_are_the_same_are_named_and_the_condition_is_infinite() -> None:
    phi = np.random.default_rng(1).normal(size=(300, 1, 3))
    phi[:, 0, 2] = -5.0 * phi[:, 0, 0]
    window = StartRows()
    window.add(np.arange(300), phi, np.ones((300, 1)))
    found = spectrum(window.products(np.ones(1)), ("a", "b", "c"))
    assert found.values[-1] == 0.0
    assert found.condition == np.inf
    assert str(found).removeprefix("condition ∞, least identifiable: ") in ("a against c", "c against a")
    phi[:, 0, 2] = 0.0
    window.clear()
    window.add(np.arange(300), phi, np.ones((300, 1)))
    assert spectrum(window.products(np.ones(1)), ("a", "b", "c")).weakest == "c"


def test_values_beyond_all_bounds_are_no_spectrum() -> None:
    assert np.isnan(spectrum(np.full((2, 2), np.inf), ("a", "b")).condition)


def test_events_say_of_which_rows_they_speak() -> None:
    run = case(0, 0.01, linear_at=20.0, nonlinear_at=30.0, end=42.0)
    joint = estimator()
    absorb(joint, run.rows, 10)
    events = joint.events()
    known = {"refit_started", "refit_accepted", "refit", "started", "alarm", "transient", "recovered"}
    assert known <= {event.kind for event in events}
    for event in events:
        assert (event.window is not None) == (event.kind in known | {"refit_rejected", "drift", "sharpened"}), event
        if event.window is not None:
            first, last = event.window
            assert run.rows.time[0] <= first < last <= event.time, event
            if "s of motion" in event.text and event.kind.startswith("refit"):
                told = float(event.text.split(", ")[1].split()[0])
                assert (last - first) * 1e-9 >= told - 2 * PERIOD, "motion, and standstill between"
    for kind, at in (("alarm", 20.0), ("transient", 20.0), ("recovered", 20.0)):
        event = next(event for event in events if event.kind == kind and event.time > 20e9)
        assert event.window is not None
        assert event.window[0] * 1e-9 == pytest.approx(at, abs=0.25)
    refit = next(event for event in events if event.kind == "refit" and event.time > 30e9)
    assert refit.window is not None
    assert refit.window[0] * 1e-9 == pytest.approx(30.0, abs=0.3)
    assert np.abs(joint.parts.nonlinear.eta.state.eta / (1.2 * OMEGAS) - 1.0).max() < 0.1


def test_a_rigid_alarm_says_since_when() -> None:
    rows, joint = motion(20.0), rigid()
    rows.y[1500:] *= 1.5
    absorb(joint, rows)
    events = {event.kind: event for event in joint.events()}
    for kind in ("alarm", "recovered"):
        assert events[kind].window is not None
        assert events[kind].window[0] * 1e-9 == pytest.approx(15.0, abs=0.15)
        assert events[kind].window[1] == events[kind].time
