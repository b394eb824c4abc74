"""daq/commands/keys.py."""

import argparse
import sys
from pathlib import Path

from daq.stream.keys import CLIENTS, SERVER, KeyFileError, create


def run(options: argparse.Namespace) -> int:
    """`jointwatch keys FOLDER [CLIENT …]`: the server's pair, unless it is there, and one pair for each client."""
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
        print(f"jointwatch: {error}", file=sys.stderr)
        return 1
    print(
        f'[publish]\ncurve = {{ secret = "{folder}/{SERVER}.key_secret", clients = "{folder}/{CLIENTS}" }}\n'
        f"Give each client its own .key_secret and {folder}/{SERVER}.key; nothing else.",
        file=sys.stderr,
    )
    return 0
