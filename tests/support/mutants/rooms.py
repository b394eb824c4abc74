"""Rooms: a folder of the code, and the tests that answer for it."""

from pathlib import Path
from typing import Final, NamedTuple

from .processes.trees import ROOT


class Room(NamedTuple):
    """A folder with its sub-folders, those excepted that are rooms themselves; its tests are in the mirrored folder."""

    folder: str
    more: str = ""  # tests elsewhere that answer for it, too: files and folders below tests
    without: str = ""  # tests of the mirrored folder that are left out, such as those in a browser

    def files(self) -> list[str]:
        """Those of the code."""
        return self._below("", "*.py")

    def tests(self, mirrored: bool = False) -> list[str]:
        """Files of tests; mirrored: of the mirrored folder alone, which take less time and notice less."""
        if mirrored:
            return self._below("tests", "test_*.py")
        more = [file for name in self.more.split() for file in _tests(ROOT / "tests" / name)]
        return list(dict.fromkeys([*self._below("tests", "test_*.py"), *more]))

    def _below(self, where: str, pattern: str) -> list[str]:
        names = [name for name in (*ROOMS, *self.without.split()) if name.startswith(f"{self.folder}/")]
        inner = [ROOT / where / name for name in names]
        found = sorted((ROOT / where / self.folder).rglob(pattern))
        return [str(one.relative_to(ROOT)) for one in found if not any(room in one.parents for room in inner)]


def _tests(place: Path) -> list[str]:
    found = [place] if place.is_file() else sorted(place.rglob("test_*.py"))
    if not found:
        raise FileNotFoundError(f"{place}, which a room names in {__file__}")
    return [str(one.relative_to(ROOT)) for one in found]


ONLINE: Final = "estimators/online/test_"
JUDGEMENT: Final = "estimators/online/judgement/test_"
RECORDINGS: Final = "daq/commands/recordings/test_"
RULES: Final = "contracts/families/test_"
ROOMS: Final = {
    room.folder: room
    for room in (
        Room("daq/config", "daq/core/test_pipeline.py contracts/families/test_rigs.py"),
        Room("daq/core", "contracts/output/test_updates.py daq/outlet/test_commissioning.py"),
        Room("daq/fleet", "daq/commands/test_report.py"),
        Room("daq/gateways", "daq/config/test_gateways.py"),
        Room("daq/outlet", without="daq/outlet/dashboard"),
        Room("daq/processes", "daq/core/test_refit_worker.py"),
        Room("daq/recording", f"daq/replay/test_repeat.py {RECORDINGS}columns.py {RECORDINGS}skew.py"),
        Room("daq/replay", f"{RECORDINGS}skew.py daq/commands/identify/test_identify.py"),
        Room("daq/state", "daq/core/test_checkpoint.py daq/outlet/access/test_token_request.py"),
        Room("daq/stream", "daq/test_subscriber.py daq/processes/test_priority.py contracts/output/test_updates.py"),
        Room("jointwatch_client", "daq/test_subscriber.py daq/stream/test_keys.py daq/stream/test_refusal.py"),
        Room("drivers/can", "drivers/test_links.py contracts/families/test_drivers.py"),
        Room("drivers/decode", "drivers/layout drivers/serial drivers/test_links.py"),
        Room("drivers/files", "daq/commands/recordings/test_decode.py contracts/families/test_drivers.py"),
        Room("drivers/layout", "drivers/decode drivers/can drivers/test_links.py"),
        Room("drivers/network", "contracts/families/test_drivers.py"),
        Room("drivers/serial", "drivers/test_links.py contracts/families/test_drivers.py"),
        Room("estimators/alignment", "daq/core/test_align.py"),
        Room(
            "estimators/conditioning",
            f"estimators/recursive/test_timing_weights.py {JUDGEMENT}standstill.py estimators/quantisation",
        ),
        Room("estimators/misfit", "estimators/online/judgement/test_model_fit.py"),
        Room("estimators/models", "contracts/families/test_models.py contracts/families/test_friction_laws.py"),
        Room("estimators/numerics", "estimators/recursive/test_reference.py estimators/refit/test_refit.py"),
        Room("estimators/offline", "estimators/models/robots"),
        Room("estimators/quantisation", "estimators/online/judgement/test_model_fit.py estimators/online/robot"),
        Room("estimators/online", f"{RULES}policies.py estimators/models/joints scenarios/test_standstill.py"),
        Room(
            "estimators/online/eta",
            f"{ONLINE}eta_in_force.py {ONLINE}search.py {ONLINE}shaping.py {ONLINE}lookback.py {ONLINE}refits.py "
            f"{JUDGEMENT}model_fit.py",
        ),
        Room("estimators/online/gear", f"{ONLINE}lost_motion.py daq/core/test_gear_pipeline.py"),
        Room("estimators/online/monitor", f"{ONLINE}phases.py contracts/families/test_policies.py"),
        Room("estimators/online/robot", "daq/core/test_robot_pipeline.py"),
        Room("estimators/online/start", f"{ONLINE}phases.py contracts/families/test_policies.py"),
        Room("estimators/recursive", f"contracts/families/test_forgetting.py {JUDGEMENT}model_fit.py"),
        Room("estimators/refit", f"{JUDGEMENT}model_fit.py estimators/models/joints/test_two_mass.py"),
        Room("estimators/search", f"{RULES}searches.py hil_rig/papers/searches/test_reproduce_search.py"),
        Room("estimators/window", f"{ONLINE}phases.py estimators/models/test_shared_instants.py"),
    )
}  # fmt: skip
