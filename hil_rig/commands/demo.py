"""`jointwatch demo`: a rig on a wire, the service beside it, and the page in a browser."""

import argparse
import contextlib
import signal
import sys
import time
import webbrowser

from daq.processes.kernels import ahead
from hil_rig.commands.compile import LIVE
from hil_rig.live import Live, LiveError


def main() -> int:
    """Run until Ctrl-C, SIGTERM or the end of --duration."""
    parser = argparse.ArgumentParser(prog="jointwatch demo", description=__doc__)
    parser.add_argument("--rig", default="two_mass", help="see `jointwatch rig --list`")
    parser.add_argument("--wire", default="slcan", choices=["slcan", "serial", "udp"])
    parser.add_argument("--duration", type=float, metavar="S")
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--endpoint", default="tcp://127.0.0.1:5556", help="where the updates go out")
    parser.add_argument("--page", default="http://127.0.0.1:8080")
    options = parser.parse_args()
    began = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        ahead(LIVE)
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
            if not options.no_browser:
                webbrowser.open(live.page)
            end = time.monotonic() + (options.duration or float("inf"))
            while time.monotonic() < end:
                if live.service is not None and live.service.poll() is not None:
                    raise LiveError(f"the service ended with exit code {live.service.returncode}")
                time.sleep(0.1)
    except LiveError as error:
        print(f"jointwatch demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
