"""Plain data as TOML: what is read back is the same to the bit, and a person can read it, too."""

import math
import tomllib

import numpy as np
import pytest

from daq.state.toml_text import toml_text

MODEL = {
    "format": "robot",
    "version": 2,
    "guessed": False,
    "empty": {},
    "robot": {"name": "arm", "gravity": [0.0, 0.0, -9.81], "couplings": [{"of": "a", "to": "b", "ratio": -1.5}]},
    "joints": {
        "elbow": {"axis": "rotary", "friction": {"exponent": 1.0}},
        "épaule 1": {"unit": "N·m", "placement": [[1.0, 0.0]]},
    },
    "last": 1,
}
TEXT = """format = "robot"
version = 2
guessed = false
last = 1

[empty]

[robot]
name = "arm"
gravity = [0.0, 0.0, -9.81]
couplings = [
  { of = "a", to = "b", ratio = -1.5 },
]

[joints.elbow]
axis = "rotary"

[joints.elbow.friction]
exponent = 1.0

[joints."épaule 1"]
unit = "N·m"
placement = [
  [1.0, 0.0],
]
"""


def test_a_person_reads_values_then_tables_and_a_matrix_row_by_row() -> None:
    assert toml_text(MODEL) == TEXT
    assert tomllib.loads(TEXT) == MODEL


@pytest.mark.parametrize(
    "value",
    [
        *(0.1 + 0.2, -0.0, 5e-324, 1.7976931348623157e308, 1e16, 1e22, math.inf, -math.inf, 1 / 3),
        *(0, -7, 10**17, True, False, [], [1, 2], [[]], [[1.0, 2.0], [3.0, 4.0]], ["a", 'b"\\\n'], [True]),
        *("", 'say "no"', "back\\slash", "two\nlines", "tab\t", "N·m·s/rad", "ω₁", "\x01", "\x7f"),
        *([{"a": 1, "b c": "x"}, {"a": 2, "b c": "y"}], [{"a": [1.0, 2.0]}]),
    ],
)  # fmt: skip
def test_what_is_read_back_is_the_same_to_the_bit(value: object) -> None:
    [read] = tomllib.loads(toml_text({"x": value})).values()
    assert repr(read) == repr(value)
    assert tomllib.loads(toml_text({"a table": {"x": value}})) == {"a table": {"x": value}}


def test_every_double_comes_back() -> None:
    values = np.random.default_rng(1).integers(0, 2**64, 500, np.uint64).view(np.float64)
    read = tomllib.loads(toml_text({"x": values.tolist()}))["x"]
    np.testing.assert_array_equal(np.array(read), values)


@pytest.mark.parametrize("key", ["a b", "ω", "", "a.b", 'a"b', "-", "_9", "\x7f"])
def test_any_name_may_be_a_key(key: str) -> None:
    data = {key: 1, "t": {key: {key: 2, "in": [{key: 3}]}}}
    assert tomllib.loads(toml_text(data)) == data


def test_what_toml_cannot_say_is_refused() -> None:
    for value in (None, b"bytes", {1}, [None]):
        with pytest.raises(ValueError, match=r"^cannot write (NoneType|bytes|set) as TOML$"):
            toml_text({"x": value})
