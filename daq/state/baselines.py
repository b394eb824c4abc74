"""What each joint was when it was commissioned: one file of a robot's joints, replaced as a whole.

A baseline that is replaced stays in the file behind the new one.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from daq.state.files import BaselineError, replace
from estimators.base import Status
from estimators.quantities import Settings

TOPIC: Final = b"baselines"  # between outlet and core
WATCHED: Final = b"watched"  # … that somebody looks at the page
KEPT: Final = 20  # baselines of one joint
JUDGED: Final = (Status.VALID, Status.HELD)  # the values of which can be trusted

Finite = Annotated[float, Field(allow_inf_nan=False)]


class Baseline(Settings):
    """What a joint was when it was commissioned."""

    since: Finite = Field(description="Unix s")
    model: str
    friction: dict[str, Any] | None = Field(default=None, description="the law in use then; None: not known")
    values: dict[str, Finite]
    deviations: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]


class Baselines(Settings):
    """Everything in the file."""

    version: Literal[1] = 1
    joints: dict[str, list[Baseline]] = Field(default_factory=dict)  # the newest first

    def newest(self) -> dict[str, Baseline]:
        """What each joint is compared with."""
        return {name: found[0] for name, found in self.joints.items() if found}

    def with_new(self, found: Mapping[str, Baseline]) -> "Baselines":
        """The same with these in front."""
        joints = {name: [one, *self.joints.get(name, [])][:KEPT] for name, one in found.items()}
        return Baselines(joints=self.joints | joints)


def friction_names(joints: Iterable[str]) -> tuple[str, ...]:
    """What of the whole robot is compared: each joint's friction torque at a slow and at a fast speed."""
    return tuple(f"{joint}.{speed}" for joint in joints for speed in ("slow", "fast"))


def friction_speeds(speeds: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """What stands for the law in the robot's baseline: joint → the two speeds, rad/s (m/s)."""
    return {"speeds": {joint: list(both) for joint, both in speeds.items()}}


def parse(data: bytes, file: Path) -> Baselines:
    """The content of a file. Raises BaselineError."""
    try:
        return Baselines.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BaselineError(f"{file}: no baselines: {where}: {first['msg']}") from error


def read(file: Path) -> Baselines:
    """Every baseline of a file; none when there is no file. Raises BaselineError."""
    try:
        return parse(file.read_bytes(), file)
    except FileNotFoundError:
        return Baselines()
    except OSError as error:
        raise BaselineError(f"{file}: cannot be read: {(error.strerror or '').lower()}") from error


def write(file: Path, baselines: Baselines) -> None:
    """Replace the file; whoever reads it, and whenever the power fails, sees the old one or the new. BaselineError."""
    replace(file, baselines.model_dump_json(indent=1).encode(), 0o644)
