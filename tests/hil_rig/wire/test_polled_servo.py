"""Servos of the rig that answer reads: they go on measuring while the rig itself is late."""

import struct
import time
from itertools import pairwise

from hil_rig.messages import Message, MessageField
from hil_rig.wire.polled_servo import LAG, PolledServoWire
from hil_rig.wire.servo import CURRENT, STEP, ServoBank

RATE, SPEED = 200.0, 2.0  # Hz, rad/s


def measured() -> list[tuple[float, int]]:
    """When servos were read while their rig was late for LAG, and where they were."""
    fields = MessageField("position", 32, "rad", 1e-4), MessageField("current", 16, "A", 1e-3)
    wire = PolledServoWire(None, [Message("STATE1", fields)], RATE)
    bank, steps = ServoBank([1]), []
    begin, number, played = time.monotonic(), 0, 0.0
    try:
        while (age := time.monotonic() - begin) < 3.0 * LAG:
            while number < age * RATE and age < 2.0 * LAG:  # from then on the rig is late, for LAG
                wire.publish(number, [(SPEED * number / RATE, 0.5)])
                number, played = number + 1, age
            wire.sample(bank)
            _, _, position = struct.unpack_from("<hii", bank.registers[1], CURRENT)
            if time.monotonic() - begin - age < 0.05 * LAG:  # else it was not then that they were read
                steps.append((age, position))
            time.sleep(1 / RATE)
    finally:
        wire.close()
    # a rig that got no processor was late before
    return [(age, position) for age, position in steps if 2.0 * LAG < age < 2.9 * LAG and played > 1.92 * LAG]


def test_servos_measure_while_the_rig_is_late() -> None:
    late = next(found for _ in range(20) if len(found := measured()) > 10)  # where this got no processor: once more
    assert all(second > first for (_, first), (_, second) in pairwise(late)), "each read finds another place"
    moved = SPEED * (late[-1][0] - late[0][0]) / STEP
    assert abs(late[-1][1] - late[0][1] - moved) < 0.2 * moved
