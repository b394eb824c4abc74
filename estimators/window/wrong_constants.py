"""Which known constant is wrong: what its error would leave in the residual, searched for there (score test).

With all parameters known from least squares, y − Φθ = e + ε·c for a small error ε of a constant, c = ∂(y − Φθ)/∂ε. One
step of least squares over [Φ T c] (T: tangents of η) gives ε and its deviation, and ε[Φ T]⁺c is what the error has done
to θ and s: where the test sees something that is considered in the deviations, and nowhere else. An error that another
value of the parameters imitates is not seen, and does not disturb the prediction either.
Reference: Rao 1948 (score test).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.models.base import Constant
from estimators.models.nonlinear_block import NonlinearBlock
from estimators.quantities import Floats
from estimators.reasons import Reason
from estimators.rows import Rows
from estimators.thresholds import GOOD, LEAST_DIVISOR, OWN_SHARE

#: deviations, argued: Deviations from which a constant is wrong: several are asked, thousands of times.
SIGNIFICANT: Final = 4.5
#: by unit, argued: Errors of a constant (relative, rad, s) that are smaller are not worth a word.
LEAST: Final = {"": 0.01, "rad": 1e-6, "s": 5e-6}
#: 1, argued: Share of the best suspect's χ² from which another one is named too.
RIVAL: Final = 0.5


class Suspect(NamedTuple):
    """One constant and its error."""

    name: str
    unit: str  # "" where the error is relative
    error: float
    deviation: float
    shift: Floats  # (parameters + nonlinear,) what the error has done to θ and s, and …
    unsure: Floats  # … by how much more, one deviation

    @property
    def grave(self) -> bool:
        """Whether nothing that rests on it may be trusted."""
        return self.unit == "" and abs(self.error) > GOOD

    def beyond(self, steps: float) -> bool:
        """Whether it is more than what an encoder's steps pass for, rms."""
        return bool(abs(self.error) > SIGNIFICANT * np.hypot(self.deviation, steps))

    def __str__(self) -> str:
        """The suspicion as a sentence."""
        if self.unit == "":
            return f"{self.name} ({100 * self.error:+.1f} ± {100 * self.deviation:.1f} %)"
        return f"{self.name} ({self.error:+.2g} ± {self.deviation:.1g} {self.unit})"


def accused(suspects: Sequence[Suspect]) -> tuple[Reason, ...]:
    """The reason that they are, none where there are none."""
    return (_reason("constant_wrong", suspects),) if suspects else ()


def too_coarse(suspect: Suspect) -> Reason:
    """The reason that one is, which is no more than what an encoder's steps pass for."""
    return _reason("constant_or_encoder_steps", (suspect,))


def _reason(code: str, suspects: Sequence[Suspect]) -> Reason:
    """Numbers are those of the first."""
    name, unit, error, deviation, *_ = suspects[0]
    words = {"suspects": " or ".join(map(str, suspects)), "unit": unit}
    return Reason(code, name, {"error": float(error), "deviation": float(deviation)}, words)


def suspected(
    block: NonlinearBlock,
    rows: Rows,
    eta: Floats,
    theta: Floats,
    noise: Floats,
    overlap: float,
    slopes: Floats | None = None,
) -> list[Suspect]:
    """Known constants whose error the residual of a fitted window shows.

    overlap: rows that say the same; slopes: NonlinearBlock.slopes of the rows, where they are known.
    """
    weight = np.isfinite(rows.y) / np.sqrt(noise)
    known = weight > 0.0
    both = np.concatenate([rows.phi, block.tangents(rows, eta, theta, slopes)], axis=2)
    design = both[known] * weight[known][:, np.newaxis]
    residual = (rows.y - rows.phi @ theta)[known] * weight[known]
    return suspects(block.joint.constants(rows, block.taps, theta), design, residual, weight, overlap)


def suspects(
    constants: Sequence[Constant], design: Floats, residual: Floats, usable: Floats, noise: float
) -> list[Suspect]:
    """The constants whose error explains the residual, the best first; rivals that explain it nearly as well after it.

    design: (equations, columns) whitened [Φ T]; residual: (equations,) whitened; usable: (rows, outputs) weights, zero
    where an output is masked; noise: variance of an equation, times the number of equations that say the same.
    """
    norms = np.maximum(np.linalg.norm(design, axis=0), LEAST_DIVISOR)
    scaled = design / norms
    base, _ = np.linalg.qr(scaled)
    rest = residual - base @ (base.T @ residual)
    found: list[tuple[float, Suspect]] = []
    for constant in constants:
        column = (np.nan_to_num(constant.column) * usable)[usable > 0.0]
        own = column - base @ (base.T @ column)
        length = float(own @ own)
        if length <= OWN_SHARE * float(column @ column):
            continue
        error, deviation = float(own @ rest) / length, float(np.sqrt(noise / length))
        if abs(error) > max(SIGNIFICANT * deviation, LEAST[constant.unit]):
            imitated = np.linalg.lstsq(scaled, column, rcond=None)[0] / norms
            suspect = Suspect(constant.name, constant.unit, error, deviation, error * imitated, deviation * imitated)
            found.append((error**2 * length, suspect))
    found.sort(key=lambda pair: -pair[0])
    return [suspect for gain, suspect in found if gain >= RIVAL * found[0][0]]
