"""Reads a mechanism file, links and cuts or a URDF with what closes its loops, and names every mistake at once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from daq.config.toml_file import read_toml, validate_part
from daq.config.toml_lines import Lines
from daq.config.words import ConfigError, ConfigurationProblem, unknown
from estimators.models.mechanisms.description import Cut, Description, DriveResidual, MechanismError, MechanismLink
from estimators.models.mechanisms.mechanism import Mechanism
from estimators.models.mechanisms.urdf_loops import UrdfLoops, describe
from estimators.models.robots.description import RobotError
from estimators.models.robots.files.urdf import read_urdf

LISTS: Final = {"links": MechanismLink, "cuts": Cut, "residuals": DriveResidual}
Mistake = tuple[tuple[str | int, ...], str]


def read_mechanism(file: Path) -> Mechanism:
    """Read a mechanism file. Raises ConfigError with every mistake and its line."""
    data, lines = read_toml(file)
    problems: list[ConfigurationProblem] = []
    read = _read_urdf if "urdf" in data else _read_links
    mechanism = read(data, file, lines, problems)
    if problems or mechanism is None:
        raise ConfigError(file, problems)
    return mechanism


def _read_links(
    data: Mapping[str, Any], file: Path, lines: Lines, problems: list[ConfigurationProblem]
) -> Mechanism | None:
    """A mechanism of links and cuts: each is validated by itself, so that one mistake hides no other."""
    folder = file.resolve().parent
    alone = {key: value for key, value in data.items() if key not in LISTS}
    alone["links"] = [{"name": "any"}]  # what is validated here is all the rest
    validate_part(Description, alone, (), lines, folder, problems)
    for key, kind in LISTS.items():
        listed = data.get(key, [])
        if not isinstance(listed, list) or (key == "links" and not listed):
            text = f"expected at least one [[{key}]] table, found none"
            problems.append(ConfigurationProblem(lines.of((key,)), key, text))
            continue
        for at, one in enumerate(listed):
            validate_part(kind, one, (key, at), lines, folder, problems)
    problems += [_problem(lines, path, text) for path, text in _wrong_names(data)]
    if problems:
        return None
    return _built(Description.model_validate(data), lines, problems)


def _read_urdf(
    data: Mapping[str, Any], file: Path, lines: Lines, problems: list[ConfigurationProblem]
) -> Mechanism | None:
    loops = validate_part(UrdfLoops, data, (), lines, file.resolve().parent, problems)
    try:
        robot = read_urdf(file.parent / str(data["urdf"])).robot
    except OSError as error:
        problems.append(_problem(lines, ("urdf",), f'"{data["urdf"]}" cannot be read: {error.strerror}'))
        return None
    except RobotError as error:
        problems += [_problem(lines, ("urdf",), one) for one in str(error).splitlines()]
        return None
    if loops is None:
        return None
    what = {"drives": "joint", "bearings": "joint", "cuts": "link"}
    for path, name, known in loops.unknown_names(robot):
        problems.append(_problem(lines, path, unknown(name, known, what[str(path[0])])))
    return None if problems else _built(describe(loops, robot), lines, problems)


def _built(description: Description, lines: Lines, problems: list[ConfigurationProblem]) -> Mechanism | None:
    """The mechanism, where it can move and its loops close."""
    try:
        return Mechanism(description)
    except MechanismError as error:
        where = ("cuts",) if description.cuts else ("links",)
        problems += [_problem(lines, where, one) for one in str(error).splitlines()]
        return None


def _wrong_names(data: Mapping[str, Any]) -> Iterator[Mistake]:
    """Names that are given twice or are missing, as far as the tables can be read."""
    above: list[str] = []
    links = [str(one.get("name", "")) for one in _tables(data, "links")]
    known = list(dict.fromkeys(links))
    for at, (one, name) in enumerate(zip(_tables(data, "links"), links, strict=True)):
        parent = one.get("parent", "")
        if name and name in above:
            yield ("links", at, "name"), f'expected a name of its own, found "{name}" twice'
        if isinstance(parent, str) and parent and parent not in above:
            text = f'expected a link that is listed before it, found "{parent}"'
            yield ("links", at, "parent"), text if parent in links else unknown(parent, known, "link")
        above.append(name)
    for at, one in enumerate(_tables(data, "cuts")):
        first, second = (one.get(end) for end in ("link", "other"))
        for end, joined in (("link", first), ("other", second)):
            if isinstance(joined, str) and joined and joined not in links:
                yield ("cuts", at, end), unknown(joined, known, "link")
        if first == second and isinstance(first, str):
            yield ("cuts", at, "other"), f'expected two links, found "{first}" at both ends'
    for at, one in enumerate(_tables(data, "residuals")):
        drive = one.get("drive")
        if isinstance(drive, str) and drive not in links:
            yield ("residuals", at, "drive"), unknown(drive, known, "link")


def _tables(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    listed = data.get(key, [])
    return [one if isinstance(one, Mapping) else {} for one in listed] if isinstance(listed, list) else []


def _problem(lines: Lines, path: tuple[str | int, ...], text: str) -> ConfigurationProblem:
    return ConfigurationProblem(lines.of(path), ".".join(map(str, path)), text)
