"""The messages of the public stream: their topics, their version, and the conversion of an Estimate to a message.

Every message is two frames, ``[topic][msgpack map]``. Every map has a numeric ``timestamp`` (Unix seconds of the
instant that it describes), ``v``, ``robot``, ``seq`` (counts up by one per topic, so that a subscriber notices every
loss) and ``boot`` (changes when the core restarts; seq then starts at 0 again). A message about one joint has ``joint``
as well. When a subscriber joins, the last values are sent again to everyone; a seq that was received before can be
ignored. `daq/stream/schema/` describes every field.

Topics between core, supervisor and outlet that never leave the machine are in ``INTERNAL``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgpack

from daq.stream.form import PACKER, Form
from daq.stream.reasons import as_maps
from estimators.base import Estimate, ParameterState

VERSION: Final = 2  # 2: reasons are maps with a code; before they were texts
PUBLIC: Final = (
    *("estimate/", "residual/", "event/", "drift/", "change/", "wear/", "lost_motion/", "summary/", "clearance/"),
    *("robot", "robot/parameters", "mechanism", "process/", "meta"),
)
REFITS: Final = "refits"  # name of the refit worker in process/refits; no driver can have it
ROBOT: Final = "robot"  # name of the whole robot in topics such as event/robot; no joint can have it
MECHANISM: Final = "mechanism"  # name of the mechanism in topics such as event/mechanism; no joint can have it
# status/core: losses and totals; samples/<joint>: points of curves for the page; recorder/status: what is recorded, or
# why nothing is; gateway/<name>: what a gateway has sent and dropped
INTERNAL: Final = ("status/", "samples/", "channels/", "recorder/", "gateway/")

# every kind of event, and what it means
EVENTS: Final = {
    "started": "the starting procedure has ended: every value may be used from now on",
    "alarm": "the residual has grown beyond what it was at the start: something has changed",
    "resumed": "the core has restarted and continues with the values from before",
    "transient": "values from before the change are reported until its cause is found",
    "refit_started": "the nonlinear parameters are searched anew",
    "refit_accepted": "the search's result is used from now on",
    "refit": "by how much it moved the nonlinear parameters",
    "refit_rejected": "the search's result is not used",
    "law": "another friction law explains the motion better and is used from now on",
    "standstill": "the standstill speed, below which the joint counts as at rest, was found from its motion",
    "bandwidth": "how much of the motion a wide smoothing kernel lets pass: if less than half, set half_width",
    "mistake": "the channels suggest a mistake in the configuration: which one, and what to do",
    "kernel": "the steps of an encoder need a wider smoothing kernel: the joint is learnt anew with it",
    "gradual": "a parameter goes on changing slowly: its values follow, and their deviations contain the delay",
    "scaled": "all parameters have changed by one factor: the torque constant, or its sensor",
    "sharpened": "the nonlinear parameters are confirmed, and are more certain now",
    "drift": "a parameter has left its limits around the baseline, or the shape of the friction curve changes",
    "fault": "the values must not be used: no data, or an estimate that had to start again",
    "recovered": "a problem is over: new values after an alarm, data again, or values within the limits again",
    "held": "the joint stands still: the values do not change",
    "moving": "the joint moves again",
    "baseline": "the baseline with which values are compared from now on",
    "contact": "the model does not explain the torque of some joints: a contact, or something has changed",
    "compensation": "what was learnt about a joint's residual is used from now on, or no longer",
    "payload": "the robot carries a body that its model does not know, or has put it down",
    "tool": "what the robot carries differs from the tool configured in its controller, or no longer does",
    "friction": "the friction of a joint in the whole robot's model, or that a mechanism's drive feels, has changed",
    "lost_motion_known": "the lost motion of the gear, from a first window of rows with loads in both directions",
    "lost_motion_grown": "the gear's lost motion has grown beyond what it was at first: wear",
    "clearance_known": "the clearance of the pin in its bearing, from a first window of positions",
    "clearance_grown": "the bearing's clearance has grown beyond what it was at first: wear",
}

Map = dict[str, Any]
Message = tuple[bytes, bytes]  # topic, msgpack map


@dataclass(slots=True)
class Publication:
    """Numbers the updates of one joint and turns Estimates into messages."""

    robot: str
    joint: str
    boot: int  # drawn at random at every start of the core
    unit: str  # of the residual: N·m, or N for a prismatic joint
    sequence: dict[str, int] = field(default_factory=dict)
    # Of estimates: the values on which the texts of the last one depend, its map, and its form, which is made when a
    # second one has the same texts, so that messages with ever new texts cost no form. Then the form of residuals
    _words: tuple[Any, ...] = field(default=(), repr=False, compare=False)
    _body: Map = field(default_factory=dict, repr=False, compare=False)
    _form: Form | None = field(default=None, repr=False, compare=False)
    _condition: list[float] = field(default_factory=list, repr=False, compare=False)  # of the same; [] where unknown
    _residuals: Form | None = field(default=None, repr=False, compare=False)
    _topics: tuple[bytes, bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._topics = f"estimate/{self.joint}".encode(), f"residual/{self.joint}".encode()

    def head(self, topic: str, timestamp: float) -> Map:
        """Return the fields that every map has; advances the sequence number of the topic."""
        seq = self.sequence.get(topic, 0)
        self.sequence[topic] = seq + 1
        return {
            "timestamp": timestamp,
            "v": VERSION,
            "robot": self.robot,
            "joint": self.joint,
            "seq": seq,
            "boot": self.boot,
        }

    def estimate(self, estimate: Estimate, timestamp: float, arrival: float, latency: float) -> tuple[bytes, bytes]:
        """`estimate/<joint>`: parameters, deviations, error, health.

        timestamp: Unix s; arrival: Unix s at which the newest frame that went in came; latency: s from there to here.
        """
        topic, spectrum = self._topics[0], estimate.spectrum
        words = estimate.phase, estimate.status, estimate.reasons, estimate.names, estimate.states, spectrum
        if words == self._words and (form := self._form_of_last()) is not None:
            seq = self.sequence["estimate"]
            self.sequence["estimate"] = seq + 1
            numbers = [timestamp, seq, *estimate.values.tolist(), *estimate.deviations.tolist(), estimate.error]
            numbers += estimate.forgetting, estimate.progress, arrival, latency
            return topic, form.fill([*numbers, *self._condition])
        body = self.head("estimate", timestamp)
        body |= {
            "phase": estimate.phase.value,
            "parameters": dict(zip(estimate.names, estimate.values.tolist(), strict=True)),
            "deviations": dict(zip(estimate.names, estimate.deviations.tolist(), strict=True)),
            "error": estimate.error,
            "forgetting": estimate.forgetting,
            "progress": estimate.progress,
            "health": {"status": estimate.status.value, "reasons": as_maps(estimate.reasons)},
            "arrival": arrival,
            "latency": latency,
        }
        if estimate.states:
            body["states"] = dict(zip(estimate.names, map(_state, estimate.states), strict=False))
        if spectrum.values:
            body |= {"condition": spectrum.condition, "singular_values": spectrum.values, "weakest": spectrum.weakest}
        self._body, self._form = body, None
        self._words, self._condition = words, [spectrum.condition] if spectrum.values else []
        return topic, PACKER.pack(body)

    def _form_of_last(self) -> Form | None:
        """Return the form of the last estimate; None without one, or if its sequence number cannot be increased."""
        if self._form is None:
            if not self._body:
                return None
            self._form = Form(self._body)
        return self._form if self.sequence["estimate"] < self._form.room else None

    @property
    def formed(self) -> bool:
        """Whether the last estimate and its residual have forms whose sequence numbers can be increased."""
        residuals = self._residuals
        if residuals is None or self.sequence["residual"] >= residuals.room:
            return False
        return self._form_of_last() is not None

    def fill_forms(
        self, figures: list[float], measured: float, predicted: float, times: tuple[float, float, float]
    ) -> list[tuple[bytes, bytes]]:
        """Return `estimate` and `residual` of normal mode with the texts of the last ones; allowed only if `formed`.

        figures: values, deviations, error and λ; times: timestamp, arrival, latency.
        """
        form, residuals, sequence, (timestamp, arrival, latency) = self._form, self._residuals, self.sequence, times
        assert form is not None
        assert residuals is not None
        seq, other = sequence["estimate"], sequence["residual"]
        sequence["estimate"], sequence["residual"] = seq + 1, other + 1
        numbers = [timestamp, seq, *figures, 100.0, arrival, latency]
        numbers += self._condition
        return [
            (self._topics[0], form.fill(numbers)),
            (self._topics[1], residuals.fill((timestamp, other, measured, predicted, measured - predicted))),
        ]

    def residual(self, estimate: Estimate, timestamp: float) -> tuple[bytes, bytes]:
        """`residual/<joint>`: measured, predicted and residual torque."""
        topic, measured, predicted = self._topics[1], estimate.measured, estimate.predicted
        form, seq = self._residuals, self.sequence.get("residual", 0)
        if form is not None and seq < form.room:
            self.sequence["residual"] = seq + 1
            return topic, form.fill((timestamp, seq, measured, predicted, measured - predicted))
        body = self.head("residual", timestamp)
        body |= {"measured": measured, "predicted": predicted, "residual": measured - predicted, "unit": self.unit}
        self._residuals = Form(body)
        return topic, PACKER.pack(body)

    def drift(self, drift: Map, timestamp: float) -> tuple[bytes, bytes]:
        """`drift/<joint>`: a joint against its baseline, see daq.core.changes.drift."""
        return f"drift/{self.joint}".encode(), msgpack.packb(self.head("drift", timestamp) | drift)

    def wear(self, wear: Map, timestamp: float) -> tuple[bytes, bytes]:
        """`wear/<joint>`: dry wear, corrected for heat and load, and the time to its limit (daq.state.history.wear)."""
        return f"wear/{self.joint}".encode(), msgpack.packb(self.head("wear", timestamp) | wear)

    def lost_motion(self, body: Map, timestamp: float) -> tuple[bytes, bytes]:
        """`lost_motion/<joint>`: the gear between two encoders, see daq.core.gear_pipeline."""
        return f"lost_motion/{self.joint}".encode(), msgpack.packb(self.head("lost_motion", timestamp) | body)

    def clearance(self, body: Map, timestamp: float) -> tuple[bytes, bytes]:
        """`clearance/<joint>`: the room of a pin in its bearing, see daq.core.gear_pipeline."""
        return f"clearance/{self.joint}".encode(), msgpack.packb(self.head("clearance", timestamp) | body)

    def event(
        self,
        kind: str,
        text: str,
        timestamp: float,
        window: tuple[float, float] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> tuple[bytes, bytes]:
        """`event/<joint>`: something happened (kind: see EVENTS), with its cause in words.

        window: Unix s of the first and the last row that it is about; details: of a search, see docs/stream.md.
        """
        body = self.head("event", timestamp) | {"kind": kind, "text": text}
        if details:
            body["search"] = dict(details)
        if window is not None:
            body |= {"from": window[0], "to": window[1]}
        return f"event/{self.joint}".encode(), msgpack.packb(body)


def _state(state: ParameterState) -> Map:
    """Convert the state of a parameter to the form of messages."""
    found: Map = {"state": state.knowledge.value}
    if state.others:
        found["from"] = list(state.others)
    if state.unmodelled_torque:
        found["unmodelled_torque"] = True
    return found


@dataclass(slots=True)
class Introduction:
    """Makes `meta`: robot, configuration, and everything about the joints that does not change while the core runs."""

    robot: str
    boot: int
    configuration: str  # digest of the configuration, see config.digest
    joints: Mapping[str, Map]  # name → model, unit, rate, parameters (name → unit, low, high, equation, meaning, needs)
    seq: int = 0

    def message(self, timestamp: float) -> tuple[bytes, bytes]:
        """Return the next `meta` message. timestamp: Unix s."""
        body = {
            "timestamp": timestamp,
            "v": VERSION,
            "robot": self.robot,
            "seq": self.seq,
            "boot": self.boot,
            "configuration": self.configuration,
            "joints": self.joints,
        }
        self.seq += 1
        payload: bytes = msgpack.packb(body)
        return b"meta", payload


@dataclass(slots=True)
class Liveliness:
    """Makes `process/<name>`: the supervisor's report on each process, and the core's report on its refit worker."""

    robot: str
    boot: int  # boot of the reporting process: supervisor and core have different ones
    sequence: dict[str, int] = field(default_factory=dict)

    def process(
        self, name: str, timestamp: float, up: bool, restarts: int, pid: int, cause: str, age: float, deadline: float
    ) -> tuple[bytes, bytes]:
        """Return the next report. age: time since its last sign of life, s; deadline: silence after which it is ended,
        s (0: never)."""
        seq = self.sequence[name] = self.sequence.get(name, -1) + 1
        body = {"timestamp": timestamp, "v": VERSION, "robot": self.robot, "seq": seq, "boot": self.boot, "name": name}
        body |= {"up": up, "restarts": restarts, "pid": pid, "cause": cause, "age": age, "deadline": deadline}
        return f"process/{name}".encode(), msgpack.packb(body)
