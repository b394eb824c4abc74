"""Readings in, Updates out: all joints of a turn pass one kernel, and Python goes on where it has left each of them.

    readings of a turn → batch pass (sort; of each joint: align, clean, rows, gate, learn, judge, figures) → go_on

In normal mode there is nothing to decide between a reading and the numbers of an update; what there is to decide (odd
values, starts, alarms, the end of a block) stops the pass of that joint, not of the others, and gives the same bits.

No thread, no socket, no clock: time comes in with the readings, so a recording replayed through the same pipeline
gives the same updates.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from daq.config.load import digest
from daq.config.routes import routes
from daq.config.sections import Config
from daq.core.align import Sorter
from daq.core.batch_pass import BatchPass
from daq.core.gear_pipeline import kept_as
from daq.core.joint_pipeline import JointLine, Message, described
from daq.state.baselines import Baseline
from daq.stream.curve_points import pack
from daq.stream.update import ROBOT, Introduction, Publication
from estimators.quantities import Nanoseconds

if TYPE_CHECKING:
    from daq.core.robot_pipeline import RobotLine


#: ns, tuned: Time between the groups of joints whose updates are due together; 7 and 28 joints in `bench scale`
#: (decision 011).
TOGETHER: Final = 10_000_000


class Pipeline:
    """All joints of one robot."""

    def __init__(self, config: Config, boot: int, executor: Executor | None = None) -> None:
        """executor: where refits run; inline when there is none, so that a replay is reproducible."""
        interval = round(1e9 / config.publish.rate)
        self.lines = [
            JointLine(
                name,
                joint,
                Publication(config.robot.name, name, boot, joint.model.unit()),
                interval,
                executor,
                offset=_offset(index, len(config.joints), interval),
            )
            for index, (name, joint) in enumerate(config.joints.items())
        ]
        # (joints,) ns of arrival from which the next update of each can be made: its readings before may wait
        self.due: Nanoseconds = np.zeros(len(self.lines), np.int64)
        names = [line.name for line in self.lines]
        columns = {line.name: line.estimator.channels for line in self.lines}
        self._pass = BatchPass(Sorter(routes(config), names, columns), [line.state for line in self.lines])
        introduced = {name: described(joint) for name, joint in config.joints.items()}
        self.robot = _robot_line(config, boot, interval)
        if self.robot is not None:
            for line in self.lines:
                line.follower = self.robot.note
        self._heard_until = 0  # ns, before which no joint can be silent for too long
        self._turn = 0  # whose curves come next
        self._introduction = Introduction(config.robot.name, boot, digest(config), introduced)

    def absorb(
        self, readings: NDArray[np.void], epoch: int, now: Callable[[], int], late: bool = False
    ) -> list[Message]:
        """A batch of Readings → the messages that it makes due; of a core that is late, one of each joint at most.

        epoch: ns from CLOCK_MONOTONIC to Unix time; now: the monotonic clock (ns), asked only to state latencies.
        """
        return [message for said in self.each(readings, epoch, now, late) for message in said]

    def each(
        self, readings: NDArray[np.void], epoch: int, now: Callable[[], int], late: bool = False
    ) -> Iterator[list[Message]]:
        """The same, joint by joint: what the first has to say need not wait for the last."""
        for index, own in self._pass.through(readings, late):
            line = self.lines[index]
            yield line.go_on(own, epoch, now)
            self.due[index] = line.due
        if self.robot is not None:
            yield self.robot.settle(epoch)

    def inspect(self, epoch: int) -> list[Message]:
        """What the page draws of every joint beside its estimate, since the last call; internal."""
        return [message for _ in self.lines for message in self.inspect_next(epoch)]

    def inspect_next(self, epoch: int) -> list[Message]:
        """The same of one joint, another one each time."""
        line = self.lines[self._turn]
        self._turn = (self._turn + 1) % len(self.lines)
        found = line.estimator.inspect()
        return [] if found is None else [pack(line.name, found, epoch)]

    def watch(self, now: int, epoch: int) -> list[Message]:
        """The messages that silence makes due."""
        if now < self._heard_until:
            return []
        messages = [message for line in self.lines for message in line.watch(now, epoch)]
        self._heard_until = min(line.heard_until for line in self.lines)
        return messages

    def rebase(self, baselines: Mapping[str, Any]) -> None:
        """What drift is measured against from now on: joint → daq.state.baselines.Baseline, as a map."""
        for line in self.lines:
            if line.name in baselines:
                line.rebase(Baseline.model_validate(baselines[line.name]))
        if self.robot is not None and ROBOT in baselines:
            self.robot.rebase(Baseline.model_validate(baselines[ROBOT]))

    def resume(self, states: Mapping[str, Any]) -> None:
        """Joints go on from what they kept; one that cannot starts anew, and raises NotTheSameError."""
        for line in self.lines:
            if line.name in states:
                line.resume(states[line.name])
            if line.gear is not None and kept_as(line.name) in states:
                line.gear.resume(states[kept_as(line.name)])
        if self.robot is not None and ROBOT in states:
            self.robot.resume(states[ROBOT])

    def introduce(self, time: int) -> Message:
        """Who this is. time: Unix ns."""
        return self._introduction.message(time / 1e9)


def _offset(index: int, joints: int, interval: int) -> int:
    """ns from where on the intervals of a joint are counted.

    To wake costs a core as much as three joints do once it is awake, so joints share it; but the last of a group waits
    for all the others.
    """
    groups = max(1, min(joints, interval // TOGETHER))
    return index * groups // joints * interval // groups


def _robot_line(config: Config, boot: int, interval: int) -> "RobotLine | None":
    """All joints as one robot, where its model is known."""
    if config.robot.model is None:
        return None
    from daq.config.robot_model import model_of  # kernels that only a whole robot needs
    from daq.core.robot_pipeline import RobotLine

    publication = Publication(config.robot.name, ROBOT, boot, "")
    learnt = model_of(config)
    return None if learnt is None else RobotLine(learnt, config.joints, publication, interval, config.robot.drift)
