"""`jointwatch reproduce double-encoder-robot`: identification in three loops of six axes with two encoders, judged.

Liu et al., Actuators 2023, 12, 454. The paper does not describe its robot; a UR10 with harmonic drives stands in for it
(hil_rig/plants/robots), within Table 1's limits and on Table 3's trajectory (published.py). Every figure is compared
here with the plant's truth; the identification uses the same programs that any user runs. Table 4 is measured by the
method of the paper, the mixture on twist and twist rate; the other columns are ours.
"""

import sys
from pathlib import Path
from typing import Final

import numpy as np

from estimators.numerics.splines import zero_phase_low_pass
from hil_rig.papers.double_encoder_robot.excitation import BETTER, PERIOD, describe, excitation
from hil_rig.papers.double_encoder_robot.published import TABLE_1, TABLE_4, gains
from hil_rig.papers.figures import Figure, Reproduced, keeping, main, program
from hil_rig.plants.base import Floats
from hil_rig.plants.robots.double_encoder_robot import (
    FRICTION,
    JOINTS,
    LIMITS,
    NOISE,
    ROWS,
    TORQUE_CONSTANT,
    DoubleEncoderRobot,
    DoubleEncoderRobotSettings,
    links,
)
from hil_rig.plants.robots.dynamics import GRAVITY, geometry, inverse_dynamics
from hil_rig.plants.robots.fourier import FourierMotion

TRAINED, TESTED = (1, 2, 3), (11, 12, 13, 14, 15)  # numbers of random motions; none was ever used for tuning
NOISES: Final = 40
CORRELATED: Final = 0.5
INSTANTS: Final = np.linspace(0.0, PERIOD, 400)  # s, for the plot of Table 3
SLOW: Final = 0.05  # rad/s
SEARCHED: Final = 15_000  # evaluations of the search of one trajectory


def table(folder: Path, evaluations: int) -> Reproduced:
    """Return the figures, and the results for the plot."""
    describe(folder)
    rows = excitation(folder, evaluations, _say)
    _runs(folder)
    _say("identification")
    program("hil_rig.papers.double_encoder_robot.identify", folder, folder / "robot.toml")
    with np.load(folder / "found.npz") as archive:
        found = dict(archive)
    with np.load(folder / "forward.npz") as run:
        found["friction_truth"] = _filtered(run["friction"], run["time"], found["friction_time"])
    with np.load(folder / "test1.npz") as run:
        found["test1_torque"] = _filtered(run["torque"], run["time"], found["test1_time"])
    found["figure_5"] = np.array(FourierMotion(file=folder / "published.csv").series(TABLE_1).at(INSTANTS))
    return Reproduced([*rows, *_friction(found), *_weights(found), *_residuals(folder, found)], content=found)


def _runs(folder: Path) -> None:
    _say("runs of the plant")
    best = FourierMotion(file=folder / "robot-peak.csv")
    _run(folder / "forward.npz", best, 101, 2 * PERIOD)
    _run(folder / "backward.npz", best.model_copy(update={"backward": True}), 102, 2 * PERIOD)
    for place, draw in enumerate(TRAINED):
        _run(folder / f"train{place + 1}.npz", FourierMotion(draw=draw), 200 + draw, PERIOD)
    _run(folder / "repeat.npz", FourierMotion(draw=TRAINED[0]), 301, PERIOD)
    for place, draw in enumerate(TESTED):
        _run(folder / f"test{place + 1}.npz", FourierMotion(draw=draw), 400 + draw, PERIOD)
    rng = np.random.default_rng(7)
    spread = np.outer(NOISE, NOISE) * (CORRELATED + (1.0 - CORRELATED) * np.eye(JOINTS))
    for name in ("robot-peak", "random", "published"):
        series = FourierMotion(file=folder / f"{name}.csv").series(LIMITS)
        q, dq, ddq = series.at(np.linspace(0.0, PERIOD, 200, endpoint=False))
        torque = np.empty_like(q)
        inverse_dynamics(geometry(ROWS), links(), GRAVITY, q, dq, ddq, torque)
        noise = rng.multivariate_normal(np.zeros(JOINTS), spread, (NOISES, len(q)))
        noisy = np.concatenate([torque[np.newaxis], torque + noise])
        np.savez(folder / f"known_{name.partition('-')[0]}.npz", q=q, dq=dq, ddq=ddq, torque=noisy)


