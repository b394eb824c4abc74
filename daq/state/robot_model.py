"""The file of a whole robot's model: TOML, written in one go, read with every doubt said."""

from pathlib import Path

from daq.config.load import read_toml
from daq.config.words import ConfigError, Problem
from daq.state.files import replace
from daq.state.toml_text import toml_text
from estimators.models.robots.identified import IdentifiedRobot, ModelError, read

HEADER = "# A whole robot's model, written by `jointwatch identify`; edit what it was identified from, not this.\n\n"


def save(found: IdentifiedRobot, file: Path) -> None:
    """In the place of whatever was there, whole or not at all. Raises BaselineError."""
    replace(file, (HEADER + toml_text(found.document())).encode(), 0o644)


def load_model(file: Path) -> IdentifiedRobot:
    """Raises ConfigError."""
    data, lines = read_toml(file)
    try:
        return read(data)
    except ModelError as error:
        raise ConfigError(file, [Problem(lines.of(()), "", str(error))]) from error
