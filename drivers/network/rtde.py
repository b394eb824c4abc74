"""Reads a Universal Robots controller by RTDE: settings, and conversion of data packages to readings.

TCP loses no package; packages that the controller skips are found by its time stamps, which every package contains.
"""

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, model_validator

from drivers.base import DriverSettings, LayoutError, Loss, Probe, Wanted
from drivers.decode.decoder import Decoder
from drivers.layout.frame import FrameLayout, Frames
from drivers.network.rtde_connection import DATA, PORT, TEXT, RtdeConnection
from drivers.network.rtde_fields import LONGEST_NAMES, PACKAGE, RECIPE, TIME, layout
from drivers.reading import empty

JOINTS: Final = ("base", "shoulder", "elbow", "wrist1", "wrist2", "wrist3")
USUAL: Final = ("actual_q", "actual_qd", "actual_current", "target_moment", "joint_temperatures")
_OF_DECODER: Final = ("frames", "unmatched", "truncated", "non_finite")


class RtdeSettings(DriverSettings):
    """Settings of a Universal Robots controller, and the output fields that are read."""

    losses: ClassVar[Mapping[str, Loss]] = {
        "lost": Loss("packages that the controller skipped, by its time stamps", "ask for a lower rate"),
        "restarted": Loss("times that the controller's clock went back", "the controller was restarted"),
        "unmatched": Loss("data packages of another recipe", "another edition of RTDE than 2"),
        "truncated": Loss("data packages shorter than their recipe", "another edition of RTDE than 2"),
        "texts": Loss("messages of the controller for people", "harmless: they are in the log of PolyScope"),
        "non_finite": Loss("values that are no number", "is the arm powered on?"),
    }
    example: ClassVar[str] = """\
# A Universal Robots controller (e-Series 500 Hz, CB3 125 Hz); it sends nothing that the robot obeys.
# RTDE has no password: whoever reaches port 30004 can set inputs of the robot. Let a firewall allow this host only.
[drivers.ur]
kind = "ur_rtde"
host = "192.168.0.10"
rate = 500.0
fields = ["actual_q", "actual_current", "joint_temperatures"]

[joints.elbow]
rate = 500.0
model = { kind = "rigid", gravity_sin = true, gravity_cos = true }
device_time = { signal = "ur.elbow.timestamp" }
[joints.elbow.channels]
position = { signal = "ur.elbow.actual_q" }
torque = { signal = "ur.elbow.actual_current", scale = 12.3 }  # N·m per A at the joint, of your arm's size
"""

    kind: Literal["ur_rtde"]
    host: str = Field(min_length=1, description="address of the controller")
    port: int = Field(default=PORT, ge=1, le=65535)
    rate: float = Field(default=500.0, gt=0, le=20_000, description="Hz: at most 500 on e-Series, 125 on CB3")
    fields: tuple[str, ...] = Field(default=("actual_q", "actual_current"), min_length=1)
    joints: tuple[str, ...] = Field(default=JOINTS, min_length=6, max_length=6, description="their names, base first")
    _layout: FrameLayout = PrivateAttr()

    @model_validator(mode="after")
    def _layout_of_fields(self) -> Self:
        for what, names in (("field", self.fields), ("joint", self.joints)):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"expected every {what} once, found {', '.join(twice)} more than once")
        if TIME in self.fields:
            raise ValueError(f'found "{TIME}" in fields: it comes with every message of itself, leave it out here')
        wrong = [name for name in self.joints if "." in name or name in ("robot", "tool", "")]
        if wrong:
            raise ValueError(f'expected joints without a dot, and other names than robot and tool, found "{wrong[0]}"')
        if len(",".join((TIME, *self.fields))) > LONGEST_NAMES:
            raise ValueError(f"expected fields of at most {LONGEST_NAMES} bytes together, found {len(self.fields)}")
        try:
            self._layout = layout(self.fields, self.joints)
        except LayoutError as error:
            raise ValueError(f"found an {error}") from error
        return self

    def signals(self) -> Mapping[str, str]:
        """Return the signals of all fields that are read, and the controller's time for every message."""
        return self._layout.units()

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Raise LayoutError with every signal that is not read, and the most similar one that is."""
        self._layout.check(wanted)

    def open(self, wanted: Sequence[Wanted]) -> "Rtde":
        """A driver for exactly these signals. Raises LayoutError."""
        return Rtde(self, self._layout, wanted)

    def modules(self) -> tuple[str, ...]:
        """The driver, with the decoder's kernels."""
        return ("drivers.network.rtde",)

    @classmethod
    def probe(cls, place: str, seconds: float, options: Mapping[str, str]) -> Probe:
        """Ask a controller which of the common fields it has, and listen. place: HOST or HOST:PORT."""
        host, _, port = place.partition(":")
        given = {"kind": "ur_rtde", "host": host} | ({"port": int(port)} if port else {}) | dict(options)
        wished = cls.model_validate(given | {"fields": [*USUAL, "actual_current_as_torque"]})
        with RtdeConnection(wished.host, wished.port) as link:
            version = ".".join(map(str, link.controller()))
            types = link.ask(wished.fields, wished.rate)
        there = [name for name in wished.fields if types[name] != "NOT_FOUND"]
        settings = cls.model_validate(given | {"fields": there})
        asked = [Wanted(0, f"{settings.joints[0]}.{TIME}")]
        parts = [empty()]
        with settings.open(asked) as driver:
            end = time.monotonic() + seconds
            while (left := end - time.monotonic()) > 0:
                parts.append(driver.read(min(left, 0.1)))
            lost = driver.counters()["lost"]
        stamps = np.concatenate(parts)["value"]
        rate = (len(stamps) - 1) / np.ptp(stamps) if len(stamps) > 1 and np.ptp(stamps) > 0 else 0.0
        said = (
            f"URControl {version}; it has {', '.join(there)}",
            f"{len(stamps)} packages in {seconds:g} s, {rate:.4g} Hz by their stamps, {lost} skipped",
        )
        return Probe(said, _proposal(settings, rate) if rate else "")


