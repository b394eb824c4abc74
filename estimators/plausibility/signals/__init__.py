"""Validators of signals: what frames cannot be, whatever the joint; looked at before anything learns from them.

Read in this order: base.py (input and output of a validator), any validator, watch.py (which of them looks when, and
when a stream is believed again). They come in this order, since one may be another's cause: a stuck counter makes the
rate unknown, and frames that come twice look like twice the rate. The first that speaks of a stream is heard.
A new one is a file, a line of VALIDATORS, and in watch.py its state and the call of its kernel.
"""

from collections.abc import Callable
from typing import Final

from estimators.plausibility.signals.base import StreamFacts, Validator
from estimators.plausibility.signals.counter import CounterValidator
from estimators.plausibility.signals.dead_zone import DeadZoneValidator
from estimators.plausibility.signals.dropouts import DropoutValidator
from estimators.plausibility.signals.freezing import FreezingValidator
from estimators.plausibility.signals.leaps import LeapValidator
from estimators.plausibility.signals.order import OrderValidator
from estimators.plausibility.signals.rate import RateValidator
from estimators.plausibility.signals.repeats import RepeatsValidator
from estimators.plausibility.signals.torque_flat import FlatTorqueValidator
from estimators.plausibility.signals.torque_held import TorqueHeldValidator

VALIDATORS: Final[tuple[Callable[[StreamFacts], Validator], ...]] = (
    CounterValidator,
    RepeatsValidator,
    OrderValidator,
    RateValidator,
    FreezingValidator,
    LeapValidator,
    TorqueHeldValidator,
    FlatTorqueValidator,
    DeadZoneValidator,
    DropoutValidator,
)
