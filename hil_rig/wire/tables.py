"""Tables for people about a rig and the frames that it sent; JSON contains the same numbers."""

from collections.abc import Mapping
from typing import Any


def hello_table(hello: Mapping[str, Any]) -> str:
    """Return the table of the rig, its wire, and the truth of every joint."""
    lines = [f"rig {hello['rig']} on {hello['wire']} at {', '.join(map(str, hello['devices']))}, {hello['rate']:g} Hz"]
    if hello["config"] is not None:
        lines.append(f"listen to it: jointwatch run {hello['config']}")
    lines.append(f"{'joint':10} {'parameter':22} {'truth, SI':>14}")
    for joint, truth in hello["truth"].items():
        lines += [f"{joint:10} {name:22} {value:14.6g}" for name, value in truth.items()]
    lines += [f"at {one['time']:g} s {one['name']} × {one['factor']:g}" for one in hello["jumps"] if "factor" in one]
    return "\n".join(lines)


def farewell_table(farewell: Mapping[str, Any]) -> str:
    """Return the table of sent frames and errors."""
    names = ("samples", "sent", "refused", "unheard", "late")
    lines = ["  ".join(f"{name} {farewell[name]:,}" for name in names) + f"  latest {1e3 * farewell['latest']:.2f} ms"]
    faults = {kind: count for kind, count in farewell["faults"].items() if count}
    if faults:
        lines.append("faults: " + ", ".join(f"{kind} {count}" for kind, count in faults.items()))
    return "\n".join(lines)
