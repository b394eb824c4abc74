"""Every registered friction law, on both axes, × every rule of the contract."""

from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter

from estimators.models.friction import AnyFriction
from estimators.models.friction.base import FrictionLaw, FrictionSettings
from estimators.models.friction.structure import RefitModel, law_structure
from estimators.models.joints.rigid import RigidSettings
from estimators.quantities import Axis, Parameter
from estimators.refit.refit import RefitRows, refit
from estimators.rows import SIGNALS

pytestmark = pytest.mark.interpreted

Floats = NDArray[np.float64]
SETTINGS: list[FrictionSettings] = [kind() for kind in get_args(get_args(AnyFriction)[0])]
VARIANTS = [TypeAdapter(AnyFriction).validate_python(part) for part in (
    {"kind": "tanh_stribeck", "exponent": 0.5, "stiffness": True},
    {"kind": "tanh_stribeck", "exponent": 2.0},
    {"kind": "tanh_stribeck", "exponent": "searched"},
    {"kind": "load_dependent", "stribeck": False},
    {"kind": "cyclic", "wave_number": 160.0},
    {"kind": "viscous_coulomb", "coulomb": False},
    {"kind": "viscous_coulomb", "viscous": False},
    {"kind": "viscous_coulomb", "transition": 0.05},
    {"kind": "viscous_coulomb", "viscous": False, "transition": 0.05},
    {"kind": "directional", "threshold": 0.001},
)]  # fmt: skip


def named(settings: FrictionSettings) -> str:
    return ",".join(str(value) for value in settings.model_dump().values())


@pytest.fixture(params=SETTINGS + VARIANTS, ids=named)
def settings(request: pytest.FixtureRequest) -> FrictionSettings:
    return request.param


@pytest.fixture(params=list(Axis))
def axis(request: pytest.FixtureRequest) -> Axis:
    return request.param


CURVED = [one for one in SETTINGS + VARIANTS if one.law(Axis.ROTARY).nonlinear]
STRAIGHT = [one for one in SETTINGS + VARIANTS if one not in CURVED]
with_eta = pytest.mark.parametrize("settings", CURVED, ids=named, indirect=True)


@pytest.fixture
def law(settings: FrictionSettings, axis: Axis) -> FrictionLaw:
    return settings.law(axis)


def motion(rows: int = 3000, seed: int = 1) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    speed = 0.4 * np.sign(rng.uniform(-1, 1, rows)) * rng.uniform(0, 1, rows) ** 2  # dense where friction bends
    return rng.uniform(-2, 2, rows), speed, rng.uniform(-30, 30, rows)


def etas(law: FrictionLaw) -> list[Floats]:
    low = np.array([parameter.low for parameter in law.nonlinear])
    high = np.array([parameter.high for parameter in law.nonlinear])
    return [law.start, low, high] if law.nonlinear else [law.start]


def test_it_says_what_its_coefficients_are(settings: FrictionSettings, law: FrictionLaw, axis: Axis) -> None:
    everything: tuple[Parameter, ...] = (*law.parameters, *law.nonlinear)
    assert len({parameter.name for parameter in everything}) == len(everything)
    for parameter in everything:
        assert parameter.name.isidentifier()
        assert parameter.unit
        assert parameter.meaning
        assert parameter.needs
        assert ("rad" in parameter.unit or "N·m" in parameter.unit) is (axis is Axis.ROTARY) or parameter.unit == "1"
        assert parameter.low < parameter.high
        assert "(" in parameter.equation or "EMPS" in parameter.equation
    for parameter, start in zip(law.nonlinear, law.start, strict=True):
        assert np.isfinite([parameter.low, parameter.high]).all(), "a search needs a box"
        assert parameter.low <= start <= parameter.high


def test_kind_selects_it_and_unknown_keys_are_refused(settings: FrictionSettings) -> None:
    adapter: TypeAdapter[FrictionSettings] = TypeAdapter(AnyFriction)
    assert adapter.validate_python(settings.model_dump()) == settings
    with pytest.raises(ValueError, match="Extra inputs"):
        adapter.validate_python(settings.model_dump() | {"stickiness": 1})


def test_it_is_finite_at_rest_and_far_out(law: FrictionLaw) -> None:
    for eta in etas(law):
        for speed in (0.0, -0.0, 1e-300, 1e-9, 50.0, -50.0):
            assert np.isfinite(law.columns(np.zeros(1), np.array([speed]), np.array([3.0]), eta)).all()


def test_at_rest_no_column_has_a_direction(law: FrictionLaw) -> None:
    """At standstill lies what is halfway between creeping forth and creeping back."""
    for place in (0.0, 0.7, -1.9):
        rest, forth, back = (
            law.columns(np.full(1, place), np.full(1, speed), np.full(1, 2.0), law.start)
            for speed in (0.0, 1e-12, -1e-12)
        )
        np.testing.assert_allclose(rest, 0.5 * (forth + back), atol=1e-7)  # 1e-4 rad/s is the narrowest reversal


