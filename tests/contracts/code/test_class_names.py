"""A class name has one meaning: it is declared once in the whole tree."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = ("daq", "drivers", "estimators", "hil_rig", "jointwatch_client", "jointwatch_numba")
SAME = {"Subscriber"}  # daq's is the client's, with a priority
CLASS = re.compile(r"^ *class (\w+)", re.MULTILINE)  # in a docstring, too


def test_a_class_name_is_declared_once() -> None:
    texts = [one.read_text("utf-8") for package in PACKAGES for one in sorted((ROOT / package).rglob("*.py"))]
    maybe = defaultdict(list)
    for text in texts:
        for name in CLASS.findall(text):
            maybe[name].append(text)
    assert len(maybe) > 900, "it reads something"
    twice = {name: inside for name, inside in maybe.items() if len(inside) > 1 and name not in SAME}
    assert {name for name, inside in twice.items() if sum(declared(text, name) for text in {*inside}) > 1} == set()


def declared(text: str, name: str) -> int:
    """How often a program declares a class of this name."""
    return sum(isinstance(node, ast.ClassDef) and node.name == name for node in ast.walk(ast.parse(text)))
