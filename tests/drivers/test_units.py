"""Every unit's factor is that of pint, an independent table, and every spelling of public databases is known."""

import math
import warnings
from functools import cache
from typing import Any

import pytest

from drivers.units import USUAL, QuantitySettings, parse


def independent(value: float, unit: str) -> Any:
    """A quantity of pint's, which is imported only where it is asked: it takes as long as this whole file."""
    return _registry().Quantity(value, unit)


@cache
def _registry() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pint

        return pint.UnitRegistry()


# ours: (as pint says it, SI as we name it, SI as pint says it)
SAME = {
    "m": ("m", "m", "m"),
    "kph": ("km/hour", "m/s", "m/s"),
    "KMH": ("km/hour", "m/s", "m/s"),
    "mph": ("mile/hour", "m/s", "m/s"),
    "deg": ("degree", "rad", "rad"),
    "Degrees": ("degree", "rad", "rad"),
    "degrees/s": ("degree/s", "rad/s", "rad/s"),
    "°/sec": ("degree/s", "rad/s", "rad/s"),
    "RPM": ("revolution/minute", "rad/s", "rad/s"),
    "rev / s": ("revolution/s", "rad/s", "rad/s"),
    "mdeg/s^2": ("millidegree/s^2", "rad/s²", "rad/s^2"),
    "volt": ("volt", "V", "V"),
    "mV": ("millivolt", "V", "V"),
    "amps": ("ampere", "A", "A"),
    "cA": ("centiampere", "A", "A"),
    "g": ("g_0", "m/s²", "m/s^2"),
    "m/s/s": ("m/s^2", "m/s²", "m/s^2"),
    "ft": ("foot", "m", "m"),
    "inches": ("inch", "m", "m"),
    "Nmm": ("N*mm", "N·m", "N*m"),
    "N-m": ("N*m", "N·m", "N*m"),
    "NM": ("N*m", "N·m", "N*m"),
    "lb-ft": ("lbf*foot", "N·m", "N*m"),
    "ozin": ("ounce*g_0*inch", "N·m", "N*m"),
    "kgf": ("kilogram_force", "N", "N"),
    "lbf": ("lbf", "N", "N"),
    "kWh": ("kWh", "J", "J"),
    "Nm/A": ("N*m/A", "N·m/A", "N*m/A"),
    "Nm / (rev/s)": ("N*m*s/revolution", "N·m·s/rad", "N*m*s/rad"),
    "(Nm / (rev/s)) / s": ("N*m/revolution", "N·m/rad", "N*m/rad"),
    "kg-m2": ("kg*m^2", "kg·m²", "kg*m^2"),
    "psi": ("psi", "Pa", "Pa"),
    "mbar": ("millibar", "Pa", "Pa"),
    "inHg": ("inch_Hg", "Pa", "Pa"),
    "hp": ("horsepower", "W", "W"),
    "PS": ("metric_horsepower", "W", "W"),
    "kohm": ("kiloohm", "Ω", "ohm"),
    "mAh": ("mA*hour", "C", "coulomb"),
    "L/h": ("liter/hour", "m³/s", "m^3/s"),
    "cm3": ("cm^3", "m³", "m^3"),
    "gal": ("gallon", "m³", "m^3"),
    "kHz": ("kHz", "Hz", "1/s"),
    "minutes": ("minute", "s", "s"),
    "msec": ("millisecond", "s", "s"),
    "1/m": ("1/m", "1/m", "1/m"),
    "dbar": ("decibar", "Pa", "Pa"),
    "V/A": ("volt/ampere", "Ω", "ohm"),
    "V*s/A": ("volt*second/ampere", "H", "henry"),
    "A*s/V": ("ampere*second/volt", "F", "farad"),
    "V·s/m^2": ("volt*second/meter^2", "T", "tesla"),
    "J/s": ("joule/second", "W", "watt"),
    "W/A": ("watt/ampere", "V", "volt"),
    "kg*m*s^-2": ("kg*m/s^2", "N", "newton"),
    "A·kg/s": ("ampere*kg/second", "kg·A/s", "kg*ampere/second"),
    "ppm": ("ppm", "1", "dimensionless"),
}


@pytest.mark.parametrize("written", SAME)
def test_a_factor_is_pints(written: str) -> None:
    theirs, name, si = SAME[written]
    found = parse(written)
    assert found is not None
    assert (found.unit, found.offset) == (name, 0)
    assert found.factor == pytest.approx(independent(1.0, theirs).to(si).magnitude, rel=1e-6)


@pytest.mark.parametrize("written", ["°C", "degC", "deg C", "C", "degF", "°F", "K", "degK", "�C", "ï¿½C", "Â°C"])
def test_a_temperature_has_pints_zero(written: str) -> None:
    found = parse(written)
    assert found is not None
    assert found.unit == "°C"
    scale = "degF" if "F" in written else "kelvin" if "K" in written else "degC"
    assert found.factor * 300 + found.offset == pytest.approx(independent(300, scale).to("degC").magnitude)


@pytest.mark.parametrize("written", ["", "-", "bit", "Hex", "ASCII", "unitless", "N/A", "1"])
def test_what_has_no_unit_is_a_bare_number(written: str) -> None:
    assert parse(written) == ("1", 1, 0)


@pytest.mark.parametrize("written", ["xyz", "A_percent", "m/", "(m", "m)", "/", "2m", "m^", "furlong", "m//s"])
def test_what_nobody_knows_is_none(written: str) -> None:
    assert parse(written) is None
    with pytest.raises(ValueError, match="found the unknown unit"):
        QuantitySettings(unit=written)


def test_what_is_proposed_is_known() -> None:
    assert [unit for unit in USUAL if unit != "counts" and parse(unit) is None] == []
    assert math.isclose(QuantitySettings(unit="deg").conversion("").factor, math.pi / 180)
