"""No mistake is told in the validator's own words, whatever stands in whichever key."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic_core.core_schema import ErrorType

from daq.config.load import check
from daq.config.toml_file import read_toml
from daq.config.words import ConfigError, expected

TEMPLATE = Path(__file__).parents[3] / "daq" / "jointwatch.toml"
MORE = """
[robot]
state = "here"
[recorder]
folder = "recordings"
[drivers.more]
kind = "can"
interface = "virtual"
channel = "x"
limits = true
options = { port = 5 }
layouts = [{ kind = "odrive", name = "a", node = 1 }, { kind = "cia402", name = "b", node = 2 }]
[[drivers.more.frames]]
name = "F"
id = 7
counter = "c"
checksum = { signal = "s", kind = "crc8_sae_j1850", suffix = [1] }
signals.c = { start = 0, bits = 8 }
signals.s = { start = 8, bits = 8 }
signals.v = { start = 16, bits = 16, unit = "counts", counts_per_rev = 10, multiplexer = "c", when = [1] }
[drivers.port]
kind = "serial"
port = "/dev/ttyUSB7"
framing = { kind = "slip", start = [1, 2] }
[[drivers.port.packets]]
name = "P"
id = 1
fields = [{ name = "f", type = "i16", unit = "%", rated = 3.0, rated_unit = "A" }]
[joints.slide]
rate = 100
model = { kind = "two_mass", gear = 100.0, inertia_motor = 1e-4, inertia_link = 2.0 }
forgetting = { kind = "alarm" }
conditioning = {}
monitor = { refit = { bounds = { omega_tanh = [0.1, 0.3] } } }
drift = { percent = 3 }
channels = { position = { signal = "port.P.f", delay = 0.1, wrap = 6.28 }, torque = { signal = "port.P.f", scale = 2 } }
"""
RAW = re.compile(
    r"[Ii]nput should|[Tt]uple|should (have|be|match)|[Ll]ist should|instance of|dictionary|NoneType|"
    r"another value|Extra inputs|valid (string|integer|number|boolean)|pydantic|Value error|\bStr\b|Field required"
)
WRONG: tuple[Any, ...] = ("nonsense", "", -1, 1e300, float("nan"), True, [], {"x": 1})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every key and element of nested tables."""
    for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(inside, dict | list):
            yield from places(inside, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy of the value with something else in the place that the path leads to."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def table_of(data: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    """The one table that a path is in: the others would be checked again and again."""
    section = data[path[0]]
    return {path[0]: {path[1]: section[path[1]]} if len(path) > 2 else section}


def test_every_wrong_value_in_every_place_is_reported_in_our_words(tmp_path: Path) -> None:
    text = TEMPLATE.read_text() + MORE.replace("[robot]\nstate", "[robots]\nstate")
    file = tmp_path / "jointwatch.toml"
    file.write_text(text)
    data, lines = read_toml(file)
    data["robot"]["state"] = "here"
    del data["robots"]
    told: set[str] = set()
    for path in places(data):
        for new in WRONG:
            try:
                check(table_of(replaced(data, path, new), path), file, lines)
            except ConfigError as error:
                told |= {problem.text for problem in error.problems}
            except (ArithmeticError, TypeError, KeyError, AttributeError) as error:
                pytest.fail(f"{path} = {new!r}: {error!r}")
    raw = sorted(text for text in told if RAW.search(re.sub(r"found .*", "", text)))
    assert raw == []
    assert len(told) > 100
    assert all("expected" in text or "found" in text or "unknown" in text or "needs" in text for text in told)


@pytest.mark.parametrize("kind", get_args(ErrorType))
def test_every_kind_of_mistake_that_pydantic_knows_has_words(kind: str) -> None:
    context = dict.fromkeys(("gt", "ge", "lt", "le", "multiple_of"), 3.0) | {
        "min_length": 1, "max_length": 2, "pattern": "^[^.]+$", "expected": "'a' or 'b'",
    }  # fmt: skip
    text = expected(kind, context)
    assert text
    assert not re.search(r"[Ii]nput|should|valid|_|\{[a-z]", text)
