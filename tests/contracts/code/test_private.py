"""What begins with an underscore is its file's own business."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# what another library offers under such a name, where it has no other
LIBRARIES = {"_replace", "_fields", "_asdict", "_cache", "_cache_file", "_source_stamp"}


def reached(source: str) -> Iterator[str]:
    """Attributes with a leading underscore that a file touches, and neither sets on self nor defines."""
    tree = ast.parse(source)
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            own.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                own.add(node.attr)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            own |= {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr) and node.attr not in own | LIBRARIES:
            yield f"line {node.lineno}: .{node.attr}"
        if isinstance(node, ast.ImportFrom):
            yield from (f"line {node.lineno}: import {one.name}" for one in node.names if private(one.name))


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("package", ["estimators"])
def test_no_file_touches_a_private_attribute_of_another(package: str) -> None:
    found = [
        f"{file.relative_to(ROOT)} {place}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for place in reached(file.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_one_that_does_is_found() -> None:
    source = "from a import _b\nclass C:\n    def __init__(self):\n        self._mine = 1\n    def f(self, d):\n"
    source += "        return self._mine + d._mine + self._base + d._other\n"
    assert sorted(reached(source)) == ["line 1: import _b", "line 6: ._base", "line 6: ._other"]
