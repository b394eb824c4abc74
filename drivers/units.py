"""Units as devices and DBC files write them, and the factor that converts each to SI."""

import math
import re
import unicodedata
from typing import Annotated, Final, NamedTuple, Self

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from drivers.base import StrictSettings, nearest


class Conversion(NamedTuple):
    """SI value = factor × value + offset."""

    unit: str  # SI
    factor: float = 1.0
    offset: float = 0.0


Powers = tuple[int, ...]  # of rad, m, kg, s, A, K
_BASE: Final = ("rad", "m", "kg", "s", "A", "K")
_TURN: Final = 2 * math.pi
_DEGREE: Final = math.pi / 180
_GRAVITY: Final = 9.80665  # m/s², standard
_POUND: Final = 0.45359237  # kg
_INCH: Final = 0.0254  # m
# SI unit → its powers of the base units, and its symbols: without a prefix, and with one
_SYMBOLS: Final[dict[str, tuple[Powers, dict[str, float]]]] = {
    "1": ((0, 0, 0, 0, 0, 0), {"1": 1, "%": 1e-2, "‰": 1e-3}),
    "rad": ((1, 0, 0, 0, 0, 0), {"rad": 1, "deg": _DEGREE, "°": _DEGREE}),
    "m": ((0, 1, 0, 0, 0, 0), {"m": 1}),
    "kg": ((0, 0, 1, 0, 0, 0), {"g": 1e-3, "t": 1e3}),
    "s": ((0, 0, 0, 1, 0, 0), {"s": 1}),
    "A": ((0, 0, 0, 0, 1, 0), {"A": 1}),
    "K": ((0, 0, 0, 0, 0, 1), {"K": 1}),
    "N": ((0, 1, 1, -2, 0, 0), {"N": 1}),
    "N·m": ((0, 2, 1, -2, 0, 0), {"Nm": 1}),
    "J": ((0, 2, 1, -2, 0, 0), {"J": 1, "Wh": 3600}),
    "Pa": ((0, -1, 1, -2, 0, 0), {"Pa": 1, "bar": 1e5}),
    "W": ((0, 2, 1, -3, 0, 0), {"W": 1, "VA": 1}),
    "V": ((0, 2, 1, -3, -1, 0), {"V": 1}),
    "Ω": ((0, 2, 1, -3, -2, 0), {"Ω": 1, "Ohm": 1, "ohm": 1, "OHM": 1}),
    "C": ((0, 0, 0, 1, 1, 0), {"Ah": 3600}),
    "F": ((0, -2, -1, 4, 2, 0), {"F": 1}),
    "H": ((0, 2, 1, -2, -2, 0), {"H": 1}),
    "T": ((0, 0, 1, -2, -1, 0), {"T": 1}),
    "m³": ((0, 3, 0, 0, 0, 0), {"L": 1e-3, "l": 1e-3}),
    "Hz": ((0, 0, 0, -1, 0, 0), {"Hz": 1, "bps": 1, "bit/s": 1}),
}
# SI unit → words, in upper or lower case and without a prefix
_WORDS: Final[dict[str, dict[str, float]]] = {
    "1": dict.fromkeys(
        ("bit", "bits", "bool", "boolean", "byte", "bytes", "hex", "ascii", "text", "string", "enum", "flag", "code"), 1
    )
    | dict.fromkeys(("none", "unitless", "n/a", "unit", "units", "step", "steps", "ratio", "raw", "index", "ticks"), 1)
    | {"percent": 1e-2, "pct": 1e-2, "permille": 1e-3, "ppm": 1e-6},
    "rad": dict.fromkeys(("radian", "radians"), 1)
    | dict.fromkeys(("degree", "degrees", "degs"), _DEGREE)
    | dict.fromkeys(("rev", "revs", "turn", "turns", "revolution", "revolutions", "rotations"), _TURN),
    "rad/s": {"dps": _DEGREE, "rps": _TURN} | dict.fromkeys(("rpm", "1/min", "u/min", "r/min"), _TURN / 60),
    "m": dict.fromkeys(("meter", "meters", "metre", "metres"), 1)
    | {"micron": 1e-6, "km": 1e3, "mile": 1609.344, "miles": 1609.344, "mi": 1609.344, "yd": 36 * _INCH}
    | dict.fromkeys(("inch", "inches", "in"), _INCH)
    | dict.fromkeys(("foot", "feet", "ft"), 12 * _INCH),
    "m/s": {"mph": 0.44704, "knot": 1852 / 3600, "knots": 1852 / 3600, "kn": 1852 / 3600, "kt": 1852 / 3600}
    | dict.fromkeys(("kph", "kmh", "kmph", "km/h", "km/hr"), 1 / 3.6)
    | {"mps": 1},
    "kg": dict.fromkeys(("gram", "grams"), 1e-3)
    | dict.fromkeys(("lb", "lbs", "lbm", "pound", "pounds"), _POUND)
    | {"oz": _POUND / 16, "ton": 1e3, "tonne": 1e3},
    "s": dict.fromkeys(("sec", "secs", "second", "seconds"), 1)
    | dict.fromkeys(("msec", "millisecond", "milliseconds"), 1e-3)
    | dict.fromkeys(("usec", "µsec", "microsecond", "microseconds"), 1e-6)
    | {"nsec": 1e-9}
    | dict.fromkeys(("min", "mins", "minute", "minutes"), 60)
    | dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600)
    | dict.fromkeys(("day", "days"), 86400),
    "A": dict.fromkeys(("amp", "amps", "ampere", "amperes"), 1) | dict.fromkeys(("milliamp", "milliamps"), 1e-3),
    "K": {"kelvin": 1},
    "N": dict.fromkeys(("newton", "newtons"), 1) | {"lbf": _POUND * _GRAVITY, "kgf": _GRAVITY, "kp": _GRAVITY},
    "N·m": dict.fromkeys(("newtonmeter", "newtonmeters"), 1)
    | dict.fromkeys(("lbft", "ftlb", "ftlbs", "lbsft", "lbfft", "ftlbf"), _POUND * _GRAVITY * 12 * _INCH)
    | dict.fromkeys(("lbin", "inlb", "inlbs", "lbfin", "inlbf"), _POUND * _GRAVITY * _INCH)
    | {
        "nmm": 1e-3,
        "ncm": 1e-2,
        "ozin": _POUND / 16 * _GRAVITY * _INCH,
        "kgcm": _GRAVITY * 1e-2,
        "kgm": _GRAVITY,
        "kgfcm": _GRAVITY * 1e-2,
    },
    "J": dict.fromkeys(("joule", "joules"), 1),
    "Pa": {"pascal": 1, "psi": _POUND * _GRAVITY / _INCH**2, "mbar": 100, "kpa": 1e3, "hpa": 100, "mpa": 1e6}
    | {"atm": 101325, "bar": 1e5, "inhg": 3386.389, "mmhg": 133.322387415},
    "W": dict.fromkeys(("watt", "watts"), 1) | {"hp": 745.6998715822702, "ps": 75 * _GRAVITY, "bhp": 745.6998715822702},
    "V": dict.fromkeys(("volt", "volts"), 1) | dict.fromkeys(("millivolt", "millivolts"), 1e-3),
    "Ω": {"ohms": 1, "kohm": 1e3, "kohms": 1e3, "mohm": 1e-3},
    "m³": dict.fromkeys(("liter", "liters", "litre", "litres", "ltr"), 1e-3)
    | {"gal": 231 * _INCH**3, "gallon": 231 * _INCH**3, "gallons": 231 * _INCH**3, "cc": 1e-6},
    "Hz": {"hertz": 1, "khz": 1e3, "mhz": 1e6},
    "T": {"gauss": 1e-4},
}
_PREFIXES: Final = {
    "p": 1e-12, "n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "h": 1e2,
    "k": 1e3, "M": 1e6, "G": 1e9,
}  # fmt: skip
# as a whole unit these have another meaning than as a part: an acceleration, a temperature with its own zero
_WHOLE: Final = (
    {"g": Conversion("m/s²", _GRAVITY), "G": Conversion("m/s²", _GRAVITY), "mg": Conversion("m/s²", 1e-3 * _GRAVITY)}
    | {"NM": Conversion("N·m"), "s-1": Conversion("Hz")}
    | dict.fromkeys(("°C", "degC", "DegC", "DEGC", "degreeC", "degreesC", "C", "celsius", "Celsius"), Conversion("°C"))
    | dict.fromkeys(("K", "degK", "DegK", "°K", "kelvin", "Kelvin"), Conversion("°C", 1.0, -273.15))
    | dict.fromkeys(("°F", "degF", "DegF", "F", "fahrenheit", "Fahrenheit"), Conversion("°C", 5 / 9, -160 / 9))
)
_NAMED: Final = {  # powers of rad, m, kg, s, A, K → name of the unit in SI
    (1, 0, 0, -1, 0, 0): "rad/s",
    (1, 0, 0, -2, 0, 0): "rad/s²",
    (1, 0, 0, -3, 0, 0): "rad/s³",
    (0, 1, 0, -1, 0, 0): "m/s",
    (0, 1, 0, -2, 0, 0): "m/s²",
    (0, 1, 0, -3, 0, 0): "m/s³",
    (0, 2, 1, 0, 0, 0): "kg·m²",
    (0, 2, 1, -2, -1, 0): "N·m/A",
    (-1, 2, 1, -2, 0, 0): "N·m/rad",
    (-1, 2, 1, -1, 0, 0): "N·m·s/rad",
    (0, 0, 1, -1, 0, 0): "kg/s",
    (0, 3, 0, -1, 0, 0): "m³/s",
    (0, -1, 0, 0, 0, 0): "1/m",
} | {powers: unit for unit, (powers, _) in reversed(_SYMBOLS.items()) if unit != "J"}
_COUNTS: Final = dict.fromkeys(("count", "counts", "cnt", "inc", "increment", "increments"), "rad") | dict.fromkeys(
    ("count/s", "counts/s", "cnt/s", "inc/s"), "rad/s"
)
_TOKEN: Final = re.compile(r"(?P<name>[^\W\d_]+|[°%‰])|(?P<number>\d+)|(?P<sign>[·/()^-])")
_DAMAGED: Final = ("\ufffd", "ï¿½", "Â°", "º", "˚", "Â")  # a degree sign after wrong encodings
_RATIOS: Final = ("%", "percent", "‰", "permille")


