"""The commands of `jointwatch`, a module or a folder each.

Each has `arguments(parser)` (some in `arguments.py`) and `run(options)`, which returns an exit code of `codes.py`;
`daq/__main__.py` lists them all. stdout is for data, stderr for logs and messages.
"""
