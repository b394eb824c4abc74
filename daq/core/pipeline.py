"""Samples in, Updates out: the way of every reading through alignment and estimation to what is published.

No thread, no socket, no clock: time comes in with the readings, so a recording replayed through the same pipeline
gives the same updates.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daq.config.load import digest
from daq.config.robot_model import load_model
from daq.config.routes import routes
from daq.config.sections import Config
from daq.core.align import Sorter
from daq.core.joint_line import JointLine, Message, described
from daq.core.robot_line import RobotLine
from daq.state.baselines import Baseline
from daq.stream.curve_points import pack
from daq.stream.update import ROBOT, Introduction, Publication


class Pipeline:
    """All joints of one robot."""

    def __init__(self, config: Config, boot: int, executor: Executor | None = None) -> None:
        """executor: where refits run; inline when there is none, so that a replay is reproducible."""
        interval = round(1e9 / config.publish.rate)
        self.lines = [
            JointLine(name, joint, Publication(config.robot.name, name, boot, joint.model.unit()), interval, executor)
            for name, joint in config.joints.items()
        ]
        names = [line.name for line in self.lines]
        columns = {line.name: line.estimator.channels for line in self.lines}
        self._sorter = Sorter(routes(config), names, columns)
        introduced = {name: described(joint) for name, joint in config.joints.items()}
        self.robot: RobotLine | None = None
        if config.robot.model is not None:
            publication = Publication(config.robot.name, ROBOT, boot, "")
            learnt = load_model(config.robot.model)
            self.robot = RobotLine(learnt, config.joints, publication, interval, config.robot.drift)
            for line in self.lines:
                line.follower = self.robot.note
        self._introduction = Introduction(config.robot.name, boot, digest(config), introduced)

    def absorb(self, readings: NDArray[np.void], epoch: int, now: Callable[[], int]) -> list[Message]:
        """A batch of Readings → the messages that it makes due.

        epoch: ns from CLOCK_MONOTONIC to Unix time; now: the monotonic clock (ns), asked only to state latencies.
        """
        messages: list[Message] = []
        for index, times, values, columns in self._sorter.split(readings):
            messages += self.lines[index].absorb(times, values, columns, epoch, now)
        return messages if self.robot is None else messages + self.robot.settle(epoch)

    def inspect(self, epoch: int) -> list[Message]:
        """What the page draws of every joint beside its estimate, since the last call; internal."""
        found = ((line.name, line.estimator.inspect()) for line in self.lines)
        return [pack(name, inspection, epoch) for name, inspection in found if inspection is not None]

    def watch(self, now: int, epoch: int) -> list[Message]:
        """The messages that silence makes due."""
        return [message for line in self.lines for message in line.watch(now, epoch)]

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
        if self.robot is not None and ROBOT in states:
            self.robot.resume(states[ROBOT])

    def introduce(self, time: int) -> Message:
        """Who this is. time: Unix ns."""
        return self._introduction.message(time / 1e9)
