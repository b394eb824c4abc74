"""The baselines of a robot's joints in one file, replaced as a whole; `jointwatch baseline` shows and sets them.

A baseline that is replaced stays in the file behind the new one.
"""

import argparse
import contextlib
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError

from daq.config.load import Config, ConfigError, load
from daq.core.drift import Baseline
from estimators.base import Settings

TOPIC: Final = b"baselines"  # between outlet and core
KEPT: Final = 20  # baselines of one joint
TIMEOUT: Final = 10.0  # s
EXIT_CONFIG: Final = 78


class BaselineError(Exception):
    """The file cannot be used or written; the text is the one line to show."""


class Baselines(Settings):
    """Everything in the file."""

    version: Literal[1] = 1
    joints: dict[str, list[Baseline]] = Field(default_factory=dict)  # the newest first

    def newest(self) -> dict[str, Baseline]:
        """What each joint is compared with."""
        return {name: found[0] for name, found in self.joints.items() if found}

    def with_new(self, found: Mapping[str, Baseline]) -> "Baselines":
        """The same with these in front."""
        joints = {name: [one, *self.joints.get(name, [])][:KEPT] for name, one in found.items()}
        return Baselines(joints=self.joints | joints)


def place(config: Config, what: str) -> Path:
    """Where something that outlives the service is kept: in [robot] state, systemd's StateDirectory, or beside the
    configuration."""
    folder = config.robot.state or Path(os.environ.get("STATE_DIRECTORY") or config.folder)
    return folder / f"{config.robot.name}.{what}"


def parse(data: bytes, file: Path) -> Baselines:
    """The content of a file. Raises BaselineError."""
    try:
        return Baselines.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BaselineError(f"{file}: no baselines: {where}: {first['msg']}") from error


def read(file: Path) -> Baselines:
    """Every baseline of a file; none when there is no file. Raises BaselineError."""
    try:
        return parse(file.read_bytes(), file)
    except FileNotFoundError:
        return Baselines()
    except OSError as error:
        raise BaselineError(f"{file}: cannot be read: {(error.strerror or '').lower()}") from error


def write(file: Path, baselines: Baselines) -> None:
    """Replace the file; whoever reads it, and whenever the power fails, sees the old one or the new. BaselineError."""
    replace(file, baselines.model_dump_json(indent=1).encode(), 0o644)


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


def run(options: argparse.Namespace) -> int:
    """`jointwatch baseline CONFIG [--set [JOINT …]]`: show the baselines, or set them in the running service."""
    try:
        config = load(options.config)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return EXIT_CONFIG
    try:
        if options.set is not None:
            _set(config, options.set, options.page or config.publish.page)
        _show(config, read(place(config, "baseline.json")))
    except BaselineError as error:
        print(f"jointwatch: {error}", file=sys.stderr)
        return 1
    return 0


def _set(config: Config, joints: list[str], page: str) -> None:
    """Ask the running service: it alone knows the values."""
    headers = {"Authorization": f"Bearer {token(place(config, 'token'))}", "Content-Type": "application/json"}
    for asked in [{"joint": joint} for joint in joints] or [{}]:
        body = json.dumps(asked).encode()
        request = urllib.request.Request(f"{page.rstrip('/')}/api/baseline", body, headers, method="POST")
        try:
            urllib.request.urlopen(request, timeout=TIMEOUT).close()
        except urllib.error.HTTPError as error:
            raise BaselineError(error.read().decode(errors="replace").strip() or str(error)) from error
        except OSError as error:
            raise BaselineError(f"{page} does not answer: {error}; is jointwatch running there?") from error


def _show(config: Config, baselines: Baselines) -> None:
    for name, joint in config.joints.items():
        every = baselines.joints.get(name, [])
        if not every:
            print(f"{name}: no baseline")
            continue
        units = {one.name: one.unit for one in (*joint.model.build().parameters, *joint.model.build().nonlinear)}
        past = f", {len(every) - 1} before it" if len(every) > 1 else ""
        print(f"{name}: set {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(every[0].since))}{past}")
        for parameter, value in every[0].values.items():
            print(f"  {parameter:20} {value:12.6g} ± {every[0].deviations[parameter]:<9.2g} {units.get(parameter, '')}")