@with_eta
def test_what_is_found_by_looking_holds_of_any_motion(settings: FrictionSettings, law: FrictionLaw, axis: Axis) -> None:
    found, (position, velocity, load) = law_structure(settings, axis), motion()
    still = [column for column in range(len(law.parameters)) if column not in found.moving]
    base = law.columns(position, velocity, load, law.start)
    odd_at = []
    for eta in etas(law):
        forth, back = (law.columns(position, sign * velocity, load, eta) for sign in (1, -1))
        assert np.array_equal(forth[:, still], base[:, still])
        odd_at.append(np.array_equal(forth[:, found.moving], -back[:, found.moving]))
        elsewhere = law.columns(position + 1.0, velocity, 2.0 * load, eta)
        assert np.array_equal(forth[:, found.moving], elsewhere[:, found.moving]) or not found.alone
    assert all(odd_at) is found.odd  # where a threshold exceeds every speed, columns of zeros are odd too


@pytest.mark.parametrize("settings", STRAIGHT, ids=named, indirect=True)
def test_of_a_law_without_a_nonlinear_parameter_there_is_nothing_to_look_for(
    settings: FrictionSettings, axis: Axis
) -> None:
    with pytest.raises(ValueError, match="there is nothing to refit"):
        law_structure(settings, axis)


def test_its_coefficients_are_found_by_least_squares_on_its_own_data(law: FrictionLaw) -> None:
    truth = np.random.default_rng(5).uniform(0.5, 2.0, len(law.parameters))
    columns = law.columns(*motion(), law.start)
    scale = np.linalg.norm(columns, axis=0)
    found = np.linalg.lstsq(columns / scale, columns @ truth, rcond=None)[0] / scale
    np.testing.assert_allclose(found, truth, rtol=1e-8)


@with_eta
def test_each_nonlinear_parameter_moves_a_column(law: FrictionLaw) -> None:
    position, velocity, load = motion()
    base = law.columns(position, velocity, load, law.start)
    for index in range(len(law.nonlinear)):
        eta = law.start.copy()
        eta[index] += 0.05 * (law.nonlinear[index].high - law.nonlinear[index].low)
        assert np.abs(law.columns(position, velocity, load, eta) - base).max() > 1e-3


@pytest.mark.compiled
@with_eta
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5])
def test_its_nonlinear_parameters_are_found_on_its_own_data(
    law: FrictionLaw, settings: FrictionSettings, axis: Axis, scale: float
) -> None:
    limits = (np.array([getattr(parameter, end) for parameter in law.nonlinear]) for end in ("low", "high"))
    eta = np.clip(scale * law.start, *limits)
    position, velocity, load = motion()
    columns, moving = law.columns(position, velocity, load, eta), law_structure(settings, axis).moving
    fixed = [column for column in range(len(law.parameters)) if column not in moving]
    y = columns @ (2.0 + np.arange(len(law.parameters)))
    window = RefitRows(np.ascontiguousarray(columns[:, fixed]), y, velocity, position, load)
    found = refit(window, RefitModel(tuple(law.parameters[column] for column in fixed), settings))
    np.testing.assert_allclose(found.eta, eta, rtol=0.01)


def test_every_entry_is_written_and_rows_are_independent(law: FrictionLaw) -> None:
    signals = np.random.default_rng(7).normal(size=(30, 1 + max(1, len(law.stops)), SIGNALS))
    whole = np.full((30, len(law.parameters)), np.nan)
    law.fill(signals, 0, 1, law.start, whole)
    assert np.isfinite(whole).all()
    alone = np.full((1, len(law.parameters)), np.nan)
    law.fill(signals[11:12], 0, 1, law.start, alone)
    assert np.array_equal(alone[0], whole[11])


def test_a_rigid_joint_takes_it_in(settings: FrictionSettings, axis: Axis) -> None:
    law = settings.law(axis)
    model = RigidSettings(axis=axis, friction=settings, load=law.loaded()).build()
    signals = np.random.default_rng(8).normal(size=(400, 2 + max(1, len(law.stops)), SIGNALS)) * 0.3
    phi, y = np.full((400, 1, len(model.parameters)), np.nan), np.full((400, 1), np.nan)
    model.fill(signals, model.start, phi, y)
    alone = np.empty((400, len(law.parameters)))
    law.fill(signals, 0, 2, law.start, alone)
    assert [p.name for p in model.parameters[1:-1]] == [p.name for p in law.parameters]
    assert model.nonlinear == law.nonlinear
    assert np.array_equal(phi[:, 0, 1:-1], alone)
    assert np.linalg.matrix_rank(phi[:, 0] / np.linalg.norm(phi[:, 0], axis=0)) == len(model.parameters)
