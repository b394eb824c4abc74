"""The last minutes of every joint, decimated and bounded, so that a page shows them as soon as it opens.

A snapshot and a tick have the same shape, so the page needs one piece of code for both: the snapshot has all rows, a
tick those since the last tick. Rows are sent as little-endian float32, with their time relative to ``base``.
"""

import math
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self

import numpy as np

from daq.outlet.current_values import CurrentValues
from daq.outlet.losses import Losses
from daq.outlet.remedies import remedies_of_drift, with_remedies
from daq.outlet.robot_history import MechanismHistory, RobotHistory
from daq.outlet.trace import Trace
from daq.stream.curve_points import channel_rows, points
from daq.stream.reasons import as_maps, with_todo
from daq.stream.schema import SPECTRUM, WINDOW
from daq.stream.update import REFITS, ROBOT, Map
from estimators.base import Knowledge, Phase, Status
from estimators.models.curves import POINT, Curves
from estimators.models.joints import JointModelSettings
from estimators.models.joints.lost_motion import LOST_MOTION as PLACE
from estimators.models.joints.lost_motion import PARAMETERS as OF_GEAR
from estimators.models.joints.lost_motion import WEARS
from estimators.quantities import Axis
from estimators.reasons import Reason

# the fields of an estimate that a page gets as they are
SHOWN: Final = ("timestamp", "phase", "health", "progress", "error", "forgetting", "latency", "boot", "states")
ESTIMATES: Final = 10.0  # rows/s kept of estimates: what a screen can show
RESIDUALS: Final = 50.0  # rows/s kept of torques: ten points in the shortest period that a joint's motion shows
POINTS: Final = 25.0  # rows/s kept of points of curves: a cloud of 3000
ALARMS: Final = 5.0  # rows/s kept of the nearness of an alarm: what the core sends
RAW: Final = 200.0  # rows/s kept of raw channels: what the core sends
GRID: Final = np.sinh(np.linspace(-4.0, 4.0, 81)) / np.sinh(4.0)  # of a drawn law: dense where it is steep
MUTE: Final = 3.0  # s without a message from the recorder after which it counts as stuck
SILENT: Final = 1.8  # s without a message from core or supervisor after which their last messages do not count
REDRAW: Final = 0.5  # s between two drawings of a law
EVENTS: Final = 200
LATEST: Final = 50  # events in /api/state
LOST_MOTION: Final = OF_GEAR[PLACE].name
CLEARANCE: Final = (
    "way",
    "clearance",
    "deviation",
    "known",
    "reasons",
    "progress",
    "arc",
    "touching",
    "first",
    "grown",
)
GEAR: Final = (  # the fields of lost_motion/<joint> that the page shows
    *("parameters", "deviations", "known", "reasons", "reversals", "rarer", "imitated", "progress", "soft", "first"),
    *("grown", "timestamp"),
)


WEAR: Final = (
    "told",
    "wear",
    "deviation",
    "onset",
    "judged",
    "days",
    "left",
    "limit",
    "new",
    "text",
)  # that a page shows


class JointLabel(NamedTuple):
    """What the page and the metrics need of a joint before its first update."""

    name: str
    unit: str  # of measured and residual: N·m or N
    parameters: Mapping[str, str]  # name → unit
    curves: Curves | None = None  # of its model
    meanings: Mapping[str, str] = {}  # name → what it is, in words
    gear: bool = False  # whether the gear between its two encoders is watched

    @classmethod
    def of(cls, name: str, settings: JointModelSettings, gear: bool = False) -> Self:
        """The label of a joint with this model; gear: whether the gear between its encoders is watched."""
        model = settings.build()
        known = (*model.parameters, *model.nonlinear)
        units, meanings = {one.name: one.unit for one in known}, {one.name: one.meaning for one in known}
        return cls(name, settings.unit(), units, Curves(model), meanings, gear)

    def unit_of(self, role: str) -> str:
        """SI unit of a channel of this joint; "" where any is allowed."""
        return (Axis.PRISMATIC if self.unit == Axis.PRISMATIC.effort else Axis.ROTARY).unit_of(role) or ""


