"""Errors in variables of a whole robot: noise of encoder steps in the accelerations biases inertias towards zero.

    q̈ + e_j in a row: X + Σ_j e_j X_j,  X_j = ∂X/∂q̈_j        N = Σ rows, j  var(e_j) X_jᵀ W X_j        θ ← θ + P N θ

14 bits at 1 kHz are 0.13 rad/s² after both low-passes, 7 % of the inertia in a motion of 0.5 rad/s² rms. Friction,
whose memory is short, would then follow the error of the links within each period. So the estimator is bias-compensated
least squares, as for single joints (decision 018). A step Δ is white noise of variance Δ²/12 a sample while the joint
moves on. Speeds have a hundredth of that noise; it is neglected. Where rows were put between those of a slow bus, the
noise is that of its own samples.
"""

from typing import Final

import numpy as np

from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.quantisation.encoder_steps import EncoderSteps
from estimators.quantities import Floats, Nanoseconds

#: rows, argued: One of so many rows gives the slopes for all of them, since they depend on the pose alone.
SPARSE: Final = 5
#: s, derived: Time over which both low-passes ring, to e⁻²⁰.
RINGING: Final = 0.5
#: 1, derived: The rows that a measured one makes where none is put between: itself.
EVERY: Final = np.ones(1)


class Encoders:
    """Steps of the encoders of n joints, found in their readings, and what they do to rows."""

    def __init__(
        self,
        model: WholeRobot,
        low_passes: tuple[float, ...],
        period: float,
        made: Floats = EVERY,
        before: Floats | None = None,
    ) -> None:
        """low_passes: Hz, one after the other; period: s between rows; made: those that a measured one makes, see
        FinerRows.

        before: (n,) steps that were found in recordings, for readings that show none as they were interpolated.
        """
        n = model.tree.size()
        self._before = np.zeros(n) if before is None else before
        self._model = model
        self._steps = [EncoderSteps() for _ in range(n)]
        self.steps = np.zeros(n)
        """Δ (n,), 0 where there are none or not known yet."""
        self.settled, self.known = False, False
        """Whether the steps of all encoders have been looked for; whether one of them has some."""
        response, apart = np.zeros((round(RINGING / period), 1)), made.sum()
        response[1 : 1 + len(made), 0] = made
        rate = CausalLowPass(1, low_passes[0], period).absorb(response)[1]
        second = response
        for cutoff in low_passes:
            response, _, second = CausalLowPass(1, cutoff, period).absorb(response)
        self._gain = float((second**2).sum()) / apart  # 1/s⁴: of white noise, in the second derivative
        most = (float(np.abs(np.fft.rfft(one[:, 0])).max()) / apart for one in (rate, second))
        self._fastest, self._peak = most  # of sines
        rotors = [(j, k) for k, one in enumerate(model.terms) for j in one.joints if one.name.startswith("rotor.")]
        self._rotors = np.array(rotors, np.int64).reshape(-1, 2)

    def absorb(self, time: Nanoseconds, q: Floats) -> None:
        """Look for steps in readings: time (rows,) ns, q (rows, n)."""
        for one, column in zip(self._steps, q.T, strict=True):
            one.absorb(time, column)
        steps, known = np.array([one.step for one in self._steps]), [one.known for one in self._steps]
        self.steps = np.where(np.array(known) & (steps == 0.0), self._before, steps)
        self.settled, self.known = all(one.known for one in self._steps), bool((self.steps > 0.0).any())

    def slopes(self, q: Floats) -> Floats:
        """X_j at every SPARSE-th of these poses (rows, n), with the ten columns of the last link.

        Shape: (rows / SPARSE, n joints that accelerate, n torques, p + 10).
        """
        poses, n = np.ascontiguousarray(q[::SPARSE]), q.shape[1]
        still, Y = np.zeros_like(poses), np.empty((n + 1, len(poses), n, PARAMETERS * n))
        for j, one in enumerate((*np.eye(n), np.zeros(n))):
            regressor(*self._model.tree, poses, still, still + one, Y[j])
        found = np.zeros((len(poses), n, n, self._model.size + PARAMETERS))
        pushed = (Y[:n] - Y[n]).transpose(1, 0, 2, 3)
        found[..., : self._model.base] = pushed[..., self._model.projection.columns]
        found[..., self._model.size :] = pushed[..., -PARAMETERS:]
        found[:, self._rotors[:, 0], self._rotors[:, 0], self._model.base + self._rotors[:, 1]] = 1.0
        return found

    def noise(self, slopes: Floats, taught: Floats, weights: Floats) -> Floats:
        """Noise N (p, p) of a block; taught: (rows / SPARSE, n) share of the rows that taught; weights: (n,)."""
        slopes = slopes[..., : self._model.size]
        scaled = (slopes * np.sqrt(self._share(taught, weights))[..., None]).reshape(-1, slopes.shape[-1])
        return np.asarray(scaled.T @ scaled)

    def pulls(self, slopes: Floats, taught: Floats, weights: Floats, known: Floats) -> Floats:
        """Expected effect of the steps on Σ XᵀWr of these rows, for each joint (n, p + 10); X: the columns of `slopes`.

        r = τ − X known has the same noise as X, so any column with an acceleration explains part of r:
        −Σ rows, j  var(e_j) X_jᵀ W X_j known. known: (p + 10,) θ and the payload.
        """
        share = self._share(taught, weights) * (slopes @ known)
        return np.asarray(-np.einsum("sjk,sjkp->kp", share, slopes))

    def effects(
        self, q: Floats, r: Floats, weights: Floats, theta: Floats, carried: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Effect of the steps on the evidence of rows q, r (rows, n): on Σ XᵀWr (n, p), on that of a payload (10,), and
        the largest torque that they imitate (n,).

        weights: (n,); theta: (p,); carried: (10,) payload.
        """
        slopes, taught, p = self.slopes(q), shares(r), len(theta)
        load = self.pulls(slopes, taught, weights, np.append(theta, np.zeros(PARAMETERS)))[:, p:].sum(axis=0)
        known = np.append(theta, carried)
        return self.pulls(slopes, taught, weights, known)[:, :p], load, self.most(slopes, known)

    def most(self, slopes: Floats, known: Floats) -> Floats:
        """Largest torque that the steps imitate, (n,), in these poses; known: (p + 10,) θ and the payload.

        Where a joint moves at nearly a whole number of steps a sample, its steps are no noise but a sawtooth of ±Δ/2 at
        a few Hz, whose fundamental has the amplitude Δ/π.
        """
        inertia = np.abs(slopes @ known).max(axis=0)  # (n that accelerate, n torques)
        return np.asarray(self._peak * self._sines @ inertia)

    @property
    def speeds(self) -> Floats:
        """Largest speed that the steps imitate after the first low-pass, (n,)."""
        return np.asarray(self._fastest * self._sines)

    @property
    def _sines(self) -> Floats:
        return self.steps / np.pi

    def _share(self, taught: Floats, weights: Floats) -> Floats:
        """Sum of var(e_j) W over each SPARSE rows: (rows / SPARSE, n that accelerate, n torques)."""
        variances = self._gain / 12.0 * self.steps**2
        return np.asarray(SPARSE * taught[:, None, :] * weights * variances[:, None])


def shares(r: Floats) -> Floats:
    """Share of each SPARSE rows that taught: (rows / SPARSE, n); r: (rows, n), 0 where a row is not used."""
    return np.asarray((r != 0.0).reshape(-1, SPARSE, r.shape[1]).mean(axis=1))
