"""Tells recordings of other programs from our own, for commands that read only those."""

from collections.abc import Sequence
from pathlib import Path

from daq.commands.recordings.inputs import how_to_configure, missing
from daq.recording.ros_bag import is_ours


def of_another_program(command: str, files: Sequence[Path]) -> str:
    """Why a command that reads our recordings cannot read these, in words; empty if it can."""
    if absent := missing(*files):
        return absent
    strange = next((file for file in files if not is_ours(file)), None)
    if strange is None:
        return ""
    return f"{command} reads what the service has recorded (.mcap). {how_to_configure(strange)}"
