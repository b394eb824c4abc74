"""Writes plain data as readable TOML: tables after values, a matrix row by row, every number exact."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(data: Mapping[str, Any]) -> str:
    """The text; values are tables, lists, strings, numbers and booleans. Raises ValueError for anything else."""
    return "\n".join(_table((), data)).strip() + "\n"


def _table(path: tuple[str, ...], data: Mapping[str, Any]) -> Iterator[str]:
    values = {key: value for key, value in data.items() if not isinstance(value, Mapping)}
    if path and (values or not data):
        yield f"\n[{'.'.join(map(_key, path))}]"
    for key, value in values.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _table((*path, key), value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML takes no DEL as it is


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        inside = [_value(one) for one in value]
        if value and isinstance(value[0], list | tuple | Mapping):
            return "[\n" + "".join(f"  {one},\n" for one in inside) + "]"
        return f"[{', '.join(inside)}]"
    raise ValueError(f"cannot write {type(value).__name__} as TOML")
