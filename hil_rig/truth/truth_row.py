"""What one row of `jointwatch bench truth` is."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from hil_rig.truth.trial import Trial, TrialOutcome


class TruthRow(NamedTuple):
    """One kind of joint."""

    right: bool  # whether the model is right
    make: Callable[[int], Trial | Callable[[], TrialOutcome]]  # by the seed
    beyond: Mapping[str, str] = {}  # limits that nobody can meet there, and why
    soon: bool = False  # whether it must be trusted within SOON of its first motion
