"""The types of the stream in TypeScript, made from its JSON Schema."""

import json
import textwrap
from collections.abc import Iterator
from typing import Final

from daq.stream.schema import TOPICS, schema
from daq.stream.schema.fields import Schema

WIDTH: Final = 116
HEAD: Final = """\
// The messages of jointwatch's stream. Made by `jointwatch schema --as typescript`; never changed by hand.
// Over ZeroMQ a message is two frames, [topic][msgpack map]; a number that is not known is NaN there, and left out or
// null in JSON. A field with a question mark may be missing.
"""


def type_name(family: str) -> str:
    """The name of a family's type: lost_motion/ is LostMotion, robot/parameters is RobotParameters."""
    return "".join(word.capitalize() for word in family.replace("/", "_").split("_") if word)


def typescript() -> str:
    """The text of the declaration file."""
    lines = [HEAD]
    for family in TOPICS:
        body = schema(family)
        lines += _comment(f"{family}{'NAME' if family.endswith('/') else ''}: {body['description']}", "")
        lines += [f"export interface {type_name(family)} {{", *_fields(body, "  "), "}", ""]
    lines += ["/** Topic → type of its messages. */", "export interface Topics {"]
    prefixes, whole = [name for name in TOPICS if name.endswith("/")], [n for n in TOPICS if not n.endswith("/")]
    lines += [f'  "{family}": {type_name(family)};' for family in whole]
    lines += [f"  [topic: `{family}${{string}}`]: {type_name(family)};" for family in prefixes if family != "robot/"]
    lines += ["}", "", "/** A message with its topic, distinguished by it. */"]
    lines += ["export type Message = Topics[keyof Topics];", ""]
    return "\n".join(lines)


def _fields(body: Schema, indent: str) -> Iterator[str]:
    required = body.get("required", ())
    for name, one in body["properties"].items():
        if text := one.get("description"):
            yield from _comment(text, indent)
        yield f"{indent}{name}{'' if name in required else '?'}: {_type(one, indent)};"


def _type(one: Schema, indent: str) -> str:
    """The type of one field, several lines where it is an object."""
    if "const" in one:
        return json.dumps(one["const"])
    if "enum" in one:
        return " | ".join(json.dumps(value) for value in one["enum"])
    match one["type"]:
        case "array":
            return f"Array<{_type(one['items'], indent)}>"
        case "object" if not isinstance(one.get("additionalProperties"), dict):
            return "\n".join(["{", *_fields(one, f"{indent}  "), f"{indent}}}"])
        case "object":
            return f"Record<string, {_type(one['additionalProperties'], indent)}>"
        case "integer" | "number":
            return "number"
        case kind:
            return str(kind)


def _comment(text: str, indent: str) -> list[str]:
    text = text.replace("*/", "* /")
    if len(text) + len(indent) + 7 <= WIDTH:
        return [f"{indent}/** {text} */"]
    lines = textwrap.wrap(text, WIDTH - len(indent) - 3, break_long_words=False, break_on_hyphens=False)
    return [f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"]
