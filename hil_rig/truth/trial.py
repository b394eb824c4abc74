"""Trials: a joint with a known truth, run through the service's alignment and estimator faster than real time."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgpack
import numpy as np
from numpy.typing import NDArray

from daq.config.sections import Channel, DeviceTime, DriftSettings, JointSection
from daq.core.changes.drift import Drift
from daq.core.joint_pipeline import JointPipeline
from daq.state.baselines import JUDGED, Baseline
from daq.stream.update import Publication
from hil_rig.plants.base import Floats

CHUNK: Final = 100  # samples passed at once: 0.1 s at 1 kHz, after which the estimate is looked at
BASELINE: Final = 30.0  # s after the start at which the baseline of drift is taken from a trusted estimate
UNSEEN: Final = 1.0  # s after a change of the truth that count for lies, but not for the spread of z
EXCUSED: Final = 20.0  # s after a change of the truth in which an alarm is right
FRAME: Final = 100_000  # ns from a sample to its frame's arrival, at least
LIE: Final = 4.0  # deviations
MATERIAL: Final = 0.05  # of the value
NOTICED: Final = 0.01  # of the torque's rms
SOON: Final = 15.0  # s from the first motion, within which a look should be trusted
FIGURES: Final = (
    *("valid", "lies", "material", "worst", "rms", "rms_deviation", "beyond3", "alarms", "drifts", "unexplained"),
    "soon",
)


class Sampled(NamedTuple):
    """Consecutive samples of a joint."""

    values: Floats  # (samples, channels) SI; NaN: the reading was lost
    stamps: Floats  # (samples,) s, the instant at which each was taken, by its device's clock


@dataclass(frozen=True, slots=True)
class Trial:
    """A joint, its configuration, and how long it is observed."""

    model: Mapping[str, Any]  # configuration
    sample: Callable[[int], Sampled]  # takes the next samples
    truth: Callable[[], Mapping[str, float]]  # present truth by the model's names; absent names are not judged
    seconds: float
    rate: float = 1000.0
    changes: tuple[float, ...] = ()  # s, when the truth jumps
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the joint, in addition to these
    stamped: bool = False  # the device's own time travels with each sample
    order: tuple[str, ...] = ("position", "torque")  # roles of the sampled columns
    delays: Mapping[str, float] = field(default_factory=dict)  # s by which a channel is configured to be late
    late: float = 0.0  # s, largest delay of frames, which stay in order
    watched: bool = False  # whether validators check the frames first, as in the service


class TrialOutcome(NamedTuple):
    """The results of one trial."""

    looks: int  # looks after the end of the start
    trusted: int  # looks in which the estimate is valid or held
    lying: int  # trusted looks in which a value is wrong by more than 4 of its deviations
    worst: float  # largest |z| while trusted
    z: Floats  # z of all known parameters while trusted
    alarms: int  # alarms without a change of the truth
    drifts: int  # drifts without a change of the truth
    unexplained: float  # median of the unexplained share of the torque, rms
    reasons: Mapping[tuple[str, str], int]  # identity of the first reason not to trust the values: how often
    worst_name: str = ""
    last: Mapping[str, tuple[float, float, float]] = {}  # value, deviation, truth at the end, known or not
    material: int = 0  # lying looks in which an error is also MATERIAL of the value and changes the torque by NOTICED
    first: float = np.nan  # s from the first motion to the first trusted look; infinite: never
    known: Mapping[str, float] = {}  # share of the trusted looks in which each parameter is known


class Observer:
    """Looks at the estimates of one joint and counts trusted and wrong ones."""

    def __init__(self, trial: Trial, line: JointPipeline) -> None:
        self._trial, self._line = trial, line
        self._estimate = line.estimator.estimate()
        self._looks = self._trusted = self._lying = self._material = self._alarms = self._drifts = 0
        self._worst, self._worst_name, self._judged = 0.0, "", -1
        self._started, self._began, self._first = np.inf, np.inf, np.inf  # s
        self._scores: list[Floats] = []
        self._errors: list[float] = []
        self._reasons = Counter[tuple[str, str]]()
        self._known: dict[str, int] = {}
        self._last: dict[str, tuple[float, float, float]] = {}
        self._drift: Drift | None = None

    def look(self, now: float, events: list[str]) -> None:
        """Look at the estimate; now: s; events: the kinds of those since the last look."""
        trial, estimator = self._trial, self._line.estimator  # replaced after a fault of its signals
        if not estimator.phases.parts.gate.resting:
            self._began = min(self._began, now)
        changed = any(0.0 <= now - change < EXCUSED for change in trial.changes)
        for kind in events:
            self._started = min(self._started, now) if kind == "started" else self._started
            self._alarms += kind == "alarm" and not changed
        self._estimate = estimate = estimator.estimate()
        if now <= self._started:
            return
        self._looks += 1
        if self._line.refused:  # faulted, as in the service
            self._reasons[self._line.refused[0].identity] += 1
            return
        self._errors.append(estimate.error)
        if estimate.status in JUDGED:
            self._first = min(self._first, now)
            self._judge(now)
        else:
            for reason in estimate.reasons[:1]:
                self._reasons[reason.identity] += 1

    def _judge(self, now: float) -> None:
        """Judge the known values of a trusted estimate."""
        truth, learnt, trial = self._trial.truth(), self._line.estimator.phases.parts.learner.state, self._trial
        estimate, known = self._estimate, self._estimate.known
        parameters = zip(estimate.names, estimate.values.tolist(), estimate.deviations.tolist(), strict=True)
        self._last = {name: (value, deviation, truth[name]) for name, value, deviation in parameters if name in truth}
        which = [i for i, name in enumerate(estimate.names) if name in truth and known[i]]
        wanted = np.array([truth[estimate.names[i]] for i in which])
        values, deviations = estimate.values[which], estimate.deviations[which]
        z, names = (values - wanted) / deviations, [estimate.names[i] for i in which]
        self._trusted += 1
        for name, one in zip(estimate.names, known, strict=True):
            self._known[name] = self._known.get(name, 0) + one
        if not any(0.0 <= now - change < UNSEEN for change in trial.changes):
            self._scores.append(z)
        shares = np.sqrt(np.append(np.diag(learnt.gram), np.zeros(len(known)))[which] / max(learnt.power, 1e-300))
        off = np.abs(values - wanted)
        lies = np.abs(z) > LIE
        self._lying += bool(lies.any())
        self._material += bool((lies & (off > MATERIAL * np.abs(wanted)) & (off * shares > NOTICED)).any())
        if np.abs(z).max(initial=0.0) > self._worst:
            self._worst, self._worst_name = float(np.abs(z).max()), names[int(np.abs(z).argmax())]
        self._compare(now)

    def _compare(self, now: float) -> None:
        """Compare with a baseline that is set BASELINE after the start."""
        estimate = self._estimate
        if self._drift is None and now - self._started > BASELINE:
            self._drift = Drift(DriftSettings(), Baseline.of(estimate, since=0.0, model="", friction=None))
        elif self._drift is not None and int(now) != self._judged:
            self._judged = int(now)
            drifted = sum(change.kind == "drift" for change in self._drift.update(estimate)[1])
            self._drifts += drifted * (not self._trial.changes)

    def outcome(self) -> TrialOutcome:
        """Return the results of the trial."""
        errors = [one for one in self._errors if np.isfinite(one)]  # NaN while it waits for motion
        return TrialOutcome(
            self._looks, self._trusted, self._lying, self._worst, np.concatenate([*self._scores, np.empty(0)]),
            self._alarms, self._drifts, float(np.median(errors)) if errors else np.nan, self._reasons,
            self._worst_name, self._last, self._material, self._first - self._began if self._trusted else np.inf,
            {name: count / self._trusted for name, count in self._known.items()},
        )  # fmt: skip


def run(trial: Trial) -> TrialOutcome:
    """Run a trial from its first sample to its last."""
    joint = _joint(trial)
    line = JointPipeline("joint", joint, Publication("truth", "joint", 0, "N·m"), 20_000_000, None)
    columns, arrivals = len(line.estimator.channels) + trial.stamped, np.random.default_rng(29)
    observer, chunk = Observer(trial, line), max(1, round(CHUNK * min(trial.rate / 1000.0, 1.0)))
    for first in range(0, round(trial.seconds * trial.rate), chunk):
        sampled = trial.sample(chunk)
        order = [trial.order.index(role) for role in line.estimator.channels]
        late = arrivals.uniform(0.0, trial.late, chunk) if trial.late else np.zeros(chunk)
        readings = _readings(sampled._replace(values=sampled.values[:, order]), trial.stamped, columns, late)
        observer.look((first + chunk) / trial.rate, _events(line, readings, trial.watched))
    return observer.outcome()


def _joint(trial: Trial) -> JointSection:
    settings = {"model": trial.model, "rate": trial.rate, **trial.settings}
    model = JointSection.model_validate(settings | {"channels": {}}).model
    channels = {role: Channel(signal=f"wire.STATE.{role}", delay=trial.delays.get(role, 0.0)) for role in model.roles()}
    stamp = {"device_time": DeviceTime(signal="wire.STATE.time")} if trial.stamped else {}
    return JointSection.model_validate(settings | stamp | {"channels": channels})


Readings = tuple[NDArray[np.int64], Floats, NDArray[np.int32]]


def _events(line: JointPipeline, readings: Readings, watched: bool) -> list[str]:
    """Pass readings to a joint and return the kinds of its events."""
    if watched:
        messages = line.absorb(*readings, 0, lambda: 0)
        return [msgpack.unpackb(body)["kind"] for topic, body in messages if topic.startswith(b"event/")]
    line.estimator.absorb(*line.aligner.absorb(*readings))
    return [event.kind for event in line.estimator.events()]


def _readings(sampled: Sampled, stamped: bool, columns: int, late: Floats) -> Readings:
    """Make the readings of one frame per sample, all values of which arrive at once. late: s, delay of each sample."""
    values, stamps = sampled
    if stamped:
        values = np.column_stack((values, stamps))
    came_at = np.maximum.accumulate(np.round((stamps + late) * 1e9).astype(np.int64)) + FRAME
    arrivals = np.repeat(came_at, columns)
    flat, which = values.reshape(-1), np.tile(np.arange(columns, dtype=np.int32), len(values))
    came = ~np.repeat(np.isnan(values).any(axis=1), columns)
    return arrivals[came], np.ascontiguousarray(flat[came]), which[came]


def together(outcomes: list[TrialOutcome]) -> dict[str, float]:
    """The FIGURES of one row from all its trials: shares of time in per cent, alarms and drifts per trial."""
    looks = sum(one.looks for one in outcomes)
    z = np.concatenate([one.z for one in outcomes])
    return {
        "valid": 100.0 * sum(one.trusted for one in outcomes) / max(looks, 1),
        "lies": 100.0 * sum(one.lying for one in outcomes) / max(looks, 1),
        "material": 100.0 * sum(one.material for one in outcomes) / max(looks, 1),
        "worst": max(one.worst for one in outcomes),
        "rms": float(np.sqrt(np.mean(z**2))) if len(z) else np.nan,
        "rms_deviation": _deviation_of_rms([one.z for one in outcomes if len(one.z)]),
        "beyond3_deviation": 100.0
        * _deviation_of_rms([(np.abs(one.z) > 3.0).astype(np.float64) for one in outcomes if len(one.z)], 1),
        "beyond3": 100.0 * float(np.mean(np.abs(z) > 3.0)) if len(z) else np.nan,
        "alarms": sum(one.alarms for one in outcomes) / len(outcomes),
        "drifts": sum(one.drifts for one in outcomes) / len(outcomes),
        "unexplained": 100.0 * float(np.nanmedian([*(one.unexplained for one in outcomes), np.inf][:-1] or [np.nan]))
        if any(np.isfinite(one.unexplained) for one in outcomes)
        else np.nan,
        "soon": 100.0 * float(np.mean([one.first <= SOON for one in outcomes])),
    }


def _deviation_of_rms(trials: list[Floats], root: int = 2) -> float:
    """Deviation of rms z over these trials by the jackknife, since the z of one trial are not independent.

    root: 1 for the deviation of the mean square instead.
    """
    count = len(trials)
    if count < 2:
        return float("nan")
    squares, sizes = np.array([float(z @ z) for z in trials]), np.array([len(z) for z in trials])
    without = ((squares.sum() - squares) / (sizes.sum() - sizes)) ** (1.0 / root)
    return float(np.sqrt((count - 1) * np.var(without)))


class TruthRow(NamedTuple):
    """A row of the table: one kind of joint."""

    right: bool  # whether the model is right
    make: Callable[[int], Trial | Callable[[], TrialOutcome]]  # makes the trial of a seed
    beyond: Mapping[str, str] = {}  # limits that cannot be met, with the reason
    soon: bool = False  # whether it must be trusted within SOON of its first motion
