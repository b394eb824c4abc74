"""A program that runs one gateway of a configuration alone, beside an outlet in the same folder: CONFIG FOLDER NAME."""

import sys
from pathlib import Path

from daq.config.load import load
from daq.gateways.process import run
from daq.processes.heartbeat import Heartbeats, Life
from daq.processes.logs import configure_logging
from daq.processes.process import CannotStartError


class Told(Life):
    """Says on stdout when the gateway is ready."""

    def ready(self) -> None:
        super().ready()
        print("ready", flush=True)


def main() -> int:
    config, folder, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    configure_logging(name)
    try:
        run(name, load(config), folder, Told(Heartbeats(1), 0))
    except CannotStartError as error:
        print(error, file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
