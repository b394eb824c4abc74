"""daq/commands/schema.py."""

import argparse
import json
import sys

from daq.stream.schema import TOPICS, schema


def run(options: argparse.Namespace) -> int:
    """`jointwatch schema [WHAT]`: of a topic, of the configuration, or of all topics by name."""
    names = {family.rstrip("/"): family for family in TOPICS}
    if options.what == "config":
        from daq.config.sections import Config

        found = Config.model_json_schema(by_alias=True)
        found["properties"].pop("folder", None)
    elif options.what is None:
        found = {name: schema(family) for name, family in names.items()}
    elif options.what in names:
        found = schema(names[options.what])
    else:
        known = ", ".join((*names, "config"))
        print(f'jointwatch: unknown schema "{options.what}", expected one of {known}', file=sys.stderr)
        return 2
    print(json.dumps(found, indent=2, ensure_ascii=False))
    return 0
