"""Rooms: a folder of the code, and the tests that answer for it."""

from pathlib import Path
from typing import Final, NamedTuple

from .trees import ROOT


class Room(NamedTuple):
    """A folder with its sub-folders, those excepted that are rooms themselves."""

    folder: str
    more: tuple[str, ...] = ()  # tests beside those in the folder of tests that mirrors it
    compiled: bool = False  # an error in a kernel is compiled as well, with all that calls it: minutes for each

    def files(self) -> list[str]:
        """Those that hold code."""
        inner = [Path(name) for name in ROOMS if name.startswith(f"{self.folder}/")]
        found = [file.relative_to(ROOT) for file in sorted((ROOT / self.folder).rglob("*.py"))]
        return [str(file) for file in found if not any(one in file.parents for one in inner)]

    def tests(self) -> list[str]:
        """Files of tests."""
        inner = [Path("tests") / name for name in ROOMS if name.startswith(f"{self.folder}/")]
        found = [file.relative_to(ROOT) for file in sorted((ROOT / "tests" / self.folder).rglob("test_*.py"))]
        own = [str(file) for file in found if not any(one in file.parents for one in inner)]
        more = [str(file.relative_to(ROOT)) for name in self.more for file in _files(name)]
        return list(dict.fromkeys([*own, *more]))


def _files(name: str) -> list[Path]:
    """Of a pattern of files or folders below tests."""
    found = [file for place in sorted((ROOT / "tests").glob(name))
             for file in ([place] if place.is_file() else sorted(place.rglob("test_*.py")))]  # fmt: skip
    if not found:
        raise FileNotFoundError(f"tests/{name}, named in {__file__}")
    return found


ONLINE: Final = "estimators/online"
ROOMS: Final = {
    room.folder: room
    for room in (
        Room("daq/config"),
        Room("daq/core", ("end_to_end/test_live.py",)),
        Room("daq/fleet", ("daq/commands/test_report.py",)),
        Room("daq/outlet"),
        Room("daq/processes", ("daq/core/test_refit_worker.py",)),
        Room("daq/recording", ("daq/commands/test_columns.py", "daq/commands/test_export.py", "daq/replay/test_replay.py")),
        Room("daq/replay", ("daq/commands/test_skew.py", "daq/commands/test_identify.py")),
        Room("daq/state", ("daq/core/test_checkpoint.py", "daq/outlet/test_baseline_request.py")),
        Room("daq/stream", ("daq/test_subscriber.py", "daq/processes/test_priority.py")),
        Room("drivers/can", ("drivers/test_links.py", "contracts/test_drivers.py", "end_to_end/test_replug.py")),
        Room("drivers/decode", ("drivers/layout", "drivers/test_links.py")),
        Room("drivers/files", ("daq/commands/test_decode.py", "contracts/test_drivers.py")),
        Room("drivers/layout", ("drivers/decode", "drivers/test_links.py")),
        Room("drivers/serial", ("drivers/test_links.py", "contracts/test_drivers.py")),
        Room("estimators/alignment", ("daq/core/test_align.py",)),
        Room("estimators/conditioning", ("daq/core/test_silence.py",)),
        Room("estimators/models", ("contracts/test_models.py", "contracts/test_friction_laws.py")),
        Room("estimators/numerics", ("estimators/recursive/test_reference.py",)),
        Room("estimators/offline"),
        Room(ONLINE),
        Room(f"{ONLINE}/eta", ("estimators/online/test_shaping.py", "estimators/online/test_search.py", "estimators/online/monitor")),
        Room(f"{ONLINE}/gear", ("estimators/online/test_lost_motion.py", "daq/core/test_gear_line.py")),
        Room(f"{ONLINE}/monitor", ("estimators/online/test_phases.py", "contracts/test_policies.py")),
        Room(f"{ONLINE}/robot", ("daq/core/test_robot_line.py",)),
        Room(f"{ONLINE}/start", ("estimators/online/test_phases.py", "contracts/test_policies.py")),
        Room("estimators/recursive", ("contracts/test_forgetting.py", "contracts/test_updates.py")),
        Room("estimators/refit", ("estimators/online/test_fit.py",)),
        Room("estimators/search", ("contracts/test_searches.py",)),
        Room("estimators/window"),
    )
}  # fmt: skip
