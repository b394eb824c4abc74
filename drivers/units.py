"""Units as devices and DBC files write them, and the factor that turns each into SI."""

import math
import unicodedata
from typing import Annotated, Final, NamedTuple, Self

from pydantic import AfterValidator, Field, FiniteFloat, model_validator

from drivers.base import Settings, nearest


class Conversion(NamedTuple):
    """SI value = factor × value + offset."""

    unit: str  # SI
    factor: float = 1.0
    offset: float = 0.0


_TURN: Final = 2 * math.pi
_DEGREE: Final = math.pi / 180
# SI unit → {name: factor}; temperatures are kept in °C, ratios are fractions of one
_FACTORS: Final[dict[str, dict[str, float]]] = {
    "1": {"": 1, "1": 1, "-": 1, "bit": 1, "bool": 1, "%": 1e-2, "percent": 1e-2, "‰": 1e-3, "permille": 1e-3},
    "rad": {"rad": 1, "mrad": 1e-3, "deg": _DEGREE, "°": _DEGREE, "mdeg": 1e-3 * _DEGREE}
    | dict.fromkeys(("rev", "turn", "turns"), _TURN),
    "rad/s": {"rad/s": 1, "mrad/s": 1e-3}
    | dict.fromkeys(("deg/s", "°/s", "dps"), _DEGREE)
    | dict.fromkeys(("rev/s", "turn/s", "turns/s", "rps"), _TURN)
    | dict.fromkeys(("rpm", "rev/min", "1/min", "U/min", "r/min"), _TURN / 60),
    "rad/s²": {"rad/s²": 1, "deg/s²": _DEGREE, "°/s²": _DEGREE, "rev/s²": _TURN, "turn/s²": _TURN},
    "m": {"m": 1, "cm": 1e-2, "mm": 1e-3, "µm": 1e-6, "um": 1e-6, "nm": 1e-9},
    "m/s": {"m/s": 1, "mm/s": 1e-3, "µm/s": 1e-6, "um/s": 1e-6, "m/min": 1 / 60, "mm/min": 1e-3 / 60, "km/h": 1 / 3.6},
    "m/s²": {"m/s²": 1, "mm/s²": 1e-3},
    "N·m": {"N·m": 1, "Nm": 1, "cN·m": 1e-2, "cNm": 1e-2, "mN·m": 1e-3, "mNm": 1e-3, "kN·m": 1e3, "kNm": 1e3},
    "N": {"N": 1, "mN": 1e-3, "kN": 1e3},
    "A": {"A": 1, "mA": 1e-3, "µA": 1e-6, "uA": 1e-6, "cA": 1e-2, "dA": 1e-1},
    "V": {"V": 1, "mV": 1e-3},
    "W": {"W": 1, "mW": 1e-3, "kW": 1e3},
    "s": {"s": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9},
    "Hz": {"Hz": 1, "kHz": 1e3},
    "Pa": {"Pa": 1, "kPa": 1e3, "bar": 1e5},
    "Ω": {"Ω": 1, "Ohm": 1, "ohm": 1, "mΩ": 1e-3},
}
_COUNTS: Final = dict.fromkeys(("count", "counts", "cnt", "inc", "increment", "increments"), "rad") | dict.fromkeys(
    ("count/s", "counts/s", "cnt/s", "inc/s"), "rad/s"
)


def _plain(unit: str) -> str:
    """One spelling: no spaces, m/s² for m/s^2, m/s2, m/s/s; N·m for N*m and N.m; µ and Ω in their compatible form."""
    text = "".join(unicodedata.normalize("NFKC", unit).split()).replace("/s/s", "/s2").replace("^", "")
    return text.replace("N*m", "N·m").replace("N.m", "N·m")


UNITS: Final[dict[str, Conversion]] = (
    {_plain(name): Conversion(si, factor) for si, names in _FACTORS.items() for name, factor in names.items()}
    | {_plain(name): Conversion("°C") for name in ("°C", "degC", "C", "celsius")}
    | {"K": Conversion("°C", 1.0, -273.15)}
    | {name: Conversion("°C", 5 / 9, -160 / 9) for name in ("°F", "degF")}
)
_RATIOS: Final = ("%", "percent", "‰", "permille")


def _not_zero(scale: float) -> float:
    if scale == 0:
        raise ValueError("expected a scale other than zero, found 0")
    return scale


Scale = Annotated[FiniteFloat, AfterValidator(_not_zero), Field(description="value in `unit` = scale × raw + offset")]


class Quantity(Settings):
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
        """From the unit given here, or else the declared one, to SI. Raises ValueError."""
        written = declared if self.unit is None else self.unit
        unit = _plain(written)
        if unit in _COUNTS:
            if self.counts_per_rev is None:
                raise ValueError(f'unit "{written}" needs counts_per_rev, found none')
            found = Conversion(_COUNTS[unit], _TURN / self.counts_per_rev)
        elif unit in UNITS:
            found = UNITS[unit]
        else:
            raise ValueError(f'found the unknown unit "{written}", {nearest(unit, UNITS.keys() | _COUNTS.keys())}')
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
        whole = UNITS.get(_plain(self.rated_unit))
        if whole is None or whole.offset:
            raise ValueError(f'found the unknown rated_unit "{self.rated_unit}", {nearest(self.rated_unit, UNITS)}')
        return Conversion(whole.unit, found.factor * self.rated * whole.factor)
