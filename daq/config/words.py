"""Puts mistakes into words: where each is, what was expected, what was found, the nearest valid name."""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

# kind of mistake → what was expected, with what pydantic knows of it
SAID: Final = {
    "union_tag_not_found": 'a table with kind = "…"',
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "greater than or equal to {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "less than or equal to {le:g}",
    "multiple_of": "a multiple of {multiple_of:g}",
    "finite_number": "a finite number",
    "string_too_short": "text of at least {min_length} characters",
    "string_too_long": "text of at most {max_length} characters",
    "none_required": "nothing here",
    "iterable_type": "a list […]",
}
# how a kind of mistake begins → what was expected
BEGINNINGS: Final = {
    "int_": "a whole number",
    "float_": "a number",
    "decimal_": "a number",
    "bool_": "true or false",
    "string_": "text in quotes",
    "path_": "a path in quotes",
    "list_": "a list […]",
    "tuple_": "a list […]",
    "set_": "a list […]",
    "frozen_set_": "a list […]",
    "dict_": "a table { … }",
    "mapping_": "a table { … }",
    "model_": "a table { … }",
}


class ConfigurationProblem(NamedTuple):
    """One mistake and its place."""

    line: int  # from 1; 0: of the whole file
    path: str
    text: str  # what was expected, what was found, the nearest valid name

    def __str__(self) -> str:
        if not self.line:
            return f" {self.text}"
        return f"{self.line}: {self.path}: {self.text}" if self.path else f"{self.line}: {self.text}"


class ConfigError(Exception):
    """The configuration cannot be used; `problems` holds every mistake found."""

    def __init__(self, file: Path, problems: list[ConfigurationProblem]) -> None:
        self.file = file
        self.problems = sorted(problems)
        super().__init__("\n".join(f"{file}:{problem}" for problem in self.problems))


def path_in_file(schema: dict[str, Any], loc: tuple[int | str, ...]) -> tuple[tuple[int | str, ...], list[str]]:
    """Follow an error's location through the schema: returns the path in the file and the names that are valid there.

    pydantic puts the tag of a tagged union into the location; in the file there is no such key.
    """
    definitions = schema.get("$defs", {})
    path: list[int | str] = []
    node: dict[str, Any] = schema
    names: list[str] = []
    for part in loc:
        node = _settle(node, definitions)
        if "discriminator" in node and part in node["discriminator"]["mapping"]:
            node = definitions[node["discriminator"]["mapping"][part].rsplit("/", 1)[-1]]
            continue
        path.append(part)
        names = sorted(node.get("properties", {}))
        node = node.get("properties", {}).get(part) or node.get("items") or node.get("additionalProperties") or {}
        node = node if isinstance(node, dict) else {}
    return tuple(path), names


def _settle(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        return _settle(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    for option in node.get("anyOf", ()):
        if option.get("type") != "null":
            return _settle(option, definitions)
    return node


def in_words(mistake: Any, names: list[str]) -> str:
    """The text of a mistake that pydantic found; names: those that are valid at its place."""
    kind, found, context = mistake["type"], mistake["input"], mistake.get("ctx", {})
    if kind == "extra_forbidden":
        return unknown(str(mistake["loc"][-1]), names)
    if kind == "missing":
        return "expected a value, found none"
    if kind == "union_tag_invalid":
        tags = [tag.strip(" '") for tag in context["expected_tags"].split(",")]
        return unknown(str(context["tag"]), tags, "kind")
    if kind in ("literal_error", "enum"):
        known = re.findall(r"'([^']*)'", str(context["expected"])) or [str(context["expected"])]
        return f"expected {_either(known)}, found {_short(found)}{_nearest(found, known)}"
    if kind in ("value_error", "assertion_error"):
        text = str(mistake["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    else:
        text = f"expected {expected(kind, context)}"
    return f"{text}, found {_short(found)}" if "found" not in text else text


def expected(kind: str, context: Mapping[str, Any]) -> str:
    """What was expected, for every kind of mistake that pydantic knows; context: pydantic's details of this one."""
    if kind == "string_pattern_mismatch":
        return "a name without a dot" if context["pattern"] == "^[^.]+$" else f"text that matches {context['pattern']}"
    if kind in ("too_short", "too_long"):
        most = kind == "too_long"
        number = context["max_length" if most else "min_length"]
        return f"at {'most' if most else 'least'} {number} {'entry' if number == 1 else 'entries'}"
    if kind in SAID:
        return SAID[kind].format(**context)
    return next((words for beginning, words in BEGINNINGS.items() if kind.startswith(beginning)), "another value")


def _nearest(found: Any, known: list[str]) -> str:
    """Which of the known names is nearest to what was found, however far that is."""
    if not isinstance(found, str) or not found or len(known) == 1:
        return ""
    close = difflib.get_close_matches(found, known, n=1)
    if close:
        return f'; did you mean "{close[0]}"?'
    return f'; the nearest is "{difflib.get_close_matches(found, known, n=1, cutoff=0.0)[0]}"'


def _either(known: list[str]) -> str:
    quoted = [f'"{name}"' for name in known]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def unknown(name: str, known: list[str], what: str = "key") -> str:
    """The text of a mistake: a name that is not one of the known names."""
    near = difflib.get_close_matches(name, known, n=1)
    ending = f'; did you mean "{near[0]}"?' if near else ""
    return f'unknown {what} "{name}", expected one of {", ".join(known)}{ending}'


def _short(value: Any) -> str:
    """A value as it would be in TOML, shortened."""
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if value not in ([], ()) else "an empty list"
    return text if len(text) <= 60 else text[:57] + "…"
