"""The kernels at the end of a block, against their formulas written out in NumPy and LAPACK, for random states."""

import numpy as np
import pytest

from estimators.misfit.cut_torque import CUTS
from estimators.misfit.regressors import ANGLE, CAUSES, ELASTIC, LOAD, PLACE, SATURATION, SPEED, TORQUE, columns
from estimators.misfit.unmodelled_torque import HARMONICS, SHARE, unmodelled_torque
from estimators.online.judgement import block_end, step_effects
from estimators.online.judgement.fit_state import FitSettings, FitState
from estimators.online.judgement.validity import SMALL
from estimators.online.judgement.widening import (
    EITHER,
    KNOWN,
    LOST,
    NOISE,
    answer_for_change,
    find_recent_change,
    reconsider_cut,
    widen,
)
from estimators.quantisation.errors_in_variables import UNSURE, Steps
from estimators.quantisation.shifted_quantiser import HALF
from estimators.quantities import Floats
from estimators.recursive.forgetting import Alarm
from estimators.recursive.learner import Learner
from estimators.thresholds import OWN_SHARE

P, OWN = 5, columns(turns=True)
FACTOR = 0.9


def positive(rng: np.random.Generator, size: int, scale: Floats | float = 1.0) -> Floats:
    rows = rng.normal(size=(4 * size, size)) * scale
    return np.asarray(rows.T @ rows)


def random_state(seed: int, outputs: int = 1) -> tuple[FitState, Learner]:
    """Sums of rows as a joint's may be, and what has been learnt."""
    rng = np.random.default_rng(seed)
    settings = FitSettings(own=OWN, overlap=3.0, corrects=True, prior=0.05, inertia=-1, instant=1e-7, hidden=0.0)
    owners = np.arange(outputs, dtype=np.int64)
    fit, learner = (
        FitState.of(P, owners, settings, 0.01, False, True, 8),
        Learner(P, outputs, 0.01, Alarm()),
    )
    state, judged, size = learner.rls.state, fit.scores, 2 * P + OWN
    for output in range(outputs):
        judged.gram[output] = np.tril(positive(rng, size, 10.0 ** rng.uniform(-1, 1, size)))
        fit.sums.special[output::outputs] = [positive(rng, P + 1, 0.1) for _ in range(3)]
    judged.spread[:], judged.weight, judged.squared_weight = positive(rng, len(judged.sums)), 20.0, 15.0
    judged.sums[:], judged.effective_blocks = 0.1 * rng.normal(size=len(judged.sums)), 20.0**2 / 15.0
    for one in (judged.theta, judged.bias, fit.steps, fit.behind, state.theta):
        one[:] = rng.normal(size=P)
    judged.lag[:], fit.late[:] = rng.normal(size=(2, outputs, P))
    fit.trail[:], fit.slow[:] = rng.uniform(1.0, 2.0, P + 1), rng.normal(size=(outputs, P + 2))
    fit.rows[:], fit.forth[:], fit.rough[:], fit.owed[:], fit.turns[:] = 2e3, 9e2, 1.5e3, 40.0, 70.0
    state.d[:], state.u[:], state.noise[:] = rng.uniform(0.5, 2.0, P), np.tril(rng.normal(size=(P, P)), -1), 1.0
    state.noise[1:], state.long[:], state.weight, state.squared_weight = 4.0, 0.3, 100.0, 80.0
    learner.deviation_factor[:], learner.state.rounding[:], learner.state.weighed[:] = (
        rng.uniform(1.0, 2.0, P),
        0.01,
        0.9,
    )
    one, two = np.eye(outputs)[:, :, None, None] * 1e-6 * positive(rng, P), rng.normal(size=(outputs, outputs, P))
    steps = [Steps(1e-3, 10 * k, 0.02, one[k], 1e-3 * two[k]) for k in range(outputs)]
    fit.step_noise.take(steps, 100)
    return fit, learner


def products(parts: Floats, weight: Floats) -> Floats:
    """[φ y] of all outputs, whole; parts: lower triangles."""
    which = [*range(P), parts.shape[1] - 1]
    lower = np.tensordot(weight, parts, 1)[np.ix_(which, which)]
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