def _run(file: Path, motion: FourierMotion, seed: int, seconds: float) -> None:
    arm = DoubleEncoderRobot(DoubleEncoderRobotSettings(trajectory=motion), seed, [])
    exact = arm.exact(round(seconds * arm.rate))
    motor, current, link = np.moveaxis(arm.measured(exact), 2, 0)
    time_ = np.arange(len(motor)) / arm.rate
    torque = current * TORQUE_CONSTANT
    np.savez(file, time=time_, motor=motor, link=link, torque=torque, friction=exact[:, :, FRICTION])


def _friction(found: dict[str, Floats]) -> list[Figure]:
    truth, rows = found["friction_truth"], []
    for j, paper in enumerate((2.3, 2.5, 3.5, 1.0, 1.0, 1.0)):
        fast = np.abs(found["friction_dq"][:, j]) > SLOW
        error = _rms((found["friction"] - truth)[fast, j]) / _rms(truth[fast, j])
        rows.append(
            Figure(
                f"friction both ways, joint {j + 1}: error of rms",
                100 * error,
                high=5.0,
                unit="%",
                reference=f"{paper} [P]",
            )
        )
    return rows


def _weights(found: dict[str, Floats]) -> list[Figure]:
    errors = {}
    for name in ("robot", "random", "published"):
        truth = found[f"known_{name}_ordinary"][0]
        for method in ("ordinary", "diagonal", "full"):
            values = found[f"known_{name}_{method}"][1:]
            errors[name, method] = float(np.mean(np.linalg.norm(values - truth, axis=1)))
    rows = []
    for name, label, before in (
        ("robot", "optimised", (0.68, 0.54, 0.44)),
        ("published", "Table 3", (1.5, 1.37, 1.18)),
    ):
        for word, value in zip(("ordinary", "diagonal Ω", "full Ω"), before, strict=True):
            error = errors[name, word.split()[0]]
            rows.append(Figure(f"error of π, {label}, {word}", error, reference=f"{value} [P]"))
    best = errors["robot", "full"]
    return [
        *rows,
        Figure("error of π, full Ω / ordinary", best / errors["robot", "ordinary"], high=0.8, reference="0.65 [P]"),
        Figure(
            "error of π, optimised / Table 3, full Ω",
            best / errors["published", "full"],
            high=BETTER,
            reference="0.37 [P]",
        ),
        Figure("error of π, optimised / best of 300 random trajectories", best / errors["random", "full"]),
    ]


def _residuals(folder: Path, found: dict[str, Floats]) -> list[Figure]:
    names = [f"test{place + 1}" for place in range(len(TESTED))]

    def gain(name: str, word: str, against: str) -> Floats:
        return 100.0 * (1.0 - _errors(folder, found, name, word) / _errors(folder, found, name, against))

    held = np.array([gain(name, "structural", "linear") for name in names])
    worse = int((held < -5.0).sum())
    repeated = {word: float(gain("repeat", word, "one").mean()) for word in ("paper", "directed", "bases", "ridge")}
    unseen = {word: float(np.mean([gain(name, word, "one") for name in names])) for word in ("paper", "directed")}
    rows = [
        Figure(
            "(a) mixture of 6, repeated trajectory: less residual, mean",
            repeated["paper"],
            8.0,
            unit="%",
            reference=float(np.mean(gains())),
        ),
        Figure(
            "(b) mixture of 8 with direction, repeated: mean", repeated["directed"], 25.0, unit="%", reference="36 [P]"
        ),
        Figure("    kernel average as published, repeated: mean", repeated["bases"], unit="%", reference="7.3 [P]"),
        Figure("    the same bases by ridge, repeated: mean", repeated["ridge"], unit="%", reference="12.1 [P]"),
        Figure("    (a) on motions not learnt from: mean", unseen["paper"], unit="%", reference="−4 [P]"),
        Figure("    (b) on motions not learnt from: mean", unseen["directed"], unit="%", reference="8 [P]"),
        Figure(
            "(c) column |θm − θl| tanh, not learnt from: mean", float(held.mean()), 15.0, unit="%", reference="19.0 [P]"
        ),
        Figure("(c) of 30 cases worse than −5 %", float(worse), high=2.0, reference="0 [P]"),
        Figure("(c) the worst case", float(held.min()), unit="%", reference="−4.1 [P]"),
    ]
    rows += [Figure(f"(c) joint {j + 1}: mean", float(held[:, j].mean()), unit="%") for j in range(JOINTS)]
    return [*_fourth_table(folder, found, gain("repeat", "paper", "one")), *rows]


