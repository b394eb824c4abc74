"""A recursive least-squares estimator: θ, its covariance and its noise, around the kernel of kernel.py."""

import itertools
from typing import ClassVar, Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats
from estimators.recursive import state as at
from estimators.recursive.cusum import MARGIN
from estimators.recursive.forgetting import ALARM, ALLOWANCE, LIMIT, NOISE, SATURATION, Forgetting, Threshold, arm
from estimators.recursive.kernel import absorb

#: 1, tuned: P∞ in noise variances of a typical row, the bound on P; the table of robustness at 60 % rest (decision
#: 001).
LARGEST: Final = 100.0
NEVER: Final = 1e12  # rows since the last alarm, when there was none
#: 1, argued: Least residual variance that the clip believes in before a start has ended.
QUIETEST: Final = 1e-12
#: 1, argued: Share of the start's residual variance below which the clip does not go.
LEAST_LEVEL: Final = 0.25
#: s, argued: Time constant of the long residual variance.
LONG: Final = 5.0
#: s, argued: Time constant of the short residual variance.
SHORT: Final = 0.1
#: s, argued: Time constant of the mean squared error that is reported.
ERRORS: Final = 2.0
#: 1, argued: Largest gain of the long variance, for slow rows: 50 rows count at least.
FASTEST_LONG: Final = 0.02
#: 1, argued: Largest gain of the short variance and of the reported error, for slow rows: ten rows count at least.
FASTEST_SHORT: Final = 0.1


class RecursiveLeastSquares:
    """θ and its covariance, row by row, in one flat array `state` (see state.py)."""

    WORKING: ClassVar[frozenset[str]] = frozenset({"_factors", "_covariance"})

    def __init__(self, parameters: int, outputs: int, period: float, forgetting: Forgetting) -> None:
        """period: s between rows. Learns nothing before `begin`."""
        self.p, self.m, self.period = p, m, period = parameters, outputs, period
        self.state = state = np.zeros(at.size(p, m))
        cuts = np.cumsum([at.HEADER, p, p, p * p, p, p, p, m, m, m])
        parts = [state[a:b] for a, b in itertools.pairwise(cuts)]
        self.theta, self.d, u, self.bound, self._visited, _, self.noise, self._long, self._short = parts
        self._u = u.reshape(p, p).T  # u[i, j] above the diagonal; the rest is not used
        self._factors, self._covariance = b"", np.zeros((p, p))  # P, and of which U and D
        state[[at.PARAMETERS, at.OUTPUTS]] = p, m
        state[at.LAMBDA] = 1.0
        state[at.RATE_LONG] = min(period / LONG, FASTEST_LONG)
        state[at.RATE_SHORT] = min(period / SHORT, FASTEST_SHORT)
        state[at.RATE_ERROR] = min(period / ERRORS, FASTEST_SHORT)
        state[at.OPEN] = 1.0 / period
        forgetting.pack(state, period)

    def begin(self, noise: Floats, scale: Floats, largest: float = LARGEST) -> None:
        """Start from nothing: θ = 0, P = P∞/2, and λ = 1 until `settle`.

        noise: (outputs,) relative variances of the outputs, whose unit P is in; scale: (parameters,) rms of each column
        over typical motion, outputs whitened; largest: P∞, so that the bound weighs 1/P∞ rows of typical motion.
        """
        state = self.state
        state[[at.FORGOTTEN, at.AXIS, at.ROWS, at.WEIGHT, at.WEIGHT_2, at.ERROR, at.SIGNAL]] = 0.0
        state[[at.LAMBDA, at.STARTING]] = 1.0
        state[at.SINCE] = NEVER
        state[at.LEAST] = QUIETEST
        for part in (self.theta, self._u, self._visited, self._long, self._short):
            part[:] = 0.0
        self.noise[:] = noise
        self.bound[:] = largest / scale**2
        self.d[:] = 0.5 * self.bound

    def settle(self, threshold: Threshold, memory: float = 0.0) -> None:
        """End the starting procedure: from here on the forgetting law decides λ.

        threshold: of the alarm; memory: rows that a resting memory reaches at least.
        """
        self.state[at.STARTING] = 0.0
        self.state[at.LEAST] = LEAST_LEVEL * threshold.noise
        arm(self.state, threshold, memory)

    def accept_noise(self) -> None:
        """The residual variance of now becomes the alarm's unit, where it is larger."""
        self.state[NOISE] = max(self.state[NOISE], self.variance())

    def follow_noise(self, most: float) -> None:
        """The alarm's unit follows the residual variance, by this factor at most, and never below what a start gave.

        So a slow change, which θ follows at some distance, is none; a residual that jumps has no time to be followed.
        """
        state, least = self.state, self.state[at.LEAST] / LEAST_LEVEL
        state[NOISE] = max(min(self.variance(), most * state[NOISE]), state[NOISE] / most, least)

    def accept_excursion(self, row: float) -> None:
        """What has just raised an alarm raises none again; row: s between rows.

        The limit that it has reached is MARGIN times higher from here on, as a start would have set it; but a residual
        without end is an alarm within a second all the same.
        """
        most = (SATURATION - self.state[ALLOWANCE]) / row
        self.state[LIMIT] = max(self.state[LIMIT], min(MARGIN * self.state[LIMIT], most))

    def doubt(self) -> None:
        """What was known before an alarm weighs as one row of now, or what the bound leaves: of θ that have changed it
        says nothing, and along a direction that the next rows hardly tell it would pull the others with them."""
        if self.state[at.LAW] == ALARM:
            most = float(np.min(0.5 * self.bound / np.diag(self.covariance())))
            self.d[:] *= max(1.0, min(float(self.state[at.CONSTANT]), most))
            self.state[at.MEMORY] = self.state[at.CONSTANT]

    def absorb(self, phi: Floats, y: Floats) -> None:
        """Learn from rows: phi (rows, outputs, parameters), y (rows, outputs), both C-contiguous float64."""
        absorb(self.state, phi, y)

    def theta_of(self, state: Floats) -> Floats:
        """θ (parameters,) in another state of an estimator like this one."""
        return state[at.HEADER : at.HEADER + self.p].copy()

    def covariance(self) -> Floats:
        """P (parameters, parameters), in units of the whitened residual variance."""
        factors = self.state[at.HEADER + self.p : at.HEADER + (2 + self.p) * self.p].tobytes()
        if factors != self._factors:
            self._factors = factors
            _multiply(self._u, self.d, self._covariance)
        return self._covariance.copy()

    def variance(self) -> float:
        """Recent residual variance, whitened: what multiplies P."""
        return float(np.mean(self._long))

    def recent_variance(self) -> float:
        """The same over the last tenth of a second."""
        return float(np.mean(self._short))

    def share(self) -> float:
        """Σw²/Σw of the rows' weights w, ½ to 1: white noise of variance v gives θ the covariance v·P·share."""
        weight = self.state[at.WEIGHT]
        return float(self.state[at.WEIGHT_2] / weight) if weight else 1.0


@kernel("void(Array(f8, 2, 'A', readonly=True), f8[::1], f8[:, ::1])")
def _multiply(u: Floats, d: Floats, product: Floats) -> None:
    """U D Uᵀ (p, p); u: above the diagonal."""
    p = len(d)
    for i in range(p):
        for j in range(i + 1):
            entry = d[i] if i == j else u[j, i] * d[i]
            for k in range(i + 1, p):
                entry += u[i, k] * u[j, k] * d[k]
            product[i, j] = product[j, i] = entry
