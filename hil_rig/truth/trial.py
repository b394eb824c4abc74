"""One joint with a known truth through the same alignment and estimator as a live one, faster than real time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgpack
import numpy as np
from numpy.typing import NDArray

from daq.config.drift_limits import DriftSettings
from daq.config.sections import Channel, DeviceTime, JointSection
from daq.core.changes.drift import Drift
from daq.core.joint_pipeline import JointPipeline
from daq.state.baselines import JUDGED, Baseline
from daq.stream.update import Publication
from hil_rig.plants.base import Floats

CHUNK: Final = 100  # samples handed over at once: 0.1 s at 1 kHz, after which the estimate is looked at
BASELINE: Final = 30.0  # s of trusted estimates behind the start, after which drift is measured against what was found
UNSEEN: Final = 1.0  # s behind a change of the truth that count among the lies, but not in the spread of z
EXCUSED: Final = 20.0  # s behind a change of the truth in which an alarm is right
FRAME: Final = 100_000  # ns from a sample to its frame's arrival, at least
FIGURES: Final = ("valid", "lies", "worst", "rms", "rms_deviation", "beyond3", "alarms", "drifts", "unexplained")


class Sampled(NamedTuple):
    """What comes of a joint in one stretch of time."""

    values: Floats  # (samples, channels) SI; NaN: that reading never came
    stamps: Floats  # (samples,) s, the instant at which each was taken, as its device says


@dataclass(frozen=True, slots=True)
class Trial:
    """A joint, its configuration, and how long it is observed."""

    model: Mapping[str, Any]  # configuration
    sample: Callable[[int], Sampled]  # the next ones
    truth: Callable[[], Mapping[str, float]]  # under the names of the model, now; names left out are not judged
    seconds: float
    rate: float = 1000.0
    changes: tuple[float, ...] = ()  # s, when the truth jumps
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the joint, beside these
    stamped: bool = False  # the device's own time travels with each sample
    order: tuple[str, ...] = ("position", "torque")  # roles of the sampled columns
    delays: Mapping[str, float] = field(default_factory=dict)  # s by which a channel is configured to be late
    late: float = 0.0  # s by which frames arrive late at most, in order
    watched: bool = False  # validators look at the frames before anything is learnt, as in the service


class TrialOutcome(NamedTuple):
    """What one trial showed."""

    looks: int  # behind the start's end
    trusted: int  # of them: valid, or held
    lying: int  # of them: trusted, and a value is more than 4 of its deviations off
    worst: float  # |z| while trusted
    z: Floats  # while trusted, all parameters
    alarms: int  # without a change
    drifts: int  # without a change
    unexplained: float  # share of the torque, rms, median
    reasons: Mapping[str, int]  # why the values were not trusted: how often
    worst_name: str = ""
    last: Mapping[str, tuple[float, float, float]] = {}  # value, deviation, truth at the end


def run(trial: Trial) -> TrialOutcome:
    """The trial from its first sample to its last."""
    joint = _joint(trial)
    line = JointPipeline("joint", joint, Publication("truth", "joint", 0, "N·m"), 20_000_000, None)
    columns = len(line.estimator.channels) + trial.stamped
    looks = trusted = lying = alarms = drifts = 0
    worst, worst_name, started, judged = 0.0, "", np.inf, -1
    scores: list[Floats] = []
    errors: list[float] = []
    reasons: dict[str, int] = {}
    judge: Drift | None = None
    arrivals = np.random.default_rng(29)
    last: dict[str, tuple[float, float, float]] = {}
    for first in range(0, round(trial.seconds * trial.rate), CHUNK):
        sampled = trial.sample(CHUNK)
        order = [trial.order.index(role) for role in line.estimator.channels]
        late = arrivals.uniform(0.0, trial.late, CHUNK) if trial.late else np.zeros(CHUNK)
        readings = _readings(sampled._replace(values=sampled.values[:, order]), trial.stamped, columns, late)
        now = (first + CHUNK) / trial.rate
        changed = any(0.0 <= now - change < EXCUSED for change in trial.changes)
        for kind in _events(line, readings, trial.watched):
            started = min(started, now) if kind == "started" else started
            alarms += kind == "alarm" and not changed
        estimate = line.estimator.estimate()
        if now <= started:
            continue
        looks += 1
        if line.refused:  # as faulted as the service says
            reasons[line.refused[0].named] = reasons.get(line.refused[0].named, 0) + 1
            continue
        truth = trial.truth()
        indices = [i for i, name in enumerate(estimate.names) if name in truth]
        wanted = np.array([truth[estimate.names[i]] for i in indices])
        z = (estimate.values[indices] - wanted) / estimate.deviations[indices]
        last = {
            estimate.names[i]: (float(estimate.values[i]), float(estimate.deviations[i]), float(one))
            for i, one in zip(indices, wanted, strict=True)
        }
        errors.append(estimate.error)
        if estimate.status not in JUDGED:
            for reason in estimate.reasons[:1]:
                reasons[reason.named] = reasons.get(reason.named, 0) + 1
            continue
        trusted += 1
        if not any(0.0 <= now - change < UNSEEN for change in trial.changes):
            scores.append(z)
        largest = float(np.abs(z).max())
        lying += largest > 4.0
        if largest > worst:
            worst, worst_name = largest, estimate.names[indices[int(np.abs(z).argmax())]]
        if judge is None and now - started > BASELINE:
            named = dict(zip(estimate.names, estimate.values.tolist(), strict=True))
            sigma = dict(zip(estimate.names, estimate.deviations.tolist(), strict=True))
            judge = Drift(DriftSettings(), Baseline(since=0.0, model="", values=named, deviations=sigma))
        elif judge is not None and int(now) != judged:
            judged = int(now)
            drifts += sum(change.kind == "drift" for change in judge.update(estimate)[1]) * (not trial.changes)
    return TrialOutcome(
        looks, trusted, lying, worst, np.array(scores).ravel(), alarms, drifts,
        float(np.median(errors)) if errors else np.nan, reasons, worst_name, last,
    )  # fmt: skip


def _joint(trial: Trial) -> JointSection:
    settings = {"model": trial.model, "rate": trial.rate, **trial.settings}
    model = JointSection.model_validate(settings | {"channels": {}}).model
    channels = {role: Channel(signal=f"wire.STATE.{role}", delay=trial.delays.get(role, 0.0)) for role in model.roles()}
    stamp = {"device_time": DeviceTime(signal="wire.STATE.time")} if trial.stamped else {}
    return JointSection.model_validate(settings | stamp | {"channels": channels})


Readings = tuple[NDArray[np.int64], Floats, NDArray[np.int32]]


def _events(line: JointPipeline, readings: Readings, watched: bool) -> list[str]:
    """Let a joint take readings; returns the kinds of its events."""
    if watched:
        messages = line.absorb(*readings, 0, lambda: 0)
        return [msgpack.unpackb(body)["kind"] for topic, body in messages if topic.startswith(b"event/")]
    line.estimator.absorb(*line.aligner.absorb(*readings))
    return [event.kind for event in line.estimator.events()]


def _readings(sampled: Sampled, stamped: bool, columns: int, late: Floats) -> Readings:
    """One frame a sample, every value of which has arrived when it was taken and the wire is through. late: s, each."""
    values, stamps = sampled
    if stamped:
        values = np.column_stack((values, stamps))
    came_at = np.maximum.accumulate(np.round((stamps + late) * 1e9).astype(np.int64)) + FRAME
    arrivals = np.repeat(came_at, columns)
    flat, which = values.reshape(-1), np.tile(np.arange(columns, dtype=np.int32), len(values))
    came = ~np.repeat(np.isnan(values).any(axis=1), columns)
    return arrivals[came], np.ascontiguousarray(flat[came]), which[came]


def together(outcomes: list[TrialOutcome]) -> dict[str, float]:
    """All trials of one row: FIGURES; shares of time in per cent, alarms and drifts per trial."""
    looks = sum(one.looks for one in outcomes)
    z = np.concatenate([one.z for one in outcomes])
    return {
        "valid": 100.0 * sum(one.trusted for one in outcomes) / max(looks, 1),
        "lies": 100.0 * sum(one.lying for one in outcomes) / max(looks, 1),
        "worst": max(one.worst for one in outcomes),
        "rms": float(np.sqrt(np.mean(z**2))) if len(z) else np.nan,
        "rms_deviation": _deviation_of_rms([one.z for one in outcomes if len(one.z)]),
        "beyond3": 100.0 * float(np.mean(np.abs(z) > 3.0)) if len(z) else np.nan,
        "alarms": sum(one.alarms for one in outcomes) / len(outcomes),
        "drifts": sum(one.drifts for one in outcomes) / len(outcomes),
        "unexplained": 100.0 * float(np.nanmedian([*(one.unexplained for one in outcomes), np.inf][:-1] or [np.nan]))
        if any(np.isfinite(one.unexplained) for one in outcomes)
        else np.nan,
    }


def _deviation_of_rms(trials: list[Floats]) -> float:
    """Deviation of rms z over so many trials by the jackknife, as the z of one trial are not independent."""
    count = len(trials)
    if count < 2:
        return float("nan")
    squares, sizes = np.array([float(z @ z) for z in trials]), np.array([len(z) for z in trials])
    without = np.sqrt((squares.sum() - squares) / (sizes.sum() - sizes))
    return float(np.sqrt((count - 1) * np.var(without)))
