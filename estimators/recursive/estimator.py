"""A recursive least-squares estimator: θ, its covariance and its noise, around the kernel of kernel.py."""

from typing import Final

import numpy as np

from estimators.numerics.jit import kernel
from estimators.quantities import Floats
from estimators.recursive.cusum import MARGIN
from estimators.recursive.forgetting import ALARM, SATURATION, Forgetting, Threshold, arm
from estimators.recursive.kernel import absorb
from estimators.recursive.state import RecursiveState

#: 1, tuned: P∞ in noise variances of a typical row, the bound on P; the table of robustness at 60 % rest (decision
#: 001).
LARGEST: Final = 100.0
NEVER: Final = 1e12  # rows since the last alarm, when there was none
#: 1, argued: Least residual variance for the clip before a start has ended.
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
    """Learns θ and its covariance row by row; `state` holds everything that it has learnt."""

    def __init__(self, parameters: int, outputs: int, period: float, forgetting: Forgetting) -> None:
        """period: s between rows. Learns nothing before `begin`."""
        self.p, self.m, self.period = parameters, outputs, period
        self.state = state = RecursiveState.zeros(parameters=parameters, outputs=outputs)
        self.theta, self.d, self.bound, self.noise = state.theta, state.d, state.bound, state.noise
        self._factors, self._covariance = b"", np.zeros((parameters, parameters))  # U and D, and P computed from them
        state.rate_long = min(period / LONG, FASTEST_LONG)
        state.rate_short = min(period / SHORT, FASTEST_SHORT)
        state.rate_error = min(period / ERRORS, FASTEST_SHORT)
        state.opened = 1.0 / period
        forgetting.pack(state, period)

    def begin(self, noise: Floats, scale: Floats, largest: float = LARGEST) -> None:
        """Start from nothing: θ = 0, P = P∞/2, and λ = 1 until `settle`.

        noise: (outputs,) relative variances of the outputs, the unit of P; scale: (parameters,) rms of each column
        over typical motion, outputs whitened; largest: P∞, so that the bound weighs 1/P∞ rows of typical motion.
        """
        state = self.state
        state.forgotten = state.weight = state.squared_weight = state.error = state.signal = 0.0
        state.axis = state.rows = 0
        state.forgetting, state.starting = 1.0, True
        state.since, state.least = int(NEVER), QUIETEST
        for part in (state.theta, state.u, state.visited, state.long, state.short):
            part[:] = 0.0
        self.noise[:] = noise
        self.bound[:] = largest / scale**2
        self.d[:] = 0.5 * self.bound

    def settle(self, threshold: Threshold, memory: float = 0.0) -> None:
        """End the starting procedure: from now on the forgetting law decides λ.

        threshold: of the alarm; memory: rows that the memory of a joint at rest has at least.
        """
        self.state.starting = False
        self.state.least = LEAST_LEVEL * threshold.noise
        arm(self.state, threshold, memory)

    def accept_noise(self) -> None:
        """Make the present residual variance the alarm's unit, where it is larger."""
        self.state.alarm_noise = max(self.state.alarm_noise, self.variance())

    def follow_noise(self, most: float) -> None:
        """Let the alarm's unit follow the residual variance, by this factor at most, and never below that of the start.

        A slow change, which θ follows with some lag, then raises no alarm; a residual that jumps still does.
        """
        noise = self.state.alarm_noise
        self.state.alarm_noise = max(min(self.variance(), most * noise), noise / most, self.state.least / LEAST_LEVEL)

    def accept_excursion(self, row: float) -> None:
        """Raise the alarm's limit above the residual that has just raised an alarm; row: s between rows.

        The limit becomes MARGIN times higher, as a start would have set it; a residual that stays as large as it can
        be still raises an alarm within a second.
        """
        most = (SATURATION - self.state.allowance) / row
        self.state.limit = max(self.state.limit, min(MARGIN * self.state.limit, most))

    def discount_past(self) -> None:
        """Give what was known before an alarm the weight of one present row, or what the bound allows.

        That knowledge is wrong for parameters that have changed, and along a direction that the next rows hardly
        excite it would bias the other parameters, too.
        """
        if self.state.law == ALARM:
            most = float(np.min(0.5 * self.bound / np.diag(self.covariance())))
            self.d[:] *= max(1.0, min(self.state.resting, most))
            self.state.memory = self.state.resting

    def shift_theta(self, way: Floats) -> None:
        """Add `way` (parameters,) to θ, with a standard deviation of the same size."""
        self.theta[:] = self.theta + way
        self.set_covariance(self.covariance() + np.outer(way, way) / self.variance())

    def set_covariance(self, covariance: Floats) -> None:
        """Set P (parameters, parameters), in units of the whitened residual variance."""
        size = np.sqrt(np.diag(covariance))
        root = np.linalg.cholesky((covariance / np.outer(size, size))[::-1, ::-1])[::-1, ::-1] * size[:, None]
        unit = np.diag(root)
        self.d[:], self.state.u[:] = unit**2, np.triu(root / unit, 1).T

    def absorb(self, phi: Floats, y: Floats) -> None:
        """Learn from rows: phi (rows, outputs, parameters), y (rows, outputs), both C-contiguous float64."""
        absorb(self.state, phi, y)

    def covariance(self) -> Floats:
        """P (parameters, parameters), in units of the whitened residual variance."""
        factors = self.state.d.tobytes() + self.state.u.tobytes()
        if factors != self._factors:
            self._factors = factors
            _multiply(self.state.u.T, self.d, self._covariance)
        return self._covariance.copy()

    def variance(self) -> float:
        """Recent residual variance, whitened; times P it is the covariance of θ."""
        return _mean(self.state.long)

    def recent_variance(self) -> float:
        """Residual variance over the last tenth of a second, whitened."""
        return _mean(self.state.short)

    def share(self) -> float:
        """Σw²/Σw of the rows' weights w, ½ to 1: white noise of variance v gives θ the covariance v·P·share."""
        weight = self.state.weight
        return float(self.state.squared_weight / weight) if weight else 1.0


def _mean(few: Floats) -> float:
    """Mean of a few values, one for each output: np.mean takes four times as long."""
    return float(np.add.reduce(few) / len(few))


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
