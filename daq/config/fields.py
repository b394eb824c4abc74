"""The kinds of values that several tables of the configuration have, and what all tables have in common."""

import ipaddress
import re
import stat
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator


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


def _private(file: Path) -> Path:
    try:
        mode, text = stat.S_IMODE(file.stat().st_mode), file.read_text("utf-8").strip()
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError:
        raise ValueError(f"{file}: expected text") from None
    if mode & 0o077:
        raise ValueError(f"{file}: others may read this secret; expected mode 0600: chmod 600 {file}")
    if not text:
        raise ValueError(f"{file}: expected a secret, found an empty file")
    return file


SecretFile = Annotated[FilePath, AfterValidator(_private)]


class Section(BaseModel):
    """A table of the configuration: frozen, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TlsSection(Section):
    """The page's certificate; relative paths are relative to the configuration's file."""

    certificate: FilePath = Field(description="PEM file, with the certificates between it and its root")
    key: FilePath = Field(description="PEM file of its private key, without a password")

    @model_validator(mode="after")
    def _a_pair(self) -> Self:
        import ssl  # which a configuration without a certificate does not need

        for file in (self.certificate, self.key):
            try:
                with file.open("rb"):
                    pass
            except OSError as error:
                raise ValueError(f"{file}: cannot be read: {(error.strerror or str(error)).lower()}") from None
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key, password="")
        except (ssl.SSLError, OSError, ValueError) as error:
            raise ValueError(
                f"expected a certificate and its key, found {self.certificate}, {self.key}: {error}"
            ) from None
        return self


def is_local(host: str) -> bool:
    """Whether a host is this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def meet(one: str, other: str) -> bool:
    """Whether two hosts are the same address, or one includes the other."""
    everywhere = ("*", "0.0.0.0", "[::]", "::")
    return one == other or one in everywhere or other in everywhere or (is_local(one) and is_local(other))
