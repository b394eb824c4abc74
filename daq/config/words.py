"""Mistakes in words: where each stands, what was expected, what was found, the nearest valid name."""

import difflib
from pathlib import Path
from typing import Any, NamedTuple


class Problem(NamedTuple):
    """One mistake and where it stands."""

    line: int
    path: str
    text: str  # what was expected, what was found, the nearest valid name

    def __str__(self) -> str:
        return f"{self.line}: {self.path}: {self.text}" if self.path else f"{self.line}: {self.text}"


class ConfigError(Exception):
    """The configuration cannot be used; `problems` holds every mistake found."""

    def __init__(self, file: Path, problems: list[Problem]) -> None:
        self.file = file
        self.problems = sorted(problems)
        super().__init__("\n".join(f"{file}:{problem}" for problem in self.problems))


def path_in_file(schema: dict[str, Any], loc: tuple[int | str, ...]) -> tuple[tuple[int | str, ...], list[str]]:
    """Follow an error's location through the schema: the path as it stands in the file, and the names valid there.

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
    """A mistake that pydantic found; names: those that are valid where it stands."""
    kind, found = mistake["type"], mistake["input"]
    if kind == "extra_forbidden":
        return unknown(str(mistake["loc"][-1]), names)
    if kind == "missing":
        return "expected a value, found none"
    if kind == "union_tag_not_found":
        return f'expected a table with kind = "…", found {_short(found)}'
    if kind == "union_tag_invalid":
        tags = [tag.strip(" '") for tag in mistake["ctx"]["expected_tags"].split(",")]
        return unknown(str(mistake["ctx"]["tag"]), tags, "kind")
    text = str(mistake["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    text = text if text.startswith("expected") else text.replace("Input should be", "expected")
    return f"{text}, found {_short(found)}" if "found" not in text else text


def unknown(name: str, known: list[str], what: str = "key") -> str:
    """A name that is none of the known ones."""
    near = difflib.get_close_matches(name, known, n=1)
    ending = f'; did you mean "{near[0]}"?' if near else ""
    return f'unknown {what} "{name}", expected one of {", ".join(known)}{ending}'


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
