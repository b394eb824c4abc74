"""How a running estimator is watched: one line a design, `[joints.NAME.monitor] design = "…"`."""

from collections.abc import Callable
from typing import Final

from estimators.online.monitor.base import Monitor
from estimators.online.monitor.fast import FastMonitor

DESIGNS: Final[dict[str, Callable[[float], Monitor]]] = {  # by name; row: s between rows
    "fast": FastMonitor,
}
