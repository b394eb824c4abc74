"""Baselines: the parameters of each joint when it was commissioned, in one file per robot that is replaced as a whole.

A baseline that is replaced stays in the file after the new one.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from pydantic import Field, ValidationError

from daq.state.files import BaselineError, replace
from daq.stream.checksum import DamagedError, seal_text, unseal_text
from estimators.base import Estimate, Status
from estimators.quantities import Settings

TOPIC: Final = b"baselines"  # message from outlet to core: new baselines
WATCHED: Final = (
    b"watched"  # message from outlet to core: somebody watches the page, and wants the raw channels of these joints
)
NOT_KNOWN: Final = 1e150  # the deviation of a value of which nothing is known; its square is a finite number
SEEN: Final = b"acknowledged"  # message from outlet to core: a person has seen what has changed of joints, by name
WEAR: Final = b"wear"  # message from outlet to core: what the history says of the wear of joints, by name
KEPT: Final = 20  # baselines of one joint that stay in the file
JUDGED: Final = (Status.VALID, Status.HELD)  # the values of which can be trusted

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Baseline(Settings):
    """The parameters of a joint when it was commissioned."""

    since: Finite = Field(description="Unix s")
    model: str
    friction: dict[str, Any] | None = Field(default=None, description="the law in use then; None: not known")
    values: dict[str, Finite]
    deviations: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]  # NOT_KNOWN: nothing was known of it
    known: tuple[str, ...] | None = Field(default=None, description="parameters that were known; None: all")
    covariance: tuple[Finite, ...] = Field(default=(), description="Σ of the values, row by row; (): not known")
    gram: tuple[Finite, ...] = Field(default=(), description="mean φφᵀ of a row over the mean y², row by row")

    @classmethod
    def of(cls, estimate: Estimate, since: float, model: str, friction: dict[str, Any] | None) -> Self:
        """The baseline that an estimate gives. Raises ValueError where a value is not finite."""
        names, uncertainty = estimate.names, estimate.uncertainty
        return cls(
            since=since,
            model=model,
            friction=friction,
            values=dict(zip(names, estimate.values.tolist(), strict=True)),
            deviations=dict(zip(names, np.minimum(estimate.deviations, NOT_KNOWN).tolist(), strict=True)),
            known=tuple(name for name, known in zip(names, estimate.known, strict=True) if known),
            covariance=() if uncertainty is None else tuple(uncertainty.covariance.ravel().tolist()),
            gram=() if uncertainty is None else tuple(uncertainty.gram.ravel().tolist()),
        )


class Baselines(Settings):
    """The content of the file."""

    version: Literal[1] = 1
    joints: dict[str, list[Baseline]] = Field(default_factory=dict)  # the newest first

    def newest(self) -> dict[str, Baseline]:
        """The newest baseline of each joint, which it is compared with."""
        return {name: found[0] for name, found in self.joints.items() if found}

    def with_new(self, found: Mapping[str, Baseline]) -> "Baselines":
        """The content with these baselines in front."""
        joints = {name: [one, *self.joints.get(name, [])][:KEPT] for name, one in found.items()}
        return Baselines(joints=self.joints | joints)


def friction_names(joints: Iterable[str]) -> tuple[str, ...]:
    """The parameters in a whole robot's baseline: each joint's friction torque at a slow and at a fast speed."""
    return tuple(f"{joint}.{speed}" for joint in joints for speed in ("slow", "fast"))


def friction_speeds(speeds: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """What a whole robot's baseline holds in place of a friction law: joint → the two speeds, rad/s (m/s)."""
    return {"speeds": {joint: list(both) for joint, both in speeds.items()}}


def parse(data: bytes, file: Path) -> Baselines:
    """Parse the content of a file. Raises BaselineError, also where its checksum does not match."""
    try:
        return Baselines.model_validate_json(unseal_text(data))
    except DamagedError as error:
        raise BaselineError(f"{file}: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BaselineError(f"{file}: not a file of baselines: {where}: {first['msg']}") from error


def read(file: Path) -> Baselines:
    """Read every baseline of a file; none when there is no file. Raises BaselineError."""
    try:
        return parse(file.read_bytes(), file)
    except FileNotFoundError:
        return Baselines()
    except OSError as error:
        raise BaselineError(f"{file}: cannot be read: {(error.strerror or '').lower()}") from error


def write(file: Path, baselines: Baselines) -> None:
    """Replace the file as a whole: a reader sees the old or the new one, even after a power failure. BaselineError."""
    replace(file, seal_text(baselines.model_dump_json(indent=1).encode()), 0o644)
