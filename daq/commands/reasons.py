"""`jointwatch reasons [CODE]`: prints every reason why values may not be used, its meaning and what to do.

Without a code it prints the page docs/troubleshooting.md.
"""

import argparse
import re

from daq.commands.codes import EXIT_USAGE, fail
from estimators.reason_words import CATALOGUE, ReasonEntry

INTRODUCTION = """\
# Troubleshooting: reasons

Where the values of a joint, a gear or a robot may not be used, `health.reasons` of its message says why
([the stream](stream.md)). Each reason has a `code`, mostly a `parameter` (or channel, or joint) that it is about, its
`numbers`, and a `text`. The page shows the text and what to do; `jointwatch top`, reports and fleets show the text.
`jointwatch reasons CODE` prints the entry of one code.

This page is written by `jointwatch reasons > docs/troubleshooting.md` from `estimators/reason_words.py`.
A name in braces is replaced by the parameter, a number or a word. A reason of the group "The model does not fit" begins
with the parameter whose deviation it widens, or with the share of the torque that is unexplained.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("code", nargs="?", help="code of one reason in the stream (default: all reasons, as a page)")


def run(options: argparse.Namespace) -> int:
    """Print one reason, or the page of all."""
    if options.code is None:
        print(page(), end="")
    elif options.code in CATALOGUE:
        print("\n".join(_lines(CATALOGUE[options.code])))
    else:
        return fail(f'unknown reason "{options.code}", expected one of {", ".join(CATALOGUE)}', EXIT_USAGE)
    return 0


def page() -> str:
    """The whole catalogue as a page of Markdown."""
    parts, group = [INTRODUCTION], ""
    for code, entry in CATALOGUE.items():
        if entry.group != group:
            group = entry.group
            parts.append(f"## {group}\n")
        says, means, todo = _lines(entry)
        parts.append(f"### `{code}`\n\n> {says}\n\n{means}\n\n**What to do.** {todo}\n")
    return "\n".join(parts)


def _lines(entry: ReasonEntry) -> tuple[str, ...]:
    """Sentence, meaning and remedy, with names in braces but without their formats."""
    texts = (entry.says, entry.means, entry.todo)
    return tuple(re.sub(r"\{(\w+)[^}]*\}", r"{\1}", text.replace("{unit}", " {unit}")) for text in texts)
