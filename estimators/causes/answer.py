"""Answer to a person about ranked causes: one name, several that cannot be distinguished, or that it is unknown."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from estimators.causes.base import CauseKind
from estimators.causes.catalogue import CAUSES

#: 1, argued: Probability from which a name is given, with this probability: likelier than all others together.
NAMED: Final = 0.5
#: 1, argued: Probability from which two names are given where none is by itself.
BOTH: Final = 0.8
#: 1, argued: Probability from which a cause is listed.
LISTED: Final = 0.02
UNKNOWN: Final = "unknown"
BY_NAME: Final[Mapping[str, CauseKind]] = {one.name: one for one in CAUSES}


class Answer(NamedTuple):
    """The answer to what it is."""

    names: tuple[str, ...]  # the causes that it may be, the likeliest first; ("unknown",) where none is given
    probability: float  # of these together

    @property
    def text(self) -> str:
        """The answer as a sentence."""
        share = f"{min(100.0 * self.probability, 99.0):.0f} %"
        if self.names == (UNKNOWN,):
            return "its cause is unknown: no cause of the catalogue explains it by itself"
        titles = " or ".join(BY_NAME[name].title for name in self.names)
        return f"likely cause: {titles} ({share})"

    @property
    def remedy(self) -> str:
        """What to do."""
        if self.names == (UNKNOWN,):
            return (
                "Compare its friction curve and its residual over the angle with what they were, and look at the joint."
            )
        return " ".join(BY_NAME[name].remedy for name in self.names)


def answer(probability: Mapping[str, float], two_encoders: bool) -> Answer:
    """Return the answer that follows from these probabilities."""
    order = sorted(probability, key=lambda name: -probability[name])
    best = order[0]
    if best == UNKNOWN:
        return Answer((UNKNOWN,), probability[UNKNOWN])
    alike = () if two_encoders else BY_NAME[best].alike
    if alike:
        names = (best, *alike)
        together = sum(probability[name] for name in names)
        return Answer(names, together) if together >= NAMED else Answer((UNKNOWN,), 1.0 - together)
    if probability[best] >= NAMED:
        return Answer((best,), probability[best])
    second = next(name for name in order[1:] if name != UNKNOWN)
    together = probability[best] + probability[second]
    if together >= BOTH:
        return Answer((best, second), together)
    return Answer((UNKNOWN,), 1.0 - together)


def listed(probability: Mapping[str, float]) -> Sequence[tuple[str, float]]:
    """Causes and "unknown" that are worth a line, the likeliest first."""
    every = sorted(probability.items(), key=lambda one: -one[1])
    return [one for one in every if one[1] >= LISTED]