class _Term(NamedTuple):
    """A product of units: value in SI's base units = factor × value."""

    factor: float
    powers: Powers

    def times(self, other: "_Term", power: int) -> "_Term":
        powers = tuple(one + power * two for one, two in zip(self.powers, other.powers, strict=True))
        return _Term(self.factor * other.factor**power, powers)


_ONE: Final = _Term(1.0, (0,) * len(_BASE))


def _plain(unit: str) -> str:
    """Normalise the spelling: no spaces, · for * and for a dot between two units, plain powers, a valid degree sign."""
    for damaged in _DAMAGED:
        unit = unit.replace(damaged, "°")
    text = unicodedata.normalize("NFKC", unit).replace("**", "^").replace("*", "·").replace("μ", "µ")
    return "".join(text.split()).replace(".", "·").replace("⋅", "·").replace("−", "-")


def _powers(unit: str) -> Powers:
    """Powers of the base units in an SI unit, as spelled in this file."""
    if unit in _SYMBOLS:
        return _SYMBOLS[unit][0]
    return next(powers for powers, name in _NAMED.items() if name == unit)


_KNOWN_WORDS: Final = {
    _plain(name).casefold(): _Term(factor, _powers(unit))
    for unit, names in _WORDS.items()
    for name, factor in names.items()
}
_KNOWN_SYMBOLS: Final = {
    name: _Term(factor, powers) for powers, names in _SYMBOLS.values() for name, factor in names.items()
}
_SI_OF_SYMBOLS: Final = {name: unit for unit, (_, names) in _SYMBOLS.items() for name in names}


