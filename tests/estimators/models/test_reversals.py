"""Which rows see a reversal, and that they teach nothing."""

import numpy as np
import pytest

from estimators.models.friction.tanh_stribeck import TanhStribeckSettings
from estimators.models.joints.rigid import RigidSettings
from estimators.models.reversals import Reversals
from estimators.rows import Rows

pytestmark = pytest.mark.interpreted
INERTIA, VISCOUS, COULOMB, OFFSET = range(4)


def rows(signs: list[float]) -> Rows:
    """Of a rigid joint whose sign column is this."""
    phi = np.ones((len(signs), 1, 4))
    phi[:, 0, COULOMB] = signs
    return Rows(np.arange(len(signs)), phi, np.ones((len(signs), 1)), np.full((len(signs), 1), 0.5))


def test_a_row_that_saw_both_directions_stands_still() -> None:
    found = Reversals(RigidSettings().build()).absorb(rows([1.0, 1.0, 0.3, -0.4, -1.0, -1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(found.speed[:, 0] == 0.0, [False, False, True, True, False, False, False, False])


def test_a_joint_that_turns_all_the_time_still_teaches() -> None:
    found = Reversals(RigidSettings().build()).absorb(rows([1.0, 1.0, *[0.5] * 40]))
    assert np.count_nonzero(found.speed) >= 36


def test_how_rows_are_cut_does_not_matter() -> None:
    signs = np.random.default_rng(1).choice([1.0, -1.0, 0.5, 0.0], 400, p=(0.4, 0.3, 0.2, 0.1)).tolist()
    whole, parts = Reversals(RigidSettings().build()), Reversals(RigidSettings().build())
    together = whole.absorb(rows(signs)).speed
    apart = [parts.absorb(rows(signs[i : i + 7])).speed for i in range(0, 400, 7)]
    np.testing.assert_array_equal(together, np.concatenate(apart))


def test_a_law_that_turns_smoothly_keeps_its_reversals() -> None:
    law = RigidSettings(friction=TanhStribeckSettings()).build()
    assert Reversals(law).absorb(rows([0.1, -0.2])).speed.all()
