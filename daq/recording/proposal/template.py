"""Makes a table to fill in for a recording whose names do not identify the quantities: its columns, times, one
joint."""

from pathlib import Path
from typing import Final

import numpy as np

from daq.recording.proposal.clock import rising_column
from daq.recording.proposal.contents import Contents
from daq.recording.questions import ASK
from daq.recording.reader import RecordingError
from daq.state.toml_text import toml_text

LISTED: Final = 60  # largest number of columns
JOINT: Final = (
    f"# [joints.joint1]  # {ASK}a table like this one for each joint, under a name of yours; remove the # in front",
    '# position = { column = "COLUMN", unit = "rad" }  # or "deg", "rev", "m", …',
    '# torque = { column = "COLUMN", unit = "N·m" }  # or current = { column = "COLUMN", scale = N·m for 1 A }',
)


class UnnamedQuantitiesError(RecordingError):
    """The names of a recording do not identify the quantities; it contains the reason and a table to fill in."""

    def __init__(self, why: str, by_hand: str, template: str) -> None:
        super().__init__(f"{why}; {by_hand}")
        self.why, self.template = why, template


def template(file: Path, contents: Contents) -> str:
    """Return a table with all that is known: every column with its range, and the column that rises like times."""
    rows = max(max(one.shape) for one in contents.table.values())
    width = min(40, max(map(len, contents.table)))
    lines = [f"# The columns of {file.name}, {rows} rows. The table is used once what is marked ASK is answered."]
    for name, one in list(contents.table.items())[:LISTED]:
        least, most = float(np.nanmin(one)), float(np.nanmax(one))
        moves = f"from {least:.6g} to {most:.6g}" if most > least else f"always {least:.6g}"
        lines.append(f"#   {' '.join(name.split()):{width}}  {moves}")
    clock = rising_column(contents.table, rows, contents.units)
    if clock is None:
        lines.append(f"rate = 1000.0  # {ASK}no column rises as times do: say the rate of the rows in Hz")
    else:
        lines.append(f"{toml_text({'time': clock.column}).strip()}  # {ASK}the times? It rises evenly in every row")
        lines.append(f'time_unit = "{clock.unit}"  # {ASK}{clock.reason or "taken for seconds by its steps"}')
    return "\n".join([*lines, "", *JOINT]) + "\n"
