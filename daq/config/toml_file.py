"""Reads a TOML file and validates what is in it; every mistake gets the line on which it stands."""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from daq.config.checks import unusable
from daq.config.toml_lines import Lines
from daq.config.words import ConfigError, ConfigurationProblem, in_words, path_in_file
from drivers.catalogue import AnyDriver

LARGEST: Final = 1_000_000  # bytes of a configuration
OF_MECHANISM: Final = frozenset(("links", "cuts", "urdf"))  # keys that only a mechanism file has
Model = TypeVar("Model", bound=BaseModel)


def read_toml(file: Path) -> tuple[dict[str, Any], Lines]:
    """The tables of a TOML file, and the line of each key. Raises ConfigError."""
    try:
        with file.open("rb") as stream:
            raw = stream.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise ConfigError(
                file, [ConfigurationProblem(1, "", f"expected a configuration, found more than {LARGEST} bytes")]
            )
        text = raw.decode("utf-8").replace("\r\n", "\n")
        data = tomllib.loads(text)
        lines = Lines(text)
    except OSError as error:
        raise ConfigError(file, [ConfigurationProblem(0, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(file, [ConfigurationProblem(1, "", f"expected UTF-8 text: {error.reason}")]) from error
    except tomllib.TOMLDecodeError as error:
        line = error.lineno if hasattr(error, "lineno") else _line_in(str(error))
        raise ConfigError(file, [ConfigurationProblem(line, "", f"not valid TOML: {error}{_other(file)}")]) from error
    except (RecursionError, ValueError) as error:  # a path with NUL in it, or tables in tables in tables …
        reason = "tables or lists are nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ConfigError(file, [ConfigurationProblem(1, "", f"cannot be read: {reason}")]) from error
    problems = [ConfigurationProblem(lines.of(path), ".".join(path), words) for path, words in unusable(data)]
    if problems:
        raise ConfigError(file, problems)
    return data, lines


def is_mechanism(file: Path) -> bool:
    """Whether a .toml describes a mechanism. Raises ConfigError where it cannot be read."""
    return file.suffix.lower() == ".toml" and bool(OF_MECHANISM & read_toml(file)[0].keys())


def validate(kind: type[Model], data: Mapping[str, Any], file: Path, lines: Lines) -> Model:
    """Validate a whole TOML file as one model. Raises ConfigError with every mistake found."""
    problems: list[ConfigurationProblem] = []
    found = validate_part(kind, data, (), lines, file.resolve().parent, problems)
    if problems:
        raise ConfigError(file, problems)
    return cast(Model, found)


def validate_part(
    kind: Any, value: Any, path: tuple[str | int, ...], lines: Lines, folder: Path, problems: list[ConfigurationProblem]
) -> Any:
    """Validate what stands at a path of a file; its mistakes go to `problems`, and then there is None."""
    try:
        return _adapter(kind).validate_python(value, context={"folder": folder})
    except ValidationError as error:
        schema = {} if kind is AnyDriver else _schema(kind)
        for mistake in error.errors(include_url=False):
            inside, names = path_in_file(schema, mistake["loc"])
            where = (*path, *inside)
            problems.append(ConfigurationProblem(lines.of(where), ".".join(map(str, where)), in_words(mistake, names)))
        return None


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@functools.cache  # 30 ms each, and wanted for every wrong table
def _schema(kind: Any) -> dict[str, Any]:
    return _adapter(kind).json_schema()


def _other(file: Path) -> str:
    """What a file probably is that is no TOML, by its ending, and how a configuration is made."""
    kind = file.suffix.lower()
    if kind in ("", ".toml"):
        return ""
    made = (
        f"jointwatch init --from {file}"
        if kind in (".dbc", ".kcd", ".arxml", ".sym", ".urdf", ".csv")
        else "jointwatch init"
    )
    return f"; expected a configuration (.toml), found {kind}: {made} makes one"


def _line_in(message: str) -> int:
    words = message.replace(",", " ").split()
    return int(words[words.index("line") + 1]) if "line" in words else 1
