"""`jointwatch keys FOLDER [CLIENT …]`: makes the keys of a locked stream: the server's, and a pair for each client."""

import argparse
import sys
from pathlib import Path

from daq.commands.codes import fail
from daq.stream.keys import CLIENTS, SERVER, KeyFileError, create


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, help="folder for the keys, which is created")
    parser.add_argument("client", nargs="*", help="names of clients, each of which gets a pair")


def run(options: argparse.Namespace) -> int:
    """Make the server's pair, unless it exists, and the clients' pairs; print the files of the secret keys."""
    folder: Path = options.folder
    try:
        if not (folder / f"{SERVER}.key_secret").exists():
            print(create(folder, SERVER)[1])
        (folder / CLIENTS).mkdir(exist_ok=True)
        for name in options.client:
            public, secret = create(folder, name)
            public.rename(folder / CLIENTS / public.name)
            print(secret)
    except (KeyFileError, OSError) as error:
        return fail(error)
    print(
        f'[publish]\ncurve = {{ secret = "{folder}/{SERVER}.key_secret", clients = "{folder}/{CLIENTS}" }}\n'
        f"Give each client its own .key_secret and {folder}/{SERVER}.key, and nothing else.",
        file=sys.stderr,
    )
    return 0