class Identified:
    """Directions by LAPACK."""

    def __init__(self, gram: Floats, scale: Floats | None = None) -> None:
        self.gram, self.scale = gram, np.sqrt(np.diag(gram)) if scale is None else scale
        self.information, self.ways = np.linalg.eigh(gram / np.outer(self.scale, self.scale))
        self.identifiable = self.information > OWN_SHARE
        known = self.ways[:, self.identifiable] / self.scale[:, None]
        self.inverse = known / self.information[self.identifiable] @ known.T

    def unidentifiable(self, power: float) -> Floats:
        ways = self.ways[:, ~self.identifiable] / self.scale[:, None]
        return np.asarray(power * ways @ ways.T)

    def beyond_noise(self, noise: Floats, difference: Floats) -> Floats:
        spread, ways = np.linalg.eigh(noise * np.outer(self.scale, self.scale))
        known = self.ways[:, self.identifiable]
        along = ways.T @ known @ known.T @ (self.scale * difference)
        return np.asarray(
            ways @ (np.sign(along) * np.sqrt(np.maximum(along**2 - np.maximum(spread, 0.0), 0.0))) / self.scale
        )


def contrast(whole: Identified, near: Floats, theta: Floats, noise: Floats) -> Floats:
    far = Identified(whole.gram - near[:P, :P], whole.scale).inverse
    size = np.sum(whole.gram * noise) / np.sum(whole.gram * whole.inverse)
    return whole.beyond_noise(size * (far - whole.inverse), far @ (near[:P, P] - near[:P, :P] @ theta))


def mixed(relative: Floats, share: float, white: float, lowest: float) -> Floats:
    own, ways = np.linalg.eigh((1.0 - share) * white * np.eye(P) + share * relative)
    return np.asarray(ways * np.maximum(own, lowest) @ ways.T)


def considered(
    fit: FitState, learner: Learner, directions: Identified, covariance: Floats, floor: tuple[float, float, float]
) -> tuple[Floats, Floats, Floats]:
    """Seen, unmodelled and prior of all causes; the effect of one: test_unmodelled_torque.py."""
    judged, rls, square = fit.scores, learner.rls, float(np.mean(learner.deviation_factor**2))
    whole = np.outer(judged.bias, judged.bias)
    seen, prior = whole - (1.0 - SHARE) * fit.late.T @ fit.late, np.zeros((P, P))
    for output in range(rls.m):
        gram = judged.gram[output] + np.tril(judged.gram[output], -1).T
        for cause in (SPEED, ANGLE, PLACE, ELASTIC, TORQUE, SATURATION, LOAD):
            counts = {SPEED: 1, ANGLE: 2 * HARMONICS}  # of the others all
            first, count = CAUSES.index(cause), counts.get(cause, CAUSES.count(cause))
            raw = [*range(P), *(2 * P - 1 + first + np.arange(count)), len(gram) - 1]
            among = [*range(P), *(P + output * OWN + first + np.arange(count))]
            most = np.sqrt(gram[-1, -1] / fit.rows[output])
            if cause != ANGLE:
                most /= np.sqrt(np.mean(np.diag(gram)[raw[P:-1]]) / fit.rows[output])
            size = fit.settings.prior if cause in (ANGLE, PLACE, SATURATION, TORQUE) else SMALL
            own = judged.own[P + output * OWN + first + np.arange(count)]
            with np.errstate(invalid="ignore", divide="ignore"):
                slope, blocks = own[:, 0] / own[:, 1], own[:, 1] ** 2 / own[:, 2]
                left = np.maximum(own[:, 5] - 2.0 * slope * own[:, 6] + slope**2 * own[:, 7], 0.0)
                variances = np.where((own[:, 2] > 0.0) & (blocks > 1.0), left * blocks / (blocks - 1.0), np.inf)
            if cause != TORQUE:
                variances[:] = np.inf
            any_, *of_it = unmodelled_torque(
                directions.inverse, gram[np.ix_(raw, raw)] * rls.noise[0] / rls.noise[output],
                covariance[np.ix_(among, among)], judged.theta, rls.variance() * float(rls.noise[0]), floor[0],
                floor[1] * square, floor[2] * square, size * most, most, variances, cause == TORQUE,
            )  # fmt: skip
            assert any_
            seen, whole, prior = seen + of_it[0], whole + of_it[1], prior + of_it[2] * (cause == ANGLE)
    return seen, whole, prior


