"""Rigid joints whose model or measurement lacks an effect: tilt, ripple, balancer, dead zone, belt and others."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from hil_rig.plants.base import Floats
from hil_rig.truth.given import MODEL, GivenMotion, drawn, joint, measured
from hil_rig.truth.programs import SECONDS
from hil_rig.truth.trial import Trial

LEVEL: Final = {"kind": "rigid", "gravity_sin": True}  # model of a joint on a level base
RATE: Final = 1000.0  # Hz
BITS: Final = 19
LED: Final = (60.0, 80.0)  # s, while the joint is led by hand
Extra = Callable[[GivenMotion, Floats], Floats]


def free_motion(
    rng: np.random.Generator, rate: float = RATE, size: float = 1.0, speed: float = 1.0, seconds: float = SECONDS
) -> GivenMotion:
    """A motion of four sines that does not repeat; size: rad; speed: factor of about 2 rad/s."""
    t, parts = np.arange(round(seconds * rate)) / rate, np.zeros((3, round(seconds * rate)))
    for w in speed * rng.uniform(0.5, 4.0, 4):
        x, amplitude = w * t + rng.uniform(0.0, 2.0 * np.pi), size * rng.uniform(0.2, 0.6) / max(w / speed, 1.0)
        parts += amplitude * np.array([np.sin(x), w * np.cos(x), -w * w * np.sin(x)])
    return GivenMotion(*parts)


def _one(
    seed: int, kind: int, extra: Callable[[np.random.Generator, Mapping[str, float]], Extra], **trial: Any
) -> Trial:
    """A joint in free motion with a torque that its model lacks; kind: number of the random stream."""
    rng = np.random.default_rng([seed, 40 + kind])
    motion, model = free_motion(rng, seconds=trial.pop("seconds", SECONDS)), trial.get("model", MODEL)
    truth = drawn(rng, level=not model.get("gravity_cos"))
    truth["gravity_sin"] = truth["inertia"] * rng.uniform(2.0, 6.0)
    return measured(rng, motion, joint(rng, motion, truth, extra(rng, truth)), RATE, BITS, **trial)


def level(seed: int) -> Trial:
    """A joint on a level base, which its model knows: the model is right."""
    return _one(seed, 0, lambda _rng, _truth: lambda motion, _torque: 0.0 * motion.place, model=LEVEL)


def tilted(seed: int) -> Trial:
    """A joint on a base that is tilted by 3°, but level in its model."""

    def extra(rng: np.random.Generator, truth: Mapping[str, float]) -> Extra:
        tilt, size = np.radians(3.0) * rng.choice([-1.0, 1.0]), truth["gravity_sin"]
        return lambda motion, _torque: size * np.sin(tilt) * np.cos(motion.place)

    return _one(seed, 1, extra, model=LEVEL)


def ripple(seed: int, model: Mapping[str, Any]) -> Trial:
    """A torque ripple of an eighth of gravity that repeats twice a turn."""

    def extra(rng: np.random.Generator, truth: Mapping[str, float]) -> Extra:
        phase, size = rng.uniform(0.0, 2.0 * np.pi), truth["gravity_sin"] / 8.0
        return lambda motion, _torque: size * np.sin(2.0 * motion.place + phase)

    return _one(seed, 2, extra, model=model)


def balancer(seed: int) -> Trial:
    """A spring balancer: a spring with a free length from a point of the link to a point of the base."""

    def extra(rng: np.random.Generator, truth: Mapping[str, float]) -> Extra:
        size, lever, slack = 0.7 * truth["gravity_sin"], rng.uniform(0.3, 0.6), rng.uniform(0.2, 0.5)

        def torque(motion: GivenMotion, _torque: Floats) -> Floats:
            length = np.sqrt(1.0 + lever**2 - 2.0 * lever * np.cos(motion.place))
            return np.asarray(-size * np.sin(motion.place) * (1.0 - slack / length))

        return torque

    return _one(seed, 3, extra)


def dead_zone(seed: int) -> Trial:
    """A torque sensor with a dead zone of 3 % of the torque's rms: beyond it, it reads that much too little."""

    def extra(_rng: np.random.Generator, _truth: Mapping[str, float]) -> Extra:
        def torque(_motion: GivenMotion, torque: Floats) -> Floats:
            width = 0.03 * float(np.sqrt(np.mean(torque**2)))
            return -np.clip(torque, -width, width)

        return torque

    return _one(seed, 4, extra)


