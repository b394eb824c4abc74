"""A reason why values may not be used: a code, what it is about, and numbers; its words are in the catalogue."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self

from estimators.reason_words import CATALOGUE

OF_PARAMETER: Final = "{parameter} = {value:.4g} ± {deviation:.2g}{unit}: "
AT_RATES: Final = ", and new ones come at {fresh:.3g} Hz of {configured:.4g} Hz"
OF_TORQUE: Final = "{unexplained:.0f} % of the torque is unexplained: "


class Reason(NamedTuple):
    """One reason, as it goes from an estimator to every reader. `str` gives its sentence."""

    code: str  # a key of CATALOGUE
    parameter: str | None = None  # what it is about: a parameter, channel, joint or known constant; None: all of it
    numbers: Mapping[str, float] = {}  # by short names, in SI units or per cent
    words: Mapping[str, str] = {}  # the same for what is no number: unit, needs, signal, cause …

    def __str__(self) -> str:
        """The reason as a sentence with its numbers; a misfit begins with its parameter, or with all of the torque."""
        text = CATALOGUE[self.code].says
        if "unexplained" in self.numbers:
            text = OF_TORQUE + text
        elif "deviation" in self.numbers and self.code in MISFITS:
            text = OF_PARAMETER + text
        if "fresh" in self.numbers:  # older recordings do not say it
            text += AT_RATES
        return self._filled(text) + (f" (row {self.numbers['row']:.0f})" if "row" in self.numbers else "")

    @property
    def identity(self) -> tuple[str, str]:
        """The code and what it is about, "" for all of it; reasons that differ only in their numbers have the same."""
        return self.code, self.parameter or ""

    @property
    def todo(self) -> str:
        """What to do about it."""
        return self._filled(CATALOGUE[self.code].todo)

    def _filled(self, text: str) -> str:
        unit = f" {one}" if (one := self.words.get("unit")) else ""
        return text.format_map({**self.words, **self.numbers, "unit": unit, "parameter": self.parameter})

    @property
    def plain(self) -> dict[str, Any]:
        """The reason as a map of plain values, without what is empty."""
        found: dict[str, Any] = {"code": self.code}
        if self.parameter is not None:
            found["parameter"] = self.parameter
        if self.numbers:
            found["numbers"] = dict(self.numbers)
        if self.words:
            found["words"] = dict(self.words)
        return found

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Self:
        """The reason that a map of plain values says."""
        return cls(plain["code"], plain.get("parameter"), plain.get("numbers", {}), plain.get("words", {}))


MISFITS: Final = frozenset(code for code, entry in CATALOGUE.items() if entry.group == "The model does not fit")


def joined(reasons: "tuple[Reason, ...]") -> str:
    """All of them in one line."""
    return "; ".join(map(str, reasons))
