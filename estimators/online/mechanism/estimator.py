"""A mechanism with loops, live: the torque that its model does not explain, constraint forces, and friction.

    every 10 ms   residual torque of each drive against its threshold (robot/contact.py)
    1.5 s         friction of each drive over the model's (friction_level.py)

Passive joints need no encoder: they follow from the loops. The friction in the prediction is that of every bearing
under the force that it carries in this instant. All decisions fall at fixed row counts, so results do not depend on
how rows are cut into batches.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from estimators.base import Event, Phase, Status
from estimators.models.mechanisms.description import Description
from estimators.models.mechanisms.mechanism import Mechanism
from estimators.online.mechanism.estimate import MechanismEstimate
from estimators.online.mechanism.filtered_motion import MechanismChunk, MechanismFilter
from estimators.online.mechanism.friction_level import FrictionLevel
from estimators.online.robot.contact import SOON, ContactWatch
from estimators.online.robot.watch import Unexplained
from estimators.online.start.robot_start import RobotStart
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from estimators.thresholds import AT_REST, START

VERSION: Final = 1  # of the kept state
#: rows, argued: Rows between two looks at the share of torque that is unexplained: half a second.
LOOK: Final = 100


class MechanismEstimator:
    """Watches one mechanism from equidistant rows of all its drives."""

    def __init__(self, description: Description, period: float, start: float = START) -> None:
        """period: s between rows; start: s of motion that the start lasts. Raises MechanismError."""
        self.mechanism = Mechanism(description)
        self.drives = tuple(link.name for link in description.links if link.drive)
        self._units = tuple("N" if link.kind == "prismatic" else "N·m" for link in description.links if link.drive)
        d = len(self.drives)
        self._filter = MechanismFilter(self.mechanism, period)
        known = {one.drive: one for one in description.residuals}
        taught = all(name in known for name in self.drives)
        peaks = np.array([known[name].peak for name in self.drives]) if taught else None
        deviations = np.array([known[name].deviation for name in self.drives]) if taught else np.zeros(d)
        self._contact = ContactWatch(peaks, deviations, self._filter.rows * period)
        self._start, self._unexplained = RobotStart(start / self._filter.period), Unexplained()
        self.levels = tuple(FrictionLevel(name) for name in self.drives)
        self._rest: tuple[Nanoseconds, Floats] = (np.zeros(0, np.int64), np.zeros((0, 2, d)))
        self._measured, self._predicted, self._friction = np.full((3, d), np.nan)
        self._look = np.zeros((2, LOOK, d))  # residual and torque, 0 where a row says nothing
        self._looked = 0
        self._time = self._doubted = 0  # ns
        self._moves, self._speed, self._problem = False, 0.0, ""  # speed: rad/s (m/s), the largest of this look
        self._events: list[Event] = []

    def absorb(self, time: Nanoseconds, q: Floats, tau: Floats) -> None:
        """Take equidistant rows: (rows,) ns, (rows, d) rad (m) and N·m (N); NaN where a value is missing."""
        rows = np.stack((q, tau), axis=1)
        if len(self._rest[0]):
            time, rows = np.concatenate((self._rest[0], time)), np.concatenate((self._rest[1], rows))
        size = self._filter.rows
        whole = len(time) // size * size
        for first in range(0, whole, size):
            part = rows[first : first + size]
            self._absorb(int(time[first + size - 1]), self._filter.absorb(part[:, 0], part[:, 1]))
        self._rest = (time[whole:].copy(), rows[whole:].copy())

    def estimate(self) -> MechanismEstimate:
        """Report; never learns."""
        phase, status, reasons = self._state()
        contact = self._contact
        return MechanismEstimate(
            self._time, phase, status, reasons, self._measured, self._predicted, self._friction, contact.deviations,
            contact.limits, tuple((contact.reported & (not self._start.active)).tolist()),
            tuple(level.ratio for level in self.levels), self._filter.pose, self._filter.loads, self._start.progress,
        )  # fmt: skip

    def start_residuals(self) -> tuple[Floats, Floats]:
        """Largest residual and rms of the start so far, (d,) each. Raises ValueError without motion."""
        return self._contact.gathered()

    def events(self) -> list[Event]:
        """What happened since the last call."""
        events, self._events = self._events, []
        return events

    def keep(self) -> dict[str, Any] | None:
        """State that a restart keeps, as plain data; None while the start lasts or something is wrong."""
        contact = self._contact
        if self._start.active or contact.reported.any():
            return None
        return {
            "version": VERSION,
            "thresholds": contact.thresholds.tolist(),
            "deviations": contact.deviations.tolist(),
            "adopted": [level.adopted for level in self.levels],
        }

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on from the state that `keep` returned. Raises ValueError for another version or mechanism."""
        found = [np.array(saved.get(name, ()), np.float64) for name in ("thresholds", "deviations", "adopted")]
        right = all(one.shape == (len(self.drives),) and np.isfinite(one).all() for one in found)
        if saved.get("version") != VERSION or not right:
            raise ValueError("what was kept of the mechanism is of another model or version: it starts anew")
        self._contact.resume(found[0], found[1])
        for level, share in zip(self.levels, found[2].tolist(), strict=True):
            level.resume(share)
        self._start.active = False

    def _absorb(self, time: int, chunk: MechanismChunk) -> None:
        self._time = time
        adopted = chunk.friction * np.array([level.adopted for level in self.levels])
        predicted = chunk.predicted + adopted
        self._measured, self._predicted, self._friction = chunk.tau[-1], predicted[-1], chunk.friction[-1] + adopted[-1]
        if bool(chunk.problem) != bool(self._problem):
            self._say("fault" if chunk.problem else "recovered", chunk.problem or "the loops close again")
        self._problem = chunk.problem
        residual = np.ascontiguousarray(chunk.tau - predicted)
        if not chunk.whole:
            self._look[:, self._looked : self._looked + len(residual)] = 0.0
        else:
            self._judge(chunk, residual)
            self._look[:, self._looked : self._looked + len(residual)] = residual, chunk.tau
            self._watch_friction(chunk)
        self._looked += len(residual)
        if self._looked + len(residual) > LOOK:
            self._end_look()

    def _judge(self, chunk: MechanismChunk, residual: Floats) -> None:
        contact, starting = self._contact, self._start.active
        contact.notice(chunk.quick, chunk.dq)
        fastest = float(np.abs(chunk.dq).max())
        self._speed = max(self._speed, fastest)
        for _ in range(len(residual)):
            self._start.count(fastest > AT_REST)
        if starting:
            contact.gather(residual, chunk.stiction)
        if starting and self._start.enough:
            self._start.active = False
            contact.settle()
            contact.explained()
            self._say("started", "the thresholds of the residuals stand")
            return
        if starting or not contact.ready:
            return
        changes = contact.judge(residual, chunk.stiction)
        if changes is None:
            return
        fresh, over = changes
        if fresh.any():
            self._say("contact", contact.words(fresh, residual, chunk.stiction, self.drives, self._units))
            for level, one in zip(self.levels, fresh, strict=True):
                if one:
                    level.begin_anew()
        if over.any() and not contact.reported.any():
            self._doubted = self._time + round(1e9 * SOON)
            names = ", ".join(name for name, one in zip(self.drives, over, strict=True) if one)
            self._say("recovered", f"{names}: the model explains the torque again")

    def _watch_friction(self, chunk: MechanismChunk) -> None:
        """Measure the friction against the file's; a change that is certain counts in the prediction from now on."""
        residual, ideal = chunk.tau - chunk.predicted, chunk.predicted - chunk.friction
        for j, level in enumerate(self.levels):
            if self._contact.sliding[j]:
                rows = residual[:, j], chunk.friction[:, j], ideal[:, j]
                event = level.absorb(self._time, *rows, suspected=bool(self._contact.reported[j]))
                if event is not None:
                    self._events.append(event)
                    self._begin_anew()

    def _begin_anew(self) -> None:
        """Find the thresholds anew: the present ones belong to another friction."""
        self._start.begin_anew()
        self._start.active = True
        self._contact.explained()
        self._contact.gather_anew()
        self._unexplained.forget()

    def _end_look(self) -> None:
        self._moves, self._speed = self._speed > AT_REST, 0.0
        if self._moves and self._contact.calm:  # a push is reported separately
            self._unexplained.absorb(self._look[0, : self._looked], self._look[1, : self._looked])
        self._looked = 0

    def _state(self) -> tuple[Phase, Status, tuple[Reason, ...]]:
        if self._problem:
            return Phase.FAULTED, Status.FAULTED, (Reason("loops_open", None, {}, {"cause": self._problem}),)
        if self._time == 0 or not np.isfinite(self._predicted).all():
            return Phase.WAITING, Status.UNESTIMATED, (Reason("drives_incomplete"),)
        if self._start.active:
            why = Reason("robot_starting", None, {"seconds": self._start.rows * self._filter.period})
            return Phase.STARTING, Status.LEARNING, (why,)
        changed = tuple(
            Reason("mechanism_friction", name, {"percent": 100.0 * level.ratio.ratio})
            for name, level in zip(self.drives, self.levels, strict=True)
            if level.changed
        )
        if self._contact.reported.any() or self._time < self._doubted:
            return Phase.TRANSIENT, Status.LEARNING, (Reason("torque_unexplained"), *changed)
        if self._unexplained.too_much:
            share = Reason("mechanism_unexplained", None, {"percent": 100.0 * self._unexplained.share})
            return Phase.NORMAL, Status.LEARNING, (share, *changed)
        if not self._moves:
            return Phase.HELD, Status.HELD, (Reason("at_standstill"), *changed)
        return Phase.NORMAL, Status.LEARNING if changed else Status.VALID, changed

    def _say(self, kind: str, text: str) -> None:
        self._events.append(Event(self._time, kind, text))
