"""A command line's parser that asks "did you mean", as the configuration does."""

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import Any, Final

OPTION: Final = re.compile(r"--[\w-]+")
LIKE: Final = 0.75  # similarity of options: "--port" is not meant to be "--endpoint"


class CommandLine(argparse.ArgumentParser):
    """Parses a command line; an unknown name or option is an error that suggests the most similar known one."""

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse as argparse does; an unknown option is an error that suggests the most similar known one."""
        known, others = self.parse_known_args(args, namespace)
        self.refuse(others)
        return known

    def refuse(self, others: Sequence[str]) -> None:
        """Stop if there are arguments that this command does not have."""
        if not others:
            return
        close = difflib.get_close_matches(others[0].partition("=")[0], OPTION.findall(self.format_usage()), 1, LIKE)
        meant = f'; did you mean "{close[0]}"?' if close else ""
        self.error(f"found the unknown arguments {' '.join(others)}{meant}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            close = difflib.get_close_matches(str(value), [str(one) for one in action.choices or ()], 1)
            if not close:
                raise
            raise argparse.ArgumentError(action, f'{error.message}; did you mean "{close[0]}"?') from None


class OneCommand(CommandLine):
    """Parses the arguments after a command's name; errors come from this parser, so that they show its usage."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does; unknown arguments are an error."""
        known, others = super().parse_known_args(args, namespace)
        self.refuse(others)
        return known, others
