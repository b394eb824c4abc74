"""Arrays by name from files of columns, without roles, which the reader must know.

The one reader of such files: the experiments take the arrays as they are, daq/recording/columns.py makes channels of
joints of them, and through it the rig plays a recording. A folder of such files is one recording, a quantity a file.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from numpy.typing import NDArray

from estimators.numerics.tables.arrow import read_parquet
from estimators.numerics.tables.binary import read_mat, read_npz
from estimators.numerics.tables.delimited import read_delimited
from estimators.numerics.tables.documents import read_json
from estimators.numerics.tables.measurement import read_mf4
from estimators.numerics.tables.named_columns import UNNAMED, NamedColumns, with_joints_apart, with_whole_stamps

READERS: Final[Mapping[str, Callable[[Path], NamedColumns]]] = {
    ".mat": read_mat,
    ".npz": read_npz,
    ".npy": read_npz,
    ".csv": read_delimited,
    ".tsv": read_delimited,
    ".txt": read_delimited,
    ".dat": read_delimited,
    ".log": read_delimited,
    ".json": read_json,
    ".jsonl": read_json,
    ".ndjson": read_json,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".feather": read_parquet,
    ".mf4": read_mf4,
    ".mdf": read_mf4,
}
SUFFIXES: Final = tuple(READERS)
HINTS: Final = {  # what to do with kinds of files that are not read
    ".gz": "unpack it first (gunzip)", ".zip": "unpack it first", ".xz": "unpack it first", ".zst": "unpack it first",
    ".xlsx": "save the sheet as CSV", ".xls": "save the sheet as CSV", ".ods": "save the sheet as CSV",
    ".h5": "save its arrays with numpy.savez, or as CSV", ".hdf5": "save its arrays with numpy.savez, or as CSV",
    ".pkl": "save its arrays with numpy.savez, or as CSV", ".pickle": "save its arrays with numpy.savez, or as CSV",
    ".yaml": "echo messages with --csv (ros2 topic) or -p (rostopic), or record a bag",
    ".tdms": "save it as CSV", ".ulg": "convert it with ulog2csv",
}  # fmt: skip
ROS_1: Final = b"#ROSBAG V"


def arrays(file: Path) -> dict[str, NDArray[Any]]:
    """Every number, column and matrix of a file by its name; in a .mat file a dot leads into a structure.

    What is no number in a text is NaN. Raises OSError, and ValueError in words for a file that is damaged or of another
    kind.
    """
    return named_columns(file).columns


def named_columns(file: Path, within: Sequence[str] = ()) -> NamedColumns:
    """The arrays of a file, or of the files of a folder (those named in `within`, else all), with what is said of them.

    Raises OSError, ValueError.
    """
    if file.is_dir():
        return _folder(file, within)
    kind = file.suffix.lower()
    if kind not in READERS:
        raise ValueError(_unknown(file))
    try:
        return with_whole_stamps(with_joints_apart(READERS[kind](file)))
    except OSError:
        raise
    except Exception as error:  # damaged files make readers raise whatever they like
        words = str(error) or type(error).__name__
        raise ValueError(f"cannot be read: {words.splitlines()[0]}") from error


def _folder(folder: Path, within: Sequence[str]) -> NamedColumns:
    """The columns of every file of a folder as FILE.NAME; a file that names none is the matrix FILE."""
    files = [folder / name for name in within] or sorted(
        one for one in folder.iterdir() if one.suffix.lower() in READERS and not one.name.startswith(".")
    )
    whole = NamedColumns({})
    for file in files:
        try:
            one = named_columns(file)
        except ValueError as error:
            raise ValueError(f"{file.name}: {error}") from error
        stem = file.stem
        full = {name: stem if name in (UNNAMED, stem) else f"{stem}.{name}" for name in one.columns}
        whole.columns |= {full[name]: values for name, values in one.columns.items()}
        whole.units |= {full[name]: unit for name, unit in one.units.items() if name in full}
        whole.texts |= {f"{stem}.{name}": text for name, text in one.texts.items()}
        whole.notes += [f"{file.name}: {note}" for note in one.notes]
        whole.long = whole.long or one.long
    return whole


def _unknown(file: Path) -> str:
    found = file.suffix or "no ending"
    hint = HINTS.get(file.suffix.lower(), "")
    words = f"expected one of {', '.join(SUFFIXES)}, found {found}" + (f": {hint}" if hint else "")
    if file.exists() and file.is_file():
        with file.open("rb") as stream:
            if stream.read(len(ROS_1)) == ROS_1:
                return f"a bag of ROS 1: convert it to ROS 2 (rosbags-convert --src {file.name} --dst FOLDER)"
    return words
