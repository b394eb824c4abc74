"""`jointwatch baseline CONFIG`: shows the baseline of each joint, or sets it in the running service."""

import argparse
import time
from pathlib import Path

from daq.commands.codes import fail, refuse
from daq.commands.running_service.page_request import send
from daq.config.load import load
from daq.config.sections import Config
from daq.config.words import ConfigError
from daq.state.baselines import Baselines, read
from daq.state.files import BaselineError, place
from daq.stream.update import ROBOT


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("config", type=Path, help="the configuration (jointwatch init writes one)")
    parser.add_argument(
        "--set", nargs="*", metavar="JOINT", help="set the baseline of these joints, or of all, to the present values"
    )
    parser.add_argument("--show", action="store_true", help="show the baselines, which is the default without --set")
    parser.add_argument("--page", metavar="URL", help="dashboard of the running service (default: the configuration's)")


def run(options: argparse.Namespace) -> int:
    """Set baselines if --set is given, then show them."""
    try:
        config = load(options.config)
    except ConfigError as mistakes:
        return refuse(mistakes)
    try:
        if options.set is not None:
            # only the service has the values
            send(config, options.page or config.publish.page, "api/baseline", options.set)
        _show(config, read(place(config, "baseline.json")))
    except BaselineError as error:
        return fail(error)
    return 0


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