@pytest.mark.parametrize(("seed", "outputs"), [(1, 1), (2, 1), (3, 2)])
@pytest.mark.parametrize("forth", [9e2, 20.0])
def test_the_covariance_of_theta_is_what_lapack_finds(seed: int, outputs: int, forth: float) -> None:
    """forth: rows of the one direction; with 20 only rows clear of a stop tell what a motion one way does."""
    fit, learner = random_state(seed, outputs)
    fit.forth[:], fit.steps_left[:] = forth, 0.01 * np.eye(P)
    if forth < EITHER:
        clear = fit.sums.special[2 * outputs :]
        clear[:, :, 1] = clear[:, 1, :] = 0.0
        clear[:, 1, 1] = 0.0
    rls, judged, learnt = learner.rls, fit.scores, learner.state
    weight = rls.noise[0] / rls.noise
    step_effects.weigh_steps(fit, learnt)
    directions, theta, blocks = Identified(products(judged.gram, weight)[:P, :P]), rls.theta, judged.effective_blocks
    covariance = judged.spread - np.outer(judged.sums, judged.sums) * judged.squared_weight / judged.weight**2
    noise = blocks / max(blocks - P, 0.5 * blocks) * directions.inverse @ covariance[:P, :P] @ directions.inverse
    straight = judged.theta + (0.0 if fit.lost.any() else fit.steps)
    trail = FACTOR * fit.trail + np.append(theta, 1.0)
    behind, pulled = (directions.beyond_noise(noise, theta - one) for one in (trail[:-1] / trail[-1], straight))
    least = max(1.0 - behind @ directions.gram @ behind / (rls.noise[0] * fit.rows.sum()) / rls.variance(), NOISE)
    rounding = float((learnt.rounding * learnt.usual_rounding).max())
    lowest = (least + 2.0 * max(least - rounding, 0.0)) / float(np.mean(learner.deviation_factor**2))
    floor = blocks / (blocks + KNOWN), least, lowest
    root = (
        learner.deviation_factor[:, None]
        * (np.triu(rls.state.u.T, 1) + np.eye(P))
        * np.sqrt(rls.d * rls.variance() * rls.share())
    )
    back = np.linalg.inv(root)
    near = contrast(directions, products(fit.sums.special[outputs : 2 * outputs], weight), judged.theta, noise)
    effects = fit.steps_left + sum(np.outer(one, one) for one in (pulled, near, behind, *fit.late))
    clear = products(fit.sums.special[2 * outputs :], weight)
    both = products(judged.gram, weight) + clear
    misfit = effects + Identified(both[:P, :P]).unidentifiable(both[P, P])
    if forth < EITHER:
        misfit = misfit + Identified(
            clear[:P, :P], np.where(np.diag(clear)[:P] > 0.0, np.sqrt(np.diag(clear)[:P]), 1.0)
        ).unidentifiable(clear[P, P])
        assert misfit[1, 1] > effects[1, 1] + 0.1
    seen, whole, prior = considered(fit, learner, directions, covariance, floor)
    widen(fit, learnt, FACTOR, True)
    correlated = mixed(back @ noise @ back.T, *floor)
    lost = LOST**2 * products(judged.gram, weight)[P, P] / fit.rows.sum() * fit.lost
    for found, wanted in (
        (learnt.correlated, correlated), (fit.behind, behind), (fit.effects, effects), (learnt.misfit, misfit),
        (learnt.seen, seen), (learnt.unmodelled, whole + lost), (fit.prior, prior), (fit.trail, trail),
        (learnt.gram, products(judged.gram, weight)[:P, :P] / fit.rows.sum()),
    ):  # fmt: skip
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    assert np.abs(behind).max() > 0.0
    assert np.abs(pulled).max() > 0.0


