"""A generalised momentum observer, as an independent reference for the detection of contacts.

    p = M(q) q̇        ṗ = τ + C(q, q̇)ᵀ q̇ − g(q) − τ_f + τ_ext        r = K (p − p₀ − ∫ (τ + Cᵀq̇ − g − τ_f + r) dt)

so that ṙ = K (τ_ext − r): the external torque through a first-order low-pass, without accelerations. Cᵀq̇ is
Ṁq̇ − Cq̇, with Ṁ by a central difference along the motion. Friction follows the identified law.

Reference: De Luca, Mattone, ICRA 2003 and 2005; Haddadin, De Luca, Albu-Schäffer, IEEE T-RO 33, 2017, § III.
"""

from typing import Final

import numpy as np

from estimators.models.robots.files.identified import IdentifiedRobot
from hil_rig.plants.base import Floats

GAIN: Final = 2.0 * np.pi * 10.0  # K, 1/s: the cut-off of the filter in the live estimator
QUICK: Final = 40.0  # Hz, low-pass before the positions are differentiated, as in the estimator
ALONG: Final = 1e-4  # s, half step of the difference for Ṁ along the motion


def observed(found: IdentifiedRobot, q: Floats, torque: Floats, period: float, gain: float = GAIN) -> Floats:
    """External torque r (rows, n) from equidistant rows (rows, n) of a robot whose torque acts after its rotors."""
    model = found.model()
    q, torque = (_smooth(one, period) for one in (q, torque))
    dq = np.gradient(q, period, axis=0)
    dq[1:] = np.diff(q, axis=0) / period  # causal
    links, still = model.standard(found.theta[: model.base]), np.zeros_like(q)
    weight = model.torque(links, q, still, still)
    momentum = model.torque(links, q, still, dq) - weight
    late, early = (model.torque(links, q + way * ALONG * dq, still, dq) for way in (1.0, -1.0))
    lifted = [model.torque(links, q + way * ALONG * dq, still, still) for way in (1.0, -1.0)]
    changing = ((late - lifted[0]) - (early - lifted[1])) / (2.0 * ALONG)
    coriolis = model.torque(links, q, dq, still) - weight
    driven = torque + changing - coriolis - weight
    for joint, term, column in model.others(q, dq, still, weight, found.reach()):
        driven[:, joint] -= found.theta[model.base + term] * column
    r, total = np.zeros_like(q), np.zeros(q.shape[1])
    for row in range(1, len(q)):
        total += period * (driven[row] + r[row - 1])
        r[row] = gain * (momentum[row] - momentum[0] - total)
    return r


def _smooth(values: Floats, period: float) -> Floats:
    from scipy.signal import butter, lfilter, lfilter_zi  # see estimators/numerics/splines.py

    b, a = butter(2, 2.0 * QUICK * period)
    return np.asarray(lfilter(b, a, values, axis=0, zi=lfilter_zi(b, a)[:, None] * values[:1])[0])
