"""Updates of normal mode, made from the last one's form with new numbers: the same bytes as a whole one, each field."""

import msgpack
import numpy as np
import pytest

from daq.stream.update import Publication
from estimators.base import UNKNOWN, Estimate, Phase, Spectrum, Status

SPECTRUM = Spectrum((1.5, 0.5, 0.25), "coulomb against inertia")


def normal(number: int, spectrum: Spectrum) -> Estimate:
    """Every number is another one."""
    return Estimate(
        time=5, phase=Phase.NORMAL, status=Status.VALID, reasons=(), names=("inertia", "coulomb"),
        values=np.array([0.5, 2.0]) + number, deviations=np.array([0.01, 0.02]) * number, error=0.25 / number,
        forgetting=0.5 + 0.01 * number, measured=3.5 * number, predicted=-1.25, progress=100.0, spectrum=spectrum,
    )  # fmt: skip


def whole(number: int, spectrum: Spectrum) -> list[tuple[bytes, bytes]]:
    """What is published of the number-th, from the estimate."""
    publication, told = Publication("arm", "elbow", 7, "N·m"), list[tuple[bytes, bytes]]()
    for k in range(1, number + 1):
        one = normal(k, spectrum)
        told = [publication.estimate(one, 10.0 + k, 9.5 + k, 0.001 * k), publication.residual(one, 10.0 + k)]
    return told


@pytest.mark.parametrize("spectrum", [SPECTRUM, UNKNOWN])
def test_numbers_in_a_form_are_the_estimates_and_its_residual_with_their_signs(spectrum: Spectrum) -> None:
    publication = Publication("arm", "elbow", 7, "N·m")
    assert not publication.formed
    for k in (1, 2):
        one = normal(k, spectrum)
        publication.estimate(one, 10.0 + k, 9.5 + k, 0.001 * k)
        publication.residual(one, 10.0 + k)
    assert publication.formed
    for k in (3, 4):
        one = normal(k, spectrum)
        figures = [*one.values.tolist(), *one.deviations.tolist(), one.error, one.forgetting]
        told = publication.fill_forms(figures, one.measured, one.predicted, (10.0 + k, 9.5 + k, 0.001 * k))
        assert told == whole(k, spectrum)
    (topic, body), (beside, torque) = ((name.decode(), msgpack.unpackb(data)) for name, data in told)
    assert (topic, beside) == ("estimate/elbow", "residual/elbow")
    assert (body["timestamp"], body["arrival"], body["latency"], body["seq"]) == (14.0, 13.5, 0.004, 3)
    assert body["parameters"] == {"inertia": 4.5, "coulomb": 6.0}
    assert body["deviations"] == {"inertia": 0.04, "coulomb": 0.08}
    assert (body["error"], body["forgetting"], body["progress"]) == (0.0625, 0.54, 100.0)
    assert body.get("condition") == (6.0 if spectrum.values else None)
    assert (torque["timestamp"], torque["seq"]) == (14.0, 3)
    assert (torque["measured"], torque["predicted"], torque["residual"]) == (14.0, -1.25, 15.25)
