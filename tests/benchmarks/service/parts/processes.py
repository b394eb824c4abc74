"""The processes of a service, and what processor time each has used."""

import contextlib
import os
from pathlib import Path


def descendants(ancestor: int) -> dict[int, str]:
    """The processes that descend from this one (pid), by the name that each gave itself."""
    names, parents = dict[int, str](), dict[int, int]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            head, fields = stat.read_text().rsplit(")", 1)
            pid, _, name = head.partition(" (")
            names[int(pid)], parents[int(pid)] = name, int(fields.split()[1])

    def descends(pid: int) -> bool:
        return pid in parents and (parents[pid] == ancestor or descends(parents[pid]))

    return {pid: name for pid, name in names.items() if descends(pid)}


def of_service(pid: int) -> dict[str, int]:
    """Processes of a service whose supervisor is this one: core, outlet, drivers; name and pid."""
    return {name[3:]: one for one, name in descendants(pid).items() if name.startswith("jw ")}


def cpu(pid: int) -> float:
    """Processor seconds of a process so far; 0 of one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