@dataclass(slots=True)
class JointHistory:
    """The traces of one joint, and the newest value of everything else."""

    label: JointLabel
    curves: Curves | None = None  # of its model, with the friction law in use
    names: tuple[str, ...] = ()
    estimates: Trace = field(default_factory=lambda: Trace(3, ESTIMATES))  # time, error, forgetting, values, deviations
    residuals: Trace = field(default_factory=lambda: Trace(3, RESIDUALS))  # time, measured, predicted
    points: Trace = field(default_factory=lambda: Trace(1 + len(POINT), POINTS))  # time, velocity, friction, …
    alarms: Trace = field(default_factory=lambda: Trace(2, ALARMS))  # time, CUSUM over its limit
    excitation: list[float] = field(default_factory=list)
    usual: float = math.nan  # standard deviation of the residual at the start, N·m (N)
    drift: Map = field(default_factory=dict)  # the newest drift/<joint>, see daq.stream.schema
    changes: list[Map] = field(default_factory=list)  # the records of the newest change/<joint>
    wear: Map = field(default_factory=dict)  # the newest wear/<joint>
    gear: Map = field(default_factory=dict)  # the newest lost_motion/<joint>, see daq.stream.schema
    clearance: Map = field(default_factory=dict)  # the newest clearance/<joint>; empty where none is watched
    gears: Trace = field(default_factory=lambda: Trace(3, 1.0))  # time, lost motion, its deviation
    laws: Map = field(default_factory=dict)  # what was drawn last
    channels: tuple[str, ...] = ()  # names of the raw channels; empty while no page shows them
    raw: Trace = field(default_factory=lambda: Trace(1, RAW))  # time, raw channels
    state: Map = field(default_factory=dict)
    since: float | None = None  # Unix s of the estimate that began its phase; None: before the first that was heard
    losses: Losses = field(default_factory=Losses)
    totals: Map = field(default_factory=dict)  # samples, updates, lost by cause


