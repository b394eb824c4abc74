"""A program that runs the outlet alone, with the labels of fake_core's joints."""

import argparse
import logging
import sys
from pathlib import Path

from fake_core import JOINTS

from daq.outlet.history import History, JointLabel
from daq.outlet.long_term.keeper import Keeper
from daq.outlet.notifications.notifier import Notifier
from daq.outlet.notifications.webhook import Webhook
from daq.outlet.server import Tls, serve
from daq.outlet.token_request import TokenRequest
from daq.stream.sockets import EndpointError

TOKEN = "correct-horse"


async def set_baseline(_: History, joint: str | None) -> None:
    """Says so on stdout; the elbow is not ready for it."""
    if joint == "elbow":
        raise ValueError("elbow is still starting up: its values are no baseline yet")
    print(f"baseline of {joint or 'all'}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("updates", "status", "endpoint"):
        parser.add_argument(name)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--joints", type=int, default=7)
    parser.add_argument("--history", type=Path, help="a history file, which is shown and stays as it is")
    parser.add_argument("--webhook", nargs=2, help="address, and the file of what was told")
    parser.add_argument("--tls", type=Path, nargs=2, help="certificate and key")
    parser.add_argument("--inside", default="", help="ipc:// address of the stream for gateways")
    options = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level="INFO", format="%(message)s")
    labels = [JointLabel.of(joint.name, joint.model) for joint in JOINTS[: options.joints]]
    baseline = TokenRequest(TOKEN, frozenset(label.name for label in labels), {"/api/baseline": set_baseline})
    keeper = Keeper(options.history, 3660, ()) if options.history else None
    if keeper is not None:
        keeper.start()
    notifier = None
    if options.webhook:
        notifier = Notifier("demo-arm", "http://arm.example:8080", Path(options.webhook[1]))
        notifier.add("webhook", Webhook(options.webhook[0], TOKEN).send)
    try:
        serve(
            options.updates, options.status, options.endpoint, options.host, options.port, "demo-arm", labels,
            ready=lambda: print("ready", flush=True), requests=baseline,
            tls=Tls(*options.tls) if options.tls else None,
            watched=lambda wanted: print("watched", *sorted(wanted), flush=True),
            notifier=notifier,
            keeper=keeper,
            inside=options.inside,
        )  # fmt: skip
    except EndpointError as error:
        print(error.strerror, file=sys.stderr)
        return 1
    if keeper is not None:
        keeper.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
