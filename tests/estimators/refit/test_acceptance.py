"""Whether what a search found may count, at its limits."""

from dataclasses import replace

import numpy as np
import pytest

from estimators.models.joints.friction_only import FrictionOnlySettings
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.refit.acceptance import delta, doubts, implausible
from estimators.refit.outcome import RefitOutcome

BLOCK = NonlinearBlock(FrictionOnlySettings().build(), np.ones(1))  # ω1 and ω_s, both positive
ETA = np.array([0.08, 0.2])
FOUND = RefitOutcome(
    np.ones(4), ETA, np.eye(6), np.ones(1), 1.0, 10.0, 50, (), (), None, np.zeros((0, 2)), {}
)  # fmt: skip
CERTAIN = np.full(2, 0.08)


def test_explained_is_a_residual_of_1_2_times_the_usual_one_or_of_0_4_percent_of_y() -> None:
    assert delta(2.0, 1.0) == pytest.approx(1.44 * 2.0)
    assert delta(2.0, 1e6) == pytest.approx(16.0)
    assert delta(2.0, 1.8e5) == pytest.approx(2.88), "whichever is more"


def test_nothing_speaks_against_an_outcome_that_is_certain() -> None:
    assert doubts(BLOCK, FOUND, CERTAIN) == ()
    assert implausible(BLOCK, FOUND, CERTAIN, ETA, 1.0, 1.0) == ""


@pytest.mark.parametrize("unsure", [0.081, np.inf, np.nan])
def test_what_is_uncertain_is_named_with_its_value(unsure: float) -> None:
    (said,) = doubts(BLOCK, FOUND, np.array([0.01, unsure]))
    assert (said.code, said.parameter) == ("nonlinear_uncertain", "omega_stribeck")
    assert str(said).startswith("omega_stribeck = 0.2 rad/s is uncertain by ")
    assert str(said).endswith(f"{100 * unsure:.0f} %")


def test_everything_that_speaks_against_it_is_said() -> None:
    found = replace(FOUND, edge=("omega_tanh",), at_zero=("coulomb", "viscous"), ambiguous="two minima", residual=4.0)
    against = ("omega_tanh is at the end of its range", "coulomb would be negative", "viscous would be negative")
    told = doubts(BLOCK, found, CERTAIN)
    assert tuple(map(str, told)) == (*against, "two minima")
    codes = ("nonlinear_at_range_end", *["coefficient_negative"] * 2, "second_minimum")
    assert tuple(one.code for one in told) == codes
    said = implausible(BLOCK, found, CERTAIN, ETA, 3.9, 1.0)
    assert said == "; ".join(("the residual is 2.00 times the usual one", *against, "two minima"))
    assert implausible(BLOCK, replace(FOUND, residual=4.5), CERTAIN, ETA, 4.4, 2.0).startswith("the residual is 1.50")
    assert implausible(BLOCK, replace(FOUND, residual=4.5), CERTAIN, ETA, 4.5, 2.0) == ""


@pytest.mark.parametrize(
    ("factor", "names"),
    [
        ((1.99, 0.51), ""),
        ((2.01, 1.0), "omega_tanh"),
        ((1.0, 0.49), "omega_stribeck"),
        ((0.4, 3.0), "omega_tanh, omega_stribeck"),
    ],
)
def test_only_a_window_as_long_as_a_start_moves_eta_by_more_than_twofold(
    factor: tuple[float, float], names: str
) -> None:
    said = implausible(BLOCK, replace(FOUND, eta=ETA * factor), CERTAIN, ETA, 1.0, 1.0)
    far = f"{names} changed by more than a factor of 2, which a window as long as a start must show"
    assert said == (far if names else "")
    assert implausible(BLOCK, replace(FOUND, eta=ETA * factor), CERTAIN, ETA, 1.0, 1.0, long=True) == ""
