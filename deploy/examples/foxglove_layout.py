"""Writes a Foxglove layout for the robot that is running: a tab of torques and parameters for each joint, and the log.

    python foxglove_layout.py [--endpoint tcp://127.0.0.1:5556] > robot.json

In Foxglove: Layouts, Import from file. Everything that it needs to know is in the topic `meta`.
"""

import argparse
import json
import sys
from typing import Any

import msgpack
import zmq


def plot(title: str, paths: list[str]) -> dict[str, Any]:
    """The settings of a plot of these message paths over the time that messages speak of."""
    return {
        "title": title,
        "paths": [{"value": path, "enabled": True, "timestampMethod": "receiveTime"} for path in paths],
        "showLegend": True,
        "isSynced": True,
        "xAxisVal": "timestamp",
        "followingViewWidth": 60,
    }


def stacked(panels: list[str], direction: str) -> Any:
    """Panels of equal size, one below the other ("column") or side by side ("row")."""
    if len(panels) == 1:
        return panels[0]
    share = 100 / len(panels)
    rest = stacked(panels[1:], direction)
    return {"direction": direction, "first": panels[0], "second": rest, "splitPercentage": share}


def layout(joints: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The whole file. joints: as in `meta`."""
    panels: dict[str, Any] = {}
    tabs = []
    for joint, fields in joints.items():
        unit, residual = fields["unit"], f"residual/{joint}"
        left = {
            f"Plot!{joint}-torque": plot(f"torque, {unit}", [f"{residual}.measured", f"{residual}.predicted"]),
            f"Plot!{joint}-residual": plot(f"residual, {unit}", [f"{residual}.residual"]),
            f"Plot!{joint}-error": plot("prediction error", [f"estimate/{joint}.error"]),
        }
        right = {
            f"Plot!{joint}-{name}": plot(f"{name}, {one['unit']}", [f"estimate/{joint}.parameters.{name}"])
            for name, one in fields["parameters"].items()
        }
        panels |= left | right
        halves = {"direction": "row", "first": stacked([*left], "column"), "second": stacked([*right], "column")}
        tabs.append({"title": joint, "layout": halves | {"splitPercentage": 50}})
    panels["Tab!joints"] = {"activeTabIdx": 0, "tabs": tabs}
    panels["RosOut!log"] = {"topicToRender": "log", "minLogLevel": 1, "searchTerms": []}
    return {
        "configById": panels,
        "globalVariables": {},
        "userNodes": {},
        "playbackConfig": {"speed": 1},
        "layout": {"direction": "column", "first": "Tab!joints", "second": "RosOut!log", "splitPercentage": 80},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--endpoint", default="tcp://127.0.0.1:5556")
    options = parser.parse_args()
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.subscribe("meta")
        socket.connect(options.endpoint)
        if not socket.poll(10_000):
            print(f"nothing from {options.endpoint} for 10 s: is jointwatch running?", file=sys.stderr)
            return 1
        meta = msgpack.unpackb(socket.recv_multipart()[1])
    print(json.dumps(layout(meta["joints"]), indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
