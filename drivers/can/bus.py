"""A CAN bus: its adapter, and the signals in its frames. The driver only listens and never sends on the bus."""

import os.path
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from drivers.base import LinkError, Wanted, nearest
from drivers.decode.decoder import Decoder
from drivers.drain import link_error
from drivers.layout.can_settings import CanLayoutSettings
from drivers.layout.frame import EXTENDED, FrameLayout, Frames

if TYPE_CHECKING:
    from drivers.can.adapter import Adapter, Decoding

# options that make an adapter silent, without even acknowledging frames
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
# known without loading python-can's list, which takes 0.1 s
USUAL: Final = frozenset(SILENT) | {"socketcan", "udp_multicast", "virtual"}
# kernels that only one interface needs
_KERNELS: Final = {
    "slcan": "drivers.can.slcan",
    "socketcan": "drivers.can.recvmmsg",
    "udp_multicast": "drivers.can.recvmmsg",
}
_HOST_SETS_BITRATE: Final = frozenset({"socketcan", "socketcand", "udp_multicast", "virtual"})


class CanBusSettings(CanLayoutSettings):
    """A CAN bus and the frames on it."""

    kind: Literal["can"]
    interface: str = Field(description='of python-can: "socketcan", "slcan", "pcan", "kvaser", "udp_multicast", …')
    channel: str = Field(min_length=1, description='"can0", "/dev/ttyACM0", a multicast group, …')
    bitrate: int | None = Field(default=None, gt=0, description="bit/s, where the adapter sets it")
    fd: bool = Field(default=False, description="CAN FD, where the adapter must be configured for it")
    listen_only: bool = Field(default=False, description="do not even acknowledge, where the adapter can")
    kernel_filter: bool = Field(
        default=False,
        description="socketcan: let through only the frames that are used; what else is on the bus is then not counted",
    )
    own_frames: bool = Field(
        default=True, description="socketcan: deliver also what this host sends itself (commands), marked as such"
    )
    options: dict[str, str | int | float | bool] = Field(default={}, description="handed to python-can as they are")

    @field_validator("interface")
    @classmethod
    def _known(cls, interface: str) -> str:
        if interface in USUAL:
            return interface
        from can.interfaces import BACKENDS  # includes installed plug-ins of python-can

        if interface not in BACKENDS:
            raise ValueError(f'found the unknown interface "{interface}", {nearest(interface, BACKENDS)}')
        return interface

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.bitrate is not None and self.interface in _HOST_SETS_BITRATE:
            raise ValueError(
                f"the host sets the bitrate of {self.interface} (`sudo ip link set {self.channel} up type can "
                f"bitrate {self.bitrate}`), found it here"
            )
        if self.listen_only and self.interface not in SILENT:
            raise ValueError(
                f"{self.interface} cannot be set to keep silent (for socketcan: `ip link set {self.channel} type can "
                f"listen-only on`), found listen_only = true"
            )
        if self.interface != "socketcan" and (self.kernel_filter or not self.own_frames):
            raise ValueError(f"kernel_filter and own_frames are of socketcan, found one with {self.interface}")
        clash = self.options.keys() & {"interface", "channel", "bitrate", "fd", "ignore_config"}
        if clash:
            raise ValueError(f"expected {', '.join(sorted(clash))} as keys of the driver, found them under options")
        return self

    def modules(self) -> tuple[str, ...]:
        """Return the modules with kernels of the decoder, and of an interface that is read in bulk."""
        own = _KERNELS.get(self.interface)
        return ("drivers.can.adapter",) if own is None else ("drivers.can.adapter", own)

    def wire(self) -> tuple[str, ...]:
        """Return the resolved path of the port, or the channel of the interface."""
        if self.channel.startswith("/"):
            return "port", os.path.realpath(self.channel.partition("@")[0])
        return self.interface, self.channel, str(self.options.get("port"))

    def adapter_options(self) -> dict[str, Any]:
        """Arguments for python-can on opening."""
        options: dict[str, Any] = dict(UNHURRIED.get(self.interface, {}))
        options |= SILENT[self.interface] if self.listen_only else {}
        options |= {"bitrate": self.bitrate} if self.bitrate else {}
        options |= {"fd": True} if self.fd else {}
        return options | self.options

    def open(self, wanted: Sequence[Wanted]) -> "CanBus":
        """A driver for exactly these signals. Raises LayoutError."""
        self.check(wanted)
        return CanBus(self, self.layout, wanted)


class CanBus:
    """One CAN bus, open for reading."""

    def __init__(self, settings: CanBusSettings, layout: FrameLayout, wanted: Sequence[Wanted]) -> None:
        self._settings, self._layout, self._wanted = settings, layout, wanted
        self._decoder = Decoder(layout, wanted)
        self._adapter: Adapter | None = None
        self._at_once: Decoding | None = None  # the same adapter, if it decodes by itself
        self._watches = self._decoder.watches
        self._garbage: Mapping[str, int] = {}
        self._bits = 0  # total of the bits of all frames on the bus

    def __enter__(self) -> Self:
        from drivers.can.adapter import Decoding, open_adapter

        settings = self._settings
        self._decoder, self._garbage, self._bits = Decoder(self._layout, self._wanted), {}, 0
        try:
            self._adapter = open_adapter(
                settings.interface,
                settings.channel,
                settings.adapter_options(),
                {self._layout.signals[one.signal].frame for one in self._wanted} if settings.kernel_filter else (),
                settings.own_frames,
            )
        except Exception as error:  # libraries of adapters raise errors of any type if opening fails
            raise link_error(settings.channel, error) from error
        self._at_once = self._adapter if isinstance(self._adapter, Decoding) else None
        return self

    def __exit__(self, *_: object) -> None:
        if self._adapter is not None:
            self._adapter.close()
            self._garbage = self._adapter.counts
            self._adapter = self._at_once = None

    def read(self, timeout: float) -> NDArray[np.void]:
        """Return the readings of all available frames. Raises LinkError."""
        if self._at_once is not None:
            readings = self._at_once.read(timeout, self._decoder)
        elif self._adapter is not None:
            readings = self._decoded(self._adapter.receive(timeout))
        else:
            raise LinkError(f"{self._settings.channel}: not open")
        if self._watches:
            self._decoder.watch(time.monotonic_ns())
        return readings

    def _decoded(self, frames: Frames) -> NDArray[np.void]:
        if self._settings.bitrate is not None and not self._settings.fd:
            self._bits += _bits(frames)
        return self._decoder.decode(frames)

    def counters(self) -> Mapping[str, int]:
        """Return the number of received frames, and every loss by cause (see Decoder); malformed: data that are not
        frames.

        busy_us: least time that the frames took on the bus, µs, if its bit rate is known.
        """
        garbage = self._garbage if self._adapter is None else self._adapter.counts
        bitrate = self._settings.bitrate
        busy = {} if bitrate is None or self._settings.fd else {"busy_us": self._bits * 1_000_000 // bitrate}
        return {**self._decoder.counts, **garbage, **busy}


def _bits(frames: Frames) -> int:
    """Count the bits of classic frames on the bus, without stuff bits."""
    extended = np.count_nonzero(frames.ids & np.uint32(EXTENDED))
    return int(47 * len(frames.ids) + 20 * extended + 8 * np.minimum(frames.lengths, 8).sum())
