"""The types of the stream in Python, made from its JSON Schema: the module jointwatch_client/messages.py."""

import json
import keyword
import textwrap
from typing import Final

from daq.commands.schema.typescript import type_name
from daq.stream.schema import TOPICS, schema
from daq.stream.schema.fields import HEAD as OF_EVERY_MESSAGE
from daq.stream.schema.fields import JOINT as OF_A_JOINT
from daq.stream.schema.fields import Schema

WIDTH: Final = 120
HEAD: Final = '''\
"""The messages of the stream as types. Made by `jointwatch schema --as python`; never changed by hand.

A number that is not known is NaN. A key that is NotRequired may be missing.
"""

from typing import Final, Literal, NotRequired, TypedDict

from jointwatch_client.family import Family
'''


def typed_dicts() -> str:
    """The text of the module, as ruff formats it."""
    module = _Module()
    module.base("StreamMessage", "what every message has", OF_EVERY_MESSAGE, "TypedDict")
    module.base("JointMessage", "what every message of a joint has", OF_A_JOINT, "StreamMessage")
    names = {family: module.typed_dict(f"{type_name(family)}Message", schema(family)) for family in TOPICS}
    families = [f'{_constant(family)}: Final = Family[{name}]("{family}")' for family, name in names.items()]
    public = sorted([*module.names, *map(_constant, TOPICS)], key=lambda name: (not name.isupper(), name))
    exported = "\n".join(["__all__ = [", *(f'    "{name}",' for name in public), "]"])
    return "\n\n\n".join([f"{HEAD}\n{exported}", *module.blocks, "\n".join(families)]) + "\n"


def _constant(family: str) -> str:
    return family.rstrip("/").replace("/", "_").upper()


class _Module:
    """The module's types, in an order in which each is defined before it is used."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.names: list[str] = []
        self._known: list[tuple[Schema, str]] = []  # of enumerations and objects that have a name already
        self._bases: list[tuple[Schema, str]] = []  # fields and name, those with the fewest fields first

    def base(self, name: str, text: str, fields: Schema, parent: str) -> None:
        """Write a type whose fields others inherit; it adds fields to those of its parent."""
        inherited = next((known for known, its_name in self._bases if its_name == parent), {})
        self.typed_dict(name, {"description": text, "properties": inherited | fields, "required": list(fields)})
        self._bases.append((inherited | fields, name))

    def typed_dict(self, name: str, body: Schema) -> str:
        """Write the type of an object, after those of its fields; returns its name."""
        fields, required, parent = body["properties"], body.get("required", ()), "TypedDict"
        whole = any(keyword.iskeyword(key) for key in fields)  # such a field has no place in a class
        for inherited, base in self._bases:
            if not whole and inherited.items() <= body["properties"].items():  # the last that fits has the most
                fields, parent = {key: one for key, one in body["properties"].items() if key not in inherited}, base
        types = {key: self._type(name, key, one) for key, one in fields.items()}
        types = {key: kind if key in required else f"NotRequired[{kind}]" for key, kind in types.items()}
        if whole:
            head, foot = f'{name} = TypedDict(\n    "{name}",\n    {{', "    },\n)"
            form, indent = '"{}": {},', " " * 8
        else:
            head, foot, form, indent = f"class {name}({parent}):", "", "{}: {}", " " * 4
        lines = [head] if foot else [head, *_docstring(body["description"]), ""]
        for key, kind in types.items():
            if text := fields[key].get("description"):
                lines += textwrap.wrap(
                    text, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ", break_on_hyphens=False
                )
            lines.append(indent + form.format(key, kind))
        return self._add(name, "\n".join(lines + [foot] * bool(foot)), body)

    def _add(self, name: str, text: str, body: Schema) -> str:
        self.names.append(name)
        self.blocks.append(text)
        self._known.append((body, name))
        return name

    def _type(self, parent: str, key: str, one: Schema) -> str:
        """The type of one field."""
        name = parent + type_name(key)
        for known, its_name in self._known:
            if known == one:
                return its_name
        if "const" in one:
            return f"Literal[{json.dumps(one['const'])}]"
        if "enum" in one:
            values = "".join(f"    {json.dumps(value)},\n" for value in one["enum"])
            return self._add(name, f"{name} = Literal[\n{values}]", one)
        match one["type"]:
            case "array":
                return f"list[{self._type(parent, _singular(key), one['items'])}]"
            case "object" if not isinstance(one.get("additionalProperties"), dict):
                return self.typed_dict(name, one)
            case "object":
                return f"dict[str, {self._type(parent, _singular(key), one['additionalProperties'])}]"
            case kind:
                return {"number": "float", "integer": "int", "string": "str", "boolean": "bool"}[kind]


def _singular(key: str) -> str:
    return key.removesuffix("s")


def _docstring(text: str) -> list[str]:
    text = text[0].upper() + text[1:]
    return textwrap.wrap(f'"""{text}."""', WIDTH, initial_indent="    ", subsequent_indent="    ")
