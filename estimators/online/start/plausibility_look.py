"""The plausibility look of a start: mistakes of a person are looked for in the samples of the starting window.

Samples are kept as they come until the start nears its end; then estimators.plausibility looks at them once, in an
executor. The window ends with a span of the watch over channels, so the result does not depend on how samples are cut.
A look that finds nothing changes nothing.
"""

from concurrent.futures import Executor, Future
from typing import Final

import numpy as np

from estimators.base import Event
from estimators.conditioning.dead_channels import SPAN
from estimators.conditioning.spikes import Spikes
from estimators.models.base import Model
from estimators.online.settings import LINK, JointIdentification
from estimators.online.start.pieces import Pieces
from estimators.plausibility.mistakes.base import KnownBodies, Motion
from estimators.plausibility.mistakes.look import look
from estimators.plausibility.mistakes.units import find_torque_beyond_limit
from estimators.quantities import Floats, Nanoseconds
from estimators.reasons import Reason
from estimators.refit.inline import Inline

#: s, argued: Samples that are looked at, at most; a start takes 12 s of motion, and its rests may be as long.
WINDOW: Final = 30.0
#: s, argued: Motion before the end of a start at which the look begins at the latest: it takes 0.2 s of a processor.
AHEAD: Final = 0.5
#: 1, argued: Samples over those that are looked at, from which those before them are forgotten.
SLACK: Final = 1.25
EFFORTS: Final = ("torque", "force")


def motion_facts(settings: JointIdentification) -> Motion:
    """What the settings of a joint state besides its channels: a motion without samples."""
    model, nothing = settings.model.build(), np.zeros(0)
    bodies = settings.model.bodies()
    return Motion(
        *(nothing, nothing, nothing),
        axis=model.blocks[0].axis,
        known=None if bodies is None else KnownBodies(*bodies),
        spring=_has_stiffness(model),
        limit=np.inf if settings.saturation is None else settings.saturation,
        source=settings.source,
    )


def _has_stiffness(model: Model) -> bool:
    """Whether a torque in proportion to the position is one of the model's terms; that of an elastic gear is none."""
    names = {parameter.name for parameter in model.parameters}
    return "motor_stiffness" in names or ("stiffness" in names and not model.springs)


class PlausibilityLook:
    """Keeps the samples of one joint's start, lets them be looked at once, and keeps what was found."""

    def __init__(
        self, settings: JointIdentification, channels: tuple[str, ...], period: float, executor: Executor | None = None
    ) -> None:
        """channels: of the samples; period: s between them; executor: where the look runs, by default inline."""
        effort = next((one for one in EFFORTS if one in channels), None)
        self._able = effort is not None and "position" in channels
        self._roles = tuple(one for one in ("position", effort, LINK) if one in channels)
        self._columns = [channels.index(one) for one in self._roles]
        self._facts = motion_facts(settings)
        self._start, self._period, self._executor = settings.start, period, executor or Inline()
        self._most = round(WINDOW / period)
        self._clear()
        self._restarts = 0
        self._window = (0, 0)  # ns, of the samples that were last looked at
        self.pending: Future[tuple[Reason, ...]] | None = None  # of a look that is being made
        self.open = self._able  # whether the look of this start is still to be made
        self.reasons: tuple[Reason, ...] = ()  # what the last look has found

    @property
    def settled(self) -> bool:
        """Whether the look has ended, and has found nothing."""
        return not self.open and self.pending is None and not self.reasons

    def gather(self, time: Nanoseconds, values: Floats) -> None:
        """Keep samples: time (n,) ns; values (n, channels)."""
        self._times.add(time)
        self._values.add(values[:, self._columns])
        if len(self._times) > SLACK * self._most:
            self._times.keep_last(self._most)
            self._values.keep_last(self._most)

    def decide(self, moved: float, idle: bool, restarts: int) -> None:
        """Begin the look at the end of a span, where the start has enough motion (moved: s).

        idle: whether the start has not begun; restarts: how often the joint has begun anew.
        """
        if restarts != self._restarts:
            self._restarts = restarts
            self.restart()
        if not self.open or not len(self._times):
            return
        if idle:  # this may last for ever where every torque is beyond what the drive can give
            seen = min(len(self._times), self._most) * self._period >= self._start
            found = find_torque_beyond_limit(self._motion()) if seen and np.isfinite(self._facts.limit) else None
            if found is not None:
                self._close()
                self.pending = Future()
                self.pending.set_result((found.reason,))
        elif moved >= max(self._start - SPAN - AHEAD, self._start / 2.0):
            motion = self._motion()
            self._close()
            self.pending = self._executor.submit(examine, motion, self._roles, self._period)

    def answer(self) -> tuple[Event, ...]:
        """Take the result of a look that has ended; returns the events of what was found."""
        if self.pending is None or not self.pending.done():
            return ()
        pending, self.pending = self.pending, None
        self.reasons = () if pending.exception() is not None else pending.result()
        first, last = self._window
        return tuple(Event(last, "mistake", f"{one}. {one.todo}", (first, last)) for one in self.reasons)

    def restart(self) -> None:
        """Look again in the next start; what was found stands until then."""
        self.pending, self.open = None, self._able

    def skip(self) -> None:
        """Skip the look: the joint goes on from the state of an earlier start."""
        self._close()

    def _close(self) -> None:
        self.open = False
        self._clear()

    def _clear(self) -> None:
        """Forget all samples."""
        self._times, self._values = Pieces(np.zeros(0, np.int64)), Pieces(np.zeros((0, len(self._roles))))

    def _motion(self) -> Motion:
        """The last samples, as many as are looked at."""
        times, values = self._times.all()[-self._most :], self._values.all()[-self._most :]
        self._window = int(times[0]), int(times[-1])
        link = values[:, 2] if len(self._roles) > 2 else None
        seconds = (times - times[0]) * 1e-9
        return self._facts._replace(time=seconds, position=values[:, 0], effort=values[:, 1], link=link)


def examine(motion: Motion, roles: tuple[str, ...], period: float) -> tuple[Reason, ...]:
    """Look at a motion without its wild samples; roles: of its channels; period: s between its samples."""
    channels = [one for one in (motion.position, motion.effort, motion.link) if one is not None]
    ticks = np.round(motion.time * 1e9).astype(np.int64)
    _, values = Spikes(roles, period).absorb(ticks, np.column_stack(channels))
    clean = motion._replace(time=motion.time[: len(values)], position=values[:, 0], effort=values[:, 1])
    if motion.link is not None:
        clean = clean._replace(link=values[:, 2])
    with np.errstate(all="ignore"):
        try:
            return look(clean)
        except np.linalg.LinAlgError:  # the products of such values overflow
            return ()
