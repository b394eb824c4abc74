"""Files that outlive a restart: where they are, how they are replaced as a whole, and the token of the page."""

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from daq.config.sections import Config

VARIABLE: Final = "JOINTWATCH_TOKEN"  # environment variable, e.g. of systemd's EnvironmentFile
SHORTEST: Final = 12  # characters of a token


class BaselineError(Exception):
    """The file cannot be used or written; the text is shown to the user as it is."""


def place(config: Config, what: str) -> Path:
    """The path of a file that outlives the service: in [robot] state, systemd's StateDirectory, or next to the
    configuration."""
    folder = config.robot.state or Path(os.environ.get("STATE_DIRECTORY") or config.folder)
    return folder / f"{config.robot.name}.{what}"


def folders_of(config: Config) -> list[Path]:
    """Folders into which only one service of a robot may write: that of its state, and that of its recordings."""
    return [place(config, "state").parent, *([] if config.recorder is None else [config.recorder.folder])]


def replace(file: Path, data: bytes, mode: int) -> None:
    """Replace a file by these bytes, as a whole; they are on the disk when it returns. Raises BaselineError.

    What is no file (/dev/null, /dev/stdout, a pipe) is written to and stays what it is.
    """
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        if file.exists() and not file.is_file() and not file.is_dir():
            file.write_bytes(data)
            return
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
    """Read the token that allows to set baselines. Raises BaselineError, also where others may read it."""
    try:
        if stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise BaselineError(f"{file}: others may read this token; expected mode 0600: chmod 600 {file}")
        return _long_enough(file.read_text(encoding="utf-8").strip(), str(file))
    except OSError as error:
        raise BaselineError(f"{file}: cannot be read: {(error.strerror or '').lower()}") from error
    except ValueError as error:
        raise BaselineError(f"{file}: expected text") from error


def make_token(file: Path) -> str:
    """Read the token, or make one where there is no file. Raises BaselineError."""
    if not file.exists():
        replace(file, f"{secrets.token_urlsafe(18)}\n".encode(), 0o600)
    return token(file)


def token_of(config: Config, make: bool = False) -> tuple[str, str]:
    """The token and where it is from: $JOINTWATCH_TOKEN, [publish] token, else our own file. Raises BaselineError.

    make: make our own file where there is none.
    """
    given = os.environ.get(VARIABLE)
    if given is not None:
        return _long_enough(given.strip(), f"${VARIABLE}"), f"${VARIABLE}"
    file = config.publish.token or place(config, "token")
    if not (make or config.publish.token or file.exists()):
        raise BaselineError(f"{file}: cannot be read: no such file; the service makes it: does jointwatch run?")
    return (make_token if make and config.publish.token is None else token)(file), str(file)


def _long_enough(found: str, where: str) -> str:
    if len(found) < SHORTEST or not found.isascii() or not found.isprintable():
        raise BaselineError(f"{where}: expected a token of at least {SHORTEST} ASCII characters, found {len(found)}")
    return found
