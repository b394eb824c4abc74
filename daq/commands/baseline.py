"""The baselines of a robot's joints in one file, replaced as a whole; `jointwatch baseline` shows and sets them.

A baseline that is replaced stays in the file behind the new one.
"""

import argparse
import json
import sys
import time
import urllib.error
import urllib.request
from typing import Final

from daq.config.load import load
from daq.config.sections import Config
from daq.config.words import ConfigError
from daq.state.baselines import Baselines, read
from daq.state.files import BaselineError, place, token

TIMEOUT: Final = 10.0  # s
EXIT_CONFIG: Final = 78


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
