"""Model fit, judged each second of motion: the effect of a misfit on θ widens its covariance and is named.

What widens it is in widening.py; none of that changes θ, but the weight of rows with a reversal does
(recursive/weights/reversals.py). Where misfit regressors explain more of the torque than the limit of a valid value
(GOOD), nothing of that joint is valid, and the reason is their cause. Below that limit the covariance contains their
effect.

A block ends at a review, at a row that is known beforehand, so results do not depend on how rows are cut. While there
are too few blocks, as behind an alarm, the last report stands.
"""

import math
from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from estimators.misfit import regressors, scores
from estimators.misfit.regressors import ANGLE, DIRECTION, ECCENTRIC, ELASTIC, LAG, LOAD, MEMORY, PLACE, SPEED, TORQUE
from estimators.numerics.directions import Directions
from estimators.online.judgement.fit_state import FitState
from estimators.online.judgement.gate import Gate
from estimators.online.judgement.validity import SMALL
from estimators.online.judgement.widening import (
    EITHER,
    Widening,
    consider,
    directions_of,
    widen,
    widen_unidentifiable,
)
from estimators.quantisation.errors_in_variables import UNSURE, Steps, bias_of, noise_of_rows
from estimators.quantisation.shifted_quantiser import ShiftedQuantiser
from estimators.quantities import Floats, Parameter
from estimators.reasons import Reason
from estimators.recursive.learner import Learner
from estimators.recursive.weights import reversals
from estimators.rows import Rows
from estimators.thresholds import ENDLESS, GOOD, MISFIT_OVER

#: s, argued: Rows of one score; longer than residuals remember (decision 012, point 1).
BLOCK: Final = 1.0
#: blocks, argued: Blocks before which no misfit is reported.
LEAST: Final = 8.0
#: 1, argued: Torque over its rms along a direction that an encoder's steps may pretend: far from good, and finite.
LOST: Final = 10.0
#: 1, argued: Share of the unexplained torque, rms, that a cause must explain to be named.
MOST: Final = 0.5
#: 1, argued: Share of the square of the unexplained torque that a lag must explain to be named: it shifts all of the
#: torque, so it is most of the residual or not its cause.
MAINLY: Final = 0.5
#: rad, argued: The largest error of a position once a turn: that of a disc a fifth of its radius off its axis.
OFF_AXIS: Final = 0.2
#: 1, argued: Share of a variance from which a source is named as the reason of an uncertain value.
MOSTLY: Final = 0.5
#: 1, argued: Factor a block of a second by which the alarm's unit may follow the residual: two a minute (decision 012,
#: point 12).
FOLLOWS: Final = 2.0 ** (1.0 / 60.0)
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
}
# parameters whose torque a joint's gears and bearings carry
LOADS: Final = frozenset({"inertia", "gravity_sin", "gravity_cos", "offset"})


