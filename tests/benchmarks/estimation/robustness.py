"""Every forgetting law through 600 s with 60 % rest, a 60 s standstill and a 50 % jump in mid-motion.

jointwatch bench robustness [--seeds 20] [--laws alarm,fixed] [--drift] [--json]

One output, four parameters (inertia, viscous, Coulomb, offset), 1 kHz rows, white noise; cycles of 4.4 s of multisine
motion and 5.6 s of rest, standstill from 150 s to 210 s; every parameter times 1.5 at 300 s, 2 s into a motion. The
noise is set so that the variance-ratio law, with the gate open, is 1.3e-4 off before the jump: the published figure.
Errors are ‖S(θ − θ*)‖/‖Sθ*‖, S the columns' rms; settled: within 10 % of the jump for good. With --drift there is no
jump: viscous and Coulomb friction fall by 30 % with a time constant of 200 s, and their rms error is shown.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TextIO

import numpy as np

from estimators.online import assembly
from estimators.quantities import Floats, Parameter
from estimators.recursive.forgetting import Alarm, Fixed, Fortescue, Paleologu, RandomWalk, VarianceRatio
from estimators.rows import Rows

PERIOD: Final = 1e-3  # s
JUMP: Final = 300.0  # s
LENGTH: Final = 600.0  # s
WATCHED: Final = 4.0  # s after the jump
NOISE: Final = 0.41  # N·m; the motion's torque has an rms of about 19 N·m
TRUTH: Final = np.array([1.2, 4.0, 6.0, 0.5])
PARAMETERS: Final = tuple(
    Parameter(name, unit, -1e3, 1e3, "")
    for name, unit in (("inertia", "kg·m²"), ("viscous", "N·m·s/rad"), ("coulomb", "N·m"), ("offset", "N·m"))
)
LAWS: Final = {
    "alarm": Alarm(),
    "alarm 30 s": Alarm(memory=30.0),
    "alarm 20 s": Alarm(memory=20.0),
    "variance_ratio": VarianceRatio(),
    "fortescue": Fortescue(),
    "paleologu": Paleologu(),
    "fixed": Fixed(memory=1.0),
    "random_walk": RandomWalk(memory=1.0),
}


class Run(NamedTuple):
    """Figures of one run."""

    trace: float  # the largest tr(P)/P∞
    before: float  # relative error just before the jump
    worst: float  # the largest relative error, jump excepted
    settle: float  # s, raw parameters
    published: float  # s, published parameters
    false_alarms: float
    lowest: float  # the smallest of D, normalised to P∞


def drifting(t: Floats) -> Floats:
    """Truth at each instant of a run with thermal drift: (rows, parameters)."""
    warm = 1.0 - 0.3 * (1.0 - np.exp(-t / 200.0))
    return np.stack([np.ones_like(t), warm, warm, np.ones_like(t)], axis=1) * TRUTH


def simulate(seed: int, corrupted: bool, drift: bool = False) -> Rows:
    """Rows of one run; corrupted: 0.1 % outliers of 50 σ, 1 % of the rows missing, 0.01 % NaN."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(LENGTH / PERIOD)) * PERIOD
    phase = (t - JUMP + 2.0) % 10.0
    ramp = np.clip(np.minimum(phase, 4.4 - phase) / 0.1, 0.0, 1.0) * ~((t >= 150.0) & (t < 210.0))
    envelope = ramp**2 * (3.0 - 2.0 * ramp)
    tones = zip(rng.uniform(0.5, 3.0, 5), rng.uniform(0.0, 2.0 * np.pi, 5), strict=True)
    speed = 0.7 * envelope * sum(np.cos(2.0 * np.pi * f * t + shift) for f, shift in tones)
    coulomb = np.tanh(speed / 0.01)
    phi = np.stack([np.gradient(speed, PERIOD), speed, coulomb, np.ones_like(t)], axis=1)
    truth = drifting(t) if drift else np.where((t < JUMP)[:, None], TRUTH, 1.5 * TRUTH)
    y = (phi * truth).sum(axis=1) + NOISE * rng.standard_normal(len(t))
    kept = np.ones(len(t), np.bool_)
    if corrupted:
        hit = rng.random(len(t)) < 1e-3
        y[hit] += 50.0 * NOISE * rng.choice([-1.0, 1.0], int(hit.sum()))
        y[rng.random(len(t)) < 1e-4] = np.nan
        kept = rng.random(len(t)) >= 0.01
    time = np.round(t[kept] * 1e9).astype(np.int64)
    return Rows(time, phi[kept][:, None, :], y[kept][:, None], np.abs(speed[kept])[:, None])


