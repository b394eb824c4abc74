"""`jointwatch baseline CONFIG`: shows the baseline of each joint, or sets it in the running service."""

import argparse
import json
import ssl
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

from daq.commands.codes import fail, refuse
from daq.config.load import load
from daq.config.sections import Config
from daq.config.words import ConfigError
from daq.state.baselines import Baselines, read
from daq.state.files import BaselineError, place, token_of
from daq.stream.update import ROBOT

TIMEOUT: Final = 10.0  # s


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("config", type=Path, help="the configuration (jointwatch init writes one)")
    parser.add_argument("--set", nargs="*", metavar="JOINT", help="to the values of now (all joints)")
    parser.add_argument("--show", action="store_true", help="without --set this is what it does")
    parser.add_argument("--page", metavar="URL", help="of the running service (default: the configuration's)")


def run(options: argparse.Namespace) -> int:
    """Set baselines if --set is given, then show them."""
    try:
        config = load(options.config)
    except ConfigError as mistakes:
        return refuse(mistakes)
    try:
        if options.set is not None:
            _set(config, options.set, options.page or config.publish.page)
        _show(config, read(place(config, "baseline.json")))
    except BaselineError as error:
        return fail(error)
    return 0


def _set(config: Config, joints: list[str], page: str) -> None:
    """Ask the running service to set baselines: only the service has the values."""
    headers = {"Authorization": f"Bearer {token_of(config)[0]}", "Content-Type": "application/json"}
    for asked in [{"joint": joint} for joint in joints] or [{}]:
        body = json.dumps(asked).encode()
        request = urllib.request.Request(f"{page.rstrip('/')}/api/baseline", body, headers, method="POST")
        try:
            urllib.request.urlopen(request, timeout=TIMEOUT, context=_trusted(config)).close()
        except urllib.error.HTTPError as error:
            raise BaselineError(error.read().decode(errors="replace").strip() or str(error)) from error
        except OSError as error:
            raise BaselineError(f"{page} does not answer: {error}; is jointwatch running there?") from error


def _trusted(config: Config) -> ssl.SSLContext | None:
    """A context that trusts our own certificate, self-signed or not; None without one."""
    lock = config.publish.tls
    return None if lock is None else ssl.create_default_context(cafile=lock.certificate)


def _show(config: Config, baselines: Baselines) -> None:
    units: dict[str, dict[str, str]] = {} if config.robot.model is None else {ROBOT: {}}
    for name, joint in config.joints.items():
        model = joint.model.build()
        units[name] = {one.name: one.unit for one in (*model.parameters, *model.nonlinear)}
    for name, known in units.items():
        every = baselines.joints.get(name, [])
        if not every:
            print(f"{name}: no baseline")
            continue
        past = f", {len(every) - 1} before it" if len(every) > 1 else ""
        print(f"{name}: set {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(every[0].since))}{past}")
        for parameter, value in every[0].values.items():
            print(f"  {parameter:20} {value:12.6g} ± {every[0].deviations[parameter]:<9.2g} {known.get(parameter, '')}")
