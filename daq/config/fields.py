"""The kinds of values that several tables of the configuration have, and what all tables have in common."""

import ipaddress
import re
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo


def matching(pattern: str, expected: str) -> AfterValidator:
    """A validator of text that has to match this pattern as a whole; expected: how a message names it."""

    def match(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(match)


LARGEST: Final = 1e15  # in SI, of anything that is measured on a joint


def _factor(scale: float) -> float:
    if not 1 / LARGEST <= abs(scale) <= LARGEST:
        raise ValueError(f"expected a factor other than 0, from {1 / LARGEST:g} to {LARGEST:g} or the negative of it")
    return scale


Factor = Annotated[float, AfterValidator(_factor)]
Name = Annotated[str, matching(r"[A-Za-z0-9_-]{1,64}", "letters, digits, _ and - only, 64 at most")]
SignalName = Annotated[str, matching(r"[^.]+\.[^.]+\.[^.]+", "driver.MESSAGE.signal")]
Endpoint = Annotated[str, matching(r"tcp://[^:/]+:\d+|ipc://.+", "tcp://HOST:PORT or ipc://PATH")]


def _in_folder(path: Path, info: ValidationInfo) -> Path:
    return Path((info.context or {}).get("folder") or "") / path


FilePath = Annotated[Path, AfterValidator(_in_folder)]  # a relative path is relative to the configuration's file


class Section(BaseModel):
    """A table of the configuration: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def is_local(host: str) -> bool:
    """Whether a host is this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
