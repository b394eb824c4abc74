"""`jointwatch listen`: prints the live updates, one line each."""

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from daq.commands.codes import fail
from daq.stream.json_messages import finite
from daq.stream.keys import KeyFileError
from daq.subscriber import RefusedError, Subscriber

SILENCE: Final = 3.0  # s without an update after which a silence is reported


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--endpoint", default="tcp://127.0.0.1:5556", help="address of the service ([publish] endpoint; %(default)s)"
    )
    parser.add_argument(
        "--topic", default="", help="only topics with this beginning, e.g. estimate/ or estimate/elbow (all)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.add_argument("--key", type=Path, help=".key_secret of this client, if the stream is locked")
    parser.add_argument("--server-key", type=Path, help=".key of the server, if the stream is locked")
    parser.add_argument("--count", type=int, metavar="N", help="stop after N updates")


def run(options: argparse.Namespace) -> int:
    """Print until Ctrl-C, SIGTERM, or --count."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    left = options.count
    try:
        keys = {"key": options.key, "server_key": options.server_key}
        opened = Subscriber(options.endpoint, (options.topic,), timeout=SILENCE, **keys)
    except (ValueError, KeyFileError) as error:
        return fail(error)
    try:
        with contextlib.suppress(KeyboardInterrupt), opened as subscriber:
            for topic, update in _patient(subscriber, options):
                print(_json(topic, update) if options.json else _line(topic, update), flush=True)
                left = None if left is None else left - 1
                if left == 0:
                    break
            if subscriber.gaps:
                print(f"messages lost, by topic: {dict(subscriber.gaps)}", file=sys.stderr)
    except RefusedError as error:
        return fail(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _patient(subscriber: Subscriber, options: argparse.Namespace) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the updates; report a silence once on stderr and keep waiting, since the service may start later."""
    reported = False
    while True:
        try:
            for one in subscriber:
                reported = False
                yield one
        except TimeoutError:
            if not reported:
                print(f"jointwatch: {_silence(options)} Still waiting; Ctrl-C stops", file=sys.stderr, flush=True)
            reported = True


def _silence(options: argparse.Namespace) -> str:
    """Words for a silence and its possible cause: if other topics are published, the requested topic is wrong."""
    keys = {"key": options.key, "server_key": options.server_key}
    others: set[str] = set()
    with (
        contextlib.suppress(TimeoutError, RefusedError),
        Subscriber(options.endpoint, timeout=1.0, **keys) as all_topics,
    ):
        ends = time.monotonic() + 1.0
        while options.topic and time.monotonic() < ends:
            others.add(next(iter(all_topics))[0])
    asked = f" with the topic {options.topic}" if options.topic else ""
    silence = f"nothing from {options.endpoint}{asked} for {SILENCE:g} s"
    if not others:
        return f"{silence}: does the service run (jointwatch run), and is this its [publish] endpoint?"
    return f"{silence}; other topics are published: {', '.join(sorted(others))}."


def _json(topic: str, update: dict[str, object]) -> str:
    """One JSON object with the topic; null for unknown numbers."""
    return json.dumps({"topic": topic} | finite(update), ensure_ascii=False)


def _line(topic: str, update: dict[str, object]) -> str:
    """One update as readable text."""
    clock = time.strftime("%H:%M:%S", time.localtime(float(str(update["timestamp"]))))
    parameters, deviations = update.get("parameters"), update.get("deviations")
    if isinstance(parameters, dict) and isinstance(deviations, dict):
        values = "  ".join(f"{name} {value:.5g} ± {deviations[name]:.2g}" for name, value in parameters.items())
        return f"{clock} {topic:24} {update.get('phase', ''):9} {values}"
    if "joints" in update:
        return f"{clock} {topic:24} {update['robot']}, configuration {update['configuration']}"
    if isinstance(records := update.get("records"), list):
        return f"{clock} {topic:24} {'; '.join(_change(record) for record in records) or 'nothing has changed'}"
    if "drifted" in update:
        percent = update["percent"]
        found = percent.items() if isinstance(percent, dict) else ()
        return f"{clock} {topic:24} {'  '.join(f'{name} {value:+.1f} %' for name, value in found)}"
    if "residual" in update:
        words = (f"{name} {update[name]:9.4f}" for name in ("measured", "predicted", "residual"))
        return f"{clock} {topic:24} {'  '.join(words)} {update['unit']}"
    return f"{clock} {topic:24} {update.get('kind', '')}: {update.get('text', '')}"


def _change(record: dict[str, object]) -> str:
    """One record of a change; a change that is not acknowledged is marked."""
    return f"{'' if record['acknowledged'] else '◆ '}{record['text']}"