def _atom(name: str) -> _Term:
    """One symbol or word, with a prefix or without. Raises ValueError."""
    if name in _KNOWN_SYMBOLS:
        return _KNOWN_SYMBOLS[name]
    if len(name) > 1 and name[0] in _PREFIXES and name[1:] in _KNOWN_SYMBOLS and name[1:] not in _RATIOS:
        unit = _KNOWN_SYMBOLS[name[1:]]
        return _Term(_PREFIXES[name[0]] * unit.factor, unit.powers)
    if name.casefold() in _KNOWN_WORDS:
        return _KNOWN_WORDS[name.casefold()]
    raise ValueError(name)


def _product(tokens: list[str]) -> _Term:
    """unit ((· | / | - | nothing) unit)…, each with a power or without; takes what it has read. Raises ValueError."""
    found, sign = _ONE, 1
    while tokens and tokens[0] != ")":
        token = tokens.pop(0)
        if token in "·-/" and sign == 1:
            sign = -1 if token == "/" else 1
            if not tokens:
                raise ValueError(token)
            if token != "/":
                continue
            token = tokens.pop(0)
        if token == "(":
            term = _product(tokens)
            if not tokens or tokens.pop(0) != ")":
                raise ValueError("(")
        elif token.isdecimal():
            if token != "1":
                raise ValueError(token)
            term = _ONE
        else:
            term = _atom(token)
        found, sign = found.times(term, sign * _power(tokens)), 1
    return found


