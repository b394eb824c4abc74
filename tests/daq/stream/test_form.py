"""A form that is filled in gives the bytes of a message that is packed anew."""

import math
import tracemalloc

import msgpack
import numpy as np
import pytest

from daq.stream.form import Form
from daq.stream.update import Publication
from estimators.base import UNKNOWN, Estimate, Phase, Spectrum, Status
from estimators.reasons import Reason

ENDS = [0, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63]


def body(seq: int, one: float, other: float) -> dict[str, object]:
    return {"t": one, "robot": "r", "seq": seq, "boot": 2**47, "none": None, "yes": True,
            "nested": {"a": other, "words": ("x", "ü" * 40)}, "last": ()}  # fmt: skip


@pytest.mark.parametrize("seq", ENDS)
def test_any_number_is_as_msgpack_has_it(seq: int) -> None:
    form = Form(body(seq, 1.0, 2.0))
    for later in (seq, min(form.room - 1, seq + 1)):
        for number in (math.nan, -math.inf, -0.0, 1e-310, 5.0):
            assert form.fill((number, later, -number)) == msgpack.packb(body(later, number, -number))
    assert form.room > seq


def test_too_many_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="extended slice"):
        Form(body(3, 1.0, 2.0)).fill((1.0, 3, 2.0, 4.0))


def test_a_hundred_joints_hold_no_buffers_of_their_own() -> None:
    tracemalloc.start()
    try:
        kept = [
            (Publication("r", f"j{k}", 1, "Nm"), Form(body(3, 1.0, 2.0)), Form(body(3, 1.0, 2.0))) for k in range(100)
        ]
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(kept) == 100
    assert held < 3e6, f"{held / 1e6:.1f} MB: a buffer of msgpack's has 256 kB, and three a joint had 77 MB"


def estimate(k: int) -> Estimate:
    """One of a run in which words change now and then."""
    rng = np.random.default_rng(k)
    changing = Reason("no_data", None, {"seconds": float(k)})
    reasons = (changing,) if 20 <= k < 24 else (Reason("at_standstill"),) if k % 50 > 30 else ()
    spectrum = UNKNOWN if k < 10 else Spectrum((2.0, 1.0 + (k > 90)), "a against b")
    status = Status.VALID if not reasons else Status.LEARNING
    return Estimate(
        k, Phase.NORMAL, status, reasons, ("a", "b"), rng.normal(size=2), rng.normal(size=2), float(rng.normal()), 1.0,
        float(rng.normal()), math.nan, 100.0, spectrum,
    )  # fmt: skip


def test_updates_are_what_a_packer_gives() -> None:
    run = Publication("r", "j", 5, "N·m")
    for k in range(300):
        one = estimate(k)
        alone = Publication("r", "j", 5, "N·m", {"estimate": k, "residual": k})
        assert run.estimate(one, 1.5 + k, 2.5, 1e-4 * k) == alone.estimate(one, 1.5 + k, 2.5, 1e-4 * k)
        assert run.residual(one, 0.5 + k) == alone.residual(one, 0.5 + k)
        told = msgpack.unpackb(run.estimate(one, 0.0, 0.0, 0.0)[1])
        assert told["parameters"] == dict(zip(one.names, one.values.tolist(), strict=True))
        run.sequence["estimate"] -= 1
    assert run._form is not None
