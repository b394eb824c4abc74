"""More rows of `jointwatch bench truth`: single joints as they work in industry, and what their models leave out."""

from collections.abc import Mapping
from typing import Any, Final

from hil_rig.truth import left_out, programs
from hil_rig.truth.given import MODEL
from hil_rig.truth.truth_row import TruthRow

PICKS: Final = (
    (100.0, 18),
    (125.0, 20),
    (250.0, 20),
    (500.0, 19),
    (1000.0, 17),
    (2000.0, 18),
    (4000.0, 17),
)  # Hz, bits


def _pick(rate: float, bits: int) -> TruthRow:
    return TruthRow(True, lambda seed: programs.pick(seed, rate, bits), soon=True)


def _ripple(model: Mapping[str, Any]) -> TruthRow:
    return TruthRow(False, lambda seed: left_out.ripple(seed, model))


ROWS: Final[dict[str, TruthRow]] = {
    **{f"pick {rate:g} Hz": _pick(rate, bits) for rate, bits in PICKS},
    "one sine": TruthRow(True, programs.sine),
    "scan 0.01 rad/s": TruthRow(True, programs.scan),
    "index one way": TruthRow(True, programs.index),
    "base level": TruthRow(True, left_out.level),
    "base tilted": TruthRow(False, left_out.tilted),
    "ripple, sin only": _ripple(left_out.LEVEL),
    "ripple, sin and cos": _ripple(MODEL),
    "spring balancer": TruthRow(False, left_out.balancer),
    "dead zone 3 %": TruthRow(False, left_out.dead_zone),
    "payload every 10 s": TruthRow(False, left_out.payloads),
    "one push": TruthRow(True, left_out.push),
    "belt 8 Hz": TruthRow(False, left_out.belt),
    "encoder eccentric": TruthRow(False, left_out.eccentric),
    "arrival 1 to 8 ms late": TruthRow(False, left_out.jitter),
    "10 rad/s, 13 bits": TruthRow(False, left_out.fast),
}
