"""What machine code is made from: every kernel, and every name of a module that one uses, directly or not."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from .processes.trees import ROOT

PACKAGES: Final = ("daq", "drivers", "estimators", "hil_rig", "jointwatch_client", "jointwatch_numba")
DECORATORS: Final = frozenset({"kernel", "inline", "inline_always"})
Name = tuple[str, str]  # of a file, and what the file's module calls so


def is_compiled(file: str, line: int, root: Path = ROOT) -> bool:
    """Whether a change there changes machine code."""
    return any(
        (file, name) in compiled(root)
        for statement in ast.parse((root / file).read_bytes()).body
        if statement.lineno <= line <= (statement.end_lineno or line)
        for name in _bound(statement)
    )


@cache
def compiled(root: Path) -> frozenset[Name]:
    """Names whose definition cannot change without compiling something again."""
    modules = {
        str(file.relative_to(root)): ast.parse(file.read_bytes())
        for package in PACKAGES
        for file in sorted((root / package).rglob("*.py"))
    }
    uses: dict[Name, set[Name]] = {}
    found: set[Name] = set()
    for file, tree in modules.items():
        imported = dict(_imported(tree, root))
        for statement in tree.body:
            for name in _bound(statement):
                here = uses.setdefault((file, name), set())
                here |= set(_used(file, statement, imported, root))
                if any(_is_kernel(node) for node in ast.walk(statement)):
                    found.add((file, name))
        uses |= {(file, name): {origin} for name, origin in imported.items() if (file, name) not in uses}
    todo = list(found)
    while todo:
        for used in uses.get(todo.pop(), set()) - found:
            found.add(used)
            todo.append(used)
    return frozenset(found)


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _is_kernel(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    plain = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
    return any(isinstance(one, ast.Name) and one.id in DECORATORS for one in plain)


def _used(file: str, statement: ast.stmt, imported: dict[str, Name], root: Path) -> Iterator[Name]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            yield file, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            origin, part = imported[node.value.id]
            yield _file(f"{_module(origin)}.{part}", root) or origin, node.attr


def _imported(tree: ast.Module, root: Path) -> Iterator[tuple[str, Name]]:
    """What a name of the module is where it comes from; for a module: the folder's, and its name in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                origin = _file(node.module, root)
                if origin:
                    yield one.asname or one.name, (origin, one.name)


def _file(module: str, root: Path) -> str | None:
    """A package without an __init__.py stands for itself: its members are looked for in it."""
    place = Path(*module.split("."))
    found = (one for one in (place.with_suffix(".py"), place / "__init__.py") if (root / one).is_file())
    return next(map(str, found), None)


def _module(file: str) -> str:
    return ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")
