"""Key files of a locked stream: NAME.key is public, NAME.key_secret secret and readable by its owner only (0600)."""

import stat
from pathlib import Path
from typing import NamedTuple


class KeyFileError(Exception):
    """A key file cannot be used or written; the text is shown to the user as it is."""


class KeyPair(NamedTuple):
    """A public and a secret key, in ZeroMQ's printable form."""

    public: bytes
    secret: bytes


def read_pair(file: Path) -> KeyPair:
    """Read a secret key file. Raises KeyFileError, also when others than its owner may read it."""
    try:
        if stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise KeyFileError(f"{file}: others may read this secret key; expected mode 0600: chmod 600 {file}")
        public, secret = _load(file)
    except OSError as error:
        raise KeyFileError(f"{file}: cannot be read: {error.strerror or 'no such file'}") from error
    except ValueError as error:
        raise KeyFileError(f"{file}: {error}") from error
    if secret is None:
        raise KeyFileError(f"{file}: expected a secret key, found a public one")
    return KeyPair(public, secret)


def read_public(file: Path) -> bytes:
    """Read the public key from either kind of file. Raises KeyFileError."""
    try:
        return _load(file)[0]
    except (OSError, ValueError) as error:
        raise KeyFileError(f"{file}: cannot be read: {error}") from error


def _load(file: Path) -> tuple[bytes, bytes | None]:
    """The public and, where the file has one, the secret key. Raises OSError, ValueError."""
    from zmq.auth import load_certificate  # with asyncio: half of the client's import, and most streams are not locked

    return load_certificate(file)
