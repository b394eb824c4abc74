"""The fields of each topic of the service itself: its processes, what it watches, its clocks."""

from collections.abc import Iterable
from typing import Final

from daq.stream.schema.fields import DIALECT, Schema, number, table, text


def process_fields(_: Iterable[str]) -> Schema:
    return {
        "name": text("outlet, core, refits, recorder, supervisor, or [drivers.NAME]"),
        "up": {"type": "boolean", "description": "whether it runs, and gave a sign of life within its time"},
        "restarts": {"type": "integer", "minimum": 0, "description": "by the supervisor; of refits, by the core"},
        "pid": {"type": "integer", "minimum": 0, "description": "0: none runs"},
        "cause": text("why it died, or is not up, last"),
        "age": number("s since its last sign of life"),
        "deadline": number("s of silence after which it is ended and started anew; 0: never"),
    }


def meta_fields(_: Iterable[str]) -> Schema:
    parameter = table(
        "one parameter",
        {
            "unit": text("SI"),
            "low": number("plausible range, from; in recordings left out where it has no end"),
            "high": number("plausible range, to; the same"),
            "equation": text("where it is defined"),
            "meaning": text("what it is"),
            "needs": text("what motion would teach it"),
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
        "configuration": text("digest of the configuration: another one, other settings"),
        "joints": {"type": "object", "description": "by name", "additionalProperties": joint},
    }


CLOCK: Final[Schema] = {"$schema": DIALECT, "title": "clock"} | table(
    "how the clocks stood to each other, in recordings only",
    {
        "timestamp": number("Unix s"),
        "monotonic": number("s of CLOCK_MONOTONIC at the same instant, which readings are stamped with"),
        "epoch": text("ns from CLOCK_MONOTONIC to Unix time, exactly"),
    },
    ("timestamp", "monotonic", "epoch"),
)
