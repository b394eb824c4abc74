"""Samples under the taps of rows, against the low-pass that rows have passed, and a bus that loses rows."""

import numpy as np
import pytest

from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.online.robot.block import BLOCK
from estimators.online.robot.findings.quick_samples import QuickSamples, joined


@pytest.mark.parametrize(
    ("period", "stride", "slow"), [(0.001, 20, 10.0), (0.002, 10, 10.0), (0.01, 2, 10.0), (0.008, 2, 4.0)]
)
def test_taps_make_of_a_column_what_the_low_pass_makes(period: float, stride: int, slow: float) -> None:
    t = np.arange(0.0, 1.9, period)
    speed = np.column_stack([0.4 * np.sin(4.0 * t), 0.3 * np.cos(5.0 * t)])
    passed = CausalLowPass(2, slow, period).absorb(np.tanh(speed / 0.1))[0]
    quick, chunk = QuickSamples(2, stride, period, slow), 7
    for first in range(0, len(t), chunk):
        part = slice(first, first + chunk)
        quick.absorb(speed[part], 2.0 * speed[part], first)
    rows = np.arange(len(t) // stride - BLOCK // 2, len(t) // stride) * stride
    assert len(quick.complete(rows)) == len(rows)
    for j in range(2):
        samples = quick.of(j, rows)
        assert samples.stretch[1] == pytest.approx(2.0 * samples.stretch[0])
        columns = np.tanh(samples.stretch[0] / 0.1)
        found = [quick.taps @ columns[at : at + len(quick.taps)] for at in samples.first]
        assert found == pytest.approx(passed[rows, j], abs=2e-3)


@pytest.mark.parametrize(
    ("period", "spacing", "slow"), [(0.001, 0.005, 10.0), (0.002, 0.004, 10.0), (0.008, 0.008, 4.0)]
)
def test_a_row_rests_on_no_more_samples_than_the_low_pass_remembers(period: float, spacing: float, slow: float) -> None:
    """The step response of a Butterworth filter is within 1e-4 of its end from there on; straight lines in between add
    a sample at either end, and a last one is cut."""
    t = np.linspace(0.0, 3.0 / slow, 100_001)
    x = np.sqrt(2.0) * np.pi * slow * t
    left = np.exp(-x) * (np.sin(x) + np.cos(x))
    lasts = t[np.flatnonzero(np.abs(left) > 1e-4)[-1]] / spacing
    assert lasts < len(QuickSamples(1, 20, period, slow).taps) <= lasts + 3.0


def test_rows_whose_samples_are_gone_are_not_complete() -> None:
    quick = QuickSamples(1, 10, 0.002, 10.0)
    quick.absorb(np.ones((200, 1)), np.ones((200, 1)), 0)
    early, late = np.array([0, 10]), np.array([190])
    assert len(quick.complete(early)) == 0
    assert len(quick.complete(late)) == 1
    quick.absorb(np.ones((100_000, 1)), np.ones((100_000, 1)), 200)
    assert len(quick.complete(late)) == 0


def test_stretches_of_blocks_are_joined_in_their_order() -> None:
    quick = QuickSamples(1, 10, 0.002, 10.0)
    ramp = np.arange(600.0)[:, np.newaxis]
    quick.absorb(ramp, ramp, 0)
    one, two = quick.of(0, np.array([400, 410])), quick.of(0, np.array([500]))
    both = joined([one, two])
    last = [both.stretch[0, at + len(quick.taps) - 1] for at in both.first]
    assert last == [400.0, 410.0, 500.0]
