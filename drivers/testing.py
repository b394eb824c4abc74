"""The contract of drivers as tests that any package can run: a wire for sending, and rules that its driver must obey.

In a test file of the driver's package (pytest collects the rules by inheritance)::

    from drivers.testing import DriverRules, DriverWire

    class Loopback(DriverWire):
        ...                       # settings, send, rubbish, close

    class TestMyDriver(DriverRules):
        wire_type = Loopback

docs/drivers.md explains each rule.
"""

import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter

from drivers.base import TRAFFIC, Driver, DriverSettings, LayoutError, LinkError, Wanted
from drivers.catalogue import AnyDriver
from drivers.reading import READING, empty

PATIENCE: Final = 60.0  # s to wait for readings that must come, also on a busy machine
_MODULES: Final = """
import importlib, os, sys
import drivers.decode.decoder
before = len(os.listdir("/proc/self/task"))
for name in sys.argv[1:]:
    importlib.import_module(name)
print(len(os.listdir("/proc/self/task")) - before)
"""


class DriverWire:
    """The far end of a driver's wire, with which a test sends. Its constructor opens it, on loopback."""

    settings: Mapping[str, Any]  # the [drivers.NAME] table that listens to it
    position: ClassVar[str] = "AXIS.position"  # a signal in rad …
    torque: ClassVar[str] = "AXIS.torque"  # … and another of the same message, in any unit
    position_step: ClassVar[float] = 0.001  # SI value that send(1) gives the position …
    torque_step: ClassVar[float] = 0.01  # … and the torque
    keeps_order: ClassVar[bool] = True  # messages arrive in the order in which they were sent
    early: ClassVar[int] = 0  # ns by which a reading's time may be before its message was sent: coarse clocks
    lost_words: ClassVar[str] = ""  # in the error after the wire is lost; "": it cannot be lost

    def send(self, count: int) -> None:
        """Send one message whose position is count × position_step and whose torque is count × torque_step."""
        raise NotImplementedError

    def rubbish(self) -> set[str]:
        """Send bytes that are not a valid message; returns the counters that must count them."""
        raise NotImplementedError

    def lose(self) -> None:
        """Remove the far end, if lost_words states that this is possible."""
        raise NotImplementedError

    def driver_closed(self) -> None:
        """Wait until the far end has noticed that the driver was closed, if the next `send` depends on it."""

    def close(self) -> None:
        """Release everything."""
        raise NotImplementedError


def configured(wire: DriverWire) -> DriverSettings:
    """The driver's settings, found by their kind in the catalogue."""
    settings: DriverSettings = TypeAdapter(AnyDriver).validate_python(dict(wire.settings))
    return settings


def collect(driver: Driver, count: int) -> NDArray[np.void]:
    """Read until there are `count` readings, or PATIENCE is over."""
    parts = [empty()]
    end = time.monotonic() + PATIENCE
    while sum(map(len, parts)) < count and time.monotonic() < end:
        parts.append(driver.read(0.05).copy())
    return np.concatenate(parts)


