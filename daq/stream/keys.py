"""The keys of the public stream (CURVE): the server's own pair, and the clients that may subscribe.

The files are ZeroMQ certificates: NAME.key is public; NAME.key_secret is secret and readable by its owner only (0600).
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import zmq.auth
from zmq.utils import z85

from jointwatch_client.keys import KeyFileError as KeyFileError
from jointwatch_client.keys import KeyPair as KeyPair
from jointwatch_client.keys import read_pair as read_pair
from jointwatch_client.keys import read_public as read_public

SERVER = "server"
CLIENTS = "clients"  # folder with the public keys of clients that may subscribe


class Curve(NamedTuple):
    """Access control of the public stream: the server's secret key, and the clients that may connect."""

    secret: bytes  # secret key of the server
    clients: Path

    def allows(self, key: bytes) -> bool:
        """Whether a client's key (32 bytes) is in the folder now; new keys need no restart."""
        return z85.encode(key) in set(public_keys(self.clients))


def public_keys(folder: Path) -> Iterator[bytes]:
    """Return every public key in a folder; files without a key are skipped."""
    for file in sorted(folder.glob("*.key")):
        try:
            yield read_public(file)
        except KeyFileError:
            continue


def create(folder: Path, name: str) -> tuple[Path, Path]:
    """Create a pair of keys in a folder: (public file, secret file). Raises KeyFileError if the pair exists already."""
    if (folder / f"{name}.key_secret").exists():
        raise KeyFileError(f"{folder / name}.key_secret exists: remove it first if it is to be replaced")
    before = os.umask(0o077)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        public, secret = map(Path, zmq.auth.create_certificates(folder, name))
    except OSError as error:
        raise KeyFileError(f"{folder}: {error.strerror}") from error
    finally:
        os.umask(before)
    return public, secret