def _power(tokens: list[str]) -> int:
    """The power after a unit: 2, ^2, -2, ^-2; 1 where there is none."""
    digits = [at for at, token in enumerate(tokens[:3]) if token.isdecimal()]
    if not digits or "".join(tokens[: digits[0]]) not in ("", "^", "-", "^-"):
        return 1
    written = "".join(tokens[: digits[0] + 1]).lstrip("^")
    del tokens[: digits[0] + 1]
    return int(written)


def parse(written: str) -> Conversion | None:
    """A unit in SI; None where it is unknown."""
    unit = _plain(written)
    if unit in ("", "-"):
        return Conversion("1")
    if unit in _WHOLE:
        return _WHOLE[unit]
    if unit.casefold() in _KNOWN_WORDS:  # whole words with signs inside them, as 1/min
        return _named(_KNOWN_WORDS[unit.casefold()], unit)
    bare = unit.replace("·", "").replace("-", "")
    if bare.casefold() in _KNOWN_WORDS and bare.isalpha():  # lb-ft
        return _named(_KNOWN_WORDS[bare.casefold()], unit)
    matches = [match.group() for match in _TOKEN.finditer(unit)]
    if "".join(matches) != unit:
        return None
    try:
        tokens = list(matches)
        found = _product(tokens)
    except ValueError:
        return None
    return None if tokens else _named(found, unit)


def _named(term: _Term, unit: str) -> Conversion:
    """Conversion to the SI unit's usual name; J and N·m have the same powers: the given name decides."""
    own = _SI_OF_SYMBOLS.get(unit) or _SI_OF_SYMBOLS.get(unit[1:])
    if own == "J" or unit.casefold() in _WORDS["J"]:
        return Conversion("J", term.factor)
    if term.powers in _NAMED:
        return Conversion(_NAMED[term.powers], term.factor)
    over = "·".join(_raised(name, power) for name, power in zip(_BASE, term.powers, strict=True) if power > 0)
    under = "·".join(_raised(name, -power) for name, power in zip(_BASE, term.powers, strict=True) if power < 0)
    return Conversion(f"{over or '1'}/{under}" if under else over, term.factor)


