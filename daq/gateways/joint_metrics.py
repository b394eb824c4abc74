"""What a plant gets of a joint, by name: the values, whether they may be used and why not, what has changed."""

from collections.abc import Mapping
from typing import Any, Final

from estimators.base import Status

Change = float | bool | int | str
NO_DATA: Final = frozenset(("no_data", "channel_silent"))  # codes of reasons: the joint does not send what it should
VALUES: Final = ("parameters", "deviations", "known", "error")  # what does not count while the joint is faulted


def metrics_of(estimate: Mapping[str, Any]) -> dict[str, Change]:
    """Name → value of an `estimate/<joint>`: parameters/NAME, deviations/NAME, known/NAME, phase …

    Numbers are SI, in the units of `meta`; what is not known is NaN.
    """
    found: dict[str, Change] = {"phase": estimate["phase"], "health": estimate["health"]["status"]}
    found["reasons"] = "; ".join(reason["text"] for reason in estimate["health"]["reasons"])
    found["error"] = float(estimate["error"])
    states = estimate.get("states", {})
    for name, value in estimate["parameters"].items():
        found[f"parameters/{name}"] = float(value)
        found[f"deviations/{name}"] = float(estimate["deviations"][name])
        found[f"known/{name}"] = states.get(name, {}).get("state") == "known"
    return found


def is_value(name: str) -> bool:
    """Whether this is a value that was estimated, not a word about the joint."""
    return name.partition("/")[0] in VALUES


def is_faulted(estimate: Mapping[str, Any]) -> bool:
    """Whether the values of an `estimate/<joint>` do not count: they are those from before the fault."""
    return bool(estimate["health"]["status"] == Status.FAULTED)


def is_silent(estimate: Mapping[str, Any]) -> bool:
    """Whether they do not count since the joint sends nothing."""
    return is_faulted(estimate) and any(one["code"] in NO_DATA for one in estimate["health"]["reasons"])


def open_changes(change: Mapping[str, Any]) -> dict[str, Change]:
    """Name → value of a `change/<joint>`: the number of changes that are not acknowledged, and their sentences."""
    texts = [record["text"] for record in change["records"] if not record["acknowledged"]]
    return {"changes/open": len(texts), "changes/text": "; ".join(texts)}
