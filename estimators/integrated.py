"""The identification of one joint: its model, its conditioning, and the procedure around recursive least squares."""

from concurrent.futures import Executor
from typing import Self

from pydantic import Field, model_validator

from estimators.base import Estimate, Event, Floats, Nanoseconds, Settings
from estimators.forgetting import Alarm, Forgetting
from estimators.inspection import Inspection, Inspector
from estimators.joints import JointModelSettings
from estimators.procedure import Procedure
from estimators.refit_settings import Monitor
from estimators.signals import Conditioner, Conditioning


class Identification(Settings):
    """How one joint is identified."""

    model: JointModelSettings
    conditioning: Conditioning = Conditioning()
    forgetting: Forgetting = Alarm()
    start: float = Field(12.0, ge=2, le=600, description="s of motion that the starting procedure takes at least")
    standstill: float = Field(0.005, ge=0, description="rad/s (m/s) below which the joint rests and nothing is learnt")
    monitor: Monitor = Monitor()

    @model_validator(mode="after")
    def _an_alarm_to_follow_up(self) -> Self:
        if self.model.build().nonlinear and not isinstance(self.forgetting, Alarm):
            raise ValueError(
                f'expected forgetting of kind "alarm" for a model with nonlinear parameters, '
                f'found "{self.forgetting.kind}"'
            )
        return self

    def build(self, period: float, executor: Executor | None = None) -> "Integrated":
        """The estimator for rows that are period seconds apart; executor: where refits run, by default inline."""
        return Integrated(self, period, executor)


class Integrated:
    """Identifies one joint from equidistant rows of its channels (estimators.base.JointEstimator)."""

    def __init__(self, settings: Identification, period: float, executor: Executor | None = None) -> None:
        """period: s between raw rows. Raises ValueError when it is not a positive number."""
        model = settings.model.build()
        self.channels = model.channels
        self.conditioner = Conditioner(model, period, settings.conditioning)
        row, taps = self.conditioner.row_period, self.conditioner.taps
        law, start, standstill = settings.forgetting, settings.start, settings.standstill
        self.procedure: Procedure
        if model.nonlinear:
            from estimators.monitor import Monitored  # its kernels are heavy: see refit_settings.py

            self.procedure = Monitored(
                model, taps, round(row / period), row, law, start, standstill, settings.monitor, executor
            )
        else:
            self.procedure = Procedure(model.parameters, len(model.outputs), row, law, start, standstill)
        self._inspector = Inspector(model, self.conditioner.taps, self.conditioner.row_period)

    def absorb(self, time: Nanoseconds, values: Floats) -> None:
        """Learn from equidistant rows.

        time: (rows,) ns; values: (rows, channels) SI; a missing or invalid value is NaN and its row teaches nothing.
        """
        rows = self.conditioner.absorb(time, values)
        self.procedure.absorb(rows)
        self._inspector.absorb(rows)

    def estimate(self) -> Estimate:
        """Report; never learns."""
        return self.procedure.estimate()

    def counters(self) -> dict[str, int]:
        """Totals of the conditioning (see Conditioner) and of the procedure (see Procedure)."""
        return self.conditioner.counters() | self.procedure.counters()

    def inspect(self) -> Inspection | None:
        """What is worth a look since the last call, None when no row came."""
        return self._inspector.report(self.procedure.estimate(), self.procedure.rls)

    def events(self) -> list[Event]:
        """What happened since the last call."""
        return self.procedure.events()
