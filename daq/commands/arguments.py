"""The arguments of commands whose modules take a second to import, so that --help and completion need not wait."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final


def replay(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch replay`."""
    parser.add_argument(
        "file",
        type=Path,
        help="our .mcap; frames (candump, ASC, BLF, …); columns (.csv, .npz, .mat, .json, …), their folder, or a bag",
    )
    parser.add_argument(
        "config",
        nargs="?",
        type=Path,
        help="configuration, or table of columns; not needed for our .mcap, which contains its configuration",
    )
    parser.add_argument("--check", action="store_true", help="compare with the updates in our .mcap, bit for bit")
    parser.add_argument("--columns", type=Path, help="table of a recording's columns (see docs/skew.md)")
    parser.add_argument("--driver", help="CAN driver that reads the log, if there are several")
    parser.add_argument("--speed", type=float, metavar="N", help="N times real time (default: as fast as possible)")
    parser.add_argument("--json", action="store_true", help="print every update, one JSON object per line")


def skew(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch skew`."""
    parser.add_argument(
        "recording", type=Path, help="columns (.csv, .npz, .mat, .json, …), frames, a ROS 2 bag, or our .mcap"
    )
    parser.add_argument("config", nargs="?", type=Path, help="table of its columns, or a configuration")
    parser.add_argument(
        "--longest", type=float, default=100.0, metavar="MS", help="longest delay in either direction, ms (100)"
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def doctor(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch doctor`."""
    parser.add_argument("config", nargs="?", type=Path, help="configuration whose wires are examined")
    parser.add_argument("--interface", default="socketcan", help='python-can interface: "socketcan", "slcan", …')
    parser.add_argument("--channel", help="listen to this bus: can0, /dev/ttyACM0, …")
    parser.add_argument("--bitrate", type=int, metavar="N", help="bit/s")
    parser.add_argument("--port", help="listen to this serial line")
    parser.add_argument("--baudrate", type=int, default=115200, metavar="N", help="baud rate of --port (115200)")
    parser.add_argument("--kind", help="listen with this kind of driver: ur_rtde, … (docs/drivers.md)")
    parser.add_argument("--at", default="", metavar="PLACE", help="with --kind: host, port or interface")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="with --kind: a setting")
    parser.add_argument("--seconds", type=float, default=3.0, metavar="S", help="how long to listen (3)")
    parser.add_argument("--explain", action="store_true", help="explain all findings, remedies and causes of losses")
    parser.add_argument("--data-bitrate", type=int, metavar="N", help="bit/s of the data of CAN FD")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


ARGUMENTS: Final[Mapping[str, Callable[[argparse.ArgumentParser], None]]] = {
    "replay": replay,
    "skew": skew,
    "doctor": doctor,
}
