"""What to do about a parameter that has changed: one catalogue for the page, /api/state and notifications."""

import re
from collections.abc import Mapping
from typing import Any, Final

WEAR: Final = "dry_wear"  # whose cause is a sentence of the history, and no common one
SCALE: Final = "Compare the torque constant, or its sensor, with a known load."
# how a parameter's name looks → what a change of it asks for; the first that fits
REMEDIES: Final = (
    (f"^{WEAR}$", "Look at lubrication, bearings and gear, and plan their exchange before the limit is reached."),
    (r"^torque_constant$", SCALE),
    (r"^encoder_slip$", "Check the encoder's coupling, then reference the joint anew."),
    (
        r"^spring$",
        "Move the joint by hand through its range, and look where cables and hoses catch or are stretched.",
    ),
    (r"^lost_motion$", "Check the gear: are its teeth worn, is a coupling loose, is preload lost?"),
    (r"stiffness|cubic$", "Check coupling and gear: are they loose, worn or cracked?"),
    (
        r"coulomb|viscous|stribeck|load|friction|cyclic|position|\.(slow|fast)$",
        "Is it colder or warmer than at its {reference}? If not, check lubrication and bearings.",
    ),
    (r"inertia|mass|gravity|sin$|cos$", "Does it carry another tool or load than at its {reference}?"),
    (r"offset", "Check the torque sensor's zero, and whether a cable pulls."),
    (r"", "Compare its friction curve with the {reference}'s."),
)


def remedy(parameter: str, reference: str = "baseline", cause: str = "") -> str:
    """What to do about a change of this parameter.

    reference: baseline or start, what the change is measured against; cause: common to all that has changed, where it
    is one.
    """
    if cause and parameter != WEAR:
        return SCALE
    return next(words for pattern, words in REMEDIES if re.search(pattern, parameter)).format(reference=reference)


def with_remedies(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of `change/<joint>`, each with what to do about it (`todo`)."""
    return [
        one
        | {
            "todo": one.get("remedy")
            or remedy(one["parameter"], one.get("reference", "baseline"), one.get("cause", ""))
        }
        for one in records
    ]


def remedies_of_drift(drift: Mapping[str, Any]) -> dict[str, str]:
    """What to do about each parameter that `drift/<joint>` calls drifted."""
    reference, cause = drift.get("reference", "baseline"), drift.get("cause", "")
    return {name: remedy(name, reference, cause) for name in drift.get("drifted", ())}
