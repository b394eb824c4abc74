"""A driver process: reads from one driver, sends every batch to the core, and opens the wire again when it is lost."""

import time
from pathlib import Path
from typing import Final

from daq.config.routes import wanted
from daq.config.sections import Config
from daq.processes.heartbeat import Life
from daq.processes.logs import RateLimitedLog, log
from daq.processes.process import CannotStartError, StopSignal, endpoint, sleep_exactly
from daq.stream.awaited import FILE, Awaited
from daq.stream.channel import Sender
from daq.stream.priority import share
from drivers.base import Driver, EndOfFileError, LinkError, LinkPausedError
from drivers.reading import empty

REPORT_EVERY: Final = 0.5  # s between two reports of the counters
WAIT: Final = 0.1  # s that one read may wait, so that a stop is noticed soon
BACK_OFF: Final = (0.1, 0.5)  # s between two attempts to open a lost wire, first and longest: data within 1 s


def run(name: str, settings: Config, runtime: Path, life: Life) -> None:
    """Serve one driver until SIGTERM. Raises CannotStartError when the wire cannot be opened the first time."""
    stop = StopSignal()
    sender = Sender(endpoint(runtime, "readings"), name, Awaited(runtime / FILE))
    sleep_exactly()
    totals: dict[str, int] = {}
    opened = restarted = (runtime / f"{name}.opened").exists()
    pause = BACK_OFF[0]
    link = RateLimitedLog()
    while not stop.asked:
        life.beat()
        driver = settings.drivers[name].open(wanted(settings, name))
        try:
            with driver:
                (runtime / f"{name}.opened").touch()
                life.ready()
                if not opened:
                    log.info("open")
                    if sent := settings.drivers[name].sends():
                        log.info("this driver sends on the robot's bus: %s", sent)
                opened, pause = True, BACK_OFF[0]
                share()
                _serve(driver, sender, stop, totals, life, link)
        except LinkError as error:
            if not opened and not restarted:
                raise CannotStartError(f"driver {name}: {error}") from error
            life.ready()  # the process is up, even though the wire is not
            link.problem(str(error))
            sender.report(False, totals, str(error))
            time.sleep(pause)
            pause = min(2 * pause, BACK_OFF[1])
        except EndOfFileError as end:
            log.info("%s", end)
            sender.report(False, totals, str(end))
            while not stop.asked:
                life.beat()
                time.sleep(WAIT)
    sender.report(False, totals, "stopped")
    sender.close()


def _serve(
    driver: Driver, sender: Sender, stop: StopSignal, totals: dict[str, int], life: Life, link: RateLimitedLog
) -> None:
    """Read until the wire is lost (LinkError) or a stop is requested; totals continue over re-opened wires.

    It reads and sends a thousand times a second; logs and counters are handled only every WAIT or REPORT_EVERY.
    """
    before = dict(totals)
    look = due = 0.0
    cause = ""
    heard = False
    try:
        while not stop.asked:
            known = cause
            try:
                readings, cause = driver.read(sender.patience(WAIT)), ""
            except LinkPausedError as error:
                readings, cause = empty(), str(error)
            sender.send(readings)
            heard = heard or len(readings) > 0
            now = time.monotonic()
            if now < look and cause == known:
                continue
            look = now + WAIT
            life.beat()
            if cause:
                link.problem(cause)
            elif heard:
                link.recovered("data again")
            heard = False
            if now >= due or cause != known:
                due = now + REPORT_EVERY
                share()  # a middleware starts threads also later
                _add(totals, before, driver)
                sender.report(not cause, totals, cause)
    finally:
        _add(totals, before, driver)


def _add(totals: dict[str, int], before: dict[str, int], driver: Driver) -> None:
    for cause, count in driver.counters().items():
        totals[cause] = before.get(cause, 0) + count