def saturation(seed: int) -> Trial:
    """A motor whose iron saturates: the largest torque is 8 % less than computed from its current."""

    def extra(_rng: np.random.Generator, _truth: Mapping[str, float]) -> Extra:
        return lambda _motion, torque: 0.08 * torque * (torque / np.abs(torque).max()) ** 2

    return _one(seed, 19, extra)


def _whole(seed: int, whole: Callable[[Floats], Floats]) -> Trial:
    """A drive that reports its torque in steps of 1.5 % of the largest; whole: how it makes an integer of the steps."""
    rng = np.random.default_rng([seed, 60])
    motion, truth = free_motion(rng), drawn(rng)
    one = joint(rng, motion, truth)
    step = 0.015 * float(np.abs(one.torque).max())
    return measured(rng, motion, one, RATE, BITS, read=lambda torque: step * whole(torque / step))


def cut(seed: int) -> Trial:
    """A drive that truncates its torque toward zero, as a cast to an integer does."""
    return _whole(seed, np.trunc)


def rounded(seed: int) -> Trial:
    """A drive that rounds its torque to the same steps: the model is right."""
    return _whole(seed, np.round)


def push(seed: int) -> Trial:
    """Somebody pushes the joint for a second with 30 % of its torque's rms."""

    def extra(rng: np.random.Generator, _truth: Mapping[str, float]) -> Extra:
        at, side = round(60.0 * RATE), rng.choice([-1.0, 1.0])

        def torque(motion: GivenMotion, torque: Floats) -> Floats:
            pushed = np.zeros(len(motion.place))
            pushed[at : at + round(RATE)] = 0.3 * side * float(np.sqrt(np.mean(torque**2)))
            return pushed

        return torque

    return _one(seed, 5, extra, changes=(60.0,), seconds=240.0)


def led(seed: int) -> Trial:
    """Somebody leads the joint by hand for 20 s, while its drive only compensates gravity."""

    def extra(_rng: np.random.Generator, truth: Mapping[str, float]) -> Extra:
        def torque(motion: GivenMotion, _torque: Floats) -> Floats:

            t = np.arange(len(motion.place)) / RATE
            share = np.clip(np.minimum(t - LED[0], LED[1] - t) / 0.5, 0.0, 1.0)
            moves = truth["inertia"] * motion.acceleration + truth["viscous"] * motion.speed
            return np.asarray(-share * (moves + truth["coulomb"] * np.sign(motion.speed)))

        return torque

    return _one(seed, 18, extra, changes=LED, seconds=150.0)


