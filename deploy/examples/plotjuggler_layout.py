"""Writes a PlotJuggler layout for the robot that is running: a tab of a joint's torques and parameters for each joint.

    python plotjuggler_layout.py [--endpoint tcp://127.0.0.1:5556] > robot.xml
    plotjuggler --layout robot.xml

Everything that it needs to know is in the topic `meta`.
"""

import argparse
import sys
from xml.etree import ElementTree

import msgpack
import zmq

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe & Ito


def plot(area: ElementTree.Element, title: str, curves: list[str]) -> None:
    """One plot with these series."""
    dock = ElementTree.SubElement(area, "DockArea", name=title)
    one = ElementTree.SubElement(dock, "plot", mode="TimeSeries", style="Lines", flip_x="false", flip_y="false")
    ElementTree.SubElement(one, "range", left="0", right="60", bottom="0", top="1")
    ElementTree.SubElement(one, "limitY")
    for curve, colour in zip(curves, COLOURS * 9, strict=False):
        ElementTree.SubElement(one, "curve", name=curve, color=colour)


def column(parent: ElementTree.Element, orientation: str, count: int) -> ElementTree.Element:
    """A splitter: "|" side by side, "-" one below the other."""
    sizes = ";".join([f"{1 / count:.6f}"] * count)
    return ElementTree.SubElement(parent, "DockSplitter", orientation=orientation, count=str(count), sizes=sizes)


def layout(joints: dict[str, dict[str, dict[str, object]]]) -> ElementTree.Element:
    """The whole file. joints: as in `meta`."""
    root = ElementTree.Element("root")
    tabs = ElementTree.SubElement(root, "tabbed_widget", name="Main Window", parent="main_window")
    for joint, fields in joints.items():
        tab = ElementTree.SubElement(tabs, "Tab", tab_name=joint, containers="1")
        halves = column(ElementTree.SubElement(tab, "Container"), "|", 2)
        left = column(halves, "-", 3)
        plot(left, f"torque, {fields['unit']}", [f"residual/{joint}/{name}" for name in ("measured", "predicted")])
        plot(left, f"residual, {fields['unit']}", [f"residual/{joint}/residual"])
        plot(left, "prediction error", [f"estimate/{joint}/error"])
        parameters = fields["parameters"]
        right = column(halves, "-", len(parameters))
        for name, parameter in parameters.items():
            plot(right, f"{name}, {parameter['unit']}", [f"estimate/{joint}/parameters/{name}"])
    ElementTree.SubElement(tabs, "currentTabIndex", index="0")
    ElementTree.SubElement(root, "use_relative_time_offset", enabled="1")
    plugins = ElementTree.SubElement(root, "Plugins")
    ElementTree.SubElement(plugins, "plugin", ID="ZMQ Subscriber")
    ElementTree.SubElement(root, "previouslyLoaded_Datafiles")
    ElementTree.SubElement(root, "previouslyLoaded_Streamer", name="ZMQ Subscriber")
    ElementTree.indent(root, " ")
    return root


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
    print('<?xml version="1.0" encoding="UTF-8"?>')
    print(ElementTree.tostring(layout(meta["joints"]), encoding="unicode"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
