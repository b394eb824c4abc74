"""Internal messages for the page: `samples/<joint>` contains points of the curves, the excitation, and the distance to
an alarm; `channels/<joint>` contains raw channels while somebody asks for them."""

import msgpack
import numpy as np
from numpy.typing import NDArray

from daq.stream.update import Map
from estimators.models.curves import POINT
from estimators.online.reporting.inspection import Inspection


def pack(joint: str, inspection: Inspection, epoch: int) -> tuple[bytes, bytes]:
    """Pack the message. epoch: ns to add to get Unix time."""
    rows = np.column_stack([(inspection.time + epoch) / 1e9, inspection.points])
    body = {
        "joint": joint,
        "timestamp": float(rows[-1, 0]),
        "points": rows.astype("<f8").tobytes(),
        "excitation": inspection.excitation.tolist(),
        "alarm": inspection.alarm,
        "usual": inspection.usual,
        "law": inspection.law,
    }
    return f"samples/{joint}".encode(), msgpack.packb(body)


def points(update: Map) -> NDArray[np.float64]:
    """Return the rows of a message: (points, 5), Unix time (s), then estimators.models.curves.POINT."""
    return np.frombuffer(update["points"], "<f8").reshape(-1, 1 + len(POINT))


def pack_channels(
    joint: str, channels: list[str], time: NDArray[np.int64], samples: NDArray[np.float64], epoch: int
) -> tuple[bytes, bytes]:
    """Pack raw channels. time: (rows,) ns; samples: (rows, channels); epoch: ns to add to get Unix time."""
    rows = np.column_stack([(time + epoch) / 1e9, samples])
    body = {"joint": joint, "timestamp": float(rows[-1, 0]), "channels": channels, "rows": rows.astype("<f8").tobytes()}
    return f"channels/{joint}".encode(), msgpack.packb(body)


def channel_rows(update: Map) -> NDArray[np.float64]:
    """Return the rows of a message with raw channels: (rows, 1 + channels), Unix time (s), then the channels."""
    return np.frombuffer(update["rows"], "<f8").reshape(-1, 1 + len(update["channels"]))
