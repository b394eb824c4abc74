"""When a channel counts as silent: never before three of its own samples are missing."""

import msgpack
import numpy as np

from daq.config.sections import Joint
from daq.core.joint_line import JointLine, Message
from daq.stream.update import Publication

S = 1_000_000_000  # ns


def reasons(messages: list[Message]) -> list[str]:
    """Of the estimate among them."""
    (told,) = (msgpack.unpackb(body) for topic, body in messages if topic.startswith(b"estimate/"))
    found: list[str] = told["health"]["reasons"]
    return found


def test_a_slow_channel_is_waited_for_three_of_its_own_periods() -> None:
    channels = {"position": {"signal": "a.M.q"}, "torque": {"signal": "a.T.t", "rate": 2.0}}
    settings = {"rate": 100.0, "stale": 0.5, "model": {"kind": "rigid"}, "channels": channels}
    line = JointLine("joint", Joint.model_validate(settings), Publication("robot", "joint", 0, "N·m"), S, None)
    for k in range(101):
        columns = [0, 1] if k % 50 == 0 else [0]
        at = S + k * S // 100
        values = np.arange(float(len(columns)))
        line.absorb(np.full(len(columns), at), values, np.array(columns, np.int32), 0, lambda: 0)
    last = 2 * S  # of both
    assert line.watch(last + S // 4, 0) == []
    assert reasons(line.watch(last + S, 0)) == ["no position (a.M.q) for 1.0 s"]
    assert reasons(line.watch(last + 8 * S // 5, 0)) == ["no data for 1.6 s"]