@pytest.mark.parametrize(("seed", "outputs", "size"), [(4, 1, 1.0), (5, 2, 1.0), (6, 1, 1e5)])
def test_steps_move_theta_by_what_lapack_finds(seed: int, outputs: int, size: float) -> None:
    """size: of their noise; with 1e5 steps are most of the information in some directions."""
    fit, learner = random_state(seed, outputs)
    fit.step_noise.noise *= size
    rls, learnt, rows = learner.rls, learner.state, fit.step_noise
    weight, theta = rls.noise[0] / rls.noise, rls.theta.copy()
    N, n = np.tensordot(weight * fit.rough, rows.noise, 1), (weight * fit.rough) @ rows.own
    directions = Identified(products(fit.scores.gram, weight)[:P, :P])
    ways = directions.ways / directions.scale[:, None] / np.sqrt(directions.information)
    share, turned = np.linalg.eigh(ways.T @ N @ ways)
    ways, lost = ways @ turned, share > HALF
    kept = ways[:, ~lost]
    bias = kept @ ((kept.T @ (N @ fit.scores.theta - n)) / (1.0 - share[~lost]))
    owed = fit.owed / rls.noise
    moved = theta + rls.covariance() @ (np.tensordot(owed, rows.noise, 1) @ theta - owed @ rows.own)
    step_effects.weigh_steps(fit, learnt)
    np.testing.assert_allclose(fit.steps, bias, rtol=1e-9, atol=1e-9 * np.abs(bias).max(initial=0.0))
    np.testing.assert_allclose(fit.lost, fit.rows.sum() * ways[:, lost] @ ways[:, lost].T, rtol=1e-9, atol=1e-12)
    assert lost.any() == (size > 1.0)
    step_effects.correct(fit, learnt)
    np.testing.assert_allclose(rls.theta, theta if lost.any() else moved, rtol=1e-12)
    assert not fit.owed.any()
    step_effects.weigh_rounding(fit, learnt)
    white = [rls.theta @ one @ rls.theta - 2.0 * own @ rls.theta for one, own in zip(rows.noise, rows.own, strict=True)]
    rounding = np.maximum(white, 0.0) / (rls.variance() * rls.noise)
    np.testing.assert_allclose(learnt.rounding, 0.01 if lost.any() else rounding, rtol=1e-12)
    np.testing.assert_allclose(
        learnt.timing, fit.settings.instant / (rls.variance() * rls.noise / learner.state.weighed), rtol=1e-12
    )
    np.testing.assert_allclose(learnt.usual_rounding, np.minimum(fit.rough / fit.rows, 1.0), rtol=1e-12)
    step_effects.find_what_is_left(fit, learnt)
    left = (1.0 if lost.any() else UNSURE) * np.outer(bias, bias) + rls.variance() * rls.noise[0] * fit.lost
    np.testing.assert_allclose(fit.steps_left, left, rtol=1e-9, atol=1e-9 * np.abs(left).max())


def test_counts_and_sums_fade_as_the_learner_forgets() -> None:
    fit, learner = random_state(7)
    rng, sums = np.random.default_rng(8), fit.sums
    fit.forgotten, learner.rls.state.forgotten, learner.reversal[:] = 1.0, 1.5, 0.5
    counts = sums.count, sums.turned_count, sums.noise, sums.turned_noise, sums.forth
    for one in counts:
        one[:] = rng.uniform(1.0, 9.0)
    sums.slow[:], fit.quantiser.sums[:], fit.quantiser.total = rng.normal(size=P + 2), 2.0, 5.0
    count, turned, noise, turned_noise, forth = (one.copy() for one in counts)
    factor, slow, special = np.exp(-0.5), sums.slow.copy(), sums.special.copy()
    wanted = (
        factor * fit.rows + count, factor * (fit.turns + turned), factor * fit.forth + forth,
        factor * fit.rough + noise, factor * fit.owed + noise + 0.25 * turned_noise, factor * fit.slow + slow,
        factor * special,
    )  # fmt: skip
    assert block_end.fade(fit, learner.state) == pytest.approx(factor, rel=1e-15)
    found = fit.rows, fit.turns, fit.forth, fit.rough, fit.owed, fit.slow, sums.special
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)
    assert not np.concatenate([*counts, sums.slow[0]]).any()
    assert (fit.quantiser.sums == 2.0 * factor).all()
    assert fit.quantiser.total == 5.0 * factor
    before = fit.sums.special.copy()
    learner.rls.state.forgotten = 1.0
    assert block_end.fade(fit, learner.state) == 0.0, "a learner that begins anew has forgotten all"
    fit.forgotten, fit.sums.special[:] = 0.0, before
    block_end.fade(fit, learner.state)
    np.testing.assert_allclose(fit.sums.special[:2], before[:2] * np.exp(-1.0), rtol=1e-15)
    np.testing.assert_array_equal(fit.sums.special[2:], before[2:])