class DriverRules:
    """All rules of the contract, as tests of one driver on one wire."""

    wire_type: ClassVar[type[DriverWire]]

    @pytest.fixture
    def wire(self) -> Iterator[DriverWire]:
        """A fresh wire."""
        made = self.wire_type()
        yield made
        made.close()

    def test_the_wanted_channels_come_out_in_si_scaled_and_in_order_of_time(self, wire: DriverWire) -> None:
        with configured(wire).open(_wanted(wire)) as driver:
            before = time.monotonic_ns()
            for count in range(-50, 50):
                wire.send(count)
            readings = collect(driver, 200)
            after = time.monotonic_ns()
        assert readings.dtype == READING
        assert readings["channel"].tolist() == [7, 3] * 100, "of one message in the order that was asked for"
        if not wire.keeps_order:
            readings = readings.reshape(-1, 2)[np.argsort(readings["value"][0::2])].ravel()
        counts = np.arange(-50, 50)
        np.testing.assert_allclose(readings["value"][0::2], 2 * wire.torque_step * counts, atol=1e-12)
        np.testing.assert_allclose(readings["value"][1::2], 5 + wire.position_step * counts, atol=1e-12)
        assert not wire.keeps_order or (np.diff(readings["time"]) >= 0).all()
        assert readings["time"].min() >= before - wire.early
        assert readings["time"].max() <= after

    def test_a_quiet_wire_gives_nothing_within_the_timeout(self, wire: DriverWire) -> None:
        with configured(wire).open(_wanted(wire)) as driver:
            for timeout in (0.0, 0.05):
                took: list[float] = []
                while not took or (took[-1] >= timeout + 2.0 and len(took) < 4):  # a busy machine: once more
                    start = time.monotonic()
                    readings = driver.read(timeout)
                    took.append(time.monotonic() - start)
                    assert readings.dtype == READING
                    assert len(readings) == 0
                    assert took[-1] >= timeout * 0.9
                assert took[-1] < timeout + 2.0, took
            assert set(driver.counters().values()) == {0}

    def test_rubbish_is_counted_by_cause_and_nothing_else_happens(self, wire: DriverWire) -> None:
        with configured(wire).open(_wanted(wire)) as driver:
            wire.send(1)
            causes = wire.rubbish()
            wire.send(2)
            readings = collect(driver, 4)
            counters = driver.counters()
        first, second = ([2 * wire.torque_step * count, 5 + wire.position_step * count] for count in (1, 2))
        assert readings["value"].tolist() == pytest.approx(first + second)
        assert {cause for cause, count in counters.items() if count} - {*TRAFFIC, "lost"} == causes
        assert counters["frames"] >= 2

    def test_counters_only_grow_and_keep_their_names(self, wire: DriverWire) -> None:
        with configured(wire).open(_wanted(wire)) as driver:
            seen = [dict(driver.counters())]
            for round_ in range(5):
                wire.send(round_)
                wire.rubbish()
                collect(driver, 2)
                seen.append(dict(driver.counters()))
        for earlier, later in pairwise(seen):
            assert earlier.keys() == later.keys()
            assert all(later[name] >= earlier[name] for name in later)
            assert later["frames"] > earlier["frames"]

    def test_only_what_is_wanted_is_delivered(self, wire: DriverWire) -> None:
        with configured(wire).open([Wanted(0, wire.position)]) as driver:
            wire.send(9)
            expected = (0, pytest.approx(9 * wire.position_step))
            assert collect(driver, 1)[["channel", "value"]].tolist() == [expected]
        with configured(wire).open([]) as driver:
            wire.send(9)
            assert len(driver.read(0.2)) == 0

    def test_signals_are_listed_with_si_units_and_unknown_ones_refused(self, wire: DriverWire) -> None:
        settings = configured(wire)
        signals = settings.signals()
        assert signals[wire.position] == "rad"
        assert wire.torque in signals
        assert all(name.count(".") == 1 for name in signals), "MESSAGE.signal"
        settings.check(_wanted(wire))
        wrong = f"{wire.position}s"
        for refuse in (settings.check, settings.open):
            with pytest.raises(LayoutError, match=rf'"{wrong}", did you mean "{wire.position}"\?'):
                refuse([Wanted(0, wrong)])

    def test_closing_twice_is_harmless_and_a_closed_driver_says_so(self, wire: DriverWire) -> None:
        driver = configured(wire).open(_wanted(wire))
        with pytest.raises(LinkError, match="not open"):
            driver.read(0.0)
        driver.__enter__()
        driver.__exit__(None, None, None)
        driver.__exit__(None, None, None)
        with pytest.raises(LinkError, match="not open"):
            driver.read(0.0)
        assert driver.counters()["frames"] == 0

    def test_a_driver_can_be_opened_again(self, wire: DriverWire) -> None:
        driver = configured(wire).open(_wanted(wire))
        for count in (1, 2):
            with driver:
                wire.send(count)
                assert collect(driver, 2)["value"][0] == pytest.approx(2 * wire.torque_step * count)
                assert driver.counters()["frames"] == 1, "totals are since opening"
            wire.driver_closed()

    def test_a_lost_wire_is_said_every_time_and_can_be_closed(self, wire: DriverWire) -> None:
        if not wire.lost_words:
            pytest.skip("this wire has no end that could be pulled")
        with configured(wire).open(_wanted(wire)) as driver:
            wire.send(1)
            collect(driver, 2)
            wire.lose()
            for _ in range(2):
                with pytest.raises(LinkError, match=wire.lost_words):
                    _read_until_it_fails(driver)
            assert driver.counters()["frames"] == 1

    def test_settings_survive_the_way_to_another_process(self, wire: DriverWire) -> None:
        settings = configured(wire)
        adapter: TypeAdapter[DriverSettings] = TypeAdapter(AnyDriver)
        revived = adapter.validate_json(adapter.dump_json(settings))
        assert revived == settings
        with revived.open(_wanted(wire)) as driver:
            wire.send(4)
            assert len(collect(driver, 2)) == 2

    def test_its_modules_can_be_imported_ahead_and_start_no_thread(self, wire: DriverWire) -> None:
        done = _imported_ahead(tuple(configured(wire).modules()))
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == "0", "threads that were started by an import"

    def test_every_loss_has_words_and_its_example_is_usable(self, wire: DriverWire) -> None:
        settings = configured(wire)
        with settings.open(_wanted(wire)) as driver:
            counters = set(driver.counters())
        assert {*settings.losses} <= counters
        assert all(loss.meaning and loss.remedy for loss in settings.losses.values())
        for table in tomllib.loads(settings.example).get("drivers", {}).values():
            if table["kind"] == settings.named:
                assert TypeAdapter(AnyDriver).validate_python(table).signals()


def _read_until_it_fails(driver: Driver) -> None:
    """Until PATIENCE is over at most: a middleware hears of it from another process."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        driver.read(1.0)


@cache
def _imported_ahead(modules: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
    """Result of a fresh interpreter that imports these modules; cached, since several wires have the same modules."""
    command = [sys.executable, "-c", _MODULES, *modules]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _wanted(wire: DriverWire) -> list[Wanted]:
    return [Wanted(7, wire.torque, 2.0), Wanted(3, wire.position, 1.0, 5.0)]
