"""The fields of each topic of the service itself: its processes, its joints, its clocks."""

from collections.abc import Iterable
from typing import Final

from daq.stream.schema.fields import DIALECT, Schema, number, table, text


def process_fields(_: Iterable[str]) -> Schema:
    return {
        "name": text("outlet, core, refits, recorder, supervisor, or [drivers.NAME]"),
        "up": {"type": "boolean", "description": "whether it runs, and gave a sign of life in time"},
        "restarts": {"type": "integer", "minimum": 0, "description": "by the supervisor; of refits, by the core"},
        "pid": {"type": "integer", "minimum": 0, "description": "process id; 0: it does not run"},
        "cause": text("the last reason why it died or was down"),
        "age": number("s since its last sign of life"),
        "deadline": number("s of silence after which it is ended and restarted; 0: never"),
    }


def meta_fields(_: Iterable[str]) -> Schema:
    parameter = table(
        "one parameter",
        {
            "unit": text("SI"),
            "low": number("lower end of the plausible range; omitted in recordings if unlimited"),
            "high": number("upper end of the plausible range; omitted in recordings if unlimited"),
            "equation": text("equation that defines the parameter"),
            "meaning": text("meaning of the parameter"),
            "needs": text("motion that would identify it"),
        },
        ("unit", "equation"),
    )
    joint = table(
        "one joint",
        {
            "model": text("kind of the model"),
            "unit": text("of torque or force"),
            "rate": number("Hz of the samples"),
            "parameters": {"type": "object", "description": "by name", "additionalProperties": parameter},
        },
        ("model", "unit", "rate", "parameters"),
    )
    return {
        "configuration": text("digest of the configuration, which changes with any setting"),
        "joints": {"type": "object", "description": "by name", "additionalProperties": joint},
    }


CLOCK: Final[Schema] = {"$schema": DIALECT, "title": "clock"} | table(
    "relation between the clocks, only in recordings",
    {
        "timestamp": number("Unix s"),
        "monotonic": number("CLOCK_MONOTONIC at the same instant, s, the clock of the readings' time stamps"),
        "epoch": text("ns from CLOCK_MONOTONIC to Unix time, exactly"),
    },
    ("timestamp", "monotonic", "epoch"),
)
