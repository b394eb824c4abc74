"""`jointwatch fleet collect LAKE.toml`: listens to many services and stores their summaries in a lake."""

import argparse
import signal
import time
from pathlib import Path
from typing import Final

from daq.commands.codes import EXIT_CONFIG, fail, refuse
from daq.config.words import ConfigError
from daq.fleet.live.collector import Collector
from daq.fleet.live.lake import LakeError
from daq.fleet.live.settings import load_collector
from daq.processes.logs import configure_logging, log
from daq.processes.service_lock import OtherServiceError, ServiceLock
from daq.stream.keys import KeyFileError

NAMED: Final = 5  # robots that are named in a line; more are counted


def run(options: argparse.Namespace) -> int:
    """Collect until Ctrl-C, SIGTERM, or --duration; 78 for a wrong configuration, 1 for a lake that cannot be used."""
    configure_logging("collect")
    asked: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _: asked.append(got))
    end = float("inf") if options.duration is None else time.monotonic() + options.duration
    lock = None
    try:
        settings = load_collector(options.config)
        place = settings.lake.place
        folders = [] if "://" in place else [Path(place)]
        lock = ServiceLock(f"{settings.lake.collector}.collector", folders)
        collector = Collector(settings)
        log.info("collecting %d robots into %s", len(settings.robots), place)
        collector.run(lambda: bool(asked) or time.monotonic() >= end, _report)
    except ConfigError as mistakes:
        return refuse(mistakes)
    except OtherServiceError:
        return fail(f"another collector {settings.lake.collector!r} writes into {place}: stop it, or give this one "
                    "another [lake] collector")  # fmt: skip
    except (KeyFileError, ValueError) as error:
        return fail(error, EXIT_CONFIG)
    except LakeError as error:
        return fail(error)
    finally:
        if lock is not None:
            lock.release()
    writer = collector.writer
    print(f"{writer.messages} summaries in {writer.files} files, {writer.lost} missing, {writer.given_up} given up, "
          f"{collector.malformed} malformed, {writer.waiting} batches not written")  # fmt: skip
    return 1 if writer.causes else 0


def _report(collector: Collector) -> None:
    """Log once a minute what was received and written."""
    now, writer, connections = time.time(), collector.writer, collector.subscription
    late = [name for name in connections.names if now - collector.seen.get(name, 0.0) > 60.0]
    text = f"{len(connections.names) - len(late)} of {len(connections.names)} robots heard in the last minute, "
    text += f"{writer.rows} rows written, {writer.lost} summaries missing"
    if writer.given_up or writer.waiting > 1:
        text += f", {writer.given_up} given up, {writer.waiting} batches wait"
    if collector.malformed or collector.strangers or writer.continuity.stale:
        text += f", {collector.malformed} malformed, {sum(collector.strangers.values())} of robots that are not listed"
        text += f", {sum(writer.continuity.stale.values())} of cores that had ended"
    if collector.clocks:
        text += f", {sum(collector.clocks.values())} of robots whose clocks are off"
    log.info("%s", text)
    if late:
        states = dict.fromkeys(connections.connected, "connected, sends nothing") | connections.refused
        words = [f"{name} ({states.get(name, 'not connected')})" for name in late[:NAMED]]
        log.info("not heard: %s%s", ", ".join(words), f" and {len(late) - NAMED} more" if len(late) > NAMED else "")