def _raised(name: str, power: int) -> str:
    return name if power == 1 else name + str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


# names that mean two units, and the question that a person is asked
AMBIGUOUS: Final = {"grad": 'in German a degree ("deg"), elsewhere 1/400 of a turn: say which'}
# what is proposed for an unknown name
USUAL: Final = (
    "rad", "deg", "rev", "mrad", "rad/s", "deg/s", "rev/s", "rpm", "rad/s²", "m", "mm", "µm", "m/s", "mm/s", "km/h",
    "m/s²", "g", "N·m", "Nm", "mNm", "N", "kN", "A", "mA", "V", "mV", "W", "s", "ms", "µs", "Hz",
    "Pa", "bar", "Ω", "°C", "K", "%", "permille", "counts",
)  # fmt: skip


def _not_zero(scale: float) -> float:
    if scale == 0:
        raise ValueError("expected a scale other than zero, found 0")
    return scale


Scale = Annotated[FiniteFloat, AfterValidator(_not_zero), Field(description="value in `unit` = scale × raw + offset")]


class UnknownUnitError(ValueError):
    """The unit is unknown, or its name means several units; the text says which."""


class QuantitySettings(StrictSettings):
    """What a raw number means physically; also the way to say what a DBC leaves out."""

    unit: str | None = Field(
        default=None, description='as the device has it: "deg", "rpm", "counts", "mA", "permille", …'
    )
    counts_per_rev: float | None = Field(default=None, gt=0, allow_inf_nan=False, description='for unit "counts"')
    rated: FiniteFloat | None = Field(default=None, description='for "%" and "permille": what 100 % is')
    rated_unit: str | None = Field(default=None, description="unit of `rated`")
    invalid: int | None = Field(default=None, description="raw value (bit pattern) by which the device says: no value")

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.unit is not None:
            self.conversion("")
        return self

    def conversion(self, declared: str) -> Conversion:
        """Conversion to SI from the unit given here, or else from the declared one. Raises ValueError."""
        written = declared if self.unit is None else self.unit
        unit = _plain(written)
        known = parse(written)
        if unit in _COUNTS:
            if self.counts_per_rev is None:
                raise ValueError(f'unit "{written}" needs counts_per_rev, found none')
            found = Conversion(_COUNTS[unit], _TURN / self.counts_per_rev)
        elif known is not None:
            found = known
        else:
            hint = AMBIGUOUS.get(unit.casefold()) or nearest(unit, USUAL)
            raise UnknownUnitError(f'found the unknown unit "{written}", {hint}')
        if self.counts_per_rev is not None and unit not in _COUNTS:
            raise ValueError(f'counts_per_rev goes with the unit "counts", found "{written}"')
        return self._of_rated(written, found)

    def check_bits(self, bits: int, kind: str) -> None:
        """Raise ValueError where a raw value of this many bits cannot be a float, or cannot be the invalid marker."""
        if kind == "float" and bits not in (16, 32, 64):
            raise ValueError(f"expected a float of 16, 32 or 64 bits, found {bits}")
        if self.invalid is not None and not -(1 << (bits - 1)) <= self.invalid < 1 << bits:
            raise ValueError(f"expected an invalid marker of {bits} bits, found {self.invalid}")

    def _of_rated(self, written: str, found: Conversion) -> Conversion:
        if self.rated is None and self.rated_unit is None:
            return found
        if self.rated is None or self.rated_unit is None:
            raise ValueError("expected rated and rated_unit together, found only one of them")
        if _plain(written) not in _RATIOS:
            raise ValueError(f'rated goes with the units "%" and "permille", found "{written}"')
        whole = parse(self.rated_unit)
        if whole is None or whole.offset:
            raise ValueError(f'found the unknown rated_unit "{self.rated_unit}", {nearest(self.rated_unit, USUAL)}')
        return Conversion(whole.unit, found.factor * self.rated * whole.factor)
