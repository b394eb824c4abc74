"""The command line. stdout is data, stderr is logs; exit codes: 0, 1 runtime, 2 usage, 78 configuration."""

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

EXIT_RUNTIME: Final = 1
EXIT_CONFIG: Final = 78
TEMPLATE: Final = Path(__file__).with_name("jointwatch.toml")

# Commands that stand above daq in the import order (the rig, and what is composed with it) run as their own program.
ELSEWHERE: Final = {
    "rig": ("hil_rig", "play a robot joint, with known truth, on a wire"),
    "demo": ("hil_rig.commands.demo", "rig, service and page in one: watch a joint being identified"),
    "reproduce": ("hil_rig.commands.reproduce", "a published experiment or recording beside ours"),
    "bench": ("hil_rig.commands.bench", "measure every figure on this machine"),
    "compile": ("hil_rig.commands.compile", "compile every kernel now: a first start is then as quick as any other"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in ELSEWHERE:
        os.execv(sys.executable, [sys.executable, "-m", ELSEWHERE[words[0]][0], *words[1:]])
    options = _parser().parse_args(words)
    command: Callable[[argparse.Namespace], int] = options.command
    return command(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="jointwatch", description="Know, live, what a robot's joints are doing.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=command)
        return sub

    init = add("init", _init, "write a commented configuration")
    init.add_argument("path", nargs="?", type=Path, default=Path("jointwatch.toml"))
    init.add_argument("--force", action="store_true", help="overwrite an existing file")
    checking = add("check", _check, "check a configuration: all mistakes at once")
    checking.add_argument("config", type=Path)
    run = add("run", _run, "run the service")
    run.add_argument("config", type=Path)
    run.add_argument("--duration", type=float, metavar="S", help="stop after S seconds")
    for name, (_, text) in ELSEWHERE.items():
        commands.add_parser(name, help=text)
    listen = add("listen", _listen, "print the live updates")
    listen.add_argument("--endpoint", default="tcp://127.0.0.1:5556")
    listen.add_argument("--topic", default="", help="e.g. estimate/ or estimate/elbow")
    listen.add_argument("--json", action="store_true", help="one JSON object per line")
    listen.add_argument("--key", type=Path, help="our .key_secret, where the stream is locked")
    listen.add_argument("--server-key", type=Path, help="the server's .key")
    listen.add_argument("--count", type=int, metavar="N", help="stop after N updates")
    replaying = add("replay", _replay, "a recording through the same pipeline, offline")
    replaying.add_argument("file", type=Path, help="our own .mcap; candump, ASC, BLF, …; .csv, .npz or .mat")
    replaying.add_argument("config", type=Path)
    replaying.add_argument("--check", action="store_true", help="of an .mcap: compare with what was said, bit for bit")
    replaying.add_argument("--columns", type=Path, help="table of a recording's columns (see docs/skew.md)")
    replaying.add_argument("--driver", help="the CAN driver that a log is of, where there are several")
    replaying.add_argument("--speed", type=float, metavar="N", help="times the recording's own; default: all there is")
    replaying.add_argument("--json", action="store_true", help="every update, one JSON object per line")
    decode = add("decode", _decode, "what a DBC makes of a log: counts, losses by cause, values")
    decode.add_argument("log", type=Path, help="candump log, .asc, .blf, .mf4, .trc …")
    decode.add_argument("--dbc", type=Path, required=True, help="what is in the frames")
    decode.add_argument("--channel", default="", help="of a log of several buses: the one that is wanted")
    decode.add_argument("--values", action="store_true", help="every value as CSV on stdout; counts go to stderr")
    decode.add_argument("--json", action="store_true", help="the counts as one JSON object")
    topping = add("top", _top, "the overview of a running service, in this terminal")
    topping.add_argument("--page", default="http://127.0.0.1:8080", metavar="URL", help="of the service")
    topping.add_argument("--once", action="store_true", help="print it once")
    exporting = add("export", _export, "a recording as tables: estimates, residuals, drift, events, readings")
    exporting.add_argument("recording", nargs="+", type=Path, help=".mcap, consecutive ones in order")
    exporting.add_argument("--to", choices=["csv", "parquet"], default="csv", help="parquet needs pyarrow")
    exporting.add_argument("--out", type=Path, metavar="FOLDER", help="named as the first recording by default")
    reporting = add("report", _report, "a recording as one page: parameters, drift, curves, losses, events")
    reporting.add_argument("recording", nargs="+", type=Path, help=".mcap, consecutive ones in order")
    reporting.add_argument("--out", type=Path, metavar="FILE", help=".html; beside the first recording by default")
    reporting.add_argument("--pdf", action="store_true", help="and the same as PDF (needs chromium)")
    skewing = add("skew", _skew, "how late each channel is, from a recording of motion; prints the lines to paste")
    skewing.add_argument("recording", type=Path, help=".mat, .npz or .csv")
    skewing.add_argument("config", nargs="?", type=Path, help="table of its columns (see docs/skew.md)")
    skewing.add_argument("--longest", type=float, default=100.0, metavar="MS", help="ms, either way (100)")
    skewing.add_argument("--json", action="store_true")
    doctor = add("doctor", _doctor, "what is on the wires, what is lost and why; proposes a configuration")
    doctor.add_argument("config", nargs="?", type=Path)
    doctor.add_argument("--interface", default="socketcan", help='of python-can: "socketcan", "slcan", …')
    doctor.add_argument("--channel", help="a bus to listen to: can0, /dev/ttyACM0, …")
    doctor.add_argument("--bitrate", type=int, metavar="N", help="bit/s")
    doctor.add_argument("--port", help="a serial line to listen to")
    doctor.add_argument("--baudrate", type=int, default=115200, metavar="N")
    doctor.add_argument("--seconds", type=float, default=3.0, metavar="S", help="to listen (3)")
    doctor.add_argument("--explain", action="store_true", help="say why, and every remedy")
    doctor.add_argument("--data-bitrate", type=int, metavar="N", help="bit/s of CAN FD's data")
    doctor.add_argument("--json", action="store_true")
    baseline = add("baseline", _baseline, "what each joint was when it was commissioned: show it, or set it")
    baseline.add_argument("config", type=Path)
    baseline.add_argument("--set", nargs="*", metavar="JOINT", help="to the values of now (all joints)")
    baseline.add_argument("--show", action="store_true", help="without --set this is what it does")
    baseline.add_argument("--page", metavar="URL", help="of the running service (default: the configuration's)")
    schema = add("schema", _schema, "JSON Schema of the stream's topics, or of the configuration")
    schema.add_argument("what", nargs="?", help="estimate, residual, event, drift, meta or config (all topics)")
    keys = add("keys", _keys, "make keys for a locked stream: the server's, and one pair for each client named")
    keys.add_argument("folder", type=Path)
    keys.add_argument("client", nargs="*")
    add("version", _version, "print the version")
    return parser


def _init(options: argparse.Namespace) -> int:
    path: Path = options.path
    if path.exists() and not options.force:
        return _fail(f"{path} exists; --force overwrites it")
    try:
        path.write_text(TEMPLATE.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        return _fail(f"{path}: {error.strerror}")
    print(path)
    print(f"edit it, then: jointwatch check {path}", file=sys.stderr)
    return 0


def _check(options: argparse.Namespace) -> int:
    from daq.config.load import load
    from daq.config.routes import routes
    from daq.config.words import ConfigError

    try:
        config = load(options.config)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return EXIT_CONFIG
    for route in routes(config):
        print(f"{route.joint}.{route.role} <- {route.driver}.{route.signal}")
    print(f"{options.config}: good", file=sys.stderr)
    return 0


def _run(options: argparse.Namespace) -> int:
    from daq.config.load import load
    from daq.config.words import ConfigError
    from daq.processes.process import configure_logging
    from daq.processes.supervisor import Service, StartError

    configure_logging("jointwatch")
    try:
        config = load(options.config)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return EXIT_CONFIG
    try:
        Service(config).run(options.duration)
    except StartError as error:
        return _fail(str(error))
    return 0


def _listen(options: argparse.Namespace) -> int:
    from daq.stream.keys import KeyFileError
    from daq.subscriber import Subscriber

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    left = options.count
    try:
        opened = Subscriber(options.endpoint, (options.topic,), key=options.key, server_key=options.server_key)
    except (ValueError, KeyFileError) as error:
        return _fail(str(error))
    try:
        with contextlib.suppress(KeyboardInterrupt), opened as subscriber:
            for topic, update in subscriber:
                print(json.dumps(update) if options.json else _line(topic, update), flush=True)
                left = None if left is None else left - 1
                if left == 0:
                    break
            if subscriber.gaps:
                print(f"lost on the way: {dict(subscriber.gaps)}", file=sys.stderr)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _line(topic: str, update: dict[str, object]) -> str:
    """One update for a person."""
    clock = time.strftime("%H:%M:%S", time.localtime(float(str(update["timestamp"]))))
    parameters, deviations = update.get("parameters"), update.get("deviations")
    if isinstance(parameters, dict) and isinstance(deviations, dict):
        values = "  ".join(f"{name} {value:.5g} ± {deviations[name]:.2g}" for name, value in parameters.items())
        return f"{clock} {topic:24} {update['phase']:9} {values}"
    if "joints" in update:
        return f"{clock} {topic:24} {update['robot']}, configuration {update['configuration']}"
    if "drifted" in update:
        percent = update["percent"]
        found = percent.items() if isinstance(percent, dict) else ()
        return f"{clock} {topic:24} {'  '.join(f'{name} {value:+.1f} %' for name, value in found)}"
    if "residual" in update:
        words = (f"{name} {update[name]:9.4f}" for name in ("measured", "predicted", "residual"))
        return f"{clock} {topic:24} {'  '.join(words)} {update['unit']}"
    return f"{clock} {topic:24} {update.get('kind', '')}: {update.get('text', '')}"


def _replay(options: argparse.Namespace) -> int:
    if options.file.suffix.lower() == ".mcap":
        from daq.replay.repeat import run
    else:
        from daq.replay.replay import run

    return run(options)


def _decode(options: argparse.Namespace) -> int:
    from daq.commands.decode import run

    return run(options)


def _skew(options: argparse.Namespace) -> int:
    from daq.commands.skew import run

    return run(options)


def _export(options: argparse.Namespace) -> int:
    from daq.commands.export import run

    return run(options)


def _report(options: argparse.Namespace) -> int:
    from daq.commands.report.command import run

    return run(options)


def _doctor(options: argparse.Namespace) -> int:
    from daq.commands.doctor.command import run

    return run(options)


def _baseline(options: argparse.Namespace) -> int:
    from daq.commands.baseline import run

    return run(options)


def _schema(options: argparse.Namespace) -> int:
    from daq.commands.schema import run

    return run(options)


def _keys(options: argparse.Namespace) -> int:
    from daq.commands.keys import run

    return run(options)


def _top(options: argparse.Namespace) -> int:
    from daq.commands.top import run

    return run(options)


def _version(_: argparse.Namespace) -> int:
    print(version("jointwatch"))
    return 0


def _fail(text: str) -> int:
    print(f"jointwatch: {text}", file=sys.stderr)
    return EXIT_RUNTIME


if __name__ == "__main__":
    sys.exit(main())
