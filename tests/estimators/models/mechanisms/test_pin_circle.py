"""The circle on which a pin's centre runs, from places whose circle is known."""

import numpy as np
import pytest

from estimators.models.mechanisms.pin_circle import ARC, BLOCKS, FEWEST, circle
from estimators.quantities import Floats

pytestmark = pytest.mark.interpreted
CLEARANCE, CENTRE, SIGMA, ROWS = 150e-6, np.array([40e-6, -70e-6]), 4e-6, 1200


def places(seed: int, arc: float = 2.0 * np.pi, radius: float = CLEARANCE, sigma: float = SIGMA) -> Floats:
    """(rows, 2) m, there and back over an arc from 0.4 rad on."""
    rng = np.random.default_rng(seed)
    angle = 0.4 + arc * (0.5 - 0.5 * np.cos(np.linspace(0.0, 6.0 * np.pi, ROWS)))
    at = CENTRE + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(at + sigma * rng.standard_normal(at.shape))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_centre_and_radius_are_found_with_an_honest_deviation(seed: int) -> None:
    found = circle(*places(seed).T)
    assert found.remark == ""
    assert abs(found.clearance - CLEARANCE) < 3.0 * found.deviation
    np.testing.assert_allclose(found.centre, CENTRE, atol=1e-6)
    assert found.spread == pytest.approx(SIGMA, rel=0.1)
    # of twenty blocks, as if a place off the circle lasted for one; and what leaving blocks out moves, less than that
    assert 0.9 < found.deviation / (SIGMA / np.sqrt(BLOCKS)) < 1.2
    assert found.arc == pytest.approx(2.0 * np.pi, rel=1e-9)
    assert found.touching > 0.97


@pytest.mark.parametrize(("arc", "told"), [(1.2 * ARC, True), (0.8 * ARC, False)])
def test_an_arc_of_less_than_a_third_of_the_circle_tells_no_radius(arc: float, told: bool) -> None:
    found = circle(*places(4, arc).T)
    assert found.arc == pytest.approx(arc, abs=2.1 * 2.0 * np.pi / 36.0), "bins of ten degrees"
    assert (found.remark == "") is told
    if not told:
        assert "of its circle, 120° are needed" in found.remark
    else:
        assert found.clearance == pytest.approx(CLEARANCE, rel=0.05)


def test_rows_in_which_the_pin_flies_and_spikes_of_a_sensor_are_left_out() -> None:
    at = places(5)
    flies = np.arange(ROWS) % 5 == 0
    at[flies] = CENTRE + 0.6 * (at[flies] - CENTRE)
    at[7::200] += (0.0, 3e-3)
    found = circle(*at.T)
    assert found.clearance == pytest.approx(CLEARANCE, abs=3.0 * found.deviation)
    assert found.touching == pytest.approx(0.8, abs=0.03)
    assert found.spread == pytest.approx(SIGMA, rel=0.15)


def test_a_circle_that_its_own_scatter_could_make_is_none() -> None:
    for radius, told in ((9.0 * SIGMA, True), (5.0 * SIGMA, False)):
        found = circle(*places(6, radius=radius).T)
        assert (found.remark == "") is told
    assert "the places scatter by" in found.remark


def test_rows_without_a_place_do_not_count_and_too_few_are_refused() -> None:
    at = places(7)
    lost = at.copy()
    lost[::3, 0] = np.nan
    assert circle(*lost.T).clearance == circle(*at[np.arange(ROWS) % 3 != 0].T).clearance
    least = BLOCKS * FEWEST
    with pytest.raises(
        ValueError, match=f"expected at least {least} rows of both proximity sensors, found {least - 1}"
    ):
        circle(*at[: least - 1].T)
    assert circle(*places(8)[:: ROWS // least].T[:, :least]).clearance == pytest.approx(CLEARANCE, rel=0.1)
