"""When a channel counts as silent: never before three of its own samples are missing."""

import msgpack
import numpy as np

from daq.config.sections import JointSection
from daq.core.joint_pipeline import JointPipeline
from daq.stream.reasons import texts
from daq.stream.update import Map, Message, Publication

S = 1_000_000_000  # ns


def line_with(**torque: float) -> JointPipeline:
    """A joint at 100 Hz that is stale after half a second; torque: of its second channel."""
    channels = {"position": {"signal": "a.M.q"}, "torque": {"signal": "a.T.t"} | torque}
    settings = {"rate": 100.0, "stale": 0.5, "model": {"kind": "rigid"}, "channels": channels}
    return JointPipeline(
        "joint", JointSection.model_validate(settings), Publication("robot", "joint", 0, "N·m"), S, None
    )


def maps(messages: list[Message], family: str) -> list[Map]:
    return [msgpack.unpackb(body) for topic, body in messages if topic == f"{family}/joint".encode()]


def reasons(messages: list[Message]) -> list[str]:
    """Texts of the reasons that the only estimate among these messages has."""
    (told,) = maps(messages, "estimate")
    return texts(told["health"]["reasons"])


def test_a_slow_channel_is_waited_for_three_of_its_own_periods() -> None:
    line = line_with(rate=2.0)
    for k in range(101):
        columns = [0, 1] if k % 50 == 0 else [0]
        at = S + k * S // 100
        values = np.arange(float(len(columns)))
        line.absorb(np.full(len(columns), at), values, np.array(columns, np.int32), 0, lambda: 0)
    last = 2 * S  # of both
    assert line.check_silence(last + S // 4, 0) == []
    assert reasons(line.check_silence(last + S, 0)) == ["no position (a.M.q) for 1.0 s"]
    assert reasons(line.check_silence(last + 8 * S // 5, 0)) == ["no data for 1.6 s"]


def test_a_joint_that_never_sends_is_given_its_time_from_the_first_look_on() -> None:
    """The clock counts from the computer's start, perhaps days ago."""
    line, first = line_with(), 90_000 * S
    assert line.check_silence(first, 0) == []
    assert line.check_silence(first + 49 * S // 100, 0) == []
    messages = line.check_silence(first + S // 2, 10 * S)
    assert reasons(messages) == ["no data for 0.5 s"]
    (fault,) = maps(messages, "event")
    assert (fault["kind"], fault["text"], fault["timestamp"]) == ("fault", "no data for 0.5 s", 90_010.5)
    (told,) = maps(messages, "estimate")
    assert (told["phase"], told["health"]["status"]) == ("faulted", "faulted")
    assert (told["timestamp"], told["arrival"], told["latency"]) == (90_010.5, 90_010.0, 0.5)


def test_a_silent_joint_is_told_of_twice_a_second_and_once_as_an_event() -> None:
    line, first = line_with(), 5 * S
    line.check_silence(first, 0)
    said = [
        line.check_silence(first + k * S // 20, 0) for k in range(10, 51)
    ]  # from half a second on to two and a half
    assert [k for k, messages in enumerate(said) if maps(messages, "estimate")] == [0, 10, 20, 30, 40]
    assert [k for k, messages in enumerate(said) if maps(messages, "event")] == [0]


def test_data_end_the_silence_and_what_is_missing_still_begins_another() -> None:
    line, first = line_with(), 5 * S
    line.check_silence(first, 0)
    line.check_silence(first + S, 0)
    back = first + 2 * S
    only_position = line.absorb(np.array([back]), np.array([0.0]), np.array([0], np.int32), 0, lambda: back)
    assert maps(only_position, "event") == [], "the torque is still missing"
    both = line.absorb(np.array([back, back]), np.zeros(2), np.array([0, 1], np.int32), 3 * S, lambda: back)
    (event,) = maps(both, "event")
    assert (event["kind"], event["text"], event["timestamp"]) == ("recovered", "data again", 10.0)
    assert line.check_silence(back + S // 4, 0) == []
    (fault,) = maps(line.check_silence(back + S // 2, 0), "event")
    assert (fault["kind"], fault["text"]) == ("fault", "no data for 0.5 s")
