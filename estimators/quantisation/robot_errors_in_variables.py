"""What the steps of a robot's encoders do to its rows: noise in the accelerations pulls inertias towards zero.

    q̈ + e_j in a row: X + Σ_j e_j X_j,  X_j = ∂X/∂q̈_j        N = Σ rows, j  var(e_j) X_jᵀ W X_j        θ ← θ + P N θ

14 bits at 1 kHz are 0.13 rad/s² behind both low-passes, 7 % of the inertia in a motion of 0.5 rad/s² rms. Friction,
whose memory is short, then follows what the links leave, up and down within each period. So it is bias-compensated
least squares, as of single joints (decision 018). A step Δ is white noise of variance Δ²/12 a sample where the joint
moves on. Speeds have a hundredth of that noise, and stay out.
"""

from typing import Final

import numpy as np

from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import PARAMETERS
from estimators.models.robots.whole_robot import WholeRobot
from estimators.numerics.causal_low_pass import CausalLowPass
from estimators.quantisation.encoder_steps import EncoderSteps
from estimators.quantities import Floats, Nanoseconds

SPARSE: Final = 5  # rows of which one says X_j for all: it depends on the pose alone
RINGING: Final = 0.5  # s


class Encoders:
    """Of n joints, found in their readings."""

    def __init__(self, model: WholeRobot, low_passes: tuple[float, ...], period: float) -> None:
        """low_passes: Hz, one behind the other; period: s between rows."""
        n = model.tree.size()
        self._model = model
        self._steps = [EncoderSteps() for _ in range(n)]
        self.steps = np.zeros(n)
        """Δ, 0 where there are none or not known yet."""
        self.settled, self.known = False, False
        """Whether it is known of all of them if they have any; whether one of them has."""
        response = np.zeros((round(RINGING / period), 1))
        response[1] = 1.0
        rate = CausalLowPass(1, low_passes[0], period).absorb(response)[1]
        second = response
        for cutoff in low_passes:
            response, _, second = CausalLowPass(1, cutoff, period).absorb(response)
        self._gain = float((second**2).sum())  # 1/s⁴: of white noise, in the second derivative
        self._fastest, self._peak = (float(np.abs(np.fft.rfft(one[:, 0])).max()) for one in (rate, second))  # of sines
        rotors = [(j, k) for k, one in enumerate(model.terms) for j in one.joints if one.name.startswith("rotor.")]
        self._rotors = np.array(rotors, np.int64).reshape(-1, 2)

    def absorb(self, time: Nanoseconds, q: Floats) -> None:
        """Readings, (rows,) ns and (rows, n)."""
        for one, column in zip(self._steps, q.T, strict=True):
            one.absorb(time, column)
        self.steps = np.array([one.step for one in self._steps])
        self.settled, self.known = all(one.known for one in self._steps), bool((self.steps > 0.0).any())

    def slopes(self, q: Floats) -> Floats:
        """X_j, and that of the last link's ten columns, of every SPARSE-th of these poses (rows, n).

        (rows / SPARSE, n joints that accelerate, n torques, p + 10).
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
        """N (p, p) of a block. taught: (rows / SPARSE, n) share of the rows that taught; weights: (n,)."""
        slopes = slopes[..., : self._model.size]
        scaled = (slopes * np.sqrt(self._share(taught, weights))[..., None]).reshape(-1, slopes.shape[-1])
        return np.asarray(scaled.T @ scaled)

    def pulls(self, slopes: Floats, taught: Floats, weights: Floats, known: Floats) -> Floats:
        """What they do to Σ XᵀWr of these rows, joint by joint, X the columns of `slopes`: (n, p + 10).

        r = τ − X known has the steps' noise as X has it, and so any column with an acceleration in it explains some of
        r: −Σ rows, j  var(e_j) X_jᵀ W X_j known. known: (p + 10,), of the payload last.
        """
        share = self._share(taught, weights) * (slopes @ known)
        return np.asarray(-np.einsum("sjk,sjkp->kp", share, slopes))

    def effects(
        self, q: Floats, r: Floats, weights: Floats, theta: Floats, carried: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """What they do to the evidence of rows q, r (rows, n): (n, p) of each joint's own columns, (10,) of a payload;
        and what they pass for at most, (n,). carried: (10,) payload."""
        slopes, taught, p = self.slopes(q), shares(r), len(theta)
        load = self.pulls(slopes, taught, weights, np.append(theta, np.zeros(PARAMETERS)))[:, p:].sum(axis=0)
        known = np.append(theta, carried)
        return self.pulls(slopes, taught, weights, known)[:, :p], load, self.most(slopes, known)

    def most(self, slopes: Floats, known: Floats) -> Floats:
        """Torque that they pass for at most, (n,), in these poses; known: (p + 10,), of the payload last.

        Where a joint moves at nearly a whole number of steps a sample, its steps are no noise: they come back at a few
        Hz, a sawtooth of ±Δ/2 whose sine has the amplitude Δ/π.
        """
        inertia = np.abs(slopes @ known).max(axis=0)  # (n that accelerate, n torques)
        return np.asarray(self._peak * self._sines @ inertia)

    @property
    def speeds(self) -> Floats:
        """Speed that they pass for at most behind the first low-pass, (n,)."""
        return self._fastest * self._sines

    @property
    def _sines(self) -> Floats:
        return self.steps / np.pi

    def _share(self, taught: Floats, weights: Floats) -> Floats:
        """var(e_j) W of the rows that one of SPARSE stands for: (rows / SPARSE, n that accelerate, n torques)."""
        variances = self._gain / 12.0 * self.steps**2
        return np.asarray(SPARSE * taught[:, None, :] * weights * variances[:, None])


def shares(r: Floats) -> Floats:
    """Of SPARSE rows each, how many taught: (rows / SPARSE, n); r: (rows, n), 0 of those that say nothing."""
    return np.asarray((r != 0.0).reshape(-1, SPARSE, r.shape[1]).mean(axis=1))
