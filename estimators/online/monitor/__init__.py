"""How a running estimator is watched: one line a design, `[joints.NAME.monitor] design = "…"`."""

from collections.abc import Callable
from typing import Final

from estimators.online.monitor.base import Monitor
from estimators.online.monitor.fast import FastMonitor
from estimators.online.monitor.paper import PaperMonitor

DESIGNS: Final[dict[str, Callable[..., Monitor]]] = {  # by name; arguments: s between rows, MonitorSettings
    "fast": FastMonitor,
    "paper": PaperMonitor,
}
