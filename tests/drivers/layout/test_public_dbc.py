"""Every public database that cantools loads, with strictness or without, loads here: `pip install opendbc`."""

import importlib.util
from pathlib import Path

import cantools
import pytest

from drivers.layout.dbc import from_dbc


def loads(file: Path, strict: bool) -> bool:
    try:
        cantools.database.load_file(file, strict=strict)
    except Exception:
        return False
    return True


@pytest.mark.slow
def test_what_cantools_loads_in_either_mode_loads_here() -> None:
    found = importlib.util.find_spec("opendbc")
    if found is None or found.origin is None:
        pytest.skip("needs the public databases: pip install opendbc")
    files = sorted(Path(found.origin).parent.rglob("*.dbc"))
    sound = [file for file in files if loads(file, strict=True) or loads(file, strict=False)]
    assert len(sound) > len(files) // 2
    for file in sound:
        layout = from_dbc(file, {}, limits=False)
        written = any(line.lstrip().startswith("SG_ ") for line in file.read_text("cp1252", "replace").splitlines())
        assert bool(layout.signals or layout.unusable) == written, file.name  # some only name other files
