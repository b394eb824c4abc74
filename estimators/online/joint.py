"""The identification of one joint: its model, its conditioning, and the phases around recursive least squares."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Final

import numpy as np

from estimators.base import Estimate, Event, Phase, Status
from estimators.conditioning.conditioner import Conditioner
from estimators.conditioning.dead_channels import Channels
from estimators.conditioning.encoder_steps import EncoderSteps, UnevenTime, half_width, noise_of
from estimators.conditioning.physical_range import PhysicalRange
from estimators.conditioning.spikes import Spikes
from estimators.conditioning.stops import Stops
from estimators.models.friction.base import FrictionSettings
from estimators.models.memory import thresholds
from estimators.online import assembly
from estimators.online.fit import Steps
from estimators.online.inspection import Inspection, Inspector
from estimators.online.settings import Identification
from estimators.quantities import Axis, Floats, Nanoseconds

NEAR: Final = 0.98  # of the saturation, from which a torque is not believed


class JointEstimator:
    """Identifies one joint from equidistant rows of its channels (estimators.base.Estimator)."""

    def __init__(self, settings: Identification, period: float, executor: Executor | None = None) -> None:
        """period: s between raw rows. Raises ValueError when it is not a positive number."""
        self._model = model = settings.model.build()
        self.channels = settings.roles()
        self.follower: Callable[[Nanoseconds, Floats], None] | None = None  # of rows without wild samples
        self._own = len(model.channels)
        self.conditioner = Conditioner(model, period, settings.conditioning)
        row, taps = self.conditioner.row_period, self.conditioner.taps
        law, start, standstill = settings.forgetting, settings.start, settings.standstill
        if model.nonlinear:
            self.phases = assembly.searched(
                model, taps, round(row / period), row, law, start, standstill, settings.monitor, executor
            )
        else:
            turns, remembers = model.blocks[0].axis is Axis.ROTARY, bool(thresholds(model))
            self.phases = assembly.linear(model.parameters, model.owners, row, law, start, standstill, turns, remembers)
        self._inspector = Inspector(model, self.conditioner.taps, self.conditioner.row_period)
        self._channels = Channels(self.channels, period, standstill)
        self._spikes = Spikes(self.channels, period)
        self._range = PhysicalRange(self.channels, period)
        self._steps = {i: EncoderSteps() for i, role in enumerate(model.channels) if role.endswith("position")}
        self._uneven = {channel: UnevenTime(period) for channel in self._steps}
        self._faults: tuple[str, ...] = ()  # of how channels are sampled
        self._stops = Stops(thresholds(model))
        self._friction = model.blocks[0]
        self._effort = next(i for i, role in enumerate(model.channels) if role in ("torque", "force"))
        self._saturation = None if settings.saturation is None else NEAR * settings.saturation
        self._saturated = 0

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Learn from equidistant rows.

        time: (rows,) ns; values: (rows, channels) SI; a missing or invalid value is NaN and its row teaches nothing.
        """
        self._channels.absorb(values)
        values = self._range.absorb(values)
        self._look_for_steps(time, values)
        time, values = self._spikes.absorb(time, values)
        if self._saturation is not None:
            clipped = np.abs(values[:, self._effort]) >= self._saturation
            if clipped.any():
                self._saturated += int(np.count_nonzero(clipped))
                values[clipped, self._effort] = np.nan
        if self.follower is not None:
            self.follower(time, values)
        rows = self.conditioner.absorb(time, self._stops.absorb(np.ascontiguousarray(values[:, : self._own])))
        self.phases.absorb(rows)
        self._inspector.absorb(rows)

    def _look_for_steps(self, time: Nanoseconds, values: Floats) -> None:
        """Of encoders, until they are known."""
        for channel, steps in self._steps.items():
            if not steps.known and steps.absorb(time, values[:, channel]):
                taps, period = self.conditioner.taps, self.conditioner.period
                noise, own = noise_of(self._model, taps, period, steps.step, channel)
                told = Steps(steps.step, steps.since, half_width(steps.step, period), noise, own)
                self.phases.parts.fit.coarse(told)
        for channel, uneven in self._uneven.items():
            if not uneven.known and uneven.absorb(time, values[:, channel]):
                wide = 0.5 * self.conditioner.period * len(self.conditioner.taps)
                if half_width(uneven.step, self.conditioner.period) > wide:  # else it harms nobody
                    self._faults += (f"{self.channels[channel]} is sampled unevenly: accelerations are of that",)

    def estimate(self) -> Estimate:
        """Report; never learns."""
        estimate = self.phases.estimate()
        early = estimate.phase in (Phase.WAITING, Phase.STARTING)
        faults = (self._channels.faults if early else self._channels.certain) + self._range.faults + self._faults
        if not faults:
            return estimate
        status = Status.LEARNING if estimate.status is Status.VALID else estimate.status
        return replace(estimate, status=status, reasons=(*faults, *estimate.reasons))

    def friction(self) -> dict[str, Any]:
        """The friction law in use, as far as it is not searched."""
        law = self.phases.law() or self._friction.law
        assert isinstance(law, FrictionSettings)
        return law.fixed(self._friction.axis)

    def keep(self) -> dict[str, Any] | None:
        """What another start of the program needs to go on from here; None while there is nothing to go on from."""
        return self.phases.keep()

    def resume(self, kept: Mapping[str, Any]) -> None:
        """Go on from what one with the same settings has kept. Raises NotTheSameError, then not to be used."""
        self.phases.resume(kept)

    def counters(self) -> dict[str, int]:
        """Totals of conditioning (see Conditioner) and phases (see Phases); samples wild, and at saturation."""
        own = {"spikes": self._spikes.count, "saturated": self._saturated, "implausible": self._range.count}
        return self.conditioner.counters() | own | self.phases.counters()

    def inspect(self) -> Inspection | None:
        """What is worth a look since the last call, None when no row came."""
        phases = self.phases
        return self._inspector.report(phases.estimate(), phases.parts.learner, phases.recentre, phases.law())

    def events(self) -> list[Event]:
        """What happened since the last call."""
        return self.phases.events()
