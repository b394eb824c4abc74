"""A layer over this machine's files, in which installations may write anywhere and nothing of it stays.

Mount namespace, overlay and chroot, as a container engine makes them; needs the right to mount (root).
"""

import os
import shlex
import subprocess
from pathlib import Path
from typing import Self

MOUNTS = (
    'mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" "$1/root" && '
    'mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root" && '
    'mount -t proc proc "$1/root/proc" && mount --bind /dev "$1/root/dev" && '
    'mount -t tmpfs none "$1/root/tmp" && echo ready && exec sleep infinity'
)


class LayerError(Exception):
    """No layer can be made here; the text says why."""


class LayeredRoot:
    """The root of this machine with a layer of its own, for as long as a `with` lasts."""

    def __init__(self, place: Path) -> None:
        place.mkdir(parents=True)
        self.root = place / "root"  # seen inside the namespace only
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", MOUNTS, "sh", str(place)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._holder.stdout is not None
        assert self._holder.stderr is not None
        if self._holder.stdout.readline() != "ready\n":
            raise LayerError(self._holder.stderr.read().strip())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._holder.terminate()
        self._holder.communicate()

    def sh(self, line: str, folder: str = "/", seconds: float = 900.0, user: str = "", **variables: str) -> str:
        """What a shell line prints, run in the layer with these variables alone. Raises AssertionError if it fails."""
        as_user = ["setpriv", f"--reuid={user}", "--clear-groups"] if user else []
        inside = f"cd {shlex.quote(folder)} && {line}"
        defaults = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
        chroot = ["nsenter", "--mount", f"--target={self._holder.pid}", "chroot", str(self.root)]
        done = subprocess.run(
            [*chroot, *as_user, "sh", "-c", inside],
            env=defaults | network() | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\nexit code {done.returncode}\n{done.stdout}"
        return done.stdout

    def copy_in(self, source: Path, target: str) -> None:
        """A file or folder of the machine's /tmp, which the layer does not see, into the layer."""
        enter = ["nsenter", "--mount", f"--target={self._holder.pid}"]
        inside = Path(f"{self.root}{target}")
        subprocess.run([*enter, "mkdir", "--parents", inside.parent], check=True, timeout=60)
        subprocess.run([*enter, "cp", "-rLT", source, inside], check=True, timeout=120)


def network() -> dict[str, str]:
    """The variables by which pip finds its packages."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "SSL_", "REQUESTS_")) or name.lower().endswith("_proxy")
    }
