"""The table of a fleet's results: a row for every quantity of every joint of every recording."""

import math
from pathlib import Path

import pytest

from daq.fleet.comparison import JudgedQuantity
from daq.fleet.examine import ExaminedRecording, JointFound, RecordedQuantity
from daq.fleet.parquet import COUNTS, NUMBERS, TEXTS, rows, write

TOLD = (RecordedQuantity("inertia", "kg·m²", 2.0, 0.1), RecordedQuantity("delay.torque", "s", 0.001, math.nan))
JOINT = JointFound("elbow", "rigid", "normal", "valid", "r", 1000, 7, 0.03, 1, 2, 3, TOLD)
WHOLE = ExaminedRecording("/x/1.npz", "arm1", math.nan, 20.0, (JOINT, JOINT._replace(joint="base", error=math.nan)), "")
BROKEN = ExaminedRecording("/x/2.npz", "arm1", 5.0, 0.0, (), "it is none")
JUDGED = JudgedQuantity("arm1", "elbow", "inertia", "kg·m²", 2.1, 0.2, 4, 9, 2.2, 5.0, -0.3, math.nan, 4.0)


def test_a_row_has_the_recording_the_joint_the_quantity_and_what_is_judged_of_it() -> None:
    first, delay, *others = rows(WHOLE, {("arm1", "elbow", "inertia"): JUDGED})
    recording = {"robot": "arm1", "address": "/x/1.npz", "problem": None, "seconds": 20.0, "began": None}
    joint = {
        "joint": "elbow", "model": "rigid", "phase": "normal", "status": "valid", "reasons": "r", "samples": 1000,
        "lost": 7, "alarms": 1, "refits": 2, "refused": 3, "error": 0.03,
    }  # fmt: skip
    quantity = {"quantity": "inertia", "unit": "kg·m²", "value": 2.0, "deviation": 0.1}
    verdict = {
        "robot_value": 2.1, "robots_median": 2.2, "robots": 9, "z": 5.0, "change": -0.3, "change_z": None,
        "threshold": 4.0, "odd": True, "drifts": False,
    }  # fmt: skip
    assert first == recording | joint | quantity | verdict
    known = {"quantity": "delay.torque", "unit": "s", "value": 0.001, "deviation": None}
    assert delay == recording | joint | known, "it was not judged"
    assert [(one["joint"], one["quantity"], one["error"]) for one in others] == [
        ("base", "inertia", None), ("base", "delay.torque", None),
    ]  # fmt: skip


def test_a_recording_without_joints_is_one_row_with_its_problem() -> None:
    told = {"robot": "arm1", "address": "/x/2.npz", "problem": "it is none", "seconds": 0.0, "began": 5.0}
    assert rows(BROKEN, {}) == [told]


def test_the_file_has_every_row_in_order_and_every_column_of_its_kind(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install 'jointwatch[parquet]'")
    write(tmp_path / "fleet.parquet", [BROKEN, WHOLE], [JUDGED])
    table = parquet.read_table(tmp_path / "fleet.parquet")
    kinds = {name: str(kind) for name, kind in zip(table.column_names, table.schema.types, strict=True)}
    assert kinds == (
        dict.fromkeys(TEXTS, "string") | dict.fromkeys(COUNTS, "int64") | dict.fromkeys(NUMBERS, "double")
        | {"odd": "bool", "drifts": "bool"}
    )  # fmt: skip
    read = table.to_pylist()
    assert [one["address"] for one in read] == ["/x/1.npz"] * 4 + ["/x/2.npz"], "one that knows no time comes first"
    wanted = rows(WHOLE, {("arm1", "elbow", "inertia"): JUDGED}) + rows(BROKEN, {})
    assert [{name: value for name, value in one.items() if value is not None} for one in read] == [
        {name: value for name, value in one.items() if value is not None} for one in wanted
    ]
