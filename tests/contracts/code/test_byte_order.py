"""Bytes from wires, files and other processes have a stated order and packing, whatever machine reads them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = ("daq", "drivers", "estimators", "hil_rig", "jointwatch_client", "jointwatch_numba")
STRUCTS = {"Struct", "calcsize", "iter_unpack", "pack", "pack_into", "unpack", "unpack_from"}
STATED = tuple("<>=!@")  # @: what the machine's own kernel takes, such as an ifreq
ONE_BYTE = {"u1", "i1", "b1", "S1", "|u1"}


def unstated(text: str) -> Iterator[int]:
    """Lines with a format of several bytes that leaves their order to the machine."""
    if not any(name in text for name in (*STRUCTS, "frombuffer")):  # most files: parsing one costs far more
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        formats: list[ast.expr] = []
        if node.func.attr in STRUCTS:
            formats = node.args[:1]
        elif node.func.attr == "frombuffer":
            formats = node.args[1:2] + [one.value for one in node.keywords if one.arg == "dtype"]
        for one in formats:
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                stated = one.value.startswith(STATED) or one.value in ONE_BYTE
            elif isinstance(one, ast.JoinedStr):  # f"{order}…": the order comes first
                first = one.values[0]
                stated = isinstance(first, ast.FormattedValue) or str(getattr(first, "value", "")).startswith(STATED)
            else:
                continue
            if not stated:
                yield node.lineno


@pytest.mark.parametrize("package", PACKAGES)
def test_every_format_states_its_byte_order(package: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for line in unstated(file.read_text(encoding="utf-8"))
    ]
    assert found == [], "begin the format with < or >, or with @ where the machine's own kernel takes it"


@pytest.mark.parametrize(
    "text",
    ["struct.pack('I', 1)", "struct.unpack_from('2H', b, 4)", "np.frombuffer(b, 'u4')", "struct.unpack(f'4{kind}', b)"],
)
def test_what_is_not_stated_is_found(text: str) -> None:
    assert list(unstated(text)) == [1]
