"""The outlet process: the outlet, told by the configuration what to serve where."""

from pathlib import Path

import zmq

from daq.config.sections import Config
from daq.outlet.baseline_request import BaselineRequest
from daq.outlet.commissioning import Commissioning
from daq.outlet.history import JointLabel
from daq.outlet.server import serve
from daq.processes.heartbeat import Life
from daq.processes.process import CannotStartError, endpoint, log
from daq.state.checkpoint_file import FILE, Writer
from daq.state.files import BaselineError, make_token, place
from daq.stream.keys import Curve, KeyFileError, read_pair
from daq.stream.sockets import EndpointError, Socket, open_publisher


def _curve(config: Config) -> Curve | None:
    lock = config.publish.curve
    return None if lock is None else Curve(read_pair(lock.secret).secret, lock.clients)


def _request(config: Config, commissioning: Commissioning) -> BaselineRequest | None:
    """What lets the page set baselines; None where none can be kept."""
    file = place(config, "token")
    try:
        token = make_token(file)
    except BaselineError as error:
        log.warning("the page cannot set baselines: %s", error)
        return None
    log.info("token that allows to set baselines: %s (%s)", token, file)
    return BaselineRequest(token, frozenset(config.joints), commissioning.set)


def run(_: str, config: Config, runtime: Path, life: Life) -> None:
    """Serve until SIGTERM. Raises CannotStartError when an address cannot be served."""
    host, port = config.publish.address
    labels = [JointLabel.of(name, joint.model) for name, joint in config.joints.items()]
    context: zmq.Context[Socket] = zmq.Context.instance()
    core = open_publisher(context, endpoint(runtime, "baselines"))
    Writer(context, endpoint(runtime, "checkpoints"), place(config, FILE)).start()
    models = {name: joint.model.kind for name, joint in config.joints.items()}
    commissioning = Commissioning(place(config, "baseline.json"), models, core)
    try:
        serve(
            endpoint(runtime, "updates"),
            endpoint(runtime, "status"),
            config.publish.endpoint,
            host,
            port,
            config.robot.name,
            labels,
            life.ready,
            _curve(config),
            _request(config, commissioning),
            commissioning.share,
            life.beat,
        )
    except EndpointError as error:
        raise CannotStartError(error.strerror) from error
    except KeyFileError as error:
        raise CannotStartError(str(error)) from error
    finally:
        core.close(0)
        context.term()
