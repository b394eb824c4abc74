"""`jointwatch changes CONFIG`: shows the changes of each joint of the running service, or acknowledges them."""

import argparse
from pathlib import Path

from daq.commands.codes import fail, refuse
from daq.commands.running_service.page_request import send, state
from daq.config.load import load
from daq.config.words import ConfigError
from daq.state.files import BaselineError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("config", type=Path, help="configuration of the running service")
    parser.add_argument(
        "--acknowledge", nargs="*", metavar="JOINT", help="acknowledge the changes of these joints (default: of all)"
    )
    parser.add_argument("--page", metavar="URL", help="dashboard of the running service (default: the configuration's)")


def run(options: argparse.Namespace) -> int:
    """Acknowledge changes if requested, else show every record that is open or not over."""
    try:
        config = load(options.config)
    except ConfigError as mistakes:
        return refuse(mistakes)
    page = options.page or config.publish.page
    try:
        if options.acknowledge is not None:
            send(config, page, "api/changes", options.acknowledge)
            print(f"acknowledged: {', '.join(options.acknowledge) or 'every joint'}")
            return 0
        joints = state(config, page)["joints"]
    except BaselineError as error:
        return fail(error)
    for name, joint in joints.items():
        shown = [one for one in joint.get("changes", ()) if not (one["acknowledged"] and one["over"])]
        for record in shown:
            print(f"{name}: {record['text']}{'; acknowledged' if record['acknowledged'] else ''}")
        if not shown:
            print(f"{name}: nothing has changed")
    return 0