def payloads(seed: int) -> Trial:
    """A payload that adds 30 % of inertia and gravity is picked up or put down every 10 s."""
    rng = np.random.default_rng([seed, 46])
    motion, truth = free_motion(rng), drawn(rng)
    t = np.arange(len(motion.place)) / RATE
    carried = 0.3 * ((t // 10.0) % 2.0)

    def extra(motion: GivenMotion, _torque: Floats) -> Floats:
        return carried * (truth["inertia"] * motion.acceleration + truth["gravity_sin"] * np.sin(motion.place))

    changes = tuple(np.arange(10.0, SECONDS, 10.0).tolist())
    trial = measured(rng, motion, joint(rng, motion, truth, extra), RATE, BITS, changes=changes)
    taken = {"count": 0}

    def sample(count: int) -> Any:
        taken["count"] += count
        return trial.sample(count)

    def now() -> Mapping[str, float]:
        factor = 1.0 + carried[min(taken["count"], len(carried)) - 1]
        return truth | {name: factor * truth[name] for name in ("inertia", "gravity_sin")}

    return replace(trial, sample=sample, truth=now)


def belt(seed: int) -> Trial:
    """Half of the inertia is driven through a belt that resonates at 8 Hz."""

    def extra(_rng: np.random.Generator, truth: Mapping[str, float]) -> Extra:
        behind, w = 0.5 * truth["inertia"], 2.0 * np.pi * 8.0

        def torque(motion: GivenMotion, _torque: Floats) -> Floats:  # of ë + 2ζωė + ω²e = q̈, less that of a stiff belt
            from scipy.signal import lsim  # see estimators/numerics/splines.py

            t = np.arange(len(motion.place)) / RATE
            _, transmitted, _ = lsim(([0.1 * w, w * w], [1.0, 0.1 * w, w * w]), motion.acceleration, t)
            return np.asarray(behind * (transmitted - motion.acceleration))

        return torque

    return _one(seed, 7, extra)


def eccentric(seed: int) -> Trial:
    """An encoder with an eccentric disc: an error of 4 mrad once a turn."""
    rng = np.random.default_rng([seed, 48])
    motion, phase = free_motion(rng), rng.uniform(0.0, 2.0 * np.pi)
    seen = motion.place + 4e-3 * np.sin(motion.place + phase)
    return measured(rng, motion, joint(rng, motion, drawn(rng)), RATE, BITS, seen=seen)


def jitter(seed: int) -> Trial:
    """Frames without device time that arrive up to 1 … 8 ms late."""
    rng = np.random.default_rng([seed, 49])
    motion = free_motion(rng, 250.0)
    late = float(rng.uniform(1e-3, 8e-3))
    return measured(rng, motion, joint(rng, motion, drawn(rng)), 250.0, BITS, late=late)


def fast(seed: int) -> Trial:
    """A joint that moves at up to 10 rad/s, with an encoder of 13 bits."""
    rng = np.random.default_rng([seed, 50])
    motion = free_motion(rng, size=3.0, speed=2.5)
    return measured(rng, motion, joint(rng, motion, drawn(rng)), RATE, 13)


def subdivisional(seed: int) -> Trial:
    """An encoder of 1024 lines whose interpolation between lines is wrong by up to a hundredth of a line."""
    rng, lines = np.random.default_rng([seed, 52]), 1024
    motion, phase = free_motion(rng), rng.uniform(0.0, 2.0 * np.pi)
    seen = motion.place + 0.02 * np.pi / lines * np.sin(lines * motion.place + phase)
    return measured(rng, motion, joint(rng, motion, drawn(rng)), RATE, BITS, seen=seen)


def commutation(seed: int) -> Trial:
    """A motor with commutation ripple: its torque varies by ± 5 % 36 times a turn."""

    def extra(rng: np.random.Generator, _truth: Mapping[str, float]) -> Extra:
        phase = rng.uniform(0.0, 2.0 * np.pi)
        return lambda motion, torque: 0.05 * torque * np.sin(36.0 * motion.place + phase)

    return _one(seed, 13, extra)


def friction_of_load(seed: int) -> Trial:
    """Friction that grows by a tenth of the joint's load."""

    def extra(_rng: np.random.Generator, truth: Mapping[str, float]) -> Extra:
        def torque(motion: GivenMotion, torque: Floats) -> Floats:
            rubs = truth["viscous"] * motion.speed + truth["coulomb"] * np.sign(motion.speed)
            return np.asarray(0.1 * np.abs(torque - rubs) * np.sign(motion.speed))

        return torque

    return _one(seed, 15, extra)


def friction_of_place(seed: int) -> Trial:
    """Coulomb friction that varies by ± 30 % with the angle."""

    def extra(rng: np.random.Generator, truth: Mapping[str, float]) -> Extra:
        phase, size = rng.uniform(0.0, 2.0 * np.pi), 0.3 * truth["coulomb"]
        return lambda motion, _torque: size * np.sin(motion.place + phase) * np.sign(motion.speed)

    return _one(seed, 16, extra)


def coupled(seed: int) -> Trial:
    """A joint coupled to the acceleration of another axis by 30 % of its inertia."""

    def extra(rng: np.random.Generator, truth: Mapping[str, float]) -> Extra:
        other = free_motion(rng)
        return lambda _motion, _torque: 0.3 * truth["inertia"] * other.acceleration

    return _one(seed, 17, extra)
