"""`jointwatch rig NAME`: play a robot's joints, with known truth, on a wire, in real time.

stdout is data: one JSON object when the wire is there (what it is, and the truth), one at the end (what was sent, what
went wrong, and the truth then). stderr is for people. Exit codes: 0, 1 runtime, 2 usage.
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

from hil_rig.configuration import toml
from hil_rig.messages import NODES
from hil_rig.plants import RIGS
from hil_rig.plants.base import Jump, Plant, RigError
from hil_rig.wire import WIRES
from hil_rig.wire.base import Wire
from hil_rig.wire.faults import KINDS, Faults
from hil_rig.wire.player import Player, Robot

EXIT_RUNTIME: Final = 1
EXIT_USAGE: Final = 2
STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOG: Final = logging.getLogger("jointwatch.rig")


def main(arguments: Sequence[str] | None = None) -> int:
    """Play until the end, until --duration is over, or until told to stop."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(f"{name:10} {rig.text}" for name, rig in RIGS.items()))
        return 0
    if options.name is None:
        parser.error(f"expected the name of a rig: {', '.join(RIGS)}")
    try:
        joints = _joints(options)
        faults = Faults(options.fault, options.seed)
        robot = Robot(joints, faults, options.loop)
        if options.wire == "udp" and options.speed == float("inf"):
            raise RigError("--speed inf needs a wire that can say stop: slcan or serial")
    except RigError as error:
        return _fail(error, EXIT_USAGE)
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.INFO, stream=sys.stderr)
    stop = _stop_on_signals(options.duration)
    try:
        wire = WIRES[options.wire](options.link)
    except (RigError, OSError) as error:
        return _fail(error)
    try:
        faults.check([one for messages in robot.messages.values() for one in messages], wire)
        _perform(options, robot, wire, faults, stop)
    except RigError as error:
        return _fail(error)
    except BrokenPipeError:
        sys.stderr.close()  # nobody reads: nothing more to say
        return EXIT_RUNTIME
    finally:
        wire.close()
    return 0


def _perform(options: argparse.Namespace, robot: Robot, wire: Wire, faults: Faults, stop: Callable[[], bool]) -> None:
    if options.config is not None:
        text = toml(options.name, options.wire, wire, robot, options.endpoint, options.page)
        try:
            options.config.write_text(text, encoding="utf-8")
        except OSError as error:
            raise RigError(f"--config {options.config}: {error.strerror}") from error
    player = Player(robot, wire, faults, options.speed)
    _say(_hello(options, robot, wire))
    LOG.info("%s on %s at %s, waiting for a reader", options.name, options.wire, wire.device)
    player.play(stop)
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)  # too late to stop: what follows must not be cut short
    if not player.started:
        LOG.warning("nobody ever listened")
    counts: dict[str, Any] = {"samples": player.samples, "sent": wire.sent, "refused": wire.refused}
    counts |= {"unheard": wire.unheard, "late": player.late, "latest": round(player.latest, 6)}
    counts["began"] = player.began if player.started else None
    with contextlib.suppress(BrokenPipeError):
        _say(counts | {"faults": faults.counts, "truth": _truth(robot.joints)})


def _hello(options: argparse.Namespace, robot: Robot, wire: Wire) -> dict[str, Any]:
    hello: dict[str, Any] = {
        "rig": options.name,
        "wire": options.wire,
        "device": wire.device,
        "config": None if options.config is None else str(options.config),
        "truth": _truth(robot.joints),
        "rate": robot.rate,
        "parameters": {name: dict(plant.parameters()) for name, plant in robot.joints.items()},
        "jumps": [jump._asdict() for jump in options.jump],
    }
    return hello | ({"port": wire.port} if hasattr(wire, "port") else {})


def _truth(joints: Mapping[str, Plant]) -> dict[str, dict[str, float]]:
    return {name: dict(plant.truth()) for name, plant in joints.items()}


def _joints(options: argparse.Namespace) -> dict[str, Plant]:
    rig = RIGS[options.name]
    if options.loop and options.name != "recording":
        raise RigError("--loop goes with a recording: a plant has no end")
    try:
        settings = rig.settings.model_validate(_nested(options.set + [("loop", "true")] * options.loop))
    except ValidationError as error:
        mistakes = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise RigError(f"--set {'; '.join(mistakes)}") from error
    count = options.joints or rig.joints
    return {f"joint{node}": settings.build(node, options.seed, options.jump) for node in range(1, count + 1)}


def _nested(assignments: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """{"trajectory.period": "4"} → {"trajectory": {"period": "4"}}; the types are the settings' affair."""
    tree: dict[str, Any] = {}
    for path, value in assignments:
        *above, last = path.split(".")
        branch = tree
        for name in above:
            branch = branch.setdefault(name, {})
        branch[last] = value
    return tree


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="jointwatch rig", description=(__doc__ or "").partition("\n")[0])
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "faults:\n" + "\n".join(f"  {kind:9} {text}" for kind, text in KINDS.items())
    parser.add_argument("name", nargs="?", choices=RIGS, help="see --list")
    parser.add_argument("--list", action="store_true", help="the rigs there are")
    parser.add_argument("--wire", choices=WIRES, default="slcan")
    parser.add_argument("--link", type=Path, metavar="PATH", help="a lasting name for the terminal")
    parser.add_argument("--config", type=Path, metavar="PATH", help="write a configuration that listens to this rig")
    parser.add_argument("--endpoint", default="tcp://127.0.0.1:5556", help="of the updates, for --config")
    parser.add_argument("--page", default="http://127.0.0.1:8080", help="of the dashboard, for --config")
    parser.add_argument("--speed", type=_positive, default=1.0, help="× real time; inf: as fast as the wire takes it")
    parser.add_argument("--duration", type=_positive, metavar="S", help="stop after so many seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--joints", type=int, choices=range(1, NODES + 1), metavar="N")
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=VALUE", help="see below")
    parser.add_argument("--jump", action="append", default=[], type=_jump, metavar="T:NAME=FACTOR")
    parser.add_argument("--set", action="append", default=[], type=_assignment, metavar="NAME=VALUE", help="a setting")
    parser.add_argument(
        "--file", dest="set", action="append", type=lambda value: ("file", value), metavar="PATH", help="the recording"
    )
    parser.add_argument("--loop", action="store_true", help="play a recording again and again")
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


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, found {text}")
    return name, value


def _stop_on_signals(duration: float | None) -> Callable[[], bool]:
    """A question that is answered yes after SIGINT, SIGTERM, SIGHUP, or the duration (s)."""
    told = []
    for number in STOPPING:
        signal.signal(number, lambda *_: told.append(True))
    end = time.monotonic() + (duration or float("inf"))
    return lambda: bool(told) or time.monotonic() >= end


def _say(what: Mapping[str, Any]) -> None:
    print(json.dumps(what), flush=True)


def _fail(error: Exception, code: int = EXIT_RUNTIME) -> int:
    print(f"jointwatch rig: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
