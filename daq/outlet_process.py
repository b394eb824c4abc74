"""The outlet process: the outlet, told by the configuration what to serve where."""

from collections.abc import Callable
from pathlib import Path

from daq.config import Config
from daq.history import JointLabel
from daq.keys import Curve, KeyFileError, read_pair
from daq.outlet import serve
from daq.process import CannotStartError, endpoint
from daq.publisher import EndpointError


def _curve(config: Config) -> Curve | None:
    lock = config.publish.curve
    return None if lock is None else Curve(read_pair(lock.secret).secret, lock.clients)


def run(_: str, config: Config, runtime: Path, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM. Raises CannotStartError when an address cannot be served."""
    host, port = config.publish.address
    labels = [JointLabel.of(name, joint.model) for name, joint in config.joints.items()]
    try:
        serve(
            endpoint(runtime, "updates"),
            endpoint(runtime, "status"),
            config.publish.endpoint,
            host,
            port,
            config.robot.name,
            labels,
            ready,
            _curve(config),
        )
    except EndpointError as error:
        raise CannotStartError(error.strerror) from error
    except KeyFileError as error:
        raise CannotStartError(str(error)) from error
