"""`jointwatch schema [WHAT]`: prints the JSON Schema of a topic, of all topics, or of the configuration.

With --as it prints the types of all topics in Python or TypeScript.
"""

import argparse
import json

from daq.commands.codes import EXIT_USAGE, fail
from daq.stream.schema import TOPICS, schema


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", nargs="?", help="estimate, residual, event, drift, meta or config (all topics)")
    parser.add_argument(
        "--as", choices=("json", "python", "typescript"), default="json", dest="form", help="types of all topics"
    )


def run(options: argparse.Namespace) -> int:
    """Print the schema."""
    if options.form != "json":
        return _print_types(options)
    names = {family.rstrip("/"): family for family in TOPICS}
    if options.what == "config":
        from daq.config.load import OURS
        from daq.config.sections import Config

        found = Config.model_json_schema(by_alias=True)
        found["properties"] = {name: one for name, one in found["properties"].items() if name not in OURS}
    elif options.what is None:
        found = {name: schema(family) for name, family in names.items()}
    elif options.what in names:
        found = schema(names[options.what])
    else:
        known = ", ".join((*names, "config"))
        return fail(f'unknown schema "{options.what}", expected one of {known}', EXIT_USAGE)
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0


def _print_types(options: argparse.Namespace) -> int:
    """Print the types of all topics."""
    if options.what is not None:
        return fail(f'expected no name together with --as {options.form}, found "{options.what}"', EXIT_USAGE)
    if options.form == "python":
        from daq.commands.schema.typed_dicts import typed_dicts

        print(typed_dicts(), end="")
    else:
        from daq.commands.schema.typescript import typescript

        print(typescript(), end="")
    return 0
