"""What the operating system must allow a service: without it libraries end in the middle of a start, with no words."""

import resource
from typing import Final

#: 1, argued: Open files of one process; the outlet has 52 before anybody connects, a core with four drivers 45.
FILES: Final = 128
#: 1, argued: Open files that are asked for where they may be had: 256 connections of the page, and as many subscribers.
FILES_WANTED: Final = 1024
#: bytes, argued: Address space of one process; the outlet takes 1.2 GB of it, in use are 0.15 GB.
ADDRESSES: Final = 1_500_000_000


def find_limits() -> list[str]:
    """The limits of this process under which no service runs, with their remedies; raises that of files if it may."""
    found, unlimited = list[str](), resource.RLIM_INFINITY
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != unlimited and soft < FILES_WANTED:
        soft = FILES_WANTED if hard == unlimited else min(hard, FILES_WANTED)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < FILES:
            found.append(
                f"a process may open {soft} files here, and the service needs {FILES}: "
                f"`ulimit -n {FILES_WANTED}`, or LimitNOFILE={FILES_WANTED} in the systemd unit"
            )
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != unlimited and soft < ADDRESSES:
        found.append(
            f"a process may have {soft / 1e9:.2g} GB of addresses here, and the service needs {ADDRESSES / 1e9:g} GB "
            "(it uses 0.2 GB of memory): `ulimit -v unlimited`, or LimitAS=infinity in the systemd unit"
        )
    return found
