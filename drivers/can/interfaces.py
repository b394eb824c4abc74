"""Interfaces of python-can as the configuration knows them, without python-can, which only an open bus needs."""

from typing import Any, Final

# what makes an adapter keep silent, not even acknowledging
SILENT: Final[dict[str, dict[str, Any]]] = {
    "slcan": {"listen_only": True},
    "vector": {"listen_only": True},
    "nixnet": {"listen_only": True},
    "cantact": {"monitor": True},
    "kvaser": {"driver_mode": False},
    "pcan": {"state": "PASSIVE"},
    "systec": {"state": "PASSIVE"},
    "seeedstudio": {"operation_mode": "silent"},
}
UNHURRIED: Final = {"slcan": {"sleep_after_open": 0.0}}  # python-can waits 2 s for boards that reset when opened
# known without a look at python-can's list, which takes 0.1 s
USUAL: Final = frozenset(SILENT) | {"socketcan", "udp_multicast", "virtual"}
