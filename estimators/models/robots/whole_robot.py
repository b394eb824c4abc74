"""A robot's equation of motion, linear in what is learnt: τ = Y_b(q, q̇, q̈) b + F(q, q̇, q̈, load) φ.

b: base parameters of the links; φ, joint by joint: the coefficients of its friction law, an offset, the rotor's inertia
(where the torque is the motor's), friction by the twist of its gear (where there are two encoders), then couplings and
counterbalances. Order of θ: b, φ.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Final, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from estimators.models.friction import AnyFriction
from estimators.models.friction.base import REVERSALS, FrictionLaw
from estimators.models.friction.viscous_coulomb import ViscousCoulombSettings
from estimators.models.robots.base_parameters import base_projection, meaning, standard_name
from estimators.models.robots.bearing_friction import BearingSettings, carried
from estimators.models.robots.description import RobotDescription
from estimators.models.robots.gear_twist import GearTwist, friction
from estimators.models.robots.inertia import floored, metric
from estimators.models.robots.maxwell_slip import LOST, MaxwellSlipSettings, slip_table
from estimators.models.robots.newton_euler import WRENCH, newton_euler
from estimators.models.robots.regressor import regressor
from estimators.models.robots.tree import PARAMETERS
from estimators.numerics.jit import kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Axis, Floats
from estimators.rows import RATE, SIGNALS, SMOOTH, SMOOTH_RATE, VALUE

RobotFriction = Annotated[AnyFriction | BearingSettings | MaxwellSlipSettings, Field(discriminator="kind")]
FRICTION_LAWS: Final = (*get_args(get_args(AnyFriction)[0]), BearingSettings, MaxwellSlipSettings)
DEFAULT: Final = ViscousCoulombSettings(transition=0.001)
SPREAD: Final = 0.5  # σ of a link's prior in the pullback metric
GUESSED_SPREAD: Final = 3.0  # where the links were guessed
OFFSET: Final = 0.3  # of the joint's rms torque: prior of an offset; of any other coefficient its whole effect
NOMINAL: Final = 0.5  # relative, of a rotor's inertia or a counterbalance


class Term(NamedTuple):
    """One coefficient of φ."""

    name: str  # "viscous.elbow"
    unit: str
    joints: tuple[int, ...]  # rows on which its column may differ from zero
    low: float  # 0: never negative
    nominal: float  # mean of its prior
    spread: float  # deviation of its prior; NaN: SHARE of the rms torque decides, inf: is it (see FrictionLaw.spreads)
    share: float  # of the joint's rms torque that its column at one deviation gives


class WholeRobot:
    """Columns of one robot with one friction law for each joint."""

    def __init__(
        self,
        robot: RobotDescription,
        laws: "tuple[RobotFriction, ...] | None" = None,
        twists: "tuple[GearTwist | None, ...] | None" = None,
    ) -> None:
        """twists: of each joint's gear, None where there is no second encoder."""
        self.robot = robot
        self.twists = twists or (None,) * len(robot.joints)
        self.tree = robot.tree()
        self.laws: tuple[RobotFriction, ...] = laws or (DEFAULT,) * len(robot.joints)
        self.projection = base_projection(self.tree)
        self._friction = tuple(law.law(joint.axis) for law, joint in zip(self.laws, robot.joints, strict=True))
        one = self._friction[0]
        self._alike = one.loads == 1 and not one.stops and all(law == self.laws[0] for law in self.laws)
        self.terms = tuple(self._terms())
        self.base = len(self.projection.columns)
        self.size = self.base + len(self.terms)
        self.names = (
            *(f"b{i + 1}" for i in range(self.base)),
            *(term.name for term in self.terms),
        )
        kept = (standard_name(int(column), robot.names) for column in self.projection.columns)
        self.short = (*kept, *self.names[self.base :])  # a base parameter as the standard one that leads it
        self.meanings = (*meaning(self.projection, robot.names), *self.names[self.base :])

    @cached_property
    def loaded(self) -> bool:
        """Whether a friction law follows the rigid body's torque."""
        return any(law.loaded() for law in self._friction)

    @cached_property
    def loads(self) -> int:
        """How many loads a joint's friction law takes at most: 1, its torque, or all that its bearing carries."""
        return max(law.loads for law in self._friction)

    def load(self, parameters: Floats, q: Floats, dq: Floats, ddq: Floats) -> Floats:
        """What loads the friction, from standard parameters (n, 10): (rows, n), or (rows, n, loads)."""
        if self.loads == 1:
            return self.torque(parameters, q, dq, ddq)
        return carried(self.tree, parameters, q, dq, ddq)

    def rigid(self, q: Floats, dq: Floats, ddq: Floats) -> Floats:
        """Y_b (rows, n, base)."""
        Y = np.empty((len(q), self.tree.size(), PARAMETERS * self.tree.size()))
        q, dq, ddq = (np.ascontiguousarray(one) for one in (q, dq, ddq))
        regressor(*self.tree, q, dq, ddq, Y)
        return np.ascontiguousarray(Y[:, :, self.projection.columns])

    def behind_gears(self) -> NDArray[np.bool_]:
        """Which of θ act on the links, so that the gears carry them: base parameters and counterbalances, (size,)."""
        springs = sum(len(one.names()) for one in self.robot.counterbalances.values())
        found = np.zeros(self.size, np.bool_)
        found[: self.base], found[self.size - springs :] = True, True
        return found

    @property
    def twisted(self) -> list[int]:
        """Joints whose friction by twist has a column."""
        return [j for j, one in enumerate(self.twists) if one is not None]

    def twist(self, torque: Floats, dq: Floats) -> Floats:
        """Difference of the encoders (rows, n) rad (m) under the rigid body's torque (rows, n): 0 without a second."""
        found = np.zeros_like(dq)
        for j, one in enumerate(self.twists):
            if one is not None:
                found[:, j] = torque[:, j] / one.stiffness + one.zero + one.lag * dq[:, j]
        return found

    def others(
        self,
        q: Floats,
        dq: Floats,
        ddq: Floats,
        load: Floats,
        reach: Floats,
        twist: Floats | None = None,
        memory: Sequence[Floats] | Floats | None = None,
    ) -> list[tuple[int, int, Floats]]:
        """What of F is not zero: (joint, index of the term, column (rows,)).

        load: (rows, n) N·m (N), or all that a joint carries as `load` gives it; reach: (n,) rad/s (m/s), beyond which a
        law that is not linear in speed stays as it is; twist: (rows, n) difference of the encoders, rad (m), needed
        where the model has `twisted` joints; memory: of each joint's springs (stops, 2), where rows go on from others.
        """
        found: list[tuple[int, int, Floats]] = []
        every = load.reshape(*load.shape[:2], -1)
        if self.loads > every.shape[2]:
            every = np.concatenate([every, np.zeros((*load.shape[:2], self.loads - every.shape[2]))], axis=2)
        k = 0
        together = self._columns_of_all(q, dq, every[:, :, 0], reach) if self._share_a_law() else None
        for j, law in enumerate(self._friction):
            if together is None:
                speed = dq[:, j] if self._is_linear(j) else np.clip(dq[:, j], -reach[j], reach[j])
                springs = None if memory is None else memory[j]
                columns = law.columns(q[:, j], speed, every[:, j, : law.loads], law.start, springs)
            else:
                columns = together[j]
            extra = [np.ones(len(q)), *([ddq[:, j]] if self._rotor(j) else [])]
            gear = self.twists[j]
            if gear is not None:
                assert twist is not None, "a joint with two encoders needs their difference"
                extra.append(friction(gear.of(twist[:, j], dq[:, j]), dq[:, j]))
            for column in (*columns.T, *extra):
                found.append((j, k, np.ascontiguousarray(column)))
                k += 1
        for one in self.robot.couplings:
            i, j = self.robot.names.index(one.first), self.robot.names.index(one.second)
            both = dq[:, i] + one.ratio * dq[:, j]
            law = DEFAULT.law(Axis.ROTARY)
            for column in law.columns(q[:, i], both, every[:, i, :1], law.start).T:
                found += [(i, k, column), (j, k, one.ratio * column)]
                k += 1
        for name, spring in self.robot.counterbalances.items():
            j = self.robot.names.index(name)
            for column in spring.columns(q[:, j]).T:
                found.append((j, k, column))
                k += 1
        return found

    def table(
        self,
        q: Floats,
        dq: Floats,
        ddq: Floats,
        load: Floats,
        reach: Floats,
        twist: Floats | None,
        memory: Sequence[Floats] | Floats | None = None,
    ) -> Floats:
        """The columns of `others`, in their order: (rows, columns)."""
        if self.slips is not None and isinstance(memory, np.ndarray):
            found = np.empty((len(q), len(self.terms)))
            carried = load if load.ndim == 2 else load[:, :, 0]
            stops, constants, count, first, rotors = self.slips
            slip_table(q, dq, ddq, carried, reach, stops, constants, memory, count, first, rotors, found)
            return found
        if not self._plain:
            return np.array([column for _, _, column in self.others(q, dq, ddq, load, reach, twist, memory)]).T
        found, load = np.empty((len(q), len(self.terms))), load if load.ndim == 2 else load[:, :, 0]
        _table(self._columns_of_all(q, dq, load, reach), ddq, *self._order, found)
        return found

    @property
    def _plain(self) -> bool:
        """Whether each term has one column, and one law makes those of all joints."""
        return self._single and self._share_a_law()

    def _share_a_law(self) -> bool:
        """Whether one call gives the columns of all joints: a re-fit of one joint's friction changes its η in place."""
        if not self._alike or not len(self._friction[0].start):
            return self._alike
        first, *others = (law.start.tolist() for law in self._friction)
        return all(one == first for one in others)

    @cached_property
    def _single(self) -> bool:
        robot = self.robot
        return not (self.twisted or robot.couplings or robot.counterbalances)

    @cached_property
    def slips(self) -> tuple[Floats, Floats, int, Integers, Integers] | None:
        """What a `slip_table` wants to know of the laws: stops and constants of each, their columns, and the order.

        None where a term has several columns, or joints have other laws than friction with memory of the same columns.
        """
        alike = {(type(law), len(one.parameters)) for law, one in zip(self.laws, self._friction, strict=True)}
        if not self._single or len(alike) > 1 or not isinstance(self.laws[0], MaxwellSlipSettings):
            return None
        stops, constants = (np.array([getattr(law, one) for law in self._friction]) for one in ("stops", "constants"))
        return stops, constants, len(self._friction[0].parameters), *self._order

    @cached_property
    def _order(self) -> tuple[Integers, Integers]:
        """Where a plain table has each joint's first column of its law, and its rotor's or −1: (n,) each."""
        count, n = len(self._friction[0].parameters), len(self._friction)
        first = np.cumsum([0, *(self.count_of(j) for j in range(n - 1))])
        return first, np.array([first[j] + count + 1 if self._rotor(j) else -1 for j in range(n)], np.int64)

    def _is_linear(self, j: int) -> bool:
        """Whether the columns of a joint's law hold at any speed."""
        return self.laws[j].kind == DEFAULT.kind

    def _columns_of_all(self, q: Floats, dq: Floats, load: Floats, reach: Floats) -> Floats:
        """Columns of the law that all joints share, (n, rows, parameters): one call instead of n."""
        law, (rows, n) = self._friction[0], q.shape
        signals = np.empty((n, rows, 2, SIGNALS))
        _signals(q, dq, load, np.full(n, np.inf) if self._is_linear(0) else reach, signals)
        columns = np.empty((n, rows, len(law.parameters)))
        law.fill(signals.reshape(n * rows, 2, SIGNALS), 0, 1, law.start, columns.reshape(n * rows, -1))
        return columns

    def torque(self, parameters: Floats, q: Floats, dq: Floats, ddq: Floats) -> Floats:
        """Torque of the rigid bodies alone, from standard parameters (n, 10): (rows, n)."""
        n = self.tree.size()
        tau, wrench = np.empty((len(q), n)), np.empty((len(q), n, WRENCH))
        q, dq, ddq, parameters = (np.ascontiguousarray(one) for one in (q, dq, ddq, parameters))
        newton_euler(*self.tree, q, dq, ddq, parameters, np.zeros((0, n, WRENCH)), tau, wrench)
        return tau

    def link_prior(self) -> tuple[Floats, Floats]:
        """Standard parameters π0 (10 n,) and their covariance (10 n, 10 n): the pullback metric at the floored CAD."""
        n = self.tree.size()
        spread = GUESSED_SPREAD if self.robot.guessed else SPREAD
        mean = np.array([floored(one) for one in self.robot.parameters])
        covariance = np.zeros((PARAMETERS * n, PARAMETERS * n))
        for i in range(n):
            part = slice(PARAMETERS * i, PARAMETERS * (i + 1))
            covariance[part, part] = spread**2 * np.linalg.inv(metric(mean[i]))
        return mean.ravel(), covariance

    def prior(self, torque: Floats, column: Floats) -> tuple[Floats, Floats]:
        """Mean (size,) and covariance (size, size) of θ.

        torque: (n,) rms of each joint's torque; column: (terms,) rms of each term's column on its first joint.
        """
        mean, covariance = np.zeros(self.size), np.zeros((self.size, self.size))
        links, spread = self.link_prior()
        G = self.projection.G
        mean[: self.base], covariance[: self.base, : self.base] = G @ links, G @ spread @ G.T
        for k, term in enumerate(self.terms):
            place = self.base + k
            deviation = term.spread
            if not math.isfinite(deviation):
                size = 1.0 if math.isinf(deviation) else max(column[k], 1e-12)
                deviation = term.share * torque[term.joints[0]] / size
            mean[place], covariance[place, place] = term.nominal, max(deviation, 1e-12) ** 2
        return mean, covariance

    def standard(self, base: Floats) -> Floats:
        """The most likely standard parameters (n, 10) that give these base parameters, by the links' prior."""
        mean, gain = self._likeliest
        return np.asarray(mean + gain @ (base - self.projection.G @ mean)).reshape(-1, PARAMETERS)

    @cached_property
    def _likeliest(self) -> tuple[Floats, Floats]:
        """Standard parameters π0 (10 n,) of the prior, and by how much base parameters move them (10 n, base)."""
        mean, spread = self.link_prior()
        G = self.projection.G
        return mean, spread @ G.T @ np.linalg.inv(G @ spread @ G.T)

    def law_of(self, j: int) -> FrictionLaw:
        """The friction law of a joint."""
        return self._friction[j]

    def passes_slowly(self, j: int) -> bool:
        """Whether joint j's friction law tells what its friction is while it passes a standstill slowly."""
        law = self._friction[j]
        return bool(law.stops) or any(one.needs == REVERSALS for one in law.parameters)

    def memory(self) -> Sequence[Floats] | Floats:
        """Memory of each joint's springs (stops, 2), before any motion; one array where all have as many."""
        counts = [len(law.stops) for law in self._friction]
        if len(set(counts)) == 1:
            return np.full((len(counts), counts[0], 2), np.nan)
        return [np.full((count, 2), np.nan) for count in counts]

    @cached_property
    def own(self) -> tuple[Integers, ...]:
        """Places in θ of what each joint alone has."""
        n, terms = len(self._friction), list(enumerate(self.terms))
        return tuple(self.base + np.array([k for k, one in terms if one.joints == (j,)], np.int64) for j in range(n))

    @cached_property
    def kinds(self) -> list[Integers]:
        """Places in θ of the joints' friction laws, kind of coefficient by kind."""
        found: dict[str, list[int]] = {}
        for j in range(len(self._friction)):
            for k in self.friction_of(j):
                found.setdefault(self.terms[k].name.split(".")[0], []).append(self.base + k)
        return [np.array(places, np.int64) for places in found.values()]

    @cached_property
    def at_speeds(self) -> dict[tuple[int, int], tuple[tuple[bytes, bytes] | None, Floats]]:
        """Columns of a joint's friction law where they are asked for again and again: see RobotKnowledge."""
        return {}

    def count_of(self, j: int) -> int:
        """How many terms are joint j's own: its law's, the offset, the rotor, friction by twist."""
        return len(self._friction[j].parameters) + 1 + self._rotor(j) + (self.twists[j] is not None)

    def friction_of(self, j: int) -> range:
        """Which of the terms are those of joint j's friction law."""
        first = sum(self.count_of(i) for i in range(j))
        return range(first, first + len(self._friction[j].parameters))

    def _rotor(self, j: int) -> bool:
        joint = self.robot.joints[j]
        return joint.rotor > 0 or joint.unknown_rotor > 0

    def _terms(self) -> list[Term]:
        robot = self.robot
        found = []
        for j, (joint, law) in enumerate(zip(robot.joints, self._friction, strict=True)):
            spreads = law.spreads or (math.nan,) * len(law.parameters)
            found += [
                Term(f"{one.name}.{joint.name}", one.unit, (j,), one.low, 0.0, spread, 1.0)
                for one, spread in zip(law.parameters, spreads, strict=True)
            ]
            found.append(Term(f"offset.{joint.name}", joint.axis.effort, (j,), -math.inf, 0.0, math.nan, OFFSET))
            if self._rotor(j):
                spread = joint.unknown_rotor or NOMINAL * joint.rotor
                found.append(Term(f"rotor.{joint.name}", joint.axis.inertia, (j,), 0.0, joint.rotor, spread, 1.0))
            if self.twists[j] is not None:
                unit = f"{joint.axis.effort}/{joint.axis.length}"
                found.append(Term(f"twist.{joint.name}", unit, (j,), 0.0, 0.0, math.nan, LOST))
        for pair in robot.couplings:
            places = (robot.names.index(pair.first), robot.names.index(pair.second))
            for kept in DEFAULT.law(Axis.ROTARY).parameters:
                name = f"{kept.name}.{pair.first}+{pair.second}"
                found.append(Term(name, kept.unit, places, 0.0, 0.0, math.nan, 1.0))
        for name, spring in robot.counterbalances.items():
            j = robot.names.index(name)
            for word, unit, nominal in spring.names():
                spread = NOMINAL * nominal if nominal > 0 else math.nan
                found.append(Term(f"{word}.{name}", unit, (j,), 0.0, nominal, spread, 1.0))
        return found