class History:
    """All joints, events, processes and drivers of one robot."""

    def __init__(self, robot: str, joints: Sequence[JointLabel]) -> None:
        self.robot = robot
        self._joints = {label.name: JointHistory(label, label.curves, tuple(label.parameters)) for label in joints}
        for joint in self._joints.values():
            joint.estimates = Trace(3 + 2 * len(joint.names), ESTIMATES)
        self._events: deque[Map] = deque(maxlen=EVENTS)
        self._fresh_events: list[Map] = []
        self._processes: dict[str, Map] = {}
        self._supervised = 0.0  # Unix s by our clock, of the supervisor's last message
        self._core_heard = 0.0  # Unix s by our clock, of the core's last message
        self._drivers: Map = {}
        self._recorder: Map = {}  # empty when nothing is recorded
        self._whole, self._mechanism = RobotHistory(), MechanismHistory()
        self._counted = 0.0  # Unix s at which the totals were as they are
        self._drawn = 0.0  # Unix s at which the laws were drawn last
        self.layout = 0  # changes when joints or parameters do: a page then needs a new snapshot

    def absorb(self, topic: str, update: Map, now: float) -> None:
        """One update or internal status map, received at now (Unix s)."""
        family, _, name = topic.partition("/")
        if family == "process":
            self._processes[name] = update
            self._supervised = self._supervised if name == REFITS else now
        elif family == "status":
            self._core_heard = now
            self._drivers, self._counted = update["drivers"], update["timestamp"]
            for joint, totals in update["joints"].items():
                known = self._joint(joint)
                known.losses.absorb(totals.get("lost", {}), update.get("boot"), update["timestamp"])
                known.totals = {**totals, "losses": known.losses.recent()}
        elif family == "estimate":
            self._estimate(self._joint(name), update, now)
        elif family == "residual":
            joint = self._joint(name)
            if joint.label.unit != update["unit"]:
                joint.label = joint.label._replace(unit=update["unit"])
            joint.residuals.append((update["timestamp"], update["measured"], update["predicted"]))
        elif family == "drift" and name == ROBOT:
            self._whole.drift = {key: update.get(key, "") for key in ("since", "drifted", "cause", "percent", "z")}
        elif family == "drift":
            keys = ("since", "drifted", "cause", "baseline", "percent", "z", "reference")
            drift = {"cause": ""} | {key: update[key] for key in keys if key in update}
            self._joint(name).drift = drift | {"todo": remedies_of_drift(drift)}
        elif family == "change":
            self._joint(name).changes = with_remedies(update["records"])
        elif family == "wear":
            self._joint(name).wear = {key: update[key] for key in WEAR if key in update}
        elif family == "lost_motion":
            joint = self._joint(name)
            joint.gear = {key: update[key] for key in GEAR if key in update}
            number = (update[part].get(LOST_MOTION, math.nan) for part in ("parameters", "deviations"))
            joint.gears.append((update["timestamp"], *number))
        elif family == "clearance":
            joint = self._joint(name)
            self.layout += not joint.clearance
            joint.clearance = {key: update[key] for key in CLEARANCE}
        elif family == "robot":
            self.layout += self._whole.absorb(name, update, now)
        elif family == "mechanism":
            self.layout += self._mechanism.absorb(update, now)
        elif family == "recorder":
            self._recorder = update
        elif family == "channels":
            self._channels(self._joint(name), update)
        elif family == "samples":
            self._samples(self._joint(name), update)
        elif family == "event":
            event: Map = {key: update[key] for key in ("timestamp", "joint", "kind", "text", *WINDOW) if key in update}
            self._events.append(event)
            self._fresh_events.append(event)
            if event["kind"] == "baseline":  # another one from now on, or none
                (self._whole if name == ROBOT else self._joint(name)).drift = {}

    def snapshot(self, now: float) -> Map:
        """Everything that is kept."""
        return self._message(now, list(self._events), whole=True)

    def tick(self, now: float) -> Map:
        """What came since the last tick."""
        events, self._fresh_events = self._fresh_events, []
        return self._message(now, events, whole=False)

    def skip(self) -> None:
        """Skip a tick while no page is open: a page begins with a snapshot, which has everything."""
        self._fresh_events = []
        self._whole.skip()
        self._mechanism.skip()
        for joint in self._joints.values():
            for trace in (joint.estimates, joint.residuals, joint.points, joint.alarms, joint.raw):
                trace.skip()

    def stale(self, now: float) -> Reason | None:
        """Why the joints' values are out of date (the core is down); None while the core runs."""
        core = self._processes.get("core")
        if core is not None and not core["up"]:
            return Reason("core_down", words={"cause": f": {core['cause']}" if core["cause"] else ""})
        silence = now - self._core_heard
        quiet = self._core_heard and silence > SILENT
        return Reason("core_silent", None, {"seconds": silence}) if quiet else None

    def processes(self, now: float) -> dict[str, Map]:
        """Every process, as the supervisor reports it; a supervisor that is silent counts as down."""
        silence = now - self._supervised
        if not self._processes or silence <= SILENT:
            return self._processes
        known = self._processes.get("supervisor", {"restarts": 0, "pid": 0})
        cause = f"no word from it for {silence:.0f} s: its reports on the others are out of date"
        return self._processes | {"supervisor": known | {"up": False, "cause": cause, "age": silence}}

    def current_values(self, name: str) -> CurrentValues | None:
        """The present values of a joint, or of the robot; None before its first update and while the core is down."""
        if name == ROBOT:
            return None if self.stale(time.time()) else self._whole.current_values()
        joint = self._joints.get(name) if not self.stale(time.time()) else None
        row = joint.estimates.last() if joint else []
        if joint is None or not row:
            return None
        values = dict(zip(joint.names, row[3:], strict=False))
        deviations = dict(zip(joint.names, row[3 + len(joint.names) :], strict=True))
        for one in WEARS:  # a baseline holds the gear's parameters only where they are known
            found = [joint.gear.get(part, {}).get(one.name, math.nan) for part in ("parameters", "deviations")]
            if all(map(math.isfinite, found)):
                values[one.name], deviations[one.name] = found
        health, fixed = joint.state["health"], joint.curves.fixed if joint.curves else None
        states = joint.state.get("states")
        unknown = [name for name, one in (states or {}).items() if one["state"] != Knowledge.KNOWN]
        known = tuple(name for name in values if name not in unknown) if states else None
        return CurrentValues(row[0], health["status"], health["reasons"], values, deviations, fixed, known)

    def changed(self) -> list[str]:
        """Joints with a change that has not been acknowledged."""
        return [name for name, joint in self._joints.items() if any(not one["acknowledged"] for one in joint.changes)]

    def latest(self, now: float) -> Map:
        """The newest values of everything, for /api/state."""
        joints = {}
        stale = self.stale(now)
        for name, joint in self._joints.items():
            row, count = joint.estimates.last(), len(joint.names)
            torque = joint.residuals.last()
            joints[name] = {
                **_state(joint, stale),
                "parameters": {
                    parameter: {
                        "value": row[3 + index],
                        "deviation": row[3 + count + index],
                        "unit": joint.label.parameters.get(parameter, ""),
                    }
                    for index, parameter in enumerate(joint.names if row else ())
                },
                "unit": joint.label.unit,
                **(dict(zip(("measured", "predicted"), torque[1:], strict=True)) if torque else {}),
                "excitation": dict(zip(joint.names, joint.excitation, strict=False)),
                "drift": joint.drift,
                "changes": joint.changes,
                "wear": joint.wear,
                **({"lost_motion": joint.gear} if joint.label.gear else {}),
                **({"clearance": joint.clearance} if joint.clearance else {}),
                "alarm": joint.alarms.last()[1:] or None,
                **joint.totals,
            }
        return {
            "robot": self.robot,
            "now": now,
            "joints": joints,
            "whole": self._whole.latest(stale),
            "mechanism": self._mechanism.latest(stale),
            "processes": self.processes(now),
            "drivers": self._drivers,
            "recorder": self._recording(now),
            "counted": self._counted,
            "events": list(self._events)[-LATEST:],
        }

    def _joint(self, name: str) -> JointHistory:
        joint = self._joints.get(name)
        if joint is None:
            joint = self._joints[name] = JointHistory(JointLabel(name, "", {}))
            self.layout += 1
        return joint

    def _estimate(self, joint: JointHistory, update: Map, now: float) -> None:
        names = tuple(update["parameters"])
        if names != joint.names:
            joint.names, joint.estimates = names, Trace(3 + 2 * len(names), ESTIMATES)
            self.layout += 1
        if joint.estimates.wants(update["timestamp"]):
            head = (update["timestamp"], update["error"], update["forgetting"])
            joint.estimates.append((*head, *update["parameters"].values(), *update["deviations"].values()))
        before, phase = joint.state.get("phase"), update["phase"]
        if phase != before:  # the first that is heard has begun before, but for a start, of which little is missed
            joint.since = update["timestamp"] if before or phase == Phase.STARTING else None
        joint.state = {key: update[key] for key in (*SHOWN, *SPECTRUM) if key in update}
        joint.state |= {"received": now, "since": joint.since}
        if reasons := update["health"]["reasons"]:
            joint.state["health"] = update["health"] | {"reasons": with_todo(reasons)}

    def _samples(self, joint: JointHistory, update: Map) -> None:
        for row in points(update).tolist():
            joint.points.append(row)
        joint.alarms.append((update["timestamp"], update["alarm"]))
        joint.excitation, joint.usual = update["excitation"], update["usual"]
        if joint.label.curves is not None:
            joint.curves = joint.label.curves.using(update["law"] or joint.label.curves.law)

    def _channels(self, joint: JointHistory, update: Map) -> None:
        names = tuple(update["channels"])
        if names != joint.channels:
            joint.channels, joint.raw = names, Trace(1 + len(names), RAW)
        for row in channel_rows(update).tolist():
            joint.raw.append(row)

    def keep_channels(self, wanted: Collection[str]) -> None:
        """Forget the raw channels of joints that no page shows any more."""
        for name, joint in self._joints.items():
            if joint.channels and name not in wanted:
                joint.channels, joint.raw = (), Trace(1, RAW)

    def knows(self, name: str) -> bool:
        """Whether there is a joint of this name."""
        return name in self._joints

    def _recording(self, now: float) -> Map:
        """The recorder's last report; a silent recorder counts as down (a disk that hangs stops its reports, too)."""
        mute = now - self._recorder["timestamp"] if self._recorder else 0.0
        if mute < MUTE:
            return self._recorder
        return self._recorder | {"up": False, "cause": f"no word from the recorder for {mute:.0f} s"}

    def _message(self, now: float, events: list[Map], whole: bool) -> Map:
        fresh = whole or not 0 <= now - self._drawn < REDRAW
        if fresh:
            self._drawn = now
            for joint in self._joints.values():
                joint.laws = _laws(joint)
        return {
            "snapshot": whole,
            "robot": self.robot,
            "now": now,
            "base": now,
            "events": events,
            "processes": self.processes(now),
            "drivers": self._drivers,
            "counted": self._counted,
            "recorder": self._recording(now),
            "whole": self._whole.message(now, self.stale(now), whole),
            "mechanism": self._mechanism.message(now, self.stale(now), whole),
            "joints": {
                name: _joint_message(joint, now, whole, fresh, self.stale(now)) for name, joint in self._joints.items()
            },
        }


