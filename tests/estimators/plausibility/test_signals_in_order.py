"""Validators of signals say nothing of signals that are in order: every rig, every real recording."""

import pytest

from hil_rig.plants import RIGS
from hil_rig.plants.recording import DATA, EMPS
from tests.support.signals.sound_signals import of_recordings, of_rig

NAMES = [
    pytest.param(name, marks=pytest.mark.skipif(not EMPS.exists(), reason=f"needs the EMPS recording, {EMPS}"))
    if name == "recording"
    else name
    for name in RIGS
]
JITTER = 1e-3  # s, of arrivals at most: a full-speed USB bus


@pytest.mark.compiled
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("jitter", [pytest.param(0.0, marks=pytest.mark.slow), JITTER])
def test_no_rig_is_refused(name: str, jitter: float) -> None:
    assert {joint: reasons for joint, reasons in of_rig(name, jitter=jitter, most=2) if reasons} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_joint_of_a_rig_is_refused(name: str) -> None:
    assert {joint: reasons for joint, reasons in of_rig(name, jitter=JITTER) if reasons} == {}


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no recordings in {DATA}")
def test_no_recording_is_refused() -> None:
    told = dict(of_recordings())
    assert len(told) > 30
    assert {name: reasons for name, reasons in told.items() if reasons} == {}
