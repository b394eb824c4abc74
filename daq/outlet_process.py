"""The outlet process: the outlet, told by the configuration what to serve where."""

from collections.abc import Callable
from pathlib import Path

from daq.config import Config
from daq.history import JointLabel
from daq.outlet import serve
from daq.process import CannotStartError, endpoint
from daq.publisher import EndpointError


def run(_: str, config: Config, runtime: Path, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM. Raises CannotStartError when an address cannot be served."""
    host, port = config.publish.address
    labels = [
        JointLabel(name, joint.model.unit(), {item.name: item.unit for item in joint.model.build().parameters})
        for name, joint in config.joints.items()
    ]
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
        )
    except EndpointError as error:
        raise CannotStartError(error.strerror) from error
