"""`jointwatch rig NAME`: play a robot's joints, with known truth, on a wire, in real time.

stdout is data: a table when the wire is open (rig, wire and truth), and a table at the end (sent frames, errors, and
the truth at that time); with --json two JSON objects. Messages go to stderr. Exit codes: 0, 1 runtime, 2 usage.
"""

import argparse
import contextlib
import json
import logging
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from daq.commands.command_line import CommandLine
from daq.commands.examples import epilog
from hil_rig.configuration import toml
from hil_rig.messages import NODES, SERIAL_NODES
from hil_rig.plants import RIGS
from hil_rig.plants.base import Jump, Plant, PlantSettings, RigError
from hil_rig.wire import WIRES
from hil_rig.wire.base import Wire
from hil_rig.wire.faults import KINDS, ONE_JOINT, Faults
from hil_rig.wire.player import Player
from hil_rig.wire.robot import RigRobot
from hil_rig.wire.tables import farewell_table, hello_table

EXIT_RUNTIME: Final = 1
EXIT_USAGE: Final = 2
STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOG: Final = logging.getLogger("jointwatch.rig")


def main(arguments: Sequence[str] | None = None) -> int:
    """Play until the end, until --duration is over, or until the program is stopped."""
    parser = parser_of_rig()
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(f"{name:20} {rig.text}" for name, rig in RIGS.items()))
        return 0
    if options.name is None:
        parser.error(f"expected the name of a rig: {', '.join(RIGS)}")
    try:
        if options.urdf is not None:
            _write("--urdf", options.urdf, RIGS[options.name].settings().data_sheet())
        joints = _joints(options)
        faults = Faults(options.fault, options.seed)
        robot = RigRobot(joints, faults, options.loop)
        if options.wire == "udp" and options.speed == float("inf"):
            raise RigError("--speed inf needs a wire with flow control: slcan or serial")
        if options.wire == "serial" and len(joints) > SERIAL_NODES:
            raise RigError(f"--joints: expected at most {SERIAL_NODES} on a serial line, found {len(joints)}")
    except RigError as error:
        return _fail(error, EXIT_USAGE)
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.INFO, stream=sys.stderr)
    stop = _stop_on_signals(options.duration)
    wires: list[Wire] = []
    try:
        everything = [one for messages in robot.messages.values() for one in messages]
        for bus in range(robot.buses):
            carried = [one for one in everything if one.bus == bus]
            wires.append(WIRES[options.wire](_link(options.link, bus), carried, robot.rate))
            faults.check(carried, wires[-1])
        _perform(options, robot, wires, faults, stop)
    except (RigError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()  # no reader is left, so nothing more is written
            return EXIT_RUNTIME
        return _fail(error)
    finally:
        for wire in wires:
            wire.close()
    return 0


def _link(link: Path | None, bus: int) -> Path | None:
    """Return the link of a bus; the second bus has a number after its name."""
    return link if link is None or bus == 0 else link.with_name(f"{link.name}{bus + 1}")


def _perform(
    options: argparse.Namespace, robot: RigRobot, wires: Sequence[Wire], faults: Faults, stop: Callable[[], bool]
) -> None:
    if options.config is not None:
        more = (options.endpoint, options.page, options.model, options.record)
        _write("--config", options.config, toml(options.name, options.wire, wires, robot, *more))
    player = Player(robot, wires, faults, options.speed)
    hello = _hello(options, robot, wires)
    _say(hello if options.json else hello_table(hello))
    where = " and ".join(wire.device for wire in wires)
    LOG.info("%s on %s at %s, waiting for a reader", options.name, options.wire, where)
    player.play(stop)
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)  # too late to stop: the rest must not be interrupted
    if not player.started:
        LOG.warning("no program has listened")
    counts: dict[str, Any] = {"samples": player.samples, "sent": sum(wire.sent for wire in wires)}
    counts |= {"refused": sum(wire.refused for wire in wires), "unheard": sum(wire.unheard for wire in wires)}
    counts |= {"late": player.late, "latest": round(player.latest, 6)}
    counts["began"] = player.began if player.started else None
    with contextlib.suppress(BrokenPipeError):
        farewell = counts | {"faults": faults.counts, "truth": _truth(robot.joints)}
        _say(farewell if options.json else farewell_table(farewell))


