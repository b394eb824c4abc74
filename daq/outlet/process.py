"""The outlet process: starts the server of daq/outlet/server.py as the configuration says."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import zmq

from daq.config.sections import Config
from daq.outlet.commissioning import Commissioning
from daq.outlet.history import JointLabel
from daq.outlet.long_term.keeper import Keeper, WearSettings
from daq.outlet.notifications.notifier import notifier
from daq.outlet.server import Tls, serve
from daq.outlet.token_request import TokenRequest
from daq.processes.heartbeat import Life
from daq.processes.logs import log
from daq.processes.process import STREAM, CannotStartError, endpoint, may_take_priority
from daq.state.baselines import read
from daq.state.checkpoint_file import FILE, Writer
from daq.state.files import BaselineError, place, token_of
from daq.state.history.file import FILE as HISTORY
from daq.stream.keys import Curve, KeyFileError, read_pair
from daq.stream.sockets import EndpointError, Socket, open_publisher
from daq.stream.update import ROBOT
from estimators.online.gear.two_encoders import gear_of


def _curve(config: Config) -> Curve | None:
    lock = config.publish.curve
    return None if lock is None else Curve(read_pair(lock.secret).secret, lock.clients)


def _tls(config: Config) -> Tls | None:
    lock = config.publish.tls
    return None if lock is None else Tls(lock.certificate, lock.key)


def _request(config: Config, commissioning: Commissioning) -> TokenRequest | None:
    """The handler of requests that set baselines and acknowledge changes; None where there is no token for them."""
    try:
        token, where = token_of(config, make=True)
    except BaselineError as error:
        log.warning("the page cannot set baselines: %s", error)
        return None
    log.info("the token that allows to set baselines is in %s", where)
    actions = {"/api/baseline": commissioning.set, "/api/changes": commissioning.acknowledge}
    return TokenRequest(token, frozenset(_models(config)), actions)


def _keeper(config: Config, labels: Sequence[JointLabel]) -> Keeper:
    """The keeper of the history, which judges the wear of each joint against its baseline's days."""
    wears = {}
    for name, joint in config.joints.items():
        model = joint.model.build()
        columns = model.blocks[0].columns if model.blocks else ()
        wears[name] = WearSettings(joint.drift.wear / 100.0, tuple(model.parameters[at].name for at in columns))
    return Keeper(place(config, HISTORY), config.history.minutes, labels, wears, partial(_baseline_time, config))


def _baseline_time(config: Config, joint: str) -> float:
    """Unix s of a joint's baseline; 0 where it has none that can be read."""
    try:
        found = read(place(config, "baseline.json")).newest().get(joint)
    except BaselineError:
        return 0.0
    return 0.0 if found is None else found.since


def _models(config: Config) -> dict[str, str]:
    """Joints, and the robot, that can have a baseline → kind of the model."""
    models: dict[str, str] = {name: joint.model.kind for name, joint in config.joints.items()}
    return models if config.robot.model is None else models | {ROBOT: ROBOT}


def run(_: str, config: Config, runtime: Path, life: Life) -> None:
    """Serve until SIGTERM. Raises CannotStartError when an address cannot be served."""
    host, port = config.publish.address
    priority = config.processes.priority
    labels = [
        JointLabel.of(name, joint.model, gear_of(joint, joint.rate) is not None)
        for name, joint in config.joints.items()
    ]
    context: zmq.Context[Socket] = zmq.Context.instance()
    core = open_publisher(context, endpoint(runtime, "baselines"))
    Writer(context, endpoint(runtime, "checkpoints"), place(config, FILE)).start()
    commissioning = Commissioning(place(config, "baseline.json"), _models(config), core)
    keeper = _keeper(config, labels) if config.history.keep else None
    if keeper is not None:
        commissioning.wear = lambda: keeper.worn
        keeper.start()
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
            _tls(config),
            commissioning.watched,
            priority if may_take_priority(priority) else 0,
            notifier(config),
            keeper,
            endpoint(runtime, STREAM) if config.gateways else "",
        )
    except EndpointError as error:
        raise CannotStartError(error.strerror) from error
    except KeyFileError as error:
        raise CannotStartError(str(error)) from error
    finally:
        if keeper is not None:
            keeper.stop()
        core.close(0)
        context.term()
