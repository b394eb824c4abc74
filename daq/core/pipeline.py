"""From readings to updates: the whole path of the data through the core, without threads, sockets or clocks.

In each turn of its loop the core process (daq/core/process.py) hands all new readings of all joints to the pipeline:

1. `BatchPass` sorts the readings by joint. For each joint one compiled pass aligns them to equidistant samples, cleans
   the samples, forms regression rows from them and learns from each row.
2. The pass runs until something needs a decision or an update is due: implausible values, the end of a start, an alarm,
or the end of a block of rows. It then stops for this joint with a reason; the other joints go on.
3. `JointPipeline.handle_stops` handles the stop in Python and resumes the same pass where it stopped, until all
readings of the joint are used. At the end of an interval it publishes an estimate and a residual, and once a second the
drift against the baseline. If nothing has to be decided, it repeats the last messages with new numbers.
4. The samples also go to `GearPipeline` (a joint with two encoders: lost motion), `ClearancePipeline` (a joint with
   proximity sensors: the clearance of its bearing), `RobotPipeline` (all joints as one robot: residual torque, contact,
   payload) and `MechanismPipeline` (the drives of a mechanism with loops: residual torque, constraint forces), which
   publish messages of their own.
5. `check_silence` reports a joint whose channels give no data.

A message is a topic and a packed map (daq/stream/update.py). Readings carry their times, and the clock is an argument,
so a replay of a recording through the same pipeline gives the same updates.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from daq.config.load import digest
from daq.config.routes import routes
from daq.config.sections import Config, JointSection
from daq.core.align import Sorter
from daq.core.batch_pass import LONG_DECISION, BatchPass
from daq.core.changes.change_records import ChangeRecords, change_state_name
from daq.core.joint_pipeline import JointPipeline
from daq.state.baselines import Baseline
from daq.stream.curve_points import pack
from daq.stream.update import MECHANISM, ROBOT, Introduction, Map, Message, Publication
from estimators.base import Phase
from estimators.models.joints.lost_motion import PARAMETERS
from estimators.online.compiled import CompiledSoFar
from estimators.online.gear.two_encoders import gear_of
from estimators.quantities import Nanoseconds

if TYPE_CHECKING:
    from daq.core.mechanisms.mechanism_pipeline import MechanismPipeline
    from daq.core.robot_pipeline import RobotPipeline


#: ns, tuned: Time between two groups of joints; the updates of a group are due together. Tuned on 7 and 28 joints in
#: `bench scale` (decisions 011 and 091).
GROUP_INTERVAL: Final = 20_000_000
#: joints, argued: Largest size of a group, while groups are at least REVIEW_TIME apart. Tasks of once a second are done
#: for all joints of a group in one turn, 0.35 ms each, and the last joint waits for the others. In a robot with at most
#: this number of joints, readings are processed before the update to which they belong.
GROUP_SIZE: Final = 14
#: ns, argued: Time kept free for a review, for the updates of a group, or for readings processed before them: the
#: duration of each, and some delay.
REVIEW_TIME: Final = 2_000_000
#: messages, argued: Messages that are sent at once, those of four joints: waking ZeroMQ's thread costs more than
#: sending them, and four joints are finished in the time that it takes to wake.
MESSAGES_PER_SEND: Final = 8


class Pipeline:
    """All joints of one robot."""

    def __init__(
        self,
        config: Config,
        boot: int,
        executor: Executor | None = None,
        looks: Executor | None = None,
        listened: bool = True,
        only: Sequence[str] | None = None,
    ) -> None:
        """boot: number of this start of the core; executor and looks: run the refits and the plausibility checks.
        Without them these run inline, so that a replay is reproducible. listened: whether all updates are made;
        otherwise a joint in normal mode makes only one update a second, without an effect on any other result. only:
        the joints whose readings are used, by default all."""
        interval = round(1e9 / config.publish.rate)
        self.compiled = CompiledSoFar()
        self.joints = [
            JointPipeline(
                name,
                joint,
                Publication(config.robot.name, name, boot, joint.model.unit()),
                interval,
                executor,
                offset=_offset(index, len(config.joints), interval),
                looks=looks,
                listened=listened,
                place=index / len(config.joints),
                compiled=self.compiled,
            )
            for index, (name, joint) in enumerate(config.joints.items())
            if only is None or name in only
        ]
        # (joints,) ns: arrival time from which the next update of each can be made; earlier readings may wait
        self.due: Nanoseconds = np.zeros(len(self.joints), np.int64)
        self._planned = np.zeros_like(self.due)  # ns, the same if no readings are processed early
        names = [joint.name for joint in self.joints]
        columns = {joint.name: joint.estimator.channels for joint in self.joints}
        self._pass = BatchPass(
            Sorter(routes(config), names, columns),
            [joint.state for joint in self.joints],
            [joint.uneventful for joint in self.joints],
        )
        introduced = {name: described(joint) for name, joint in config.joints.items()}
        records = {one.name: one.comparison.records for one in self.joints if one.comparison.records is not None}
        self.robot = _robot_pipeline(config, boot, interval, executor, records)
        self.mechanism = _mechanism_pipeline(config, boot, interval)
        # pipelines that take the samples of all joints
        self.shared_pipelines = [one for one in (self.robot, self.mechanism) if one is not None]
        for joint in self.joints:
            wanted = [one.rows_of(joint.name) for one in self.shared_pipelines]
            joint.followers.state.shared_rows = tuple(one for one in wanted if one is not None)
        self._silence_due = 0  # monotonic ns before which no joint can have been silent for too long
        self._inspected_next = 0  # index of the joint that is inspected next
        self._introduction = Introduction(config.robot.name, boot, digest(config), introduced)

    @property
    def starting(self) -> int:
        """Number of joints that have not finished their starting procedure."""
        return sum(joint.estimator.phases.phase in (Phase.WAITING, Phase.STARTING) for joint in self.joints)

    def absorb(
        self, readings: NDArray[np.void], epoch: int, now: Callable[[], int], late: bool = False
    ) -> list[Message]:
        """Process a batch of readings and return all messages that are due.

        epoch: ns from CLOCK_MONOTONIC to Unix time; now: the monotonic clock (ns), read only to state latencies; late:
        whether the core is behind, so that only the last of several updates of a joint is made.
        """
        return [message for messages in self.absorb_each_joint(readings, epoch, now, late) for message in messages]

    def absorb_each_joint(
        self, readings: NDArray[np.void], epoch: int, now: Callable[[], int], late: bool = False
    ) -> Iterator[list[Message]]:
        """Process a batch as `absorb` does, but yield messages as soon as several joints are finished.

        No message waits for the review of another joint, which takes as long as a dozen joints without one.
        """
        made: list[Message] = []
        for index, task, its_readings in self._pass.through(readings, late):
            joint = self.joints[index]
            if len(made) >= MESSAGES_PER_SEND or (made and task == LONG_DECISION):
                yield made
                made = []
            made += joint.finish_turn(task, its_readings, epoch, now)
            self.due[index] = self._planned[index] = joint.due
        if made:
            yield made
        self._bring_reviews_forward(int(readings["time"][-1]))
        if len(self.joints) <= GROUP_SIZE and not self.shared_pipelines:
            self._bring_readings_forward(int(readings["time"][-1]))
        for pipeline in self.shared_pipelines:
            yield pipeline.messages_due(epoch)

    def absorb_turns(self, readings: NDArray[np.void], ends: NDArray[np.int64]) -> Iterator[list[Message]]:
        """Process the readings of many turns of a replay; yields the messages of each turn, and of silent joints after
        it.

        ends: (turns,) index of the reading after each turn. It is only used if there is no shared pipeline.
        """
        done = 0
        for turn, latest, stopped in self._pass.through_turns(readings, ends, lambda: self._silence_due):
            now, messages = int(readings["time"][ends[turn] - 1]), list[Message]()
            for index, task, own in stopped:
                messages += self.joints[index].finish_turn(task, own, 0, lambda now=now: now)  # type: ignore[misc]
            if latest >= self._silence_due:
                messages += self.check_silence(latest, 0)
            yield from ([] for _ in range(turn - done))
            yield messages
            done = turn + 1
        yield from ([] for _ in range(len(ends) - done))

    def _bring_reviews_forward(self, now: int) -> None:
        """Plan to process the readings of a joint before its update is due, if a review, which takes long, comes first.

        Then the review is finished when the update is due. Each review gets a time in which no update and no other
        review is due; if there is no such time, it is made with the update. now: ns, arrival of the newest reading.
        """
        joints, planned = self.joints, self.due.tolist()
        wanted = [(one.due, k) for k, one in enumerate(joints) if one.review_due + REVIEW_TIME < one.due == planned[k]]
        if not wanted:
            return
        taken = {joint.due for joint in joints} | set(planned)
        for due, index in sorted(wanted):
            start = max(now, joints[index].review_due)
            while near := [one for one in taken if one - REVIEW_TIME < start < one + REVIEW_TIME]:
                start = max(near) + REVIEW_TIME
            if start + REVIEW_TIME <= due:
                self.due[index] = start
                taken.add(start)

    def _bring_readings_forward(self, now: int) -> None:
        """Plan to process most readings of a joint shortly before its update is due.

        Then few readings are left for the update, and its code and numbers are in the processor's caches. Such a turn
        costs as much as three joints, so it is omitted for robots with many joints. now: ns, arrival of the newest
        reading.
        """
        early = self._planned - REVIEW_TIME
        np.copyto(self.due, early, where=(self.due == self._planned) & (early > now + 2 * REVIEW_TIME))

    def inspect(self, epoch: int) -> list[Message]:
        """Return internal messages for the page: curve points and excitation of every joint since the last call."""
        return [message for _ in self.joints for message in self.inspect_next_joint(epoch)]

    def inspect_next_joint(self, epoch: int) -> list[Message]:
        """Return curve points and excitation of one joint; each call takes the next joint."""
        joint = self.joints[self._inspected_next]
        self._inspected_next = (self._inspected_next + 1) % len(self.joints)
        found = joint.estimator.inspect()
        return [] if found is None else [pack(joint.name, found, epoch)]

    def report_channels(self, wanted: Collection[str], epoch: int) -> list[Message]:
        """Return internal messages for the page: the raw channels of these joints since the last call."""
        for joint in self.joints:
            joint.watch_channels(joint.name in wanted)
        watches = [one for joint in self.joints if (one := joint.followers.channel_watch) is not None]
        return [message for watch in watches for message in watch.messages_due(epoch)]

    def check_silence(self, now: int, epoch: int) -> list[Message]:
        """Return the messages about joints or channels that give no data. now: monotonic ns."""
        messages: list[Message] = []
        if now >= self._silence_due:
            messages += [message for joint in self.joints for message in joint.check_silence(now, epoch)]
            self._silence_due = min(joint.silence.due for joint in self.joints)
        shared = self.shared_pipelines
        faults = {joint.name: found for joint in self.joints if (found := joint.faults)} if shared else {}
        for pipeline in shared:
            messages += pipeline.check_joints(faults, now, epoch)
        return messages

    def set_compiled(self, stage: int) -> None:
        """Note how far the kernels are compiled: 0, 1 where a joint may learn, 2 where its start may end, too."""
        self.compiled.learning, self.compiled.ending = stage > 0, stage > 1

    def set_baselines(self, baselines: Mapping[str, Any]) -> None:
        """Measure drift against these baselines from now on: joint → daq.state.baselines.Baseline as a map."""
        for joint in self.joints:
            if joint.name in baselines:
                baseline = Baseline.model_validate(baselines[joint.name])
                joint.set_baseline(baseline)
                if self.robot is not None:
                    self.robot.refer(joint.name, baseline.since)
        if self.robot is not None and ROBOT in baselines:
            self.robot.set_baseline(Baseline.model_validate(baselines[ROBOT]))

    def acknowledge(self, seen: Mapping[str, float]) -> list[Message]:
        """Acknowledge the changes of joints for a person: joint → Unix s. Returns the messages."""
        messages: list[Message] = []
        for joint in self.joints:
            if joint.name in seen:  # the robot first: the joint settles what remains of its records
                messages += [] if self.robot is None else self.robot.acknowledge(joint.name, seen[joint.name])
                messages += joint.acknowledge(seen[joint.name])
        return messages

    def set_wear(self, worn: Mapping[str, Any]) -> list[Message]:
        """Take the wear that the history has found: joint → the fields of `wear/<joint>`. Returns the messages."""
        return [
            message
            for joint in self.joints
            if joint.name in worn
            for message in joint.comparison.set_wear(worn[joint.name])
        ]

    def resume(self, states: Mapping[str, Any]) -> None:
        """Let joints continue from stored states. A joint that cannot starts again from nothing, and raises
        NotTheSameError."""
        for joint in self.joints:
            if joint.name in states:
                joint.resume(states[joint.name])
            for name, extra in joint.extra_pipelines.items():
                if name in states:
                    extra.resume(states[name])
            if change_state_name(joint.name) in states:
                joint.comparison.resume(states[change_state_name(joint.name)])
        for pipeline in self.shared_pipelines:
            if pipeline.name in states:
                pipeline.resume(states[pipeline.name])
        if self.robot is not None and change_state_name(ROBOT) in states:
            self.robot.resume_changes(states[change_state_name(ROBOT)])

    def introduce(self, time: int) -> Message:
        """Return the `meta` message: robot, configuration and joints. time: Unix ns."""
        return self._introduction.message(time / 1e9)


def _offset(index: int, joints: int, interval: int) -> int:
    """Return the time (ns) from which the intervals of a joint are counted, so that joints are due in groups.

    Waking up costs the core as much as three joints, so several joints share one turn. The last joint of a group waits
    for all others, so groups are small.
    """
    groups = max(1, min(joints, interval // GROUP_INTERVAL), min(-(-joints // GROUP_SIZE), interval // REVIEW_TIME))
    return index * groups // joints * interval // groups


def _robot_pipeline(
    config: Config, boot: int, interval: int, executor: Executor | None, records: Mapping[str, ChangeRecords]
) -> "RobotPipeline | None":
    """Return the pipeline of the whole robot, if the configuration names a model of it."""
    if config.robot.model is None:
        return None
    from daq.config.robots.robot_model import model_of  # loads kernels that only a whole robot needs
    from daq.core.robot_pipeline import RobotPipeline

    publication = Publication(config.robot.name, ROBOT, boot, "")
    learnt = model_of(config)
    if learnt is None:
        return None
    return RobotPipeline(learnt, config.joints, publication, interval, config.robot, executor, records)


def _mechanism_pipeline(config: Config, boot: int, interval: int) -> "MechanismPipeline | None":
    """Return the pipeline of the mechanism, if the configuration names one."""
    if not config.mechanism:
        return None
    from daq.config.robots.robot_mechanism import mechanism_of  # loads kernels that only a mechanism needs
    from daq.core.mechanisms.mechanism_pipeline import MechanismPipeline

    description = mechanism_of(config)
    publication = Publication(config.robot.name, MECHANISM, boot, "")
    return None if description is None else MechanismPipeline(description, config.joints, publication, interval)


def described(joint: JointSection) -> Map:
    """Return the part of `meta` about a joint: model, unit, rate and parameters."""
    model = joint.model.build()
    gear = PARAMETERS if gear_of(joint, joint.rate) is not None else ()
    return {
        "model": joint.model.kind,
        "unit": joint.model.unit(),
        "rate": joint.rate,
        "parameters": {
            one.name: {
                "unit": one.unit,
                "low": one.low,
                "high": one.high,
                "equation": one.equation,
                "meaning": one.meaning,
                "needs": one.needs,
            }
            for one in (*model.parameters, *model.nonlinear, *gear)
        },
    }
