"""When requests of a poll are due, how long answers are waited for, and which echo is its own; without a line."""

import pytest

from drivers.serial.servo_packets import PacketSplitter, Range, read_packet
from drivers.serial.servo_poll import Poll, ReadRequest, cycle_of, wire_time


def reads(*places: tuple[int, int]) -> list[ReadRequest]:
    """Requests to servos with these registers (address, length), one each."""
    return [
        ReadRequest(read_packet("dynamixel2", [one]), (one,))
        for one in (Range(ident, *place) for ident, place in enumerate(places, 1))
    ]


def test_a_cycle_is_due_once_a_period_after_it_has_listened_and_its_requests_follow_each_other() -> None:
    first, second = cycle = reads((132, 4), (126, 10))
    poll, begin = Poll("dynamixel2", cycle, 50.0, 1_000_000), 7.0
    assert poll.due(begin) is None
    assert poll.next(False) == pytest.approx(begin + 0.3), "it listens for three tenths of a second"
    assert poll.due(begin + 0.299) is None
    for turn in range(3):
        at = begin + 0.3 + 0.02 * turn + 0.001
        assert poll.due(at) == first
        assert poll.next(False) == 0.0, "the second follows as soon as no answer is awaited"
        assert poll.due(at + 0.002) == second
        assert poll.next(False) == pytest.approx(begin + 0.3 + 0.02 * (turn + 1))
        assert poll.due(at + 0.004) is None
    assert poll.skipped == 0


def test_cycles_that_are_missed_are_counted_and_the_rhythm_stays() -> None:
    [request] = cycle = reads((132, 4))
    poll, begin = Poll("dynamixel2", cycle, 50.0, 1_000_000), 7.0
    poll.due(begin)
    assert poll.due(begin + 0.301) == request
    assert poll.due(begin + 0.301 + 0.07) == request, "of 0.32, 0.34 and 0.36 s the last"
    assert poll.skipped == 2
    assert poll.next(False) == pytest.approx(begin + 0.38)
    assert poll.due(begin + 0.381 + 0.02) == request
    assert poll.skipped == 3


def test_answers_are_waited_for_as_long_as_line_servos_and_adapter_may_take() -> None:
    """A read has 14 bytes, each answer 11 and its data, ten bits each; half a millisecond a servo, and 20 ms."""
    ranges = tuple(Range(ident, 132, 4) for ident in (1, 2))
    [request] = cycle = cycle_of("dynamixel2", ranges)
    wanted = (len(request.packet) + 2 * (11 + 4)) * 10 / 57_600
    assert wire_time("dynamixel2", request, 57_600) == pytest.approx(wanted)
    old = cycle_of("dynamixel1", ranges)
    assert [wire_time("dynamixel1", one, 57_600) for one in old] == [pytest.approx((8 + 6 + 4) * 10 / 57_600)] * 2
    poll = Poll("dynamixel2", cycle, 10.0, 57_600)
    poll.due(1.0)
    assert poll.due(1.35) == request
    end = 1.35 + 0.02 + 2 * 5e-4 + wanted
    assert poll.next(True) == pytest.approx(end)
    assert (poll.too_late(end - 1e-4), poll.too_late(end + 1e-4)) == (False, True)


def test_each_request_has_one_echo() -> None:
    cycle = reads((132, 4), (126, 10))
    own = [next(PacketSplitter("dynamixel2").feed(one.packet)) for one in cycle]
    poll = Poll("dynamixel2", cycle, 50.0, 1_000_000)
    assert not poll.is_echo(own[0]), "nothing was sent"
    poll.due(1.0)
    for mine, other in (own, own[::-1]):
        poll.due(1.4)
        assert not poll.is_echo(other)
        assert poll.is_echo(mine)
        assert not poll.is_echo(mine), "a second one is another master's"


def test_a_cycle_asks_servos_with_the_same_registers_together() -> None:
    ranges = [Range(3, 146, 1), Range(1, 132, 4), Range(2, 146, 1), Range(4, 132, 2)]
    together = [one.ranges for one in cycle_of("dynamixel2", ranges)]
    assert together == [(Range(4, 132, 2),), (Range(1, 132, 4),), (Range(3, 146, 1), Range(2, 146, 1))]
    assert [one.ranges for one in cycle_of("dynamixel1", ranges)] == [(one,) for one in ranges]
    for request in cycle_of("feetech", ranges):
        assert request.packet == read_packet("feetech", request.ranges)
