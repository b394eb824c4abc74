"""Every key of a TOML text is found on its line."""

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from daq.config.toml_lines import Lines

TEXT = '''# a comment with [brackets] and = signs
[robot]
name = "x"   # "quoted" = comment
[drivers.a]
kind = "can"
text = """
[not.a.table]
key = 1
"""
[[drivers.a.frames]]
id = 1
signals = [
  {name="p", start=0},
  {name="q",
   start=4},
]
[[drivers.a.frames]]
id = 2
[drivers.a.frames.sub]
z = 1
[joints."j.1".channels]
p = { signal = "a.b.c", x = [1, 2] }
d.e = 5
'''


def test_lines_of_a_text() -> None:
    lines = Lines(TEXT)
    assert lines.of(("robot", "name")) == 3
    assert lines.of(("drivers", "a", "text")) == 6
    assert lines.of(("drivers", "a", "frames", 0, "id")) == 11
    assert lines.of(("drivers", "a", "frames", 0, "signals", 1, "start")) == 15
    assert lines.of(("drivers", "a", "frames", 1, "id")) == 18
    assert lines.of(("drivers", "a", "frames", 1, "sub", "z")) == 20
    assert lines.of(("joints", "j.1", "channels", "p", "x")) == 22
    assert lines.of(("joints", "j.1", "channels", "d", "e")) == 23


def test_a_missing_key_is_placed_at_its_table() -> None:
    lines = Lines(TEXT)
    assert lines.of(("robot", "nothing")) == 2
    assert lines.of(("nowhere",)) == 1


WORDS = st.text("abcxyz-_", min_size=1, max_size=6)


@settings(deadline=None)
@given(st.dictionaries(WORDS, st.dictionaries(WORDS, st.lists(st.integers()), min_size=1), min_size=1))
def test_every_key_of_a_generated_text_is_found(tables: dict[str, dict[str, list[int]]]) -> None:
    text = "".join(
        f"\n[{name}]\n" + "".join(f"{key} = {values}\n" for key, values in table.items())
        for name, table in tables.items()
    )
    assert tomllib.loads(text) == tables
    lines = Lines(text)
    for name, table in tables.items():
        for key in table:
            assert text.splitlines()[lines.of((name, key)) - 1].startswith(f"{key} = ")
