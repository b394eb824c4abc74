"""Where a change of θ began, on rows whose change is known."""

import numpy as np
import pytest

from estimators.quantities import Floats
from estimators.recursive.prior import Prior, nothing
from estimators.rows import Rows
from estimators.window.change_point import onset
from hil_rig.papers.space_joint.case2 import LINEAR, OMEGAS, case

NOISE = 0.5  # N·m, about what case() adds at 1 %


def known(theta: Floats) -> Prior:
    return nothing(len(theta))._replace(theta=theta)


def window(seed: int, begins: int, by: float, rows: int = 150) -> Rows:
    """Rows 1980… of Case 2 with φ of the true ω; the linear parameters change at row 1980 + begins."""
    run = case(seed, 0.01, linear_at=19.8 + 0.01 * begins, end=25.0, linear_by=by)
    part = run.rows.part(slice(1980, 1980 + rows))
    velocity = part.samples[:, 0, 0, 0]
    part.phi[:, 0, 0] = np.tanh(velocity / OMEGAS[0])
    part.phi[:, 0, 1] = velocity * np.exp(-np.abs(velocity / OMEGAS[1]))
    return part


@pytest.mark.parametrize("begins", [0, 7, 20, 39, 40, 57, 100])
@pytest.mark.parametrize("by", [1.5, 0.5])
def test_a_large_change_is_placed_at_its_row_also_behind_the_candidates(begins: int, by: float) -> None:
    for seed in range(3):
        assert onset(window(seed, begins, by), np.array([NOISE]), known(LINEAR), 40) == begins


def test_it_is_the_row_that_leaves_the_least_error_before_and_after() -> None:
    rows = window(3, 17, 1.06)
    phi, y = rows.phi[:, 0], rows.y[:, 0]
    errors = []
    for row in range(40):
        rest = np.linalg.lstsq(phi[row:], y[row:], rcond=None)[0]
        errors.append(np.sum((y[:row] - phi[:row] @ LINEAR) ** 2) + np.sum((y[row:] - phi[row:] @ rest) ** 2))
    assert onset(rows, np.array([NOISE]), known(LINEAR), 40) == np.argmin(errors)


def test_what_is_known_of_before_and_outputs_that_are_missing_count_as_such() -> None:
    rows = window(4, 12, 1.5)
    phi = np.concatenate([rows.phi, np.ones_like(rows.phi[:, :, :1])], axis=2)  # an offset, known to stay
    prior = known(np.append(LINEAR, 0.0))
    prior.information[4, 4] = 1e8
    second = np.full((len(phi), 1, 5), np.nan)
    y = np.concatenate([rows.y, np.full_like(rows.y, np.nan)], axis=1)
    both = rows._replace(phi=np.concatenate([phi, second], axis=1), y=y)
    assert onset(both, np.array([NOISE, 1.0]), prior, 40) == 12


def test_fewer_rows_than_candidates() -> None:
    assert onset(window(0, 8, 1.5, rows=20), np.array([NOISE]), known(LINEAR), 40) == 8
