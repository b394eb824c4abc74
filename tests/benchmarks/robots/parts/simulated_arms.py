"""Arms drawn from a number, moved by Pinocchio: what `identify` is told of one, and what it is judged by.

An arm has four to seven axes (hil_rig/truth/robots/random_arm.py draws its geometry, links and rotors), one of KINDS
of friction, each with presliding, and one of MOTIONS, which teaches; another one judges. It is recorded at 20 Hz to
1 kHz, with steps of its encoders and with noise of its torque that is white, correlated or rounding. Torque is measured
behind the rotors, or motor current before them, whose inertia is not known. Of the links a description is 15 to 50 %
off, or only their whole mass is known.

    τ = rnea(q, q̇, q̈) + J q̈ + f0 + (c + s e^{−|q̇|/v} + k |rnea|) (1 + d z) (1 + w sin(m q)) z + b |q̇|^p sign(q̇)
    dz/dq = (1 − z sign(q̇)) / δ                                                               (Dahl: z follows sign(q̇))

No law of the catalogue is this one: it shares no equation with what identifies it. Arms 1 to 20 are for development;
what was chosen by some arms is judged by others.
"""

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import pinocchio
from parts.recorded_robots import Split

from estimators.models.robots.description import RobotDescription, RobotJoint, pose
from estimators.models.robots.files.dh_table import DhTable
from estimators.models.robots.inertia import standard
from estimators.offline.robot.live_residuals import Recorded
from estimators.quantities import Axis, Floats
from hil_rig.plants.base import encoder
from hil_rig.plants.robots.fourier import FourierMotion, MotionLimits
from hil_rig.truth.robots.random_arm import DrawnArm, draw

FINE: Final = 1000  # Hz at which friction with memory runs
SECONDS: Final = 40
RATES: Final = (20, 25, 40, 50, 100, 125, 200, 500, 1000)  # Hz, of recordings: FINE is a multiple of each
KINDS: Final = ("plain", "peak", "power", "load", "directions", "place")
MOTIONS: Final = ("excitation", "moves", "slow")
NOISES: Final = ("white", "correlated", "steps")
GUESSED: Final = 0.25  # of the arms have links of which nothing is described
CURRENT: Final = 0.5  # of the arms are measured by motor current
SLOW: Final = 0.2  # × the speed of an excitation
REST: Final = 0.3  # s between two moves
BITS: Final = (14, 16, 18, 20)
NOISE: Final = 0.01  # of a joint's rms torque, one deviation of its noise
MEMORY: Final = 0.05  # s in which correlated noise fades
ORDER: Final = [9, 6, 7, 8, 0, 1, 3, 2, 4, 5]  # the rig's ten parameters of a link as the house's


class Arm(NamedTuple):
    """An arm as it is; friction: coefficient → (n,)."""

    number: int
    drawn: DrawnArm
    links: Floats  # (n, 10) standard parameters
    placements: Floats  # (n, 4, 4)
    rotors: Floats  # (n,) kg·m²; 0 where torque is measured behind them
    kind: str
    friction: dict[str, Floats]
    rate: int
    motions: tuple[str, str]  # that teaches, that judges
    noise: str
    bits: int
    guessed: bool

    @property
    def words(self) -> str:
        """What was drawn."""
        source = "current" if self.rotors.any() else "torque"
        return f"{self.rate} Hz, {self.kind}, {source}, {self.noise}{', guessed' if self.guessed else ''}"