def _proposal(settings: RtdeSettings, rate: float) -> str:
    """Return a configuration that listens to this controller."""
    torque = "actual_current_as_torque" if "actual_current_as_torque" in settings.fields else "actual_current"
    scale = "" if torque != "actual_current" else ", scale = 1.0"
    fields = ", ".join(f'"{name}"' for name in settings.fields)
    lines = [
        "# Proposed by `jointwatch doctor` from what the controller answered.",
        f'[drivers.ur]\nkind = "ur_rtde"\nhost = "{settings.host}"',
        *([] if settings.port == PORT else [f"port = {settings.port}"]),
        f"rate = {settings.rate:g}\nfields = [{fields}]",
    ]
    for joint in settings.joints:
        lines += [
            f'\n[joints.{joint}]\nrate = {round(rate, 1):g}\nmodel = {{ kind = "rigid" }}',
            f'device_time = {{ signal = "ur.{joint}.{TIME}" }}\n[joints.{joint}.channels]',
            f'position = {{ signal = "ur.{joint}.actual_q" }}',
            f'torque = {{ signal = "ur.{joint}.{torque}"{scale} }}' + ("  # N·m per A at the joint?" if scale else ""),
        ]
    return "\n".join(lines) + "\n"


class Rtde:
    """One controller, open for reading; readings are stamped when their package has been read."""

    def __init__(self, settings: RtdeSettings, fields: FrameLayout, wanted: Sequence[Wanted]) -> None:
        self._settings, self._layout, self._wanted = settings, fields, wanted
        self._width = 8 * -(-fields.lengths[PACKAGE] // 8)
        self._link = RtdeConnection(settings.host, settings.port)
        self._start()

    def _start(self) -> None:
        self._decoder = Decoder(self._layout, self._wanted)
        self._counts = dict.fromkeys(("lost", "restarted", "texts"), 0)
        self._recipe = 0
        self._stamp = np.nan  # s, of the last package

    def __enter__(self) -> Self:
        self._start()
        self._link.__enter__()
        try:
            self._recipe = self._link.start(self._settings.fields, self._settings.rate)
        except BaseException:
            self._link.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()

    def read(self, timeout: float) -> NDArray[np.void]:
        """Return the readings of the data packages that have arrived. Raises LinkError."""
        bodies: list[bytes] = []
        for kind, body in self._link.packages(timeout):
            if kind == DATA and body:
                bodies.append(body)
            else:
                self._counts["texts"] += kind == TEXT
        if not bodies:
            return empty()
        return self._decoder.decode(self._frames(bodies, time.monotonic_ns()))

    def _frames(self, bodies: list[bytes], now: int) -> Frames:
        count, width = len(bodies), self._width
        lengths = np.array([len(body) for body in bodies], np.int64)
        rows = bytearray().join([body[:width].ljust(width, b"\0") for body in bodies])
        payload = np.frombuffer(rows, np.uint8).reshape(count, width)
        recipes = payload[:, 0].astype(np.uint32)
        ids = np.where(recipes == self._recipe, np.uint32(PACKAGE), recipes)
        whole = payload[(ids == PACKAGE) & (lengths >= self._layout.lengths[PACKAGE]), RECIPE : RECIPE + 8]
        self._count(np.ascontiguousarray(whole).view(">f8").ravel())
        return Frames(ids, payload, lengths, np.full(count, now, np.int64))

    def _count(self, stamps: NDArray[np.float64]) -> None:
        """Count the packages that the controller skipped, by its own time."""
        if not len(stamps):
            return
        steps = np.diff(stamps, prepend=self._stamp) * self._settings.rate
        self._stamp = float(stamps[-1])
        self._counts["restarted"] += int(np.count_nonzero(steps <= 0))
        self._counts["lost"] += int(np.maximum(np.rint(steps[steps > 0]) - 1, 0).sum())

    def counters(self) -> Mapping[str, int]:
        """Return the number of data packages and every loss by cause (see RtdeSettings.losses); totals since
        opening."""
        counts = self._decoder.counts
        return {name: counts[name] for name in _OF_DECODER} | self._counts
