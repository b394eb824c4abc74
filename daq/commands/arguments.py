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
        help="our own .mcap; frames (candump, ASC, BLF, …); columns (.csv, .npz, .mat, .json, …), their folder, a bag",
    )
    parser.add_argument(
        "config",
        nargs="?",
        type=Path,
        help="or the table of columns, where they are all there is; our own .mcap holds the one that was running",
    )
    parser.add_argument("--check", action="store_true", help="of an .mcap: compare with what was said, bit for bit")
    parser.add_argument("--columns", type=Path, help="table of a recording's columns (see docs/skew.md)")
    parser.add_argument("--driver", help="the CAN driver that a log is of, where there are several")
    parser.add_argument("--speed", type=float, metavar="N", help="times the recording's own; default: all there is")
    parser.add_argument("--json", action="store_true", help="every update, one JSON object per line")


def skew(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch skew`."""
    parser.add_argument(
        "recording", type=Path, help="columns (.csv, .npz, .mat, .json, …), frames, a ROS 2 bag, or our own .mcap"
    )
    parser.add_argument("config", nargs="?", type=Path, help="table of its columns, or a configuration")
    parser.add_argument("--longest", type=float, default=100.0, metavar="MS", help="ms, either way (100)")
    parser.add_argument("--json", action="store_true", help="what is found as JSON")


def doctor(parser: argparse.ArgumentParser) -> None:
    """The arguments of `jointwatch doctor`."""
    parser.add_argument("config", nargs="?", type=Path, help="a configuration: its wires are listened to")
    parser.add_argument("--interface", default="socketcan", help='of python-can: "socketcan", "slcan", …')
    parser.add_argument("--channel", help="a bus to listen to: can0, /dev/ttyACM0, …")
    parser.add_argument("--bitrate", type=int, metavar="N", help="bit/s")
    parser.add_argument("--port", help="a serial line to listen to")
    parser.add_argument("--baudrate", type=int, default=115200, metavar="N", help="of --port (115200)")
    parser.add_argument("--kind", help="of a driver, to listen at a place: ur_rtde, … (docs/drivers.md)")
    parser.add_argument("--at", default="", metavar="PLACE", help="with --kind: the host, the port, …")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="with --kind: a setting")
    parser.add_argument("--seconds", type=float, default=3.0, metavar="S", help="to listen (3)")
    parser.add_argument("--explain", action="store_true", help="say why, every remedy, and every cause of loss")
    parser.add_argument("--data-bitrate", type=int, metavar="N", help="bit/s of CAN FD's data")
    parser.add_argument("--json", action="store_true", help="what is found as JSON")


ARGUMENTS: Final[Mapping[str, Callable[[argparse.ArgumentParser], None]]] = {
    "replay": replay,
    "skew": skew,
    "doctor": doctor,
}
