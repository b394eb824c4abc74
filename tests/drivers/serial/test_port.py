"""The settings of a serial port: what is wrong with them is said before anything is opened."""

import pytest
from pydantic import ValidationError

from drivers.base import LayoutError, Wanted
from drivers.serial.packets import Framing
from drivers.serial.port import SerialPort, SerialPortSettings

PACKETS = [{"name": "AXIS", "id": 1, "fields": [{"name": "count", "type": "u32"}]}]


def settings() -> SerialPortSettings:
    return SerialPortSettings.model_validate({"kind": "serial", "port": "/dev/nowhere", "packets": PACKETS})


def test_a_signal_that_is_in_no_packet_is_named_with_the_nearest_one() -> None:
    wanted = [Wanted(0, "AXIS.cuont")]
    with pytest.raises(LayoutError, match=r"AXIS\.cuont.*AXIS\.count"):
        settings().check(wanted)
    with pytest.raises(LayoutError, match=r"AXIS\.cuont.*AXIS\.count"):
        settings().open(wanted)


def test_a_port_that_was_opened_for_nothing_it_could_misread_has_lost_nothing() -> None:
    port = settings().open([Wanted(0, "AXIS.count")])
    assert isinstance(port, SerialPort)
    assert not any(port.counters().values())


@pytest.mark.parametrize("where", ["start", "end"])
def test_a_fixed_packet_begins_and_ends_with_eight_known_bytes_at_most(where: str) -> None:
    given = {"kind": "fixed", "start": [0xAA], where: list(range(8))}
    assert getattr(Framing.model_validate(given), where) == tuple(range(8))
    with pytest.raises(ValidationError, match="at most 8 items"):
        Framing.model_validate(given | {where: list(range(9))})
