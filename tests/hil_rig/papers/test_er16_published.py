"""Tables of Ding et al. 2018 as typed in: what they say of each other holds, and β is read as it must be."""

from pathlib import Path

import numpy as np
import pytest

from hil_rig.papers.er16.published import ACCELERATION, BETA_PERIOD, LOWER, TABLE_5, UPPER, VELOCITY, box, write_beta
from hil_rig.plants.robots.er16 import FRICTION, LIMITS, links
from hil_rig.plants.robots.fourier import FourierMotion

PLACES = {"Ixx": 0, "Ixy": 1, "Ixz": 2, "Iyz": 4, "Izz": 5, "mx": 6, "my": 7}  # of a link's ten parameters


def table_3() -> np.ndarray:
    rigid = [links()[int(name[-1]) - 1, PLACES[name.split(".")[0]]] for name in TABLE_5]
    own = [FRICTION[key][j] for j in range(3) for key in ("offset", "coulomb", "viscous", "bend", "bend_rate")]
    return np.array([*rigid, *own])


def test_the_box_as_printed_excludes_two_published_results_and_ours_none() -> None:
    names, found = [*TABLE_5, *(f"{key}{j}" for j in (1, 2, 3) for key in ("f0", "fc", "fv", "fa", "fb"))], table_3()
    printed, ours = box(list(TABLE_5), printed=True), box(list(TABLE_5))
    outside = [name for name, x, low, high in zip(names, found, *printed, strict=True) if not low <= x <= high]
    assert outside == ["Izz.joint2", "fa1"]
    assert ((ours[0] <= found) & (found <= ours[1])).all()
    differing = [name for name, *pair in zip(names, *printed, *ours, strict=True) if pair[:2] != pair[2:]]
    assert differing == outside


def test_beta_exceeds_the_paper_s_own_limits(tmp_path: Path) -> None:
    """This order of its columns exceeds least, of those tried in the design: −78°, and 94, 39, 83 °/s²."""
    write_beta(tmp_path / "beta.csv")
    series = FourierMotion(file=tmp_path / "beta.csv").series(LIMITS)
    q, dq, ddq = (np.degrees(one) for one in series.at(np.linspace(0.0, BETA_PERIOD, 5001)))
    assert np.abs(ddq).max(axis=0) == pytest.approx([94.0, 39.0, 83.0], abs=1.0)
    assert q[:, 1].min() == pytest.approx(-78.0, abs=1.0)
    assert (np.abs(dq).max(axis=0) < VELOCITY).all()
    assert (np.abs(ddq).max(axis=0) > ACCELERATION).tolist() == [True, False, True]
    assert ((q.min(axis=0) < LOWER) | (q.max(axis=0) > UPPER)).tolist() == [False, True, False]
