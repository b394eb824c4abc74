"""Effect of encoder steps on the θ of one estimator: its correction, the covariance left, and weights of rows."""

import numpy as np

from estimators.misfit.scores import products
from estimators.numerics.directions import resolve
from estimators.numerics.elimination import divide_by_upper
from estimators.numerics.jit import inline, kernel
from estimators.online.judgement.fit_state import FitState
from estimators.quantisation.errors_in_variables import UNSURE, bias_of, noise_of_rows, score_of_noise
from estimators.quantisation.shifted_quantiser import covariance_by_place
from estimators.recursive.learner import Learnt, factor_of, mean_variance
from jointwatch_numba.matrix import any_nonzero, as_vector


@inline
def is_corrected(fit: FitState) -> bool:
    """Whether θ has been corrected for the steps."""
    return bool(fit.settings.corrects and not any_nonzero(as_vector(fit.lost)))


@kernel((FitState, Learnt))
def weigh_steps(fit: FitState, learnt: Learnt) -> None:
    """Write the directions of θ that the rows so far identify, and by how much the steps move θ."""
    p, noises = len(fit.steps), learnt.state.noise
    weight, rough, rows = np.empty(len(noises)), np.empty(len(noises)), 0.0
    for output in range(len(noises)):
        weight[output] = noises[0] / noises[output]
        rough[output] = weight[output] * fit.rough[output]
        rows += fit.rows[output]
    resolve(products(fit.scores.gram, weight, p), fit.directions)
    if fit.step_noise.known == 0:
        return
    noise, own = np.empty((p, p)), np.empty(p)
    noise_of_rows(fit.step_noise, rough, noise, own)
    if any_nonzero(as_vector(noise)):
        lost = fit.lost
        bias_of(fit.directions, noise, own, fit.scores.theta, fit.steps, lost)
        for i in range(p):
            for j in range(p):
                lost[i, j] *= max(rows, 1.0)


@kernel((FitState, Learnt))
def correct(fit: FitState, learnt: Learnt) -> None:
    """Correct θ for the steps in the rows since the last time: θ += P(Nθ − n), with their N and n.

    So θ follows (G − N)θ = b − n row by row. A model with η is not corrected, since its rows are learnt again and
    again; nor is θ where the steps are most of the information in a direction.
    """
    state, owed = learnt.state, fit.owed
    if fit.step_noise.known > 0 and is_corrected(fit):
        p, theta, u = len(state.theta), state.theta, state.u
        noise, own, score, share, rows = np.empty((p, p)), np.empty(p), np.empty(p), np.empty(p), np.empty(len(owed))
        for output in range(len(owed)):
            rows[output] = owed[output] / state.noise[output]
        noise_of_rows(fit.step_noise, rows, noise, own)
        score_of_noise(noise, own, theta, score)
        for j in range(p):  # P = U D Uᵀ
            share[j] = score[j]
            for i in range(j):
                share[j] += u[j, i] * score[i]
            share[j] *= state.d[j]
        for i in range(p):
            theta[i] += share[i]
            for j in range(i + 1, p):
                theta[i] += u[j, i] * share[j]
    owed[:] = 0.0


@kernel((FitState, Learnt))
def weigh_rounding(fit: FitState, learnt: Learnt) -> None:
    """Set the weights of rows in which rounding does not average out, or the torque changes within a sample."""
    state, theta, steps, corrected = learnt.state, learnt.state.theta, fit.step_noise, is_corrected(fit)
    variance = mean_variance(state)
    for output in range(len(state.noise)):
        learnt.usual_rounding[output] = min(fit.rough[output] / max(fit.rows[output], 1.0), 1.0)
        learnt.timing[output] = fit.settings.instant / (variance * state.noise[output] / learnt.weighed[output])
        if not corrected:
            continue
        white = 0.0
        for i in range(len(theta)):
            white -= 2.0 * steps.own[output, i] * theta[i]
            for j in range(len(theta)):
                white += theta[i] * steps.noise[output, i, j] * theta[j]
        learnt.rounding[output] = max(0.0, white) / (variance * state.noise[output])


@kernel((FitState, Learnt))
def find_what_is_left(fit: FitState, learnt: Learnt) -> None:
    """Write the covariance of θ (p, p) that the steps leave.

    Along a direction in which steps are most of the information θ is not known, because its column is mostly noise. The
    torque of its true part is in the residual, so the prediction is off by the residual's rms at most.
    """
    state, steps, places, left = learnt.state, fit.steps, fit.places, fit.steps_left
    p, corrected = len(steps), is_corrected(fit)
    for i in range(p):
        for j in range(p):
            left[i, j] = (UNSURE if corrected else 1.0) * steps[i] * steps[j]
    if corrected and fit.quantiser.known:
        root, back, information = np.empty((p, p)), np.eye(p), np.zeros((p, p))
        factor_of(state, root)
        divide_by_upper(root, back)
        for i in range(p):
            for j in range(p):
                for k in range(p):
                    information[i, j] += state.noise[0] * back[k, i] * back[k, j]
        sums, total = fit.quantiser.sums, fit.quantiser.total
        found = covariance_by_place(sums, total, state.theta, information, fit.only_noise, fit.only_own)
        fit.lost[:] = 0.0
        for i in range(p):
            if np.isinf(found[i, i]):
                fit.lost[i, i] = 1.0 / learnt.leverage[i] ** 2
        for i in range(p):
            for j in range(p):
                known = fit.lost[i, i] == 0.0 and fit.lost[j, j] == 0.0
                places[i, j] = found[i, j] if known else 0.0
                left[i, j] += places[i, j]
    unexplained = mean_variance(state) * state.noise[0]
    for i in range(p):
        for j in range(p):
            left[i, j] += unexplained * fit.lost[i, j]
