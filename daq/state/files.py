"""Files that outlive a restart: where they lie, how they are replaced as a whole, and the token of the page."""

import contextlib
import os
import secrets
from pathlib import Path

from daq.config.sections import Config


class BaselineError(Exception):
    """The file cannot be used or written; the text is the one line to show."""


def place(config: Config, what: str) -> Path:
    """Where something that outlives the service is kept: in [robot] state, systemd's StateDirectory, or beside the
    configuration."""
    folder = config.robot.state or Path(os.environ.get("STATE_DIRECTORY") or config.folder)
    return folder / f"{config.robot.name}.{what}"


def replace(file: Path, data: bytes, mode: int) -> None:
    """Put these bytes in the place of a file, on the disk when it returns. Raises BaselineError."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as writing:
            writing.write(data)
            writing.flush()
            os.fsync(writing.fileno())
        draft.replace(file)
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise BaselineError(f"{file}: cannot be written: {(error.strerror or '').lower()}") from error


def token(file: Path) -> str:
    """The token that allows to set baselines. Raises BaselineError."""
    try:
        return file.read_text().strip()
    except OSError as error:
        raise BaselineError(f"{file}: cannot be read: {(error.strerror or '').lower()}") from error


def make_token(file: Path) -> str:
    """The same, made anew where there is none. Raises BaselineError."""
    if not file.exists():
        replace(file, f"{secrets.token_urlsafe(18)}\n".encode(), 0o600)
    return token(file)