def arm(number: int) -> Arm:
    """The arm of a number."""
    rng, drawn = np.random.default_rng([number, 0xA23]), draw(number)
    n = drawn.axes
    kind, noise = str(rng.choice(KINDS)), str(rng.choice(NOISES))
    first, second = (str(one) for one in rng.choice(MOTIONS, 2, replace=False))
    coulomb = drawn.friction["coulomb"] * rng.uniform(1.0, 5.0)
    friction = {
        "offset": drawn.friction["offset"],
        "coulomb": coulomb,
        "peak": coulomb * rng.uniform(0.2, 0.8, n) * (kind == "peak"),
        "fading": 10.0 ** rng.uniform(-1.7, -0.7, n),  # rad/s
        "load": rng.uniform(0.02, 0.08, n) * (kind == "load"),
        "direction": rng.uniform(-0.2, 0.2, n) * (kind == "directions"),
        "wave": rng.uniform(0.1, 0.3, n) * (kind == "place"),
        "waves": rng.integers(1, 4, n).astype(np.float64),  # a turn
        "viscous": coulomb * rng.uniform(0.3, 1.5, n),
        "power": rng.uniform(0.4, 0.8, n) if kind == "power" else np.ones(n),
        "presliding": 10.0 ** rng.uniform(-4.0, -2.3, n),  # rad
    }
    placements = np.array([pose((alpha, 0.0, 0.0), (a, 0.0, 0.0)) for alpha, a, _, _ in drawn.rows])
    placements = placements @ [pose((0.0, 0.0, 0.0), (0.0, 0.0, d)) for d in drawn.rows[:, 2]]
    return Arm(
        number,
        drawn,
        drawn.links[:, ORDER],
        placements,
        drawn.rotors * (rng.random() < CURRENT),
        kind,
        friction,
        int(rng.choice(RATES)),
        (first, second),
        noise,
        int(rng.choice(BITS)),
        bool(rng.random() < GUESSED),
    )


def split(number: int) -> Split:
    """One arm as `identify` is to learn and be judged."""
    one = arm(number)
    taught, judged = ([Recorded(*recorded(one, part))] for part in range(2))
    name = " > ".join(one.motions)
    return Split(f"{number}: {one.drawn.axes} axes", name, described(one), taught, judged, one.words, one.links)


def described(one: Arm) -> RobotDescription:
    """What is known of it beforehand: its lengths, and about what its links weigh, or what they weigh together."""
    rng, by_current = np.random.default_rng([one.number, 0xDE5]), bool(one.rotors.any())
    names = [f"joint{j + 1}" for j in range(one.drawn.axes)]
    if one.guessed:
        rows = zip(names, one.drawn.rows, strict=True)
        table = {name: {"alpha": alpha, "a": a, "d": d} for name, (alpha, a, d, _) in rows}
        mass = float(one.links[:, 0].sum() * np.exp(0.1 * rng.standard_normal()))
        robot = DhTable.model_validate(
            {"name": "drawn", "convention": "modified", "angles": "rad", "joints": table, "total_mass": mass}
        ).robot()
        return replace(robot, joints=tuple(replace(joint, by_current=by_current) for joint in robot.joints))
    joints = tuple(
        RobotJoint(name, Axis.ROTARY, j - 1, one.placements[j], np.array([0.0, 0.0, 1.0]), by_current=by_current)
        for j, name in enumerate(names)
    )
    wrong, links = rng.uniform(0.15, 0.5), []
    for link in one.links:
        body = pinocchio.Inertia.FromDynamicParameters(link)
        mass, gyration = np.exp(wrong * rng.standard_normal(2))
        centre = body.lever + wrong * 0.1 * rng.standard_normal(3)  # m
        links.append(standard(mass * body.mass, centre, mass * gyration * body.inertia))
    return RobotDescription("drawn", joints, np.array(links))


