"""The command line: which module is which command. stdout is data, stderr is logs; see daq/commands/codes.py.

Only the module of the command given is imported: it has `run(options)`, which returns the exit code, and
`arguments(parser)`, unless daq/commands/arguments.py has these.
"""

import argparse
import contextlib
import errno
import gc
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from daq.commands.arguments import ARGUMENTS
from daq.commands.codes import EXIT_INTERRUPTED, fail
from daq.commands.command_line import CommandLine, OneCommand
from daq.commands.examples import epilog

# command → module, and what it does; what stands above daq in the order of imports (the rig, and what is composed with
# it) is a program of its own
COMMANDS: Final = {
    "init": ("daq.commands.init", "write a commented configuration"),
    "check": ("daq.commands.check", "check a configuration: all mistakes at once"),
    "run": ("daq.commands.run", "run the service"),
    "rig": ("hil_rig", "play a robot joint, with known truth, on a wire"),
    "demo": ("hil_rig.commands.demo", "rig, service and page in one: watch a joint being identified"),
    "reproduce": ("hil_rig.commands.reproduce", "a published experiment or recording, repeated and compared"),
    "bench": ("hil_rig.commands.bench", "measure every figure on this machine"),
    "compile": ("hil_rig.commands.compile", "compile every kernel now: a first start is then as quick as any other"),
    "listen": ("daq.commands.listen", "print the live updates"),
    "replay": ("daq.commands.recordings.replay", "a recording through the same pipeline, offline"),
    "columns": ("daq.commands.recordings.columns", "the table of a recording's columns, proposed from its header"),
    "decode": ("daq.commands.recordings.decode", "what a DBC makes of a log: counts, losses by cause, values"),
    "top": ("daq.commands.running_service.top", "the overview of a running service, in this terminal"),
    "export": (
        "daq.commands.recordings.export",
        "a recording as tables: estimates, residuals, drift, events, readings",
    ),
    "report": ("daq.commands.report.command", "a recording as one page: parameters, drift, curves, losses, events"),
    "skew": (
        "daq.commands.recordings.skew",
        "how late each channel is, from a recording of motion; prints the lines to paste",
    ),
    "identify": ("daq.commands.identify.command", "a whole robot's model from recordings: parameters, errors"),
    "model": ("daq.commands.model.command", "a whole robot's model: show it, what changed, export it to simulators"),
    "fleet": ("daq.commands.fleet.command", "many recordings at once: every robot and joint against its siblings"),
    "excite": (
        "daq.commands.excite.command",
        "the most informative trajectory within a robot's limits, or how informative a given one is",
    ),
    "clearance": (
        "daq.commands.identify.clearance",
        "the clearance of a joint's bearing from recordings, and whether it has grown",
    ),
    "doctor": ("daq.commands.doctor.command", "what is on the wires, what is lost and why; proposes a configuration"),
    "baseline": (
        "daq.commands.running_service.baseline",
        "what each joint was when it was commissioned: show it, or set it",
    ),
    "changes": ("daq.commands.running_service.changes", "what has changed of each joint: show it, or acknowledge it"),
    "history": (
        "daq.commands.history.command",
        "what each joint was by minute, hour and day, and its use",
    ),
    "compare": ("daq.commands.history.compare", "two days of a robot, or two robots: what is different, with σ and z"),
    "schema": ("daq.commands.schema.command", "JSON Schema, or types, of the stream's topics; of the configuration"),
    "reasons": ("daq.commands.reasons", "why values may not be used: what each reason means, and what to do"),
    "keys": ("daq.commands.keys", "make keys for a locked stream: the server's, and one pair for each client named"),
    "version": ("daq.commands.version", "print the version"),
}
ABOVE: Final = "hil_rig"
# commands that compute next to nothing: their kernels stay Python, and numba, half a second, is not imported
INTERPRETED: Final = frozenset(("check", "export"))
HELP: Final = frozenset(("-h", "--help"))  # as these do, with any command
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of the file that stdout is
PATIENT: Final = 10.0  # s of loading before a line about it in a log; a busy machine takes some


class _Version(argparse.Action):
    """Prints the version; it is looked up only when asked for, which takes a while."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,  # noqa: ARG002 (argparse gives it)
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        from daq.commands.version import run

        parser.exit(run(namespace))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; Ctrl-C ends those that do not take care of it themselves, with one line."""
    try:
        return _main(arguments)
    except KeyboardInterrupt:
        if arguments is not None:
            raise
        gc.freeze()  # spares the interpreter a last collection
        return fail(f"{sys.argv[1]}: interrupted: what was printed is not complete", EXIT_INTERRUPTED)


def _main(arguments: Sequence[str] | None) -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # our matrices are small: threads only wait for each other
    if arguments is None:  # a file of the user's folder is no module of the programs that we start
        os.environ.setdefault("PYTHONSAFEPATH", "1")
        if INTERPRETED.intersection(sys.argv[1:2]) or HELP.intersection(sys.argv[1:]):
            os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
    words = list(sys.argv[1:] if arguments is None else arguments)
    completing = "_ARGCOMPLETE" in os.environ  # a shell asks what could follow: see docs/editors.md
    if completing:
        words = os.environ.get("COMP_LINE", "").split()[1:]
    if words and not completing and (program := COMMANDS.get(words[0], ("daq", ""))[0]).startswith(ABOVE):
        os.execv(sys.executable, [sys.executable, "-m", program, *words[1:]])
    asked = next((word for word in words if not word.startswith("-")), "")
    parser = CommandLine(prog="jointwatch", description="Know, live, what a robot's joints are doing.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=OneCommand)
    for name, (module, text) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=epilog(name),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == asked:
            with _loading(name) if arguments is None and not completing else contextlib.nullcontext():
                (ARGUMENTS.get(name) or importlib.import_module(module).arguments)(command)
            command.set_defaults(module=module)
    if completing:
        importlib.import_module("argcomplete").autocomplete(parser)
    options = parser.parse_args(words)
    with _loading(asked) if arguments is None else contextlib.nullcontext():
        chosen = importlib.import_module(options.module)
    try:
        code: int = chosen.run(options)
        if arguments is None:
            sys.stdout.flush()
    except OSError as error:
        if arguments is not None or error.errno not in (*FULL, errno.EPIPE):
            raise
        with contextlib.suppress(OSError):  # else the interpreter tries again at its end, and reports that
            sys.stdout.close()
        if error.errno in FULL:  # who closes a pipe has read enough
            print(f"jointwatch: {asked}: what was printed is not complete: {error.strerror}", file=sys.stderr)
        return 1
    return code


@contextlib.contextmanager
def _loading(command: str) -> Iterator[None]:
    """Says that kernels are compiled where a first start takes long; a quick one prints nothing.

    What is loaded stays to the end. The collector need not look at it meanwhile, which takes a tenth of the time, nor
    later, when it would write to every object that this process shares with those that it forks.
    """
    from daq.commands.progress import FIRST, Progress  # which takes longer than --version

    progress = Progress(command, first=FIRST if sys.stderr.isatty() else PATIENT)
    progress.stage("loading; a first start compiles its kernels, which takes a minute or two")
    gc.disable()
    with progress:
        yield
    gc.enable()
    gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