def _fourth_table(folder: Path, found: dict[str, Floats], ours: Floats) -> list[Figure]:
    """Table 4 by the paper's method: residual of one run's repeat without and with the mixture on the twist."""
    rows = []
    for name, word, label in (("wls", "one", "WLS"), ("ours", "paper", "with the encoders' difference")):
        left = _errors(folder, found, "repeat", word)
        for j, published in enumerate(TABLE_4[name]):
            rows.append(
                Figure(f"Table 4, {label}, joint {j + 1}: rms", float(left[j]), unit="N·m", reference=published)
            )
    for j, published in enumerate(gains()):
        rows.append(Figure(f"Table 4, less residual, joint {j + 1}", float(ours[j]), unit="%", reference=published))
    return rows


def _errors(folder: Path, found: dict[str, Floats], name: str, word: str) -> Floats:
    """Rms of the filtered torque's residual for each joint, N·m."""
    times = found[f"{name}_time"]
    with np.load(folder / f"{name}.npz") as run:
        torque = _filtered(run["torque"], run["time"], times)
    return np.asarray(np.sqrt(np.mean((torque - found[f"{name}_{word}"]) ** 2, axis=0)))


def _filtered(values: Floats, time_: Floats, at: Floats) -> Floats:
    """Return the values at these times after the recipe's 8 Hz low-pass."""
    rate = (len(time_) - 1) / (time_[-1] - time_[0])
    smooth = zero_phase_low_pass(values, 4, 8.0, rate, int(rate))
    return np.asarray(smooth[np.rint((at - time_[0]) * rate).astype(np.int64)])


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))


def plot(path: Path, found: dict[str, Floats]) -> None:
    """Friction over speed (Figure 6), residuals of a test run (Figures 7, 8), and Table 3's motion (Figure 5)."""
    from matplotlib.figure import Figure as Canvas

    truth, torque, times = found["friction_truth"], found["test1_torque"], found["test1_time"]
    canvas = Canvas(figsize=(15, 11), layout="constrained")
    axes = canvas.subplots(3, JOINTS)
    for j in range(JOINTS):
        above, below = axes[0][j], axes[1][j]
        above.plot(found["friction_dq"][:, j], truth[:, j], ".", color="0.7", markersize=3, label="truth")
        above.plot(found["friction_dq"][:, j], found["friction"][:, j], ".", color="C0", markersize=1.5, label="ours")
        above.set_title(f"joint {j + 1}")
        above.set_xlabel("speed, rad/s")
        below.plot(times, torque[:, j] - found["test1_linear"][:, j], color="0.6", linewidth=1.0, label="plain")
        below.plot(times, torque[:, j] - found["test1_structural"][:, j], color="C3", linewidth=0.8, label="column")
        below.set_xlabel("time, s")
        for moved, word in zip(found["figure_5"], ("position, °", "velocity, °/s", "acceleration, °/s²"), strict=True):
            axes[2][j].plot(INSTANTS, np.degrees(moved[:, j]), linewidth=0.9, label=word)
        axes[2][j].set_xlabel("time, s")
        for one in axes[:, j]:
            one.grid(alpha=0.3)
    axes[0][0].set_ylabel("friction, N·m")
    axes[1][0].set_ylabel("residual of a motion not learnt from, N·m")
    axes[0][0].legend(frameon=False)
    axes[1][0].legend(frameon=False)
    axes[2][0].set_ylabel("Table 3's motion")
    axes[2][0].legend(frameon=False)
    canvas.savefig(path, dpi=110)


def _say(what: str) -> None:
    print(f"double-encoder-robot: {what}", file=sys.stderr)


if __name__ == "__main__":
    TABLE, ARGUMENTS = keeping(table, SEARCHED)
    sys.exit(main("double-encoder-robot", __doc__, TABLE, plot, arguments=ARGUMENTS))
