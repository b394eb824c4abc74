"""A class name has one meaning: it is declared once in the whole tree."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = ("daq", "drivers", "estimators", "hil_rig", "jointwatch_client", "jointwatch_numba")
SAME = {"Subscriber"}  # daq's is the client's, with a priority


def test_a_class_name_is_declared_once() -> None:
    places = defaultdict(list)
    for file in (one for package in PACKAGES for one in sorted((ROOT / package).rglob("*.py"))):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in SAME} == {}
