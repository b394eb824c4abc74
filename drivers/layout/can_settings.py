"""Settings that describe the contents of CAN frames: a DBC file, or a table and ready layouts."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from drivers.base import DriverSettings, LayoutError, Wanted
from drivers.layout.can_frames import Correction, FrameSettings, from_table
from drivers.layout.dbc import from_dbc
from drivers.layout.frame import FrameLayout
from drivers.layout.integrity import GuardSettings
from drivers.layout.ready import AnyLayout
from drivers.layout.ready.mit import MitSettings


class CanLayoutSettings(DriverSettings):
    """The contents of the frames.

    A relative path `dbc` is resolved against "folder" of the validation context, if given: the folder of the
    configuration.
    """

    dbc: Path | None = Field(default=None, description="layout: a DBC file …")
    frames: tuple[FrameSettings, ...] = Field(default=(), description="… or a table …")
    layouts: tuple[AnyLayout, ...] = Field(default=(), description="… or ready ones, by the device's name")
    corrections: dict[str, Correction] = Field(
        default={}, description='what the DBC leaves out or has wrong, by "MESSAGE.signal"'
    )
    messages: dict[str, GuardSettings] = Field(
        default={}, description="counter, checksum and time-out of the DBC's messages, by name"
    )
    limits: bool = Field(default=False, description="use the DBC's value limits: values outside become NaN")
    _layout: FrameLayout = PrivateAttr()

    @field_validator("dbc")
    @classmethod
    def _beside_the_configuration(cls, dbc: Path | None, info: ValidationInfo) -> Path | None:
        return beside(dbc, info)

    @model_validator(mode="after")
    def _layout_of_frames(self) -> Self:
        try:
            self._layout = self._described()
        except LayoutError as error:
            raise ValueError(str(error)) from error
        return self

    def _described(self) -> FrameLayout:
        """Make the layout. Raises LayoutError, ValueError."""
        if (self.dbc is None) == (not self.frames and not self.layouts):
            raise ValueError(
                f"expected either dbc or frames and layouts, found {'none' if self.dbc is None else 'both'}"
            )
        if self.dbc is not None:
            return from_dbc(self.dbc, self.corrections, self.limits, self.messages)
        if self.corrections or self.messages:
            raise ValueError("expected corrections and messages only with a DBC, found them with a table of frames")
        clashes = list(_clashes(self.layouts))
        if clashes:
            raise ValueError("; ".join(clashes))
        return from_table((*self.frames, *(frame for layout in self.layouts for frame in layout.frames())))

    @property
    def layout(self) -> FrameLayout:
        """Every frame and signal."""
        return self._layout

    def signals(self) -> Mapping[str, str]:
        """Every signal that can be delivered: "MESSAGE.signal" → SI unit."""
        return self._layout.units()

    def check(self, wanted: Sequence[Wanted]) -> None:
        """Raise LayoutError with every signal that cannot be delivered, the reason, and the most similar valid name."""
        self._layout.check(wanted)


def _clashes(layouts: Sequence[AnyLayout]) -> Iterator[str]:
    """Yield a message for each two ready layouts that use the same ids or the same name."""
    owners: dict[int, AnyLayout] = {}
    for layout in layouts:
        other = next((owners[frame.id] for frame in layout.frames() if frame.id in owners), None)
        if other is not None:
            ids = [hex(frame.id) for frame in layout.frames() if owners.get(frame.id) is other]
            yield (
                f'expected a node of its own for the layout "{layout.name}" ({layout.kind}), found {_node(layout)}, '
                f'which speaks under ids of the layout "{other.name}" ({other.kind}, {_node(other)}): '
                f"{', '.join(ids[:3])}{', …' if len(ids) > 3 else ''}"
            )
        owners |= {frame.id: layout for frame in layout.frames() if frame.id not in owners}
    names = [layout.name for layout in layouts]
    for name in sorted({name for name in names if names.count(name) > 1}):
        nodes = ", ".join(_node(layout) for layout in layouts if layout.name == name)
        yield f'expected a name of its own for every layout, found "{name}" {names.count(name)} times ({nodes})'


def _node(layout: AnyLayout) -> str:
    return f"id {layout.id:#x}" if isinstance(layout, MitSettings) else f"node {layout.node}"


def beside(path: Path | None, info: ValidationInfo) -> Path | None:
    """Resolve a path relative to the folder of the configuration."""
    folder = (info.context or {}).get("folder")
    return path if path is None or folder is None else Path(folder) / path