@pytest.mark.parametrize("cuts", [True, False])
def test_a_cut_is_considered_by_the_rows_since_an_alarm_once(cuts: bool) -> None:
    """Once, however often it is asked, with what white noise lets the rows tell of it."""
    fit, learner = random_state(4)
    fit.half_step[:], fit.trail[:] = 0.02, 0.0
    judged, learnt, rls = fit.scores, learner.state, learner.rls
    rows = np.random.default_rng(5).normal(size=(2000, P + 1))  # [φ w]
    rows[:, P] = np.clip(3.0 * rows[:, 0] + rows[:, P], -1.0, 1.0)
    y = rows[:, :P] @ np.ones(P) - 0.02 * cuts * rows[:, P]
    which = [*range(P), 2 * P - 1 + CAUSES.index(TORQUE), 2 * P + OWN - 1]
    judged.gram[0][np.ix_(which, which)] = np.tril((both := np.column_stack([rows, y])).T @ both)
    judged.theta[:] = np.linalg.lstsq(rows[:, :P], y)[0]
    learner.deviation_factor[:], learnt.rounding[:] = 1.0, 0.0
    before = learnt.seen.copy(), learnt.unmodelled.copy()
    reconsider_cut(fit, learnt)
    effect = np.linalg.lstsq(rows[:, :P], rows[:, P])[0]
    left, score = rows[:, P] - rows[:, :P] @ effect, rows[:, P] @ (y - rows[:, :P] @ judged.theta)
    evidence = (
        -0.02
        * (left @ left)
        * (score + 0.01 * (left @ left))
        / (fit.settings.overlap * float(rls.variance()) * (left @ left))
    )
    probability = 1.0 / (1.0 + (1.0 - CUTS) / CUTS * np.exp(-evidence))
    assert probability > CUTS if cuts else probability < CUTS
    for _ in range(2):
        for now, then in zip((learnt.seen, learnt.unmodelled), before, strict=True):
            np.testing.assert_allclose(now - then, probability * 0.02**2 * np.outer(effect, effect), rtol=1e-6)
        reconsider_cut(fit, learnt)


def test_what_is_considered_of_a_cut_stands_while_theta_rests_on_earlier_rows() -> None:
    fit, learner = random_state(4)
    fit.half_step[:], learner.rls.state.weight = 0.02, 5e3
    reconsider_cut(fit, learner.state)
    assert not fit.cut.any()
    assert not learner.state.seen.any()


def with_a_change(size: float) -> tuple[FitState, Learner]:
    """A joint whose first parameter was 1 in the rows before, and is more by this in two blocks."""
    fit, learner = random_state(4)
    rng, scores = np.random.default_rng(6), fit.scores
    scores.blocks, scores.theta[:] = 20.0, 0.0
    scores.theta[0], learner.rls.d[:], fit.turns[:] = 1.0, 1e-6, 0.0
    scores.spread[:] = np.diag(np.full(len(scores.sums), 10.0))
    for block in (fit.last_block, fit.sums.products[0]):
        phi = rng.normal(size=(100, P))
        rows = np.column_stack([phi, (1.0 + size) * phi[:, 0] + 0.1 * rng.normal(size=100)])
        which = [*range(P), len(block) - 1]
        block[np.ix_(which, which)] = rows.T @ rows
    return fit, learner


def test_a_change_in_the_last_two_blocks_is_in_sigma_until_an_alarm_answers_for_it() -> None:
    fit, learner = with_a_change(0.5)
    learnt = learner.state
    before = learnt.seen.copy(), learnt.unmodelled.copy()
    find_recent_change(fit, learnt, True)
    assert np.sqrt(fit.changed[0]) == pytest.approx(0.5, rel=0.1)
    assert not fit.changed[1:].any()
    for now, then in zip((learnt.seen, learnt.unmodelled), before, strict=True):
        np.testing.assert_allclose((now - then).diagonal(), fit.changed, atol=1e-9)
    answer_for_change(fit, learnt)
    assert np.sqrt(fit.answered[0]) == pytest.approx(0.5, rel=0.1)
    assert not fit.changed.any()
    for now, then in zip((learnt.seen, learnt.unmodelled), before, strict=True):
        np.testing.assert_allclose(now, then, atol=1e-9)


@pytest.mark.parametrize(("size", "good"), [(0.0, True), (0.5, False)])
def test_noise_is_no_change_and_where_nothing_is_trusted_none_is_sought(size: float, good: bool) -> None:
    fit, learner = with_a_change(size)
    find_recent_change(fit, learner.state, good)
    assert not fit.changed.any()


def test_the_unit_of_a_change_follows_the_scores_slowly() -> None:
    """A change is in the scores, too."""
    fit, learner = with_a_change(0.0)
    find_recent_change(fit, learner.state, True)
    usual = fit.usual.copy()
    fit.scores.spread[:] *= 1e4
    find_recent_change(fit, learner.state, True)
    np.testing.assert_allclose(fit.usual, usual * 2.0 ** (1.0 / 60.0))