def _state(joint: JointHistory, stale: Reason | None) -> Map:
    """The last state of a joint; marked as faulted, with the reason, where it is out of date."""
    if not stale or not joint.state:
        return joint.state
    faulted = {"status": str(Status.FAULTED), "reasons": with_todo(as_maps([stale]))}
    return joint.state | {"phase": str(Phase.FAULTED), "health": faulted}


def _joint_message(joint: JointHistory, base: float, whole: bool, fresh: bool, stale: Reason | None) -> Map:
    found: Map = {"state": _state(joint, stale), "totals": joint.totals}
    if fresh:
        found |= {
            "drift": joint.drift,
            "changes": joint.changes,
            "wear": joint.wear,
            "gear": joint.gear,
            "clearance": joint.clearance,
            "laws": joint.laws,
            "excitation": joint.excitation,
            "usual": joint.usual,
        }
    traces = {
        "estimates": joint.estimates,
        "residuals": joint.residuals,
        "points": joint.points,
        "alarms": joint.alarms,
        "gears": joint.gears,
    }
    if joint.channels:
        found["channels"] = {
            "names": joint.channels,
            "units": [joint.label.unit_of(role) for role in joint.channels],
            "rows": joint.raw.all(base) if whole else joint.raw.fresh(base),
        }
    found |= {name: trace.all(base) if whole else trace.fresh(base) for name, trace in traces.items()}
    if not whole:
        return found
    return found | {
        "unit": joint.label.unit,
        "names": joint.names,
        "units": [joint.label.parameters.get(name, "") for name in joint.names],
        "meanings": [joint.label.meanings.get(name, "") for name in joint.names],
        "geared": joint.label.gear,
        "elastic": joint.label.curves is not None and joint.label.curves.has_spring,
    }


def _laws(joint: JointHistory) -> Map:
    """The fitted curves over the range of the points: name → rows of (abscissa, torque), float32."""
    curves, row = joint.curves, joint.estimates.last()
    if curves is None or joint.names != curves.names or not row:
        return {}
    reach = joint.points.largest()
    if reach is None or not reach[1] > 0.0:  # it has not moved: there is no range to draw over
        return {}
    baseline = joint.drift.get("baseline", {})
    every = {"": np.array(row[3 : 3 + len(joint.names)])}
    if all(name in baseline for name in joint.names):
        every["_baseline"] = np.array([baseline[name] for name in joint.names], np.float64)
    laws = {}
    for kind, values in every.items():
        laws[f"friction{kind}"] = np.column_stack([reach[1] * GRID, curves.friction(values, reach[1] * GRID)])
        if curves.has_spring:
            laws[f"spring{kind}"] = np.column_stack([reach[3] * GRID, curves.spring(values, reach[3] * GRID)])
    return {name: law.astype("<f4").tobytes() for name, law in laws.items() if np.isfinite(law).all()}
