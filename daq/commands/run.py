"""`jointwatch run CONFIG`: runs the service until it is stopped."""

import argparse
import gc
import signal
import tomllib
from pathlib import Path
from typing import Final

from daq.commands.codes import fail, refuse

PAGE: Final = "http://127.0.0.1:8080"  # of a configuration that names none
LARGEST: Final = 1_000_000  # bytes that are read here: `load` refuses a larger configuration with a message


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("config", type=Path, help="the configuration (jointwatch init writes one)")
    parser.add_argument("--duration", type=float, metavar="S", help="stop after S seconds")


def run(options: argparse.Namespace) -> int:
    """Compile missing kernels, read the configuration, run the service."""
    from daq.processes.limits import find_limits

    if limits := find_limits():
        return fail("; ".join(limits))
    from daq.commands.running_service.waiting_page import WaitingPage
    from daq.processes.kernels import SERVICE, LaterKernels, ahead, load_postponed, postpone
    from daq.processes.logs import configure_logging, log

    configure_logging("jointwatch")
    for number in (signal.SIGINT, signal.SIGTERM):  # once it runs, the service has its own handlers
        signal.signal(number, signal.default_int_handler)
    try:
        tables = _toml(options.config)
        if tables is None and (code := _refused(options.config)):
            return code
        later = () if _has_robot_model(tables) else postpone()
        with WaitingPage(_page(tables), log.info) as page:  # even reading the configuration needs kernels
            ahead((*SERVICE, *_modules(tables)), page.say, later)

        from daq.config.load import load
        from daq.config.words import ConfigError
        from daq.processes.supervisor import Service, StartError, may_wait, needed
        from daq.state.checkpoint_file import FILE as CHECKPOINT
        from daq.state.files import folders_of, place

        try:
            config = load(options.config)
        except ConfigError as mistakes:
            return refuse(mistakes)
        waits = bool(later) and may_wait(config) and not place(config, CHECKPOINT).exists()  # which goes on at once
        roots = (*SERVICE, *needed(config))
        with WaitingPage(config.publish.page, log.info) as page:
            ahead(roots, page.say, later if waits else ())
        if not waits:
            load_postponed()
    except KeyboardInterrupt:
        log.info("stopped before the service ran")
        gc.freeze()  # spares the interpreter a last collection: seconds on a slow machine
        return 0
    try:
        Service(config, folders_of(config), LaterKernels(roots) if waits else None).run(options.duration)
    except StartError as error:
        return fail(error)
    return 0


def _refused(file: Path) -> int | None:
    """The exit code if a configuration is no valid TOML, which is reported before a minute of compiling; else None."""
    from daq.config.toml_file import read_toml
    from daq.config.words import ConfigError

    try:
        read_toml(file)
    except ConfigError as mistakes:
        return refuse(mistakes)
    return None


def _toml(file: Path) -> dict[str, object] | None:
    """A configuration's tables; None if it cannot be read."""
    try:
        with file.open("rb") as opened:
            return tomllib.loads(opened.read(LARGEST).decode())
    except (OSError, ValueError):
        return None


def _has_robot_model(tables: dict[str, object] | None) -> bool:
    """Whether a configuration names a whole robot's model."""
    robot = (tables or {}).get("robot")
    return isinstance(robot, dict) and "model" in robot


def _modules(tables: dict[str, object] | None) -> list[str]:
    """Modules with kernels that a configuration needs besides those of every service, as far as its text tells."""
    from drivers.catalogue import MODULES

    drivers = (tables or {}).get("drivers")
    kinds = [one.get("kind") for one in drivers.values() if isinstance(one, dict)] if isinstance(drivers, dict) else []
    found = [module for kind in kinds if isinstance(kind, str) for module in MODULES.get(kind, ())]
    robot = ["daq.config.robots.robot_model", "daq.core.robot_pipeline"] if _has_robot_model(tables) else []
    return robot + found


def _page(tables: dict[str, object] | None) -> str:
    """The dashboard's address in a configuration that is not yet checked."""
    publish = (tables or {}).get("publish")
    return str(publish.get("page", PAGE) if isinstance(publish, dict) else PAGE)
