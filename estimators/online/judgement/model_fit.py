"""Model fit, judged each second of motion: the effect of a misfit on θ widens its covariance and is named.

widening.py widens it; that does not change θ, but the weight of rows with a reversal does
(recursive/weights/reversals.py). Where misfit regressors explain more of the torque than the limit of a valid value
(GOOD), no value of that joint is valid, and the reason is their cause. Below that limit the covariance contains their
effect.

A block ends at a review, at a row that is known beforehand, so results do not depend on how rows are cut. While there
are too few blocks, as after an alarm, the last report is kept.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from estimators.misfit import regressors, scores
from estimators.misfit.regressors import (
    ANGLE,
    DIRECTION,
    ECCENTRIC,
    ELASTIC,
    LAG,
    LOAD,
    MEMORY,
    PLACE,
    SATURATION,
    SPEED,
    TORQUE,
)
from estimators.online.judgement import step_effects
from estimators.online.judgement.block_end import LEAST, NOW, fade, report
from estimators.online.judgement.fit_state import FitSettings, FitState
from estimators.online.judgement.gate import Gate
from estimators.online.judgement.widening import (
    EITHER,
    FOLLOWS,
    find_recent_change,
    reconsider_cut,
    widen,
    widen_unidentifiable,
)
from estimators.quantisation.errors_in_variables import Steps
from estimators.quantisation.shifted_quantiser import ShiftedQuantiser
from estimators.quantities import Floats, Parameter
from estimators.reasons import Reason
from estimators.recursive.learner import Learner, write_covariance
from estimators.recursive.weights import reversals
from estimators.rows import Rows
from estimators.thresholds import ENDLESS, GOOD

#: s, argued: Length of a block; longer than residuals are correlated (decision 012, point 1).
BLOCK: Final = 1.0
#: 1, argued: Share of the unexplained torque, rms, that a cause must explain to be named for a misfit so large that
#: nothing is trusted. What is not known well enough may owe it to a cause below the noise, which is unexplained too.
MOST: Final = 0.5
#: 1, argued: Share of the square of the unexplained torque that a lag must explain to be named: it shifts all of the
#: torque, so it is most of the residual or not its cause.
MAINLY: Final = 0.5
#: rad, argued: The largest error of a position once a turn: that of a disc a fifth of its radius off its axis.
OFF_AXIS: Final = 0.2
#: 1, argued: Largest part of the torque, rms, that saturation of iron takes away: three deviations of the expected one.
LARGEST_BEND: Final = 0.15
#: 1, argued: Share of a variance from which a source is named as the reason of an uncertain value.
MOSTLY: Final = 0.5
#: rows, argued: Rows beyond two blocks for which motion may still be unknown.
WAITING: Final = 16

# codes of reasons, by the regressor that shows them
SHAPES: Final = {
    SPEED: "friction_shape",
    DIRECTION: "friction_direction",
    MEMORY: "friction_memory",
    ELASTIC: "drive_elastic",
    ECCENTRIC: "encoder_eccentric",
    LOAD: "friction_load",
    PLACE: "friction_place",
    SATURATION: "torque_not_linear",
}
# parameters whose torque a joint's gears and bearings carry
LOADS: Final = frozenset({"inertia", "gravity_sin", "gravity_cos", "offset"})


class ModelFit:
    """Judges how well the model of one estimator fits, and widens its deviations."""

    def __init__(
        self,
        parameters: Sequence[Parameter],
        owners: Sequence[int],
        row: float,
        gate: Gate,
        turns: bool = True,
        remembers: bool = False,
        corrects: bool = False,
        sample: float = 0.0,
        overlap: float = 1.0,
        prior: float = GOOD,
        hidden: float = 0.0,
    ) -> None:
        """owners: the joint of each output; row: s between rows; gate: of the joint; turns: whether positions
        are angles; remembers: whether friction has a memory of its own; corrects: whether what an encoder's steps do
        is taken off θ; sample: s for which a torque that is read is held; overlap: rows that say the same; prior: rms
        of a torque of the angle that the model may lack, over that of the torque; hidden: factor of
        misfit/sampled_motion.py."""
        p, m, own = len(parameters), len(owners), regressors.columns(turns)
        self._lags = np.array([one.late for one in parameters])
        self._parameters, self._own, self._block = parameters, own, max(2, round(BLOCK / row))
        self._owners = np.array(owners, np.int64)
        names = [one.name for one in parameters]
        self._inertia = names.index("inertia") if "inertia" in names else None
        self._gate = gate
        torque = bool(self._lags.all())  # else y may be a position
        instant, prior = (sample**2 / 12.0, prior) if torque else (0.0, 0.0)
        inertia = -1 if self._inertia is None else self._inertia
        settings = FitSettings(
            own=own,
            overlap=overlap,
            corrects=corrects,
            prior=prior,
            inertia=inertia,
            instant=instant,
            hidden=hidden,
        )
        self._steps: tuple[Steps, ...] = ()
        self.active = True  # false while rows do not say how their joint moved
        self.earlier = 0  # rows by which the first block of normal mode ends earlier, see JointEstimator
        unread = 2 * self._block + WAITING if corrects and m == 1 else 0
        self.state = state = FitState.of(p, self._owners, settings, row, remembers, torque, unread)
        state.sums.loads[:] = [one.name in LOADS for one in parameters]
        self.quantiser = ShiftedQuantiser(state.quantiser)

    @property
    def due(self) -> int:
        """Number of the row that ends the block."""
        return self.state.due if self.active else ENDLESS

    def begin(self, now: int, keep_identified: bool = False) -> None:
        """Forget all sums: rows so far had other columns or another truth. The last report stands.

        now: number of the next row; keep_identified: whether directions that rows have identified so far still count as
        identified, since what follows is no change of them.
        """
        state = self.state
        state.stands = True
        clear = state.sums.special[2 * len(state.rows) :]
        before = clear.copy()
        for one in (
            state.rows,
            state.rough,
            state.forth,
            state.turns,
            state.owed,
            state.slow,
            state.steep,
            state.trail,
            state.behind,
            state.last_block,
            state.recent,
            state.usual,
        ):
            one[:] = 0.0
        state.sums.products[:] = state.sums.special[:] = 0.0
        clear[:] = before if keep_identified else 0.0
        state.scores.clear()
        state.recent_rows, state.varies = 0.0, 0
        self.quantiser.clear()
        state.sums.when[:] = -math.inf
        state.sums.begin_block()
        state.due, state.forgotten = now + self._block, 0.0

    def begin_moving(self, learner: Learner, now: int) -> None:
        """Forget the sums and their noise: θ has moved and goes on moving; steps and lag stay as reported."""
        self.begin(now, keep_identified=True)
        learner.correlated[:] = np.eye(learner.rls.p)
        self.state.effects[:] = self._left_of_steps(learner) + self.state.late.T @ self.state.late
        learner.misfit[:] = self.state.effects

    @property
    def block(self) -> int:
        """Rows of a block."""
        return self._block

    def consider_anew(self, learner: Learner) -> None:
        """Take the prior of torques of the angle again: no row has shown yet their effect on values after an alarm."""
        learner.state.unmodelled += self.state.prior

    def forget(self, learner: Learner) -> None:
        """Forget the last report as well, and so all that was known of the model's fit."""
        state = self.state
        state.share, state.left, state.spoiled = 0.0, 0.0, False
        state.differing = state.compared = 0.0
        state.gains[:] = state.found[:] = 0.0
        for one in (
            state.steps,
            state.late,
            state.places,
            state.lost,
            state.effects,
            state.prior,
            state.cut,
            state.changed,
        ):
            one[:] = 0.0
        learner.state.rounding[:], learner.state.usual_rounding[:], learner.state.timing[:] = 0.0, 1.0, 0.0
        learner.state.weighed[:] = 1.0
        learner.correlated[:], learner.misfit[:] = np.eye(learner.rls.p), 0.0
        learner.state.unmodelled[:] = learner.state.seen[:] = 0.0

    def absorb(self, rows: Rows, reversal: Floats) -> None:
        """Take rows that taught; reversal: (outputs,) of a Learner."""
        if not len(rows.time):
            return
        self.active = len(rows.motion) == len(rows.time)
        if self.active:
            slow = max(self._gate.standstill, reversals.UNSEEN)
            phi = np.ascontiguousarray(rows.phi)
            regressors.gather(rows.time, phi, rows.y, rows.speed, rows.motion, slow, self.state.sums)
            if self.quantiser.reading is not None:
                self.quantiser.keep(rows, slow, float(reversal[0]))

    def review(self, rows: Rows, learner: Learner, now: int) -> None:
        """Begin with the rows of a start, block by block; now: number of the next row."""
        self.begin(now)
        self.state.sums.place[:] = np.nan
        self._predict_by(learner)
        for first in range(0, len(rows.time) - self._block + 1, self._block):
            part = rows.part(slice(first, first + self._block))
            self.state.sums.starting = False  # θ is that of all these rows
            self.absorb(part, learner.reversal)
            last = first + 2 * self._block > len(rows.time)
            self.close(learner, now, int(part.time[-1]), settled=last)
        self.state.forgotten = learner.rls.state.forgotten

    def close(self, learner: Learner, now: int, time: int, settled: bool, good: bool = False) -> None:
        """End a block, and widen the learner's deviations.

        now: number of the next row; time: ns, of the last one; settled: whether θ is published; good: whether the
        prediction is trusted.
        """
        state, rls = self.state, learner.rls
        state.due = now + self._block
        state.sums.starting = not settled
        self._predict_by(learner)
        factor = fade(state, learner.state)
        self.quantiser.read()
        noise = rls.noise[0] / rls.noise
        if settled:
            find_recent_change(state, learner.state, good)
        scores.close(state.sums.products, noise, factor, self._lags, state.behind, state.scores)
        enough = report(state, learner.state)
        state.stands = state.stands and not enough
        if not enough and state.left > 0.0:
            reconsider_cut(state, learner.state)
        if not settled:
            return
        if not enough and state.left > 0.0:
            widen_unidentifiable(state, learner.state)
            return
        state.step_noise.take(self._steps, time)
        step_effects.weigh_steps(state, learner.state)
        step_effects.correct(state, learner.state)
        step_effects.find_what_is_left(state, learner.state)
        if not enough:  # the end of a start: steps need no scores, and a lag a few blocks only
            state.late[:] = state.scores.lag
        widen(state, learner.state, factor, enough)
        if enough:
            step_effects.weigh_rounding(state, learner.state)

    def _predict_by(self, learner: Learner) -> None:
        """Let rows of the next block be predicted by the present θ."""
        sums = self.state.sums
        sums.theta[:], sums.level[:] = learner.rls.theta, learner.state.signal * np.sqrt(learner.rls.noise)

    def follow(self, learner: Learner, settled: bool) -> None:
        """Update the weight of rows with a reversal, and the usual residual; settled: whether θ is published."""
        state = self.state
        if self.state.scores.effective_blocks < LEAST or learner.rls.state.cusum > 0.0:
            return
        for o in range(len(state.rows)):
            if (
                learner.reversal[o] == reversals.UNPROVEN
                and min(state.forth[o], state.rows[o] - state.forth[o]) < EITHER
            ):
                continue
            straight = reversals.left(state.scores.gram[o], state.scores.theta)
            reversing = reversals.left(state.sums.special[o], state.scores.theta)
            learner.reversal[o] = reversals.weight(
                straight, state.rows[o], reversing, state.turns[o], float(learner.reversal[o])
            )

        if settled:
            learner.rls.follow_noise(FOLLOWS**BLOCK)

    def set_encoder_steps(self, steps: Steps) -> None:
        """Take into account that the readings of an encoder have steps."""
        self._steps = (*self._steps, steps)
        if steps.reading is not None and len(self.state.quantiser.times):
            self.state.only_noise[:], self.state.only_own[:] = steps.noise[0], steps.own[0]
            self.quantiser.set_encoder_step(steps.size, steps.reading)

    def set_torque_step(self, half_step: float) -> None:
        """Take into account that the torque comes in steps, and may be cut toward zero to them; half_step: N·m (N)."""
        self.state.half_step[:] = half_step

    def correct(self, learner: Learner, time: int) -> None:
        """Correct θ for the steps in the rows since the last time; time: ns, of the last one."""
        self.state.step_noise.take(self._steps, time)
        step_effects.correct(self.state, learner.state)

    def reduce_step_noise(self, left: Floats) -> None:
        """Scale the step noise of a start's rows, which now weigh less; left (outputs,): its remaining share."""
        self.state.owed *= left
        self.quantiser.fade(float(left[0]))

    def weigh_rounding(self, learner: Learner, time: int) -> None:
        """Set the weights of rows in which rounding does not average out, or the torque changes within a sample."""
        self.state.step_noise.take(self._steps, time)
        step_effects.weigh_rounding(self.state, learner.state)

    def _left_of_steps(self, learner: Learner) -> Floats:
        """Covariance of θ (p, p) that the steps leave."""
        step_effects.find_what_is_left(self.state, learner.state)
        return self.state.steps_left

    # --- reports

    @property
    def spoiled(self) -> bool:
        """Whether the model fits too badly for anything of the joint to be trusted."""
        return self.state.spoiled or self.state.varies > 0

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why nothing of the joint may be trusted."""
        if not self.spoiled:
            return ()
        if not self.state.spoiled and self.state.varies == NOW:
            return (Reason("unexplained_lately"),)
        left = {"unexplained": 100.0 * float(self.state.left)}
        return tuple(one._replace(numbers={**one.numbers, **left}) for one in self.causes())

    def cause_of(self, learner: Learner) -> Callable[[int, float], tuple[Reason, ...]]:
        """Function of a parameter and its deviation: causes other than a lack of motion that make it so large, if any.

        It is valid until the next row.
        """
        state, rls, left = self.state, learner.rls, learner.state
        if not state.left > 0.0:
            return lambda *_: ()
        noise = rls.variance() * rls.share() * rls.covariance().diagonal() + left.unexcited.diagonal()
        causes = self.causes(0.0) if state.share > 0.0 else None

        def cause(which: int, deviation: float) -> tuple[Reason, ...]:
            most = MOSTLY * deviation**2
            if noise[which] >= most:
                return ()
            if state.changed[which] >= most:
                return (Reason("unexplained_lately"),)
            steps = state.steps[which] ** 2 + state.places[which, which]
            if self._steps and (state.lost[which, which] > 0.0 or steps >= most):
                return (self._too_coarse(),)
            if learner.misfit[which, which] - state.effects[which, which] >= most:  # no row shows it, or it moves
                return ()
            if causes is not None:
                return causes
            if float((state.late[:, which] ** 2).sum()) >= most:
                return (Reason("instant_not_identifiable"),)
            if learner.misfit[which, which] >= most:
                return self._reversals()
            if left.unmodelled[which, which] >= most:  # of a torque that no row shows
                return ()
            return (Reason("residual_not_noise"),)

        return cause

    def cause_of_all(self, learner: Learner) -> tuple[Reason, ...]:
        """Causes other than a lack of motion that make the whole prediction uncertain, if any."""
        state, gram = self.state, learner.state.gram
        if not state.left > 0.0:
            return ()
        covariance = np.empty_like(gram)
        write_covariance(learner.state, covariance)
        steps = float(np.sum(gram * self._left_of_steps(learner)))
        late = float(np.einsum("oi,ij,oj->", state.late, gram, state.late))
        white = learner.rls.variance() * learner.rls.share() * learner.rls.covariance() + learner.state.unexcited
        noise, rest = float(np.sum(gram * white)), float(np.sum(gram * state.effects)) - steps - late
        # what no row identifies, and what a value that is followed may move by: neither is in any residual
        unseen = float(np.sum(gram * (learner.misfit - state.effects)))
        similar = float(np.sum(gram * (covariance - learner.misfit))) - noise  # residuals that follow each other
        sources = {"noise": noise, "unseen": unseen, "steps": steps, "late": late, "rest": rest, "similar": similar}
        most = max(sources, key=lambda one: sources[one])
        if most in ("noise", "unseen") or (most == "similar" and not state.share > 0.0):
            return ()
        if most == "steps" and self._steps:
            return (self._too_coarse(),)
        if state.share > 0.0:  # what rows show comes before a lag, which they do not exclude
            return self.causes(0.0)
        return (Reason("instant_not_identifiable"),) if most == "late" else self._reversals()

    def _reversals(self) -> tuple[Reason, ...]:
        """The reason where rows with or after a reversal bias θ; none where such rows belong to an earlier θ."""
        return () if self.state.stands else (Reason("reversal_friction"),)

    def _too_coarse(self) -> Reason:
        """The reason that an encoder's steps are too coarse."""
        step = max(self._steps, key=lambda one: one.wanted)
        return Reason("encoder_steps", None, {"step": step.size, "half_width": step.wanted})

    def causes(self, most: float = MOST) -> tuple[Reason, ...]:
        """Causes of the misfit, the largest share first; the cause is unknown where the largest is not possible.

        most: share of the unexplained torque, rms, that they must explain.
        """
        state, reasons = self.state, list[Reason]()
        if state.share < most * state.left or not self._possible(int(state.gains.argmax())):
            return (Reason("residual_not_noise"),)
        for k in np.argsort(-state.gains):
            if state.gains[k] <= 0.0 or len(reasons) == 2:
                break
            if not self._possible(int(k)):
                continue
            reason = self._reason(int(k))
            if reason not in reasons:
                reasons.append(reason)
        return tuple(reasons)

    def _possible(self, k: int) -> bool:
        """Whether the cause that a regressor is named for is possible.

        A ripple of the torque shakes the joint, whose acceleration then follows it a quarter of a period later: part of
        it looks like a lag. An error of the position is in the acceleration and not in the torque, and looks like a
        load that lets go; but a load behind a spring takes no more than the inertia there is. It looks like an error
        of the angle, too, but one that no disc has.
        """
        state, cause = self.state, regressors.CAUSES[k % self._own]
        if cause == LAG:
            return bool(state.gains[k] >= MAINLY * state.left**2)
        if cause in (SATURATION, TORQUE):
            return self._disproportion(*divmod(k, self._own)) <= 1.0
        if cause not in (ELASTIC, ECCENTRIC) or self._inertia is None:
            return True
        inertia = float(state.scores.theta[self._inertia] - state.scores.bias[self._inertia])
        if cause == ELASTIC:
            return bool(state.found[k] >= -inertia)
        last = k - k % self._own + regressors.CAUSES.index(ECCENTRIC) + regressors.CAUSES.count(ECCENTRIC)
        return math.hypot(*state.found[last - 2 : last]) <= OFF_AXIS * inertia  # those of the acceleration

    def _disproportion(self, output: int, column: int) -> float:
        """Disproportion of a measured torque, over the largest of a sensor or a motor."""
        gram, last = self.state.scores.gram[output], len(self.state.scores.gram[output]) - 1
        if not gram[last, last] > 0.0:
            return 0.0  # no sums of the reported rows are left to compare with
        if regressors.CAUSES[column] == TORQUE:
            rms = math.sqrt(gram[last, last] / max(self.state.rows[output], 1.0))
            return abs(self._dead_zone(output)) / (float(regressors.WIDTHS[-1]) * rms)
        place = 2 * len(self.state.steps) - 1 + column  # after φ and φ̇; the lag has no column
        bend = abs(float(self.state.found[output * self._own + column]))
        return bend * math.sqrt(gram[place, place] / gram[last, last]) / LARGEST_BEND

    def _dead_zone(self, output: int) -> float:
        """Half width of the dead zone of a measured torque; below 0: a step at zero."""
        first = output * self._own + regressors.CAUSES.index(TORQUE)
        return -float(self.state.found[first : first + regressors.CAUSES.count(TORQUE)].sum())

    def _reason(self, k: int) -> Reason:
        """One cause, with its size."""
        output, column = divmod(k, self._own)
        cause = regressors.CAUSES[column]
        numbers = {"row": output + 1.0} if len(self._owners) > 1 else {}
        if cause == LAG:
            late = -float(self.state.found[k])
            lag = f"{1e3 * abs(late):.2g} ms {'late' if late > 0 else 'early'}"
            return Reason("torque_lag", None, {"late": late, **numbers}, {"lag": lag})
        if cause == ANGLE:
            first = output * self._own + regressors.TURNS + (column - regressors.TURNS) // 2 * 2
            size, times = math.hypot(*self.state.found[first : first + 2]), (column - regressors.TURNS) // 2 + 1
            return Reason("torque_repeats", None, {"times": float(times), "torque": size, **numbers})
        if cause == TORQUE:
            return Reason("torque_not_proportional", None, {"torque": self._dead_zone(output), **numbers})
        return Reason(SHAPES[cause], None, numbers)
