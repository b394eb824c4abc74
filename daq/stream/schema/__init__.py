"""JSON Schema of every public topic: fields.py defines the types, the other files the fields of each family of topics.

An unknown number is NaN in the stream (msgpack) and omitted in a recording (JSON has no NaN), so only fields that are
always known are required.
"""

from collections.abc import Callable, Iterable
from typing import Final

from daq.stream.schema.fields import DIALECT, HEAD, Schema, table
from daq.stream.schema.joint_topics import (
    change_fields,
    clearance_fields,
    drift_fields,
    estimate_fields,
    event_fields,
    lost_motion_fields,
    residual_fields,
    summary_fields,
    wear_fields,
)
from daq.stream.schema.robot_topics import mechanism_fields, robot_fields, robot_parameters_fields
from daq.stream.schema.service_topics import CLOCK, meta_fields, process_fields

__all__ = ["CLOCK", "SPECTRUM", "TOPICS", "WINDOW", "schema"]

SPECTRUM: Final = ("condition", "singular_values", "weakest")
WINDOW: Final = ("from", "to")
# family → (title, fields, fields that may be missing)
TOPICS: Final[dict[str, tuple[str, Callable[[Iterable[str]], Schema], frozenset[str]]]] = {
    "estimate/": ("parameters of a joint", estimate_fields, frozenset(("error", "forgetting", "states", *SPECTRUM))),
    "residual/": ("torque of a joint", residual_fields, frozenset(("measured", "predicted", "residual"))),
    "event/": ("something happened to a joint", event_fields, frozenset({*WINDOW, "search"})),
    "drift/": ("a joint against its baseline, or its start", drift_fields, frozenset(("reference",))),
    "change/": ("what has changed of a joint, until a person acknowledges it", change_fields, frozenset()),
    "wear/": ("dry wear of a joint", wear_fields, frozenset(("wear", "deviation"))),
    "lost_motion/": ("the gear between two encoders", lost_motion_fields, frozenset(("first",))),
    "summary/": ("what a fleet keeps of a joint", summary_fields, frozenset(("error",))),
    "clearance/": ("the clearance of a joint's bearing", clearance_fields, frozenset(("first",))),
    "robot": ("the whole robot", robot_fields, frozenset(("contact", "tool"))),
    "robot/parameters": ("parameters of the whole robot", robot_parameters_fields, frozenset()),
    "mechanism": ("a mechanism with loops", mechanism_fields, frozenset()),
    "process/": ("whether a process of the service lives", process_fields, frozenset()),
    "meta": ("names, units, models", meta_fields, frozenset()),
}


def schema(family: str, parameters: Iterable[str] = ()) -> Schema:
    """Return the schema of one family of topics; parameters: names of the joint's parameters, if known."""
    title, fields, optional = TOPICS[family]
    properties = HEAD | fields(list(parameters))
    body = table(title, properties, (name for name in properties if name not in optional))
    return {"$schema": DIALECT, "title": family.rstrip("/")} | body