def recorded(one: Arm, part: int) -> tuple[Floats, Floats, Floats]:
    """Times (s), positions (rad) and torques (N·m) of the motion that teaches (part 0) or judges (1)."""
    rng = np.random.default_rng([one.number, part, 0x4EC])
    fine = np.arange(SECONDS * FINE) / FINE
    q, dq, ddq = motion(one, part, fine, rng)
    every = slice(None, None, FINE // one.rate)
    held = held_by(q, one.friction["presliding"])[every]
    q, dq, ddq = q[every], dq[every], ddq[every]
    exact = torque(one, q, dq, ddq, held)
    size = NOISE * np.sqrt(np.mean(exact**2, axis=0))
    return fine[every], encoder(q, one.bits), _noisy(exact, size, one, rng)


def torque(one: Arm, q: Floats, dq: Floats, ddq: Floats, held: Floats) -> Floats:
    """Torque without noise; held: z of the module, (samples, n)."""
    model = pinocchio.Model()
    for j, (place, link) in enumerate(zip(one.placements, one.links, strict=True)):
        index = model.addJoint(j, pinocchio.JointModelRZ(), pinocchio.SE3(place), f"joint{j + 1}")
        model.appendBodyToJoint(index, pinocchio.Inertia.FromDynamicParameters(link), pinocchio.SE3.Identity())
    data = model.createData()
    rigid = np.array([pinocchio.rnea(model, data, *row) for row in zip(q, dq, ddq, strict=True)])
    own = one.friction
    dry = own["coulomb"] + own["peak"] * np.exp(-np.abs(dq) / own["fading"]) + own["load"] * np.abs(rigid)
    dry *= (1.0 + own["direction"] * held) * (1.0 + own["wave"] * np.sin(own["waves"] * q)) * held
    return np.asarray(
        rigid + one.rotors * ddq + own["offset"] + dry + own["viscous"] * np.abs(dq) ** own["power"] * np.sign(dq)
    )


def motion(one: Arm, part: int, time: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Position, speed and acceleration (samples, n) of one of its motions."""
    kind = one.motions[part]
    if kind == "moves":
        return _moves(one.drawn.limits, time, rng)
    pace = SLOW if kind == "slow" else 1.0
    motion = FourierMotion(frequency=one.drawn.frequency, draw=2 * one.number + part, pace=pace)
    return motion.series(one.drawn.limits).at(time)


def _moves(limits: MotionLimits, time: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Random targets for all joints at once, each reached without a jerk (s = 10x³ − 15x⁴ + 6x⁵), then a rest."""
    q, dq, ddq = np.zeros((3, len(time), len(limits.position)))
    begin, here = 0.0, np.zeros(len(limits.position))
    while begin < time[-1]:
        way = rng.uniform(-limits.position, limits.position) - here
        lasts = float(
            np.maximum(1.875 * abs(way) / limits.velocity, np.sqrt(5.78 * abs(way) / limits.acceleration)).max()
        )
        lasts *= rng.uniform(1.0, 2.0)
        now = (time >= begin) & (time < begin + lasts + REST)
        x = np.minimum((time[now] - begin) / lasts, 1.0)[:, np.newaxis]
        q[now] = here + way * x**3 * (10.0 + x * (6.0 * x - 15.0))
        dq[now] = way / lasts * 30.0 * x**2 * (1.0 - x) ** 2
        ddq[now] = way / lasts**2 * 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
        begin, here = begin + lasts + REST, here + way
    return q, dq, ddq


def held_by(q: Floats, presliding: Floats) -> Floats:
    """z of the module at every sample, from rest without strain, (samples, n): exact where the way is straight."""
    z = np.zeros_like(q)
    steps = np.diff(q, axis=0)
    ways, left = np.sign(steps), np.exp(-np.abs(steps) / presliding)
    for i, (way, share) in enumerate(zip(ways, left, strict=True)):
        z[i + 1] = way + (z[i] - way) * share  # at rest the share is 1
    return z


def _noisy(exact: Floats, size: Floats, one: Arm, rng: np.random.Generator) -> Floats:
    """The torque with noise of this deviation (n,), N·m."""
    if one.noise == "steps":
        step = np.sqrt(12.0) * size
        return np.asarray(step * np.round(exact / step))
    white = size * rng.standard_normal(exact.shape)
    if one.noise == "correlated":
        kept = np.exp(-1.0 / (MEMORY * one.rate))
        for i in range(1, len(white)):
            white[i] = kept * white[i - 1] + np.sqrt(1.0 - kept**2) * white[i]
    return np.asarray(exact + white)
