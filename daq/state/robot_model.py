"""Writes the file of a whole robot's model (TOML); daq/config/robots/robot_model.py reads it."""

from pathlib import Path

from daq.state.files import replace
from daq.state.toml_text import toml_text
from estimators.models.robots.files.identified import IdentifiedRobot

HEADER = "# A whole robot's model, written by `jointwatch identify`; edit what it was identified from, not this.\n\n"


def save(found: IdentifiedRobot, file: Path) -> None:
    """Replace the file as a whole. Raises BaselineError."""
    replace(file, (HEADER + toml_text(found.document())).encode(), 0o644)
