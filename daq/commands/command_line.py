"""A command line's parser that asks "did you mean", as the configuration does."""

import argparse
import difflib
from typing import Any


class CommandLine(argparse.ArgumentParser):
    """Parses a command line; a name that is none of the choices is refused with the nearest one."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            close = difflib.get_close_matches(str(value), [str(one) for one in action.choices or ()], 1)
            if not close:
                raise
            raise argparse.ArgumentError(action, f'{error.message}; did you mean "{close[0]}"?') from None
