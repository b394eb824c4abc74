"""More rows of `jointwatch bench truth`: single joints in industrial motions, and effects that their models lack."""

from collections.abc import Mapping
from typing import Any, Final

from hil_rig.truth import gradual, left_out, programs
from hil_rig.truth.given import MODEL
from hil_rig.truth.trial import TruthRow

PICKS: Final = (
    (25.0, 18),
    (50.0, 18),
    (100.0, 18),
    (125.0, 20),
    (250.0, 20),
    (500.0, 19),
    (1000.0, 17),
    (2000.0, 18),
    (4000.0, 17),
)  # Hz, bits


def _pick(rate: float, bits: int) -> TruthRow:
    return TruthRow(
        True,
        lambda seed: programs.pick(seed, rate, bits),
        WIDE | (SLOW_RATE if rate < 200.0 else {}) | (BLURRED if rate < 100.0 else {}),
        soon=True,
    )


def _ripple(model: Mapping[str, Any]) -> TruthRow:
    return TruthRow(False, lambda seed: left_out.ripple(seed, model), LARGER)


# Limits that are not met yet, with the cause as far as it is known.
SLOW_RATE: Final = {"soon": "the filter's window at this rate adds to the 12 s of the start"}
BLURRED: Final = {
    "valid": "a ramp is two to six samples long, so a row spans its corners, where the acceleration jumps"
}
ECCENTRIC: Final = {
    "lies": "the disc scales speed and acceleration by its mean over the arc, which no residual shows; none is material"
}
BELT: Final = {"lies": "below three deviations of its column a belt cannot be told from noise; none is material"}
SWITCHED: Final = (
    "the truth jumps as often as the memory of the residuals is long: in the second after a jump no row shows it yet"
)
ZONE: Final = dict.fromkeys(
    ("lies", "material"),
    "where torque and speed nearly always have the same sign a dead zone looks like Coulomb friction, which is not "
    "known; rows in which they differ are few and show it late",
)
LARGER: Final = dict.fromkeys(
    ("lies", "material"),
    "one joint in eight has a ripple of a fifth to a third of its torque, four to six times the prior of 5 %; a prior "
    "that includes it would make gravity of sound joints unidentifiable",
)
SPRING: Final = dict.fromkeys(
    ("lies", "material"),
    "up to half of gravity is the part of the spring that varies with sin q, which no row tells from gravity; what "
    "remains of the spring may be a thousandth of the torque",
)
ONSET: Final = dict.fromkeys(
    ("lies", "rms z"),
    "growth is detected at the end of a block, 1 to 2 s after it begins, and these looks alone are 1 % of the time",
)
WIDE: Final = {"rms z": "σ of known values includes a possible torque that depends on the angle, which is zero here"}
LAG: Final = {
    "rms z": "σ of known values includes a possible lag of the torque, which is zero here and which such a motion "
    "determines to 0.2 ms only: if the lag were known, rms z would be 0.7 instead of 0.4"
}
ROWS: Final[dict[str, TruthRow]] = {
    **{f"pick {rate:g} Hz": _pick(rate, bits) for rate, bits in PICKS},
    "one sine": TruthRow(True, programs.sine, WIDE),
    "scan 0.01 rad/s": TruthRow(True, programs.scan, WIDE),
    "index one way": TruthRow(True, programs.index, LAG),
    "base level": TruthRow(True, left_out.level, WIDE),
    "base tilted": TruthRow(False, left_out.tilted),
    "ripple, sin only": _ripple(left_out.LEVEL),
    "ripple, sin and cos": _ripple(MODEL),
    "spring balancer": TruthRow(False, left_out.balancer, SPRING),
    "dead zone 3 %": TruthRow(False, left_out.dead_zone, ZONE),
    "torque cut to zero": TruthRow(False, left_out.cut),
    "torque rounded": TruthRow(True, left_out.rounded, WIDE),
    "iron saturates 8 %": TruthRow(False, left_out.saturation),
    "payload every 10 s": TruthRow(False, left_out.payloads, {"lies": SWITCHED, "material": SWITCHED}),
    "one push": TruthRow(True, left_out.push, WIDE),
    "led by hand": TruthRow(False, left_out.led),
    "friction ramp": TruthRow(True, gradual.ramp, ONSET),
    "belt 8 Hz": TruthRow(False, left_out.belt, BELT),
    "encoder eccentric": TruthRow(False, left_out.eccentric, ECCENTRIC),
    "arrival 1 to 8 ms late": TruthRow(False, left_out.jitter),
    "10 rad/s, 13 bits": TruthRow(False, left_out.fast),
    "encoder between lines": TruthRow(False, left_out.subdivisional),
    "commutation": TruthRow(False, left_out.commutation),
    "friction of load": TruthRow(False, left_out.friction_of_load),
    "friction of place": TruthRow(False, left_out.friction_of_place),
    "another axis": TruthRow(False, left_out.coupled),
}
