"""Every command: a help with two examples that its own parser takes, and a text for every option."""

import argparse
import importlib
import re
import runpy
import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from daq.__main__ import ABOVE, COMMANDS, main
from daq.commands.arguments import ARGUMENTS
from daq.commands.examples import EXAMPLES, epilog
from hil_rig.__main__ import parser_of_rig
from hil_rig.commands.bench import arguments_of_bench
from hil_rig.commands.compile import arguments_of_compile
from hil_rig.commands.demo import address_of, arguments_of_demo
from hil_rig.commands.reproduce import PROGRAMS as PROGRAMS_OF_REPRODUCE
from hil_rig.commands.reproduce import arguments_of_reproduce

ROOT = Path(__file__).parents[3]
PROGRAMS = {
    "rig": parser_of_rig,
    "demo": arguments_of_demo,
    "reproduce": arguments_of_reproduce,
    "bench": lambda: arguments_of_bench(["buses", "rls"]),
    "compile": arguments_of_compile,
}


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of a command, without running it."""
    module = COMMANDS[command][0]
    if module.startswith(ABOVE):
        return PROGRAMS[command]()
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=f"jointwatch {command}", epilog=epilog(command), formatter_class=formatter)
    (ARGUMENTS.get(command) or importlib.import_module(module).arguments)(parser)
    return parser


def actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument, those of actions within too."""
    for one in parser._actions:
        if isinstance(one, argparse._SubParsersAction):
            for inner in one.choices.values():
                yield from actions(inner)
        else:
            yield one


def test_the_catalogue_of_examples_has_every_command() -> None:
    assert set(EXAMPLES) == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_text_and_the_help_has_the_examples(command: str) -> None:
    parser = parser_of(command)
    silent = [one.option_strings or one.dest for one in actions(parser) if not (one.help or "").strip()]
    assert not silent
    text = parser.format_help()
    assert "[]" not in text
    found = re.findall(rf"^ *jointwatch (?:{command}|--version)\b", text, re.MULTILINE)
    assert len(found) >= 2, text


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_are_understood_by_the_command(command: str, run_program: Callable[..., Any]) -> None:
    for line, _ in EXAMPLES[command]:
        words = shlex.split(re.split(r" (?:>|&&) ", line)[0])
        if words[1].startswith("--"):
            continue
        assert words[:2] == ["jointwatch", command]
        if command == "reproduce":  # whose options are those of the program of that name
            module = f"hil_rig.papers.{PROGRAMS_OF_REPRODUCE[words[2]]}"
            asked = run_program(module, *words[3:], "--help")
            known = set(re.findall(r"--[\w-]+", asked.stdout))
            assert asked.returncode == 0
            assert {word for word in words[3:] if word.startswith("--")} <= known
            continue
        parser_of(command).parse_args(words[2:])


def test_the_page_of_commands_is_what_the_catalogues_say() -> None:
    written = (ROOT / "docs" / "commands.md").read_text("utf-8")
    assert written == runpy.run_path(str(ROOT / "tests" / "support" / "commands_page.py"))["page"](), (
        "python tests/support/commands_page.py --write"
    )


def test_the_version_is_in_one_place(capsys: pytest.CaptureFixture[str]) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert main(["version"]) == 0
    assert capsys.readouterr().out == f"{declared}\n"
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert main(["version"]) == 0
    assert capsys.readouterr().out == said
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", said)


@pytest.mark.parametrize("command", ["rig", "replay"])
def test_the_help_of_a_process_ends_with_the_examples(command: str, run_program: Callable[..., Any]) -> None:
    done = run_program("daq", command, "--help")
    assert done.returncode == 0, done.stderr
    assert EXAMPLES[command][1][0] in done.stdout


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("18080", "http://127.0.0.1:18080"),
        ("0.0.0.0:9000", "http://0.0.0.0:9000"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_the_page_of_a_demo_may_be_a_port(text: str, address: str) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize("text", ["page", "99999", "https://a", ""])
def test_another_page_is_refused_with_what_is_wanted(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected a port"):
        address_of(text)
