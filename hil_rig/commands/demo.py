"""`jointwatch demo`: runs a rig on a wire and the service that listens to it, and opens the page in a browser."""

import argparse
import contextlib
import errno
import signal
import socket
import sys
import time
import webbrowser
from urllib.parse import urlsplit

from daq.commands.command_line import CommandLine
from daq.commands.examples import epilog
from daq.commands.running_service.waiting_page import WaitingPage
from daq.processes.kernels import ahead, on_stderr
from hil_rig.commands.compile import LIVE
from hil_rig.live import Live, LiveError
from hil_rig.ports import free_port


def arguments_of_demo() -> argparse.ArgumentParser:
    """The command line."""
    parser = CommandLine(
        prog="jointwatch demo",
        description=__doc__,
        epilog=epilog("demo"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rig", default="two_mass", help="see `jointwatch rig --list` (%(default)s)")
    parser.add_argument(
        "--wire", default="slcan", choices=["slcan", "serial", "udp"], help="on which wire (%(default)s)"
    )
    parser.add_argument("--duration", type=float, metavar="S", help="stop after S seconds")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.add_argument("--endpoint", default="tcp://127.0.0.1:5556", help="where the updates go out (%(default)s)")
    page = "http://127.0.0.1:8080"
    parser.add_argument("--page", default=page, type=address_of, help="of the page, or its port alone (%(default)s)")
    return parser


def address_of(text: str) -> str:
    """Return http://HOST:PORT for an address, for HOST:PORT, or for a port alone. Raises ArgumentTypeError."""
    host, colon, port = text.rpartition(":")
    if text.startswith("http://") and port.isdigit() and colon:
        return text
    if "//" not in text and port.isdigit() and 0 < int(port) < 65536:
        return f"http://{host or '127.0.0.1'}:{port}"
    raise argparse.ArgumentTypeError(
        f"expected a port, as 18080, or an address, as http://127.0.0.1:18080; found {text}"
    )


def taken(address: str) -> bool:
    """Whether another program listens at SCHEME://HOST:PORT; for an invalid address the service reports the error."""
    place = urlsplit(address)
    try:
        socket.create_server((place.hostname or "", place.port or 0)).close()
    except (OSError, ValueError) as error:
        return getattr(error, "errno", 0) == errno.EADDRINUSE
    return False


def main() -> int:
    """Run until Ctrl-C, SIGTERM or the end of --duration."""
    options = arguments_of_demo().parse_args()
    for option, address in (("--page", options.page), ("--endpoint", options.endpoint)):
        if taken(address):
            print(
                f"jointwatch demo: {address} is in use, by another demo perhaps; give a free one by {option}, "
                f"as {option} {address.rpartition(':')[0]}:{free_port()}",
                file=sys.stderr,
            )
            return 1
    began, opened = time.monotonic(), list[str]()
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    def show() -> None:
        print(f"after {time.monotonic() - began:.1f} s: {options.page} shows how far it is", file=sys.stderr)
        opened.append(options.page)
        if not options.no_browser:
            webbrowser.open(options.page)

    try:
        with WaitingPage(options.page, on_stderr, show) as waiting:
            ahead(LIVE, waiting.say)
    except KeyboardInterrupt:
        return 0
    print(f"starting the rig “{options.rig}” on {options.wire} and the service …", file=sys.stderr)
    try:
        with (
            contextlib.suppress(KeyboardInterrupt),
            Live([options.rig, "--wire", options.wire], options.endpoint, options.page, quiet=False) as live,
        ):
            print(f"after {time.monotonic() - began:.1f} s: the page is {live.page}, the updates {live.endpoint}")
            for joint, truth in live.truth.items():
                print(f"{joint} is really " + ", ".join(f"{name} {value:.5g}" for name, value in truth.items()))
            print("Ctrl-C stops everything", file=sys.stderr, flush=True)
            if not options.no_browser and not opened:  # an open page reloads by itself
                webbrowser.open(live.page)
            end = time.monotonic() + (options.duration or float("inf"))
            while time.monotonic() < end:
                ended = None if live.service is None else live.service.poll()
                if ended is not None:
                    raise LiveError(f"the service ended with exit code {ended}")
                time.sleep(0.1)
    except LiveError as error:
        print(f"jointwatch demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
