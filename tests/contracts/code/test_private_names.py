"""A leading underscore stays in its file: neither imported, nor touched on an object of another, nor inherited."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = ("daq", "drivers", "estimators", "hil_rig", "jointwatch_client")  # jointwatch_numba extends numba
# public in spite of their underscore: NamedTuple's and os's; what numba and smtplib offer under no other name
FOREIGN = {"_asdict", "_replace", "_fields", "_make", "_exit", "_cache", "_cache_file", "_source_stamp", "_host"}


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in FOREIGN


def own(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that a file itself gives to something: attributes it sets, functions, classes, annotated fields, slots."""
    found = set()
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name, asname=asname):
                found.add(asname or name)
    return found


NAMED = (ast.Attribute, ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.alias)


def touched(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Private names of other files that a file uses: line, name."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, (*NAMED, ast.ImportFrom))]
    names = own(nodes)
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, one.name) for one in node.names if private(one.name))
        elif isinstance(node, ast.Attribute) and private(node.attr) and node.attr not in names:
            yield node.lineno, node.attr


@pytest.mark.parametrize("package", PACKAGES)
def test_a_leading_underscore_stays_in_its_file(package: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for line, name in touched(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_it_is_found() -> None:
    told = (
        "from a import _b\nclass C:\n    _d = 1\n"
        "    def e(self, f):\n        self._d, self._inherited, f._g, f._replace()\n        f._set = self._own = 1\n"
    )
    assert sorted(name for _, name in touched(ast.parse(told))) == ["_b", "_g", "_inherited", "_set"]
