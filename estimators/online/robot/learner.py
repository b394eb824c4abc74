"""What of a whole robot is learnt live: [θ δ], δ the lag of each joint's torque, from what an identification knew.

Without δ a torque that is 0.7 ms early (held for a sample and logged as it begins) puts a joint's friction 4 to 5 of
its deviations off at one point of each period: that residual comes back with the motion, which no variance says.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from estimators.models.robots.files.identified import IdentifiedRobot
from estimators.models.robots.torque_lag import unknown
from estimators.recursive.prior_bounded import PriorBounded
from estimators.thresholds import LAG_SPREAD

#: s, argued: Time after which friction may have changed by WANDERS (decision 018, point 6).
FRICTION_MEMORY: Final = 600.0
#: 1, argued: One deviation of a friction coefficient's change by temperature and wear, relative.
WANDERS: Final = 0.3
#: deviations, argued: Deviations of the identification by which it may be wrong from the beginning.
CERTAIN: Final = 2.0


def learner_of(learnt: IdentifiedRobot, own: NDArray[np.int64], block: float) -> PriorBounded:
    """Friction wanders about what was identified, by as much as WANDERS says; links and lags stay what they are.

    own: of θ, what the joints have; block: s.
    """
    p, n = len(learnt.theta), len(learnt.variance)
    lag = unknown(p, n) if learnt.lag is None else learnt.lag
    theta, covariance = lag.with_theta(learnt.theta, learnt.covariance)
    fade = np.ones(p + n)
    fade[own] = np.exp(-block / FRICTION_MEMORY)
    inert = np.setdiff1d(np.arange(p), own)
    mean, prior = np.append(learnt.prior, np.zeros(n)), np.zeros((p + n, p + n))
    mean[own] = theta[own]
    prior[:p, :p] = learnt.prior_covariance
    prior[np.ix_(own, inert)] = prior[np.ix_(inert, own)] = 0.0
    prior[p:, p:] = LAG_SPREAD**2 * np.eye(n)
    wanders = np.maximum(WANDERS * np.abs(theta), CERTAIN * np.sqrt(np.diag(covariance)))
    ratio = np.where(np.isin(np.arange(p + n), own), np.minimum(wanders / np.sqrt(np.diag(prior)), 1.0), 1.0)
    found = PriorBounded(mean, prior * np.outer(ratio, ratio), fade)
    found.begin(theta, covariance)
    return found