def run(law: Any, rows: Rows, standstill: float = 0.005) -> Run:
    """One law through one run. standstill: rad/s; 0 leaves the gate open."""
    phases = assembly.linear(PARAMETERS, (0,), PERIOD, law, 12.0, standstill)
    rls = phases.parts.learner.rls
    scale = np.sqrt(np.mean(rows.phi[rows.speed[:, 0] > 0, 0] ** 2, axis=0))

    def error(theta: Floats, truth: Floats) -> float:
        return float(np.linalg.norm(scale * (theta - truth)) / np.linalg.norm(scale * truth))

    trace = worst = settle = published = before = alarms = 0.0
    lowest = np.inf
    after = 1.5 * TRUTH
    for first, last in _cuts(rows):
        phases.absorb(Rows(*(column[first:last] for column in rows)))
        now = rows.time[last - 1] * 1e-9
        if now < 60.0:
            continue
        trace = max(trace, float(np.sum(np.diag(rls.covariance()) / rls.bound)))
        lowest = min(lowest, float(np.min(rls.d / rls.bound)))
        if now < JUMP:
            before = error(rls.theta, TRUTH)
            worst = max(worst, before)
            alarms = rls.state.alarms
        elif now < JUMP + WATCHED:
            if error(rls.theta, after) > 0.1 / 3.0:
                settle = now - JUMP
            if error(phases.estimate().values, after) > 0.1 / 3.0:
                published = now - JUMP
        elif now > JUMP + 30.0:
            worst = max(worst, error(rls.theta, after))
    return Run(trace, before, worst, settle, published, alarms, lowest)


def follow(law: Any, rows: Rows) -> dict[str, float]:
    """Rms errors of the published friction parameters under drift, per cent, from 60 s on."""
    phases = assembly.linear(PARAMETERS, (0,), PERIOD, law, 12.0, 0.005)
    errors = []
    for first in range(0, len(rows.time), 500):
        phases.absorb(Rows(*(column[first : first + 500] for column in rows)))
        estimate = phases.estimate()
        now = estimate.time * 1e-9
        if now > 60.0:
            errors.append(100.0 * (estimate.values / drifting(np.array([now]))[0] - 1.0)[1:3])
    viscous, coulomb = np.sqrt(np.mean(np.square(errors), axis=0))
    alarms = sum(event.kind == "alarm" for event in phases.events())
    return {"viscous": float(viscous), "coulomb": float(coulomb), "alarms": alarms}


def _cuts(rows: Rows) -> Iterable[tuple[int, int]]:
    """Half-second batches; 5 ms ones after the jump."""
    times = np.concatenate(
        [
            np.arange(0.5, JUMP + 0.1, 0.5),
            np.arange(JUMP + 0.005, JUMP + WATCHED, 0.005),
            np.arange(JUMP + WATCHED, 601, 0.5),
        ]
    )
    ends = np.unique(np.searchsorted(rows.time, np.round(times * 1e9)))
    ends = ends[ends > 0]
    return zip([0, *ends[:-1]], ends, strict=True)


def table(laws: Iterable[str], seeds: int, told: TextIO) -> list[dict[str, Any]]:
    """One row per law and corruption; medians, and the worst of the seeds for the time to settle."""
    rows = []
    for name in laws:
        for corrupted in (False, True):
            law, _, gate = name.partition(" (")
            runs = [run(LAWS[law], simulate(seed, corrupted), 0.0 if gate else 0.005) for seed in range(seeds)]
            figures = Run(*np.median(np.array(runs), axis=0).tolist())
            rows.append(
                {"law": name, "corrupted": corrupted, **figures._asdict()}
                | {"settle_worst": max(r.settle for r in runs), "published_worst": max(r.published for r in runs)}
                | {"before_worst": max(r.before for r in runs), "trace_worst": max(r.trace for r in runs)}
            )
            print(_line(rows[-1]), file=told, flush=True)
    return rows


def _line(row: dict[str, Any]) -> str:
    return (
        f"{row['law']:26} {'corrupted' if row['corrupted'] else 'clean':9}  tr(P)/P∞ {row['trace_worst']:8.2g}  "
        f"before {row['before']:.2g} (worst {row['before_worst']:.2g})  worst error {row['worst']:.2g}  "
        f"settled {row['settle']:.2f} s (worst {row['settle_worst']:.2f})  "
        f"published {row['published']:.2f} s (worst {row['published_worst']:.2f})  "
        f"false alarms {row['false_alarms']:g}  min D/P∞ {row['lowest']:.1g}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--laws", default=",".join(["alarm", "alarm (gate open)", *list(LAWS)[1:]]))
    parser.add_argument("--drift", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if arguments.drift:
        for name in LAWS:
            runs = [follow(LAWS[name], simulate(seed, corrupted=False, drift=True)) for seed in range(arguments.seeds)]
            figures = {key: float(np.median([one[key] for one in runs])) for key in runs[0]}
            print(json.dumps({"law": name} | figures) if arguments.json else f"{name:16} {figures}", flush=True)
        return
    rows = table(arguments.laws.split(","), arguments.seeds, sys.stderr if arguments.json else sys.stdout)
    if arguments.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
