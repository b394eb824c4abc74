"""What a joint's configuration says of its channels is what its samples are made by."""

from typing import Any

import numpy as np
import pytest

from daq.config.routes import Route
from daq.config.sections import JointSection
from daq.core.align import Aligner, Sorter
from drivers.reading import READING
from estimators.quantities import Floats, Nanoseconds

P = 1_000_000  # ns
PLACE, TORQUE = range(2)


def rows(readings: list[tuple[int, float, int]], **more: Any) -> tuple[Nanoseconds, Floats, Aligner]:
    """Samples of (arrival in ns, value, column); more: of the joint, `torque` of its second channel."""
    torque, position = more.pop("torque", {}), more.pop("position", {})
    channels = {"position": {"signal": "a.MOTOR.q"} | position, "torque": {"signal": "a.SENSOR.t"} | torque}
    joint = JointSection.model_validate({"rate": 1000.0, "model": {"kind": "rigid"}, "channels": channels} | more)
    aligner = Aligner(joint, ("position", "torque"))
    order = sorted(readings)
    arrivals, values, columns = (np.array(column) for column in zip(*order, strict=True))
    return *aligner.absorb(arrivals.astype(np.int64), values.astype(float), columns.astype(np.int32)), aligner


def both(count: int = 600, late: int = 0, every: int = 1, lost: tuple[int, ...] = ()) -> list[tuple[int, float, int]]:
    """Position k and torque 1000 + k of sample k; late: ns, of the torque's frames; every: sample has a torque."""
    kept = [k for k in range(count) if k not in lost]
    place = [(P + k * P, float(k), PLACE) for k in kept]
    return place + [(P + k * P + late, 1000.0 + k, TORQUE) for k in kept if k % every == 0]


def test_a_delay_is_taken_off() -> None:
    _, plain, _ = rows(both())
    _, moved, _ = rows(both(), torque={"delay": 0.003})
    assert np.nanmedian(plain[:, TORQUE] - plain[:, PLACE]) == pytest.approx(1000.0)
    assert np.nanmedian(moved[:, TORQUE] - moved[:, PLACE]) == pytest.approx(1003.0)


def test_a_channel_has_a_rate_of_its_own() -> None:
    _, told, _ = rows(both(every=4), torque={"rate": 250.0})
    inner = told[100:-100]
    np.testing.assert_allclose(inner[:, TORQUE] - inner[:, PLACE], 1000.0, atol=0.1)
    _, untold, _ = rows(both(every=4))
    assert np.isnan(untold[100:-100, TORQUE]).any(), "else three in four are missing"


def test_an_encoder_starts_again_where_it_is_said() -> None:
    turning = [(at, value % 100.0 if column == PLACE else value, column) for at, value, column in both()]
    _, told, _ = rows(turning, position={"wrap": 100.0})
    assert np.ptp(told[:, PLACE]) > 400.0
    _, untold, _ = rows(turning)
    assert np.ptp(untold[:, PLACE]) <= 100.0


@pytest.mark.parametrize("bridge", [0, 2, 3])
def test_so_many_missing_samples_are_bridged(bridge: int) -> None:
    gaps = [(at, np.nan if column == TORQUE and (value in (1200.0, 1300.0, 1301.0, 1302.0)) else value, column)
            for at, value, column in both()]  # fmt: skip
    _, found, aligner = rows(gaps, bridge=bridge)
    alone, three = found[found[:, PLACE] == 200.0, TORQUE], found[(found[:, PLACE] >= 300) & (found[:, PLACE] <= 302)]
    assert np.isnan(alone).all() if bridge == 0 else alone == pytest.approx([1200.0])
    assert np.isnan(three[:, TORQUE]).all() if bridge < 3 else three[:, TORQUE] == pytest.approx([1300, 1301, 1302])
    assert aligner.interpolated() == (0, 0, 1, 4)[bridge]


@pytest.mark.parametrize(("half_width", "most"), [(None, 5), (0.030, 8), (0.0005, 2), (0.1, 16)])
def test_unless_it_is_said_as_many_missing_samples_are_bridged_as_its_kernel_hides(
    half_width: float | None, most: int
) -> None:
    """π² m (m + 1)² / 24 · (P/H)³ ≤ 0.01, by hand, with H = 20 ms as usual; 2 in any case, 16 at most."""
    conditioning = {} if half_width is None else {"conditioning": {"half_width": half_width}}
    gaps = [(at, np.nan if column == TORQUE and (300 <= value - 1000 < 300 + most or 400 <= value - 1000 <= 400 + most)
             else value, column) for at, value, column in both()]  # fmt: skip
    _, found, _ = rows(gaps, **conditioning)
    place, torque = found[:, PLACE], found[:, TORQUE]
    assert np.isfinite(torque[(place >= 300) & (place < 300 + most)]).all()
    assert np.isnan(torque[(place >= 400) & (place <= 400 + most)]).all(), "one more is a gap"


def test_a_late_channel_is_waited_for_as_long_as_is_said() -> None:
    whole = [value for value in both() if value[2] == PLACE or value[0] < 300 * P]  # the torque falls silent
    for patience, least, most in ((0.02, 15, 25), (0.2, 190, 205)):
        ticks, found, _ = rows(whole, patience=patience)
        assert np.isnan(found[310:, TORQUE]).all()
        behind = (600 * P - (ticks[-1] - ticks[0])) / P
        assert least <= behind <= most


def test_the_reference_is_the_channel_that_is_said() -> None:
    slow = both(every=2)
    ticks, _, _ = rows(slow, torque={"rate": 500.0}, rate=500.0, reference="torque", position={"rate": 1000.0})
    assert np.median(np.diff(ticks)) == 2 * P
    ticks, _, _ = rows(slow, torque={"rate": 500.0})
    assert np.median(np.diff(ticks)) == P


def test_readings_are_split_by_joint_in_the_order_in_which_they_came() -> None:
    roles = {"a": ("position", "torque"), "b": ("position",), "c": ("torque", "position")}
    table = [("a", "torque"), ("a", "counter"), ("b", "position"), ("c", "position"), ("a", "position")]
    sorter = Sorter([Route(joint, role, "bus", "", 1.0, 0.0) for joint, role in table], ("a", "b", "c"), roles)
    readings = np.zeros(7, READING)
    readings["channel"] = [3, 0, 1, 3, 4, 0, 3]
    readings["flags"] = 0xFFFFFFFF  # beside the channel in one word
    readings["time"], readings["value"] = np.arange(7) + 100, np.arange(7) + 0.5
    split = [(joint, *(one.tolist() for one in rest)) for joint, *rest in sorter.split(readings)]
    assert split == [
        (0, [101, 102, 104, 105], [1.5, 2.5, 4.5, 5.5], [1, 2, 0, 1]),  # after its channels the counter
        (2, [100, 103, 106], [0.5, 3.5, 6.5], [1, 1, 1]),
    ]
    assert [joint for joint, *_ in sorter.split(readings[:1])] == [2], "nothing is left of the call before"
    assert list(sorter.split(readings[:0])) == []