class ModelFit:
    """Judges how well the model of one estimator fits, and widens its deviations."""

    WORKING: ClassVar[frozenset[str]] = frozenset({"active", "earlier", "_gate", "_steps"})

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
    ) -> None:
        """owners: the joint of each output; row: s between rows; gate: of the joint; turns: whether positions
        are angles; remembers: whether friction has a memory of its own; corrects: whether what an encoder's steps do
        is taken off θ; sample: s for which a torque that is read is held; overlap: rows that say the same; prior: rms
        of a torque of the angle that the model may lack, over that of the torque."""
        p, m, own = len(parameters), len(owners), regressors.columns(turns)
        self._lags = np.array([one.late for one in parameters])
        self._parameters, self._own, self._block = parameters, own, max(2, round(BLOCK / row))
        self._owners = np.array(owners, np.int64)
        names = [one.name for one in parameters]
        self._inertia = names.index("inertia") if "inertia" in names else None
        self._gate, self._corrects = gate, corrects
        self._overlap = overlap
        torque = bool(self._lags.all())  # else y may be a position
        self._near_zero = np.array([one == TORQUE for one in regressors.CAUSES[:own]])  # which regressors are of it
        self._instant, self._prior = (sample**2 / 12.0, prior) if torque else (0.0, 0.0)  # s², variance
        self._steps: tuple[Steps, ...] = ()
        self.active = True  # false while rows do not say how their joint moved
        self.earlier = 0  # rows by which the first block of normal mode ends earlier, see JointEstimator
        unread = 2 * self._block + WAITING if corrects and m == 1 else 0
        self.kept = kept = FitState.of(p, self._owners, own, row, remembers, torque, unread)
        kept.sums.loads[:] = [one.name in LOADS for one in parameters]
        self.quantiser = ShiftedQuantiser(kept.quantiser)

    @property
    def due(self) -> int:
        """Number of the row that ends the block."""
        return self.kept.due if self.active else ENDLESS

    def begin(self, now: int, keep_identified: bool = False) -> None:
        """Forget all sums: rows so far had other columns or another truth. The last report stands.

        now: number of the next row; keep_identified: whether directions that rows have identified so far still count as
        identified, since what follows is no change of them.
        """
        kept = self.kept
        clear = kept.sums.special[2 * len(kept.rows) :]
        before = clear.copy()
        for one in (kept.rows, kept.rough, kept.forth, kept.turns, kept.owed, kept.slow, kept.trail, kept.behind):
            one[:] = 0.0
        kept.sums.products[:] = kept.sums.special[:] = 0.0
        clear[:] = before if keep_identified else 0.0
        kept.scores.clear()
        self.quantiser.clear()
        kept.sums.when[:] = -math.inf
        kept.sums.begin_block()
        kept.due, kept.forgotten = now + self._block, 0.0

    def begin_moving(self, learner: Learner, now: int) -> None:
        """Forget sums and what they said of noise: θ has moved and goes on moving; steps and lag are as reported."""
        self.begin(now, keep_identified=True)
        learner.correlated[:] = np.eye(learner.rls.p)
        self.kept.effects[:] = self._left_of_steps(learner) + self.kept.late.T @ self.kept.late
        widen_unidentifiable(self.kept, learner)

    @property
    def block(self) -> int:
        """Rows of a block."""
        return self._block

    def consider_anew(self, learner: Learner) -> None:
        """Take the prior of torques of the angle again: no row has shown yet what they did to values after an alarm."""
        learner.kept.unmodelled += self.kept.prior

    def forget(self, learner: Learner) -> None:
        """Forget the last report as well: nothing is known of the model any more."""
        kept = self.kept
        kept.share, kept.left, kept.spoiled = 0.0, 0.0, False
        kept.gains[:] = kept.found[:] = 0.0
        for one in (kept.steps, kept.late, kept.lattice, kept.lost, kept.effects, kept.prior):
            one[:] = 0.0
        learner.kept.grain[:], learner.kept.usual[:], learner.kept.held[:] = 0.0, 1.0, 0.0
        learner.kept.weighed[:] = 1.0
        learner.correlated[:], learner.misfit[:] = np.eye(learner.rls.p), 0.0
        learner.kept.unmodelled[:] = learner.kept.seen[:] = 0.0

    def absorb(self, rows: Rows, reversal: Floats) -> None:
        """Take rows that taught; reversal: (outputs,) of a Learner."""
        if not len(rows.time):
            return
        self.active = len(rows.motion) == len(rows.time)
        if self.active:
            slow = max(self._gate.standstill, reversals.UNSEEN)
            phi = np.ascontiguousarray(rows.phi)
            regressors.gather(rows.time, phi, rows.y, rows.speed, rows.motion, slow, self.kept.sums)
            if self.quantiser.reading is not None:
                self.quantiser.keep(rows, slow, float(reversal[0]))

    def review(self, rows: Rows, learner: Learner, now: int) -> None:
        """Begin with the rows of a start, block by block; now: number of the next row."""
        self.begin(now)
        self.kept.sums.place[:] = np.nan
        self._predict_by(learner)
        for first in range(0, len(rows.time) - self._block + 1, self._block):
            part = rows.part(slice(first, first + self._block))
            self.absorb(part, learner.reversal)
            last = first + 2 * self._block > len(rows.time)
            self.close(learner, now, int(part.time[-1]), settled=last)
        self.kept.forgotten = learner.rls.state.forgotten

    def close(self, learner: Learner, now: int, time: int, settled: bool) -> None:
        """End a block, and widen the learner's deviations.

        now: number of the next row; time: ns, of the last one; settled: whether θ is published.
        """
        kept, rls, sums = self.kept, learner.rls, self.kept.sums
        kept.due = now + self._block
        self._predict_by(learner)
        forgotten = rls.state.forgotten
        fade = math.exp(kept.forgotten - forgotten) if forgotten >= kept.forgotten else 0.0
        sums.special[: 2 * len(kept.rows)] *= fade
        if kept.forgotten > 0.0:  # what an alarm of something else forgets is still identified
            sums.special[2 * len(kept.rows) :] *= fade
        kept.forgotten = forgotten
        kept.rows[:] = fade * kept.rows + sums.count
        kept.turns[:] = fade * (kept.turns + sums.turned_count)
        kept.forth[:] = fade * kept.forth + sums.forth
        kept.rough[:] = fade * kept.rough + sums.noise
        kept.slow[:] = fade * kept.slow + sums.slow
        kept.owed[:] = fade * kept.owed + sums.noise + learner.reversal**2 * sums.turned_noise
        sums.begin_block()
        self.quantiser.fade(fade)
        self.quantiser.read()
        scores.close(sums.products, rls.noise[0] / rls.noise, fade, self._lags, kept.behind, kept.scores)
        if self.kept.scores.effective_blocks < LEAST or rls.state.cusum > 0.0:
            if settled and kept.left == 0.0:
                self._begin_with_steps(learner, time)
            elif settled:
                widen_unidentifiable(kept, learner)
            return
        judged = kept.scores
        kept.gains[:], kept.found[:], kept.late[:] = judged.gains, judged.coefficients, judged.lag
        kept.share, kept.left = judged.explained, judged.unexplained
        over = MISFIT_OVER if kept.spoiled else 1.0
        kept.spoiled = kept.share > over * GOOD or self._disproportion() > over * SMALL
        if settled:
            directions = directions_of(kept, learner)
            self._weigh_steps(rls.noise[0] / rls.noise, directions, time)
            self.correct(learner, time)
            kept.trail[:] = fade * kept.trail + np.append(rls.theta, 1.0)
            widen(kept, learner, directions, self._left_of_steps(learner), self._known)
            self._lose(learner)
            self.roughen(learner, time)

    def _predict_by(self, learner: Learner) -> None:
        """Let rows of the next block be predicted by the present θ."""
        sums = self.kept.sums
        sums.theta[:], sums.level[:] = learner.rls.theta, learner.kept.signal * np.sqrt(learner.rls.noise)

    def follow(self, learner: Learner, settled: bool) -> None:
        """Update the weight of rows with a reversal, and the usual residual; settled: whether θ is published."""
        kept = self.kept
        if self.kept.scores.effective_blocks < LEAST or learner.rls.state.cusum > 0.0:
            return
        for o in range(len(kept.rows)):
            if learner.reversal[o] == reversals.UNPROVEN and min(kept.forth[o], kept.rows[o] - kept.forth[o]) < EITHER:
                continue
            straight = reversals.left(kept.scores.gram[o], kept.scores.theta)
            reversing = reversals.left(kept.sums.special[o], kept.scores.theta)
            learner.reversal[o] = reversals.weight(
                straight, kept.rows[o], reversing, kept.turns[o], float(learner.reversal[o])
            )

        if settled:
            learner.rls.follow_noise(FOLLOWS**BLOCK)

    def _disproportion(self) -> float:
        """Share of the torque (rms) that a nonlinearity near zero explains; 0 where another cause explains more.

        Such a measurement is wrong in every row, so its limit is that of the prediction.
        """
        gains = self.kept.gains.reshape(-1, self._own)
        near = gains[:, self._near_zero]
        most = near.max(initial=0.0)
        return math.sqrt(float(near.sum())) if most >= gains.max(initial=0.0) else 0.0

    @property
    def _corrected(self) -> bool:
        """Whether θ has been corrected for the steps."""
        return self._corrects and not self.kept.lost.any()

    def coarse(self, steps: Steps) -> None:
        """Tell it that the readings of an encoder have steps."""
        self._steps = (*self._steps, steps)
        if steps.reading is not None and len(self.kept.quantiser.times):
            self.quantiser.coarse(steps.size, steps.reading)

    def correct(self, learner: Learner, time: int) -> None:
        """Correct θ for the steps in the rows since the last time: θ += P(Nθ − n), with their N and n.

        So θ follows (G − N)θ = b − n row by row. A model with η is not corrected, since its rows are learnt again and
        again; nor is θ where the steps are most of the information in a direction.
        """
        rls, kept = learner.rls, self.kept
        if self._corrected and self._steps:
            noise, own = noise_of_rows(self._steps, kept.owed / rls.noise, time, rls.p)
            rls.theta[:] = rls.theta + rls.covariance() @ (noise @ rls.theta - own)
        kept.owed[:] = 0.0

    def lighten(self, left: Floats) -> None:
        """Note that the rows of a start weigh less than before; left (outputs,): share of the step noise in them."""
        self.kept.owed *= left
        self.quantiser.fade(float(left[0]))

    def roughen(self, learner: Learner, time: int) -> None:
        """Set the weights of rows in which rounding does not average out, or the torque changes within a sample."""
        rls, grain = learner.rls, learner.kept.grain
        learner.kept.usual[:] = np.minimum(self.kept.rough / np.maximum(self.kept.rows, 1.0), 1.0)
        learner.kept.held[:] = self._instant / learner.row_variance()
        for o in range(len(grain) if self._corrected else 0):
            noise, own = noise_of_rows(self._steps, np.eye(len(grain))[o], time, rls.p)
            white = float(rls.theta @ noise @ rls.theta - 2.0 * own @ rls.theta)
            grain[o] = max(0.0, white) / (rls.variance() * rls.noise[o])

    def _begin_with_steps(self, learner: Learner, time: int) -> None:
        """Correct for encoder steps at the end of a start, before there are scores enough: the correction needs none.

        A lag that is not known is considered as soon as a few blocks say anything of it.
        """
        directions = directions_of(self.kept, learner)
        self._weigh_steps(learner.rls.noise[0] / learner.rls.noise, directions, time)
        self.correct(learner, time)
        self.kept.late[:] = self.kept.scores.lag
        self.kept.effects[:] = self._left_of_steps(learner) + self.kept.late.T @ self.kept.late
        widen_unidentifiable(self.kept, learner)
        consider(self.kept, learner, directions, self._known)
        self._lose(learner)

    def _left_of_steps(self, learner: Learner) -> Floats:
        """Covariance of θ (p, p) that the steps leave.

        Along a direction of which steps are most of the information θ is not known, and so its column is mostly noise:
        what its true part would explain is in the residual, so the prediction is off by the residual's rms at most.
        """
        kept, rls, reading = self.kept, learner.rls, self.quantiser.reading
        left = (UNSURE if self._corrected else 1.0) * np.outer(kept.steps, kept.steps)
        if self._corrected and reading is not None:
            noise, own = self._steps[0].noise[0], self._steps[0].own[0]
            kept.lattice[:] = self.quantiser.covariance(
                rls.theta, rls.noise[0] * np.linalg.inv(rls.covariance()), noise, own
            )
            lost = np.isinf(np.diag(kept.lattice))
            kept.lattice[lost] = kept.lattice[:, lost] = 0.0
            left += kept.lattice
            kept.lost[:] = np.diag(np.where(lost, 1.0 / learner.leverage**2, 0.0))
        return np.asarray(left + rls.variance() * rls.noise[0] * kept.lost)

    @property
    def _known(self) -> Widening:
        """What is known of the rows beforehand."""
        return Widening(self._own, self._overlap, self._corrected, self._corrects, self._prior, self._inertia)

    def _lose(self, learner: Learner) -> None:
        """Widen θ, but not its prediction, along directions of which steps are most of the information."""
        learner.kept.unmodelled += LOST**2 * learner.kept.power * self.kept.lost

    def _weigh_steps(self, weight: Floats, directions: Directions, time: int) -> None:
        """Compute by how much the steps move θ; directions: see directions_of."""
        kept, p = self.kept, len(self.kept.scores.theta)
        noise, own = noise_of_rows(self._steps, weight * kept.rough, time, p)
        if noise.any():
            kept.steps[:], lost = bias_of(directions, noise, own, kept.scores.theta)
            kept.lost[:] = max(float(kept.rows.sum()), 1.0) * lost @ lost.T

    # --- reports

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why nothing of the joint may be trusted."""
        if not self.kept.spoiled:
            return ()
        left = {"unexplained": 100.0 * float(self.kept.left)}
        return tuple(one._replace(numbers={**one.numbers, **left}) for one in self.causes)

    def cause(self, learner: Learner, which: int, deviation: float) -> tuple[Reason, ...]:
        """What rather than a want of motion makes a parameter's deviation as large as this; or nothing."""
        if not self.kept.left > 0.0:
            return ()
        rls = learner.rls
        noise = rls.variance() * rls.share() * rls.covariance()[which, which] + learner.kept.unexcited[which, which]
        if noise >= MOSTLY * deviation**2:
            return ()
        steps = self.kept.steps[which] ** 2 + self.kept.lattice[which, which]
        if self._steps and (self.kept.lost[which, which] > 0.0 or steps >= MOSTLY * deviation**2):
            return (self._too_coarse(),)
        if self.kept.share > 0.0:
            return self.causes
        if float((self.kept.late[:, which] ** 2).sum()) >= MOSTLY * deviation**2:
            return (Reason("instant_not_identifiable"),)
        if learner.misfit[which, which] >= MOSTLY * deviation**2:
            return (Reason("reversal_friction"),)
        if learner.kept.unmodelled[which, which] >= MOSTLY * deviation**2:  # of a torque that no row shows
            return ()
        return (Reason("residual_not_noise"),)

    def cause_of_all(self, learner: Learner) -> tuple[Reason, ...]:
        """What rather than a want of motion makes the whole prediction uncertain; or nothing."""
        kept, gram = self.kept, learner.kept.gram
        if not kept.left > 0.0:
            return ()
        steps = float(np.sum(gram * self._left_of_steps(learner)))
        late = float(np.einsum("oi,ij,oj->", kept.late, gram, kept.late))
        noise = learner.rls.variance() * learner.rls.share() * learner.rls.covariance() + learner.kept.unexcited
        rest = float(np.sum(gram * learner.misfit)) - steps - late
        sources = {"noise": float(np.sum(gram * noise)), "steps": steps, "late": late, "rest": rest}
        most = max(sources, key=lambda one: sources[one])
        if most == "noise":
            return ()
        if most == "steps" and self._steps:
            return (self._too_coarse(),)
        if kept.share > 0.0:
            return self.causes
        return (Reason("instant_not_identifiable" if most == "late" else "reversal_friction"),)

    def _too_coarse(self) -> Reason:
        """That an encoder's steps are too coarse."""
        step = max(self._steps, key=lambda one: one.wanted)
        return Reason("encoder_steps", None, {"step": step.size, "half_width": step.wanted})

    @property
    def causes(self) -> tuple[Reason, ...]:
        """What explains the misfit, the largest share first; that nothing known does where the largest cannot be it."""
        kept, reasons = self.kept, list[Reason]()
        if kept.share < MOST * kept.left or not self._possible(int(kept.gains.argmax())):
            return (Reason("residual_not_noise"),)
        for k in np.argsort(-kept.gains):
            if kept.gains[k] <= 0.0 or len(reasons) == 2:
                break
            if not self._possible(int(k)):
                continue
            reason = self._reason(int(k))
            if reason not in reasons:
                reasons.append(reason)
        return tuple(reasons)

    def _possible(self, k: int) -> bool:
        """Whether the cause of a regressor may be what it is named for.

        A ripple of the torque shakes the joint, whose acceleration then follows it a quarter of a period later: part of
        it looks like a lag. An error of the position is in the acceleration and not in the torque, and looks like a
        load that lets go; but a load behind a spring takes no more than the inertia there is. It looks like an error
        of the angle, too, but one that no disc has.
        """
        kept, cause = self.kept, regressors.CAUSES[k % self._own]
        if cause == LAG:
            return bool(kept.gains[k] >= MAINLY * kept.left**2)
        if cause not in (ELASTIC, ECCENTRIC) or self._inertia is None:
            return True
        inertia = float(kept.scores.theta[self._inertia] - kept.scores.bias[self._inertia])
        if cause == ELASTIC:
            return bool(kept.found[k] >= -inertia)
        last = k - k % self._own + regressors.CAUSES.index(ECCENTRIC) + regressors.CAUSES.count(ECCENTRIC)
        return math.hypot(*kept.found[last - 2 : last]) <= OFF_AXIS * inertia  # those of the acceleration

    def _dead_zone(self, output: int) -> float:
        """Half width of the dead zone of a measured torque; below 0: a step at zero."""
        first = output * self._own + regressors.CAUSES.index(TORQUE)
        return -float(self.kept.found[first : first + len(regressors.WIDTHS)].sum())

    def _reason(self, k: int) -> Reason:
        """One cause, with its size."""
        output, column = divmod(k, self._own)
        cause = regressors.CAUSES[column]
        numbers = {"row": output + 1.0} if len(self._owners) > 1 else {}
        if cause == LAG:
            late = -float(self.kept.found[k])
            lag = f"{1e3 * abs(late):.2g} ms {'late' if late > 0 else 'early'}"
            return Reason("torque_lag", None, {"late": late, **numbers}, {"lag": lag})
        if cause == ANGLE:
            first = output * self._own + regressors.TURNS + (column - regressors.TURNS) // 2 * 2
            size, times = math.hypot(*self.kept.found[first : first + 2]), (column - regressors.TURNS) // 2 + 1
            return Reason("torque_repeats", None, {"times": float(times), "torque": size, **numbers})
        if cause == TORQUE:
            return Reason("torque_not_proportional", None, {"torque": self._dead_zone(output), **numbers})
        return Reason(SHAPES[cause], None, numbers)
