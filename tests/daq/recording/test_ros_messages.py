"""Messages of ROS 2 by their definition, against what the official library wrote."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcap.reader import make_reader
from mcap_ros2.writer import Writer

from daq.recording.ros_messages import Definition

BETWEEN = "=" * 80


def written(folder: Path, text: str, message: SimpleNamespace) -> bytes:
    """The message's bytes."""
    with (folder / "x.mcap").open("wb") as stream:
        writer = Writer(stream)
        schema = writer.register_msgdef("a_msgs/msg/A", text)
        writer.write_message("/a", schema, message, log_time=1, publish_time=1)
        writer.finish()
    with (folder / "x.mcap").open("rb") as stream:
        [(_, _, found)] = make_reader(stream).iter_messages()
    return found.data


NUMBERS: dict[str, list[Any]] = {
    "bool": [True, False],
    "byte": [200, 1],
    "char": [100, 1],
    "int8": [-100, 5],
    "uint8": [200, 7],
    "int16": [-30_000, 9],
    "uint16": [60_000, 3],
    "int32": [-2_000_000_000, 4],
    "uint32": [4_000_000_000, 1],
    "int64": [-(1 << 62), 8],
    "uint64": [(1 << 63) + 5, 2],
    "float32": [0.5, -1.25],
    "float64": [0.1, -1e300],
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("before", [0, 1, 2, 3, 5, 7])
def test_every_kind_of_number_is_found_wherever_it_stands(tmp_path: Path, kind: str, before: int) -> None:
    """Alone, so many of it, and as many as it says; each on a multiple of its size."""
    fields = ("uint8[] pad", f"{kind} one", "uint8 between", f"{kind}[2] two", "uint8 again", f"{kind}[] some")
    text = "\n".join((*fields, f"{kind}[] none", "uint8 last"))
    values = NUMBERS[kind]
    told: dict[str, Any] = {"pad": list(range(before)), "one": values[0], "between": 7, "two": values, "again": 8}
    told |= {"some": [*values, values[0]], "none": [], "last": 9}
    data = written(tmp_path, text, SimpleNamespace(**told))
    found = Definition(text).decode(data)
    assert {name: list(one) if isinstance(one, tuple) else one for name, one in found.items()} == told
    assert list(found) == list(told)


NESTED = f"""# a comment
int32 ONE=1          # constants hold no place
string WORD = "x"
a_msgs/Inner[] inners
string<=10 name
Outer[2] pair
string[<=5] words

{BETWEEN}
MSG: a_msgs/Inner
int8 small
float64 large
{BETWEEN}
MSG: b_msgs/msg/Outer
a_msgs/msg/Inner inner
string text
"""


def test_types_within_types_and_texts(tmp_path: Path) -> None:
    inners = [{"small": number, "large": number / 8} for number in (-1, 2, 3)]
    pair = [{"inner": one, "text": text} for one, text in zip(inners[:2], ("", "µ"), strict=True)]
    words = ["", "a", "abcd", "abcde"]
    told = SimpleNamespace(
        inners=[SimpleNamespace(**one) for one in inners],
        name="seven",
        pair=[SimpleNamespace(inner=SimpleNamespace(**one["inner"]), text=one["text"]) for one in pair],
        words=words,
    )
    theirs = NESTED.replace("b_msgs/msg/Outer", "a_msgs/Outer").replace("a_msgs/msg/Inner", "a_msgs/Inner")
    found = Definition(NESTED).decode(written(tmp_path, theirs, told))
    assert found == {"inners": tuple(inners), "name": "seven", "pair": tuple(pair), "words": tuple(words)}


def test_either_end_may_take_priority() -> None:
    definition = Definition("uint16 a\nuint32 b\nstring c")
    little = b"\0\1\0\0" + b"\1\2" + b"\0\0" + b"\1\2\3\4" + b"\2\0\0\0x\0"
    big = b"\0\0\0\0" + b"\2\1" + b"\0\0" + b"\4\3\2\1" + b"\0\0\0\2x\0"
    assert definition.decode(little) == definition.decode(big) == {"a": 0x0201, "b": 0x04030201, "c": "x"}


@pytest.mark.parametrize("data", [b"", b"\0\1\0", b"\0\2\0\0\1", b"\1\1\0\0\1", b"\0\7\0\0\1"])
def test_what_is_not_in_plain_cdr_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not in plain CDR"):
        Definition("uint8 a").decode(data)


@pytest.mark.parametrize(
    ("text", "body", "said"),
    [
        ("uint8[] a", (100_001).to_bytes(4, "little") + bytes(200_000), "a message with a sequence of 100001"),
        ("string a", (1 << 31).to_bytes(4, "little"), "a message with a sequence of 2147483648"),
        ("wstring a", bytes(8), "a message with wide strings"),
        (f"A a\n{BETWEEN}\nMSG: x/A\nA a\n", bytes(8), "types within types without end"),
    ],
)
def test_a_message_that_cannot_be_is_refused(text: str, body: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Definition(text).decode(b"\0\1\0\0" + body)


def test_a_sequence_may_have_a_hundred_thousand_elements() -> None:
    data = b"\0\1\0\0" + (100_000).to_bytes(4, "little") + bytes(100_000)
    assert len(Definition("uint8[] a").decode(data)["a"]) == 100_000


def test_types_may_lie_sixteen_deep() -> None:
    parts = [f"A{number} a\n{BETWEEN}\nMSG: x/A{number}" for number in range(16)]
    found = Definition("\n".join([*parts, "uint8 last"])).decode(b"\0\1\0\0\7")
    for _ in range(16):
        found = found["a"]
    assert found == {"last": 7}