def _hello(options: argparse.Namespace, robot: RigRobot, wires: Sequence[Wire]) -> dict[str, Any]:
    wire = wires[0]
    hello: dict[str, Any] = {
        "rig": options.name,
        "wire": options.wire,
        "device": wire.device,
        "devices": [one.device for one in wires],
        "config": None if options.config is None else str(options.config),
        "truth": _truth(robot.joints),
        "rate": robot.rate,
        "parameters": {name: dict(plant.parameters()) for name, plant in robot.joints.items()},
        "jumps": [jump._asdict() for jump in [*options.jump, *(one for many in options.events for one in many)]],
    }
    return hello | ({"port": wire.port} if hasattr(wire, "port") else {})


def _write(option: str, file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RigError(f"{option} {file}: {error.strerror}") from error


def _truth(joints: Mapping[str, Plant]) -> dict[str, dict[str, float]]:
    return {name: dict(plant.truth()) for name, plant in joints.items()}


def _joints(options: argparse.Namespace) -> dict[str, Plant]:
    rig, count = RIGS[options.name], options.joints or RIGS[options.name].joints
    names = [f"joint{node}" for node in range(1, count + 1)]
    jumps = sorted(options.jump + [jump for many in options.events for jump in many])
    general = _settings(options, rig.settings, "", names)
    robot: dict[str, Plant] = general.robot(count, options.seed, jumps)
    for node, name in enumerate(names, 1):
        own = _settings(options, rig.settings, name, names)
        if own == general:
            continue
        if name not in robot or type(general).robot is not PlantSettings.robot:
            raise RigError(f"--set {name}: the joints of {options.name} are coupled; set them all together")
        robot[name] = own.build(node, options.seed, [theirs for jump in jumps if (theirs := jump.of_joint(name))])
    return robot


def _settings(options: argparse.Namespace, kind: Any, joint: str, joints: Sequence[str]) -> Any:
    """Return the settings of one joint: settings for all joints, overridden by settings for this joint."""
    if options.loop and options.name != "recording":
        raise RigError("--loop is for recordings only: a simulation has no end")
    try:
        assigned = options.set + [("loop", "true")] * options.loop
        own = [(name, value) for path, value in assigned if (name := _own(path, joint, joints)) is not None]
        general = [pair for pair in assigned if not ONE_JOINT.match(pair[0])]
        return kind.model_validate(_nested(general + own))
    except ValidationError as error:
        mistakes = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise RigError(f"--set {'; '.join(mistakes)}") from error


def _own(path: str, joint: str, joints: Sequence[str]) -> str | None:
    """Return the name after "jointN." if that is this joint, else None. Raises RigError."""
    found = ONE_JOINT.match(path)
    if found is None:
        return None
    if found[0][:-1] not in joints:
        raise RigError(f"{path}: there is no {found[0][:-1]}, expected one of {', '.join(joints)}")
    return path[found.end() :] if found[0][:-1] == joint else None


def _nested(assignments: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Convert {"trajectory.period": "4"} to {"trajectory": {"period": "4"}}; the settings convert the types."""
    tree: dict[str, Any] = {}
    for path, value in assignments:
        *above, last = path.split(".")
        branch = tree
        for name in above:
            branch = branch.setdefault(name, {})
        branch[last] = value
    return tree


def parser_of_rig() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandLine(prog="jointwatch rig", description=(__doc__ or "").partition("\n")[0])
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "faults:\n" + "\n".join(f"  {kind:9} {text}" for kind, text in KINDS.items())
    parser.epilog += (
        "\n  for one joint only: --fault joint3.drop=0.02 --jump 60:joint3.viscous=1.5 --set joint3.inertia=2"
    )
    parser.epilog += "\n\n" + epilog("rig")
    parser.add_argument("name", nargs="?", choices=RIGS, metavar="NAME", help="name of a rig, see --list")
    parser.add_argument(
        "--json", action="store_true", help="print the rig and the report of sent frames as two JSON objects"
    )
    parser.add_argument("--list", action="store_true", help="list the rigs")
    parser.add_argument("--wire", choices=WIRES, default="slcan", help="wire on which the rig sends (%(default)s)")
    parser.add_argument("--link", type=Path, metavar="PATH", help="make this symbolic link to the terminal")
    parser.add_argument("--config", type=Path, metavar="PATH", help="write a configuration that listens to this rig")
    parser.add_argument(
        "--urdf", type=Path, metavar="PATH", help="write the maker's data sheet, with approximate values"
    )
    parser.add_argument("--model", type=Path, metavar="MODEL", help="model file of the whole robot, for --config")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="folder of recordings, for --config")
    parser.add_argument(
        "--endpoint", default="tcp://127.0.0.1:5556", help="address of the updates, for --config (%(default)s)"
    )
    parser.add_argument(
        "--page", default="http://127.0.0.1:8080", help="address of the dashboard, for --config (%(default)s)"
    )
    parser.add_argument("--speed", type=_positive, default=1.0, help="× real time; inf: as fast as the wire accepts")
    parser.add_argument("--duration", type=_positive, metavar="S", help="stop after S seconds")
    parser.add_argument("--seed", type=int, default=1, help="seed of noise and faults (%(default)s)")
    parser.add_argument(
        "--joints",
        type=int,
        choices=range(1, NODES + 1),
        metavar="N",
        help="number of joints, if the rig can have several",
    )
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=VALUE", help="inject a fault, see below")
    parser.add_argument(
        "--jump",
        action="append",
        default=[],
        type=_jump,
        metavar="T:[JOINT.]NAME=FACTOR",
        help="multiply a parameter by FACTOR at T s",
    )
    parser.add_argument(
        "--payload",
        dest="events",
        action="append",
        default=[],
        type=_payload,
        metavar="T:KG",
        help="pick up a payload of KG at T s; 0: put it down",
    )
    parser.add_argument(
        "--push",
        dest="events",
        action="append",
        type=_push,
        metavar="T:JOINT=NM/S",
        help="push a joint at T s with NM N·m for S seconds",
    )
    parser.add_argument(
        "--set", action="append", default=[], type=_assignment, metavar="NAME=VALUE", help="change a setting of the rig"
    )
    parser.add_argument(
        "--file",
        dest="set",
        action="append",
        type=lambda value: ("file", value),
        metavar="PATH",
        help="file of the rig `recording`",
    )
    parser.add_argument("--loop", action="store_true", help="repeat a recording without end")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"expected a positive number, found {text}")
    return value


def _jump(text: str) -> Jump:
    try:
        time_, _, rest = text.partition(":")
        name, _, factor = rest.partition("=")
        return Jump(float(time_), name, float(factor))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected T:NAME=FACTOR, found {text}") from error


def _payload(text: str) -> list[Jump]:
    try:
        time_, _, mass = text.partition(":")
        if float(mass) >= 0:
            return [Jump(float(time_), "payload.mass", float(mass), True)]
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"expected T:KG, as 60:2, found {text}")


def _push(text: str) -> list[Jump]:
    try:
        time_, _, rest = text.partition(":")
        joint, _, how = rest.partition("=")
        torque, _, lasting = how.partition("/")
        start, name = float(time_), f"{joint}.push"
        return [Jump(start, name, float(torque), True), Jump(start + float(lasting), name, 0.0, True)]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected T:JOINT=NM/S, as 60:joint2=25/0.5, found {text}") from error


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text}")
    return name, value


def _stop_on_signals(duration: float | None) -> Callable[[], bool]:
    """Return a function that is true after SIGINT, SIGTERM, SIGHUP, or the duration (s)."""
    stopped = []
    for number in STOPPING:
        signal.signal(number, lambda *_: stopped.append(True))
    end = time.monotonic() + (duration or float("inf"))
    return lambda: bool(stopped) or time.monotonic() >= end


def _say(what: Mapping[str, Any] | str) -> None:
    print(what if isinstance(what, str) else json.dumps(what), flush=True)


def _fail(error: Exception, code: int = EXIT_RUNTIME) -> int:
    print(f"jointwatch rig: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
