"""Channels of MF4 measurement files, with asammdf, which is not installed by default."""

import warnings
from pathlib import Path

import numpy as np

from estimators.numerics.tables.named_columns import NamedColumns


def read_mf4(file: Path) -> NamedColumns:
    """Read a .mf4 or .mdf: every channel on the times of the group with the most rows. Raises OSError, ValueError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from asammdf import MDF
    except ImportError:
        raise ValueError("MF4 needs asammdf: pip install 'jointwatch[mf4]'") from None
    if not file.exists():
        raise FileNotFoundError(2, "No such file or directory", str(file))
    found = NamedColumns({})
    with warnings.catch_warnings(), MDF(file) as measured:
        warnings.simplefilter("ignore")
        signals = [
            one for one in measured.iter_channels() if one.samples.dtype.kind in "fiub" and one.samples.ndim == 1
        ]
    if not signals:
        return found
    clock = max((one.timestamps for one in signals), key=len)
    found.columns["time"], found.units["time"] = np.asarray(clock, np.float64), "s"
    shifted = 0
    for one in signals:
        if one.name == "time":
            continue
        values = one.samples.astype(np.float64)
        if not np.array_equal(one.timestamps, clock):
            values, shifted = np.interp(clock, one.timestamps, values, np.nan, np.nan), shifted + 1
        found.columns[one.name] = values
        if one.unit:
            found.units[one.name] = str(one.unit)
    if shifted:
        found.notes.append(f"{shifted} channels with times of their own are interpolated at those of the longest group")
    return found
