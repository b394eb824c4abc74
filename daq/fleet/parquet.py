"""Writes a fleet's results into a Parquet file: a row for every quantity of every joint of every recording."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from daq.fleet.comparison import JudgedQuantity
from daq.fleet.examine import ExaminedRecording
from daq.fleet.verdict import in_order

TEXTS: Final = (
    "robot", "address", "problem", "joint", "model", "phase", "status", "reasons", "quantity", "unit",
)  # fmt: skip
COUNTS: Final = ("samples", "lost", "alarms", "refits", "refused", "robots")
NUMBERS: Final = (
    "began", "seconds", "error", "value", "deviation", "robot_value", "robots_median", "z", "change", "change_z",
    "threshold",
)  # fmt: skip


def write(file: Path, found: Iterable[ExaminedRecording], judged: Iterable[JudgedQuantity]) -> None:
    """Write the file. Raises ImportError without pyarrow, OSError."""
    import pyarrow
    from pyarrow import parquet

    known = {(one.robot, one.joint, one.quantity): one for one in judged}
    table = [row for one in in_order(found) for row in rows(one, known)]
    kinds = {name: pyarrow.string() for name in TEXTS} | {name: pyarrow.int64() for name in COUNTS}
    kinds |= {name: pyarrow.float64() for name in NUMBERS} | dict.fromkeys(("odd", "drifts"), pyarrow.bool_())
    parquet.write_table(pyarrow.Table.from_pylist(table, pyarrow.schema(list(kinds.items()))), file, compression="zstd")


def rows(one: ExaminedRecording, judged: Mapping[tuple[str, str, str], JudgedQuantity]) -> list[dict[str, Any]]:
    """The rows of one recording; a recording without joints is one row with its problem."""
    whole = {"robot": one.robot, "address": one.address, "problem": one.problem or None, "seconds": one.seconds}
    whole |= {"began": _known(one.began)}
    found = []
    for joint in one.joints:
        mine = {name: getattr(joint, name) for name in ("joint", "model", "phase", "status", "reasons", "samples")}
        mine |= {name: getattr(joint, name) for name in ("lost", "alarms", "refits", "refused")}
        mine |= {"error": _known(joint.error)}
        for quantity in joint.quantities:
            row = whole | mine | {"quantity": quantity.name, "unit": quantity.unit}
            row |= {"value": _known(quantity.value), "deviation": _known(quantity.deviation)}
            verdict = judged.get((one.robot, joint.joint, quantity.name))
            if verdict is not None:
                row |= {"robot_value": verdict.value, "robots_median": verdict.median, "robots": verdict.siblings}
                row |= {name: _known(getattr(verdict, name)) for name in ("z", "change", "change_z", "threshold")}
                row |= {"odd": verdict.odd, "drifts": verdict.drifts}
            found.append(row)
    return found or [whole]


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
