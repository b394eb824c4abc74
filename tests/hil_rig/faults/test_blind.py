"""The blind joint against the other plant and against closed forms; every blind fault is felt after its onset only."""

import numpy as np
import pytest

from hil_rig.faults.base import Course, Fault, play
from hil_rig.faults.blind.catalogue import BLIND_SHOWN, BLIND_UNSHOWN
from hil_rig.faults.blind.joint import BlindJoint
from hil_rig.faults.catalogue import SHOWN
from hil_rig.faults.rigs import RIGS

RIG = RIGS["leg knee"]
ONSET = 1.0


def test_a_healthy_blind_joint_moves_as_the_other_plant_within_the_noise_and_their_stictions() -> None:
    course = Course(ONSET, 1.0)
    first, second = play(RIG, None, course, 4.0, 3), play(RIG, None, course, 4.0, 3, BlindJoint)
    assert np.abs(first[:, 0] - second[:, 0]).max() < 2e-3
    assert np.sqrt(np.mean((first[:, 1] - second[:, 1]) ** 2)) < 0.1 * first[:, 1].std()


@pytest.mark.parametrize("fault", [*BLIND_SHOWN, *BLIND_UNSHOWN], ids=lambda fault: fault.name)
def test_a_fault_changes_what_is_measured_after_its_onset_and_nothing_before(fault: Fault) -> None:
    course = Course(ONSET, 1.0)
    healthy, broken = (play(RIG, one, course, 3.0, 3, BlindJoint) for one in (None, fault))
    before = round(ONSET * RIG.rate)
    assert np.isfinite(broken).all()
    warms = fault.name == "temperature"  # the joint's own warming is not played with it
    assert warms or np.array_equal(broken[:before], healthy[:before])
    assert np.abs(broken[before:] - healthy[before:]).max() > 0.0


def test_a_loose_base_rings_at_its_own_pitch() -> None:
    joint = BlindJoint(RIG, 3)
    joint.values |= {"mount": 2 * np.pi * 4.0, "mount_inertia": 1e3, "F_c": 0.0, "F_s": 0.0}
    joint.place.q_b = 0.02
    place = []
    for _ in range(2000):
        joint.rows(1)
        place.append(joint.place.q_b)
    spectrum = np.abs(np.fft.rfft(np.array(place) * np.hanning(len(place)), 1 << 15))
    pitch = np.fft.rfftfreq(1 << 15, 1.0 / RIG.rate)[np.argmax(spectrum[10:]) + 10]
    assert pitch == pytest.approx(4.0, rel=0.03)


def test_a_lost_phase_takes_the_share_of_current_that_its_angle_says() -> None:
    """Slow motion with nothing but gravity: the mean of current times what the phases leave is gravity's torque."""
    joint = BlindJoint(RIG, 3)
    joint.values |= {"dip": 0.6, "poles": 3.0}
    rows = joint.rows(3000)
    left = 1.0 - 0.3 * (1.0 + np.cos(2.0 * 3.0 * RIG.ratio * rows[:, 0]))
    healthy = BlindJoint(RIG, 3).rows(3000)
    wrong = np.std(rows[:, 1] - healthy[:, 1])
    assert np.std(rows[:, 1] * left - healthy[:, 1]) < 0.5 * wrong


def test_every_cause_that_the_rigs_show_has_a_blind_realisation() -> None:
    assert {one.name for one in BLIND_SHOWN} == {one.name for one in SHOWN}
    assert len(BLIND_UNSHOWN) >= 8
