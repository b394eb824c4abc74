"""The elements of a schema: one plain type for each field, without references or unions, for simple readers."""

from collections.abc import Iterable
from typing import Any, Final

from daq.stream.update import VERSION
from estimators.reason_words import CATALOGUE

Schema = dict[str, Any]

CHANGES: Final = "version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone"
REFERENCES: Final = ("baseline", "start")
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def number(meaning: str) -> Schema:
    return {"type": "number", "description": meaning}


def text(meaning: str, valid: Iterable[str] = ()) -> Schema:
    return {"type": "string", "description": meaning} | ({"enum": list(valid)} if valid else {})


def texts(meaning: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": meaning}


def table(meaning: str, properties: Schema, required: Iterable[str]) -> Schema:
    return {"type": "object", "description": meaning, "properties": properties, "required": list(required)}


def number_list(meaning: str) -> Schema:
    return {"type": "array", "items": {"type": "number"}, "description": meaning}


def numbers_by_name(meaning: str, names: Iterable[str]) -> Schema:
    """Return the schema of numbers by parameter name; the names are listed if they are known."""
    properties = {name: {"type": "number"} for name in names}
    return {
        "type": "object",
        "description": meaning,
        "properties": properties,
        "additionalProperties": {"type": "number"},
    }


def reason_list(meaning: str) -> Schema:
    numbers, words = {"type": "number"}, {"type": "string"}
    reason = table(
        "one reason",
        {
            "code": text("code of the reason, see docs/troubleshooting.md", CATALOGUE),
            "parameter": text("its subject: a parameter, channel, joint or known constant"),
            "numbers": {
                "type": "object",
                "description": "numbers in the sentence by short names, SI or %",
                "additionalProperties": numbers,
            },
            "words": {
                "type": "object",
                "description": "words in the sentence by short names",
                "additionalProperties": words,
            },
            "text": text("the sentence, with its numbers"),
        },
        ("code", "text"),
    )
    return {"type": "array", "items": reason, "description": meaning}


HEAD: Final[Schema] = {
    "timestamp": number("Unix s of the instant that the message describes"),
    "v": {"type": "integer", "const": VERSION, "description": CHANGES},
    "robot": text("[robot] name"),
    "seq": {
        "type": "integer",
        "minimum": 0,
        "description": "counts up by one per topic; a repeated number is a message that was received before",
    },
    "boot": {"type": "integer", "minimum": 0, "description": "changes when the core restarts; seq then begins again"},
}
JOINT: Final[Schema] = {"joint": text("[joints.NAME]")}
