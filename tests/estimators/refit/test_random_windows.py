"""Random windows of `jointwatch bench refit`: a refit's answer is the same for inputs that differ by rounding."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from estimators.refit.refit import RefitRows, refit

pytestmark = pytest.mark.compiled
PART = Path(__file__).parents[2] / "benchmarks" / "estimation" / "parts" / "refit_windows.py"
SPEC = importlib.util.spec_from_file_location("refit_windows", PART)
assert SPEC is not None
assert SPEC.loader is not None
windows = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(windows)


# In window 90086 the first descent, of 67 evaluations, ends within the last step's gain, which rounding moves.
@pytest.mark.parametrize("seed", [90086, *range(550_000, 550_008)])
@pytest.mark.parametrize("law", ["exponent searched", "tanh_stribeck"])
def test_one_ulp_of_the_torque_changes_no_answer(law: str, seed: int) -> None:
    drawn, shape = windows.window(windows.LAWS[law], seed, windows.NOISE), windows.model(windows.LAWS[law])
    answer = refit(drawn.rows, shape)
    beside = RefitRows(drawn.rows.fixed, np.nextafter(drawn.rows.y, np.inf), drawn.rows.velocity)
    other = refit(beside, shape)
    deviations = answer.deviations[-len(answer.eta) :] / answer.eta
    assert np.isfinite(deviations).all()
    alike = np.maximum(windows.EQUAL, windows.EQUAL_DEVIATIONS * deviations)
    assert (np.abs(np.log(other.eta / answer.eta)) <= alike).all()
    assert (other.ambiguous is None) == (answer.ambiguous is None)