@kernel("void(f8[:, :], f8[:, :], f8[:, :], f8[:], f8[:, :, :, ::1])")
def _signals(q: Floats, dq: Floats, load: Floats, reach: Floats, signals: Floats) -> None:
    """What a friction law looks at, of each joint (n, rows, 2, SIGNALS), from a known motion (rows, n)."""
    signals[:] = 0.0
    for j in range(len(signals)):
        for row in range(len(q)):
            speed = dq[row, j]
            if abs(speed) > reach[j]:
                speed = math.copysign(reach[j], speed)
            signals[j, row, 0, VALUE] = signals[j, row, 0, SMOOTH] = q[row, j]
            signals[j, row, 0, RATE] = signals[j, row, 0, SMOOTH_RATE] = speed
            signals[j, row, 1, VALUE] = signals[j, row, 1, SMOOTH] = load[row, j]


@kernel("void(f8[:, :, ::1], f8[:, :], i8[::1], i8[::1], f8[:, ::1])")
def _table(columns: Floats, ddq: Floats, first: Integers, rotors: Integers, found: Floats) -> None:
    """Put the columns of all joints (n, rows, parameters), and their rotors', in order into found (rows, terms)."""
    found[:] = 1.0
    for j in range(len(columns)):
        for row in range(len(found)):
            for k in range(columns.shape[2]):
                found[row, first[j] + k] = columns[j, row, k]
            if rotors[j] >= 0:
                found[row, rotors[j]] = ddq[row, j]
