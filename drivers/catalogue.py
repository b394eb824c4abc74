"""The catalogue of drivers: `kind = "…"` in a [drivers.NAME] table selects one, which is loaded only when it is used.

Our own drivers are listed here. Another package adds drivers by entry points of the group `jointwatch.drivers`: the
name is the kind, and the object is a subclass of DriverSettings. docs/drivers.md describes the interface.
"""

import functools
import pkgutil
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from drivers.base import DriverSettings, nearest

GROUP: Final = "jointwatch.drivers"
# kind → where its settings are
OURS: Final[Mapping[str, str]] = {
    "can": "drivers.can.bus:CanBusSettings",
    "serial": "drivers.serial.port:SerialPortSettings",
    "file": "drivers.files.player:FileSettings",
    "ros2": "drivers.network.ros2:Ros2Settings",
    "servo_bus": "drivers.serial.servo_bus:ServoBusSettings",
    "zenoh": "drivers.network.ros2_zenoh:ZenohSettings",
    "ur_rtde": "drivers.network.rtde:RtdeSettings",
}
# kind → the modules that `modules` of its settings may name, for who must know them before settings can be read
MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "can": ("drivers.can.adapter", "drivers.can.recvmmsg", "drivers.can.slcan"),
    "serial": ("drivers.serial.port", "drivers.serial.deframer"),
    "file": ("drivers.files.player", "drivers.files.candump"),
    "ros2": ("drivers.network.ros2",),
    "servo_bus": ("drivers.serial.servo_bus",),
    "zenoh": ("drivers.network.ros2_zenoh",),
    "ur_rtde": ("drivers.network.rtde",),
}


class PluginError(ValueError):
    """A driver of another package cannot be used; the text names the package and the reason."""


@functools.cache
def plugins() -> Mapping[str, EntryPoint]:
    """Return the kinds that other packages add: kind → entry point; they cannot replace our own kinds."""
    return {one.name: one for one in entry_points(group=GROUP) if one.name not in OURS}


def kinds() -> list[str]:
    """Return all kinds, our own first."""
    return [*OURS, *sorted(plugins())]


def origin(kind: str) -> str:
    """Return the package of a kind with its version; "" for our own kinds."""
    if kind in OURS or kind not in plugins():
        return ""
    found = plugins()[kind].dist
    return "an unknown package" if found is None else f"{found.name} {found.version}"


@functools.cache
def settings_class(kind: str) -> type[DriverSettings]:
    """Return the settings class of a kind. Raises KeyError if it is unknown, PluginError if it cannot be used."""
    if kind in OURS:
        ours: type[DriverSettings] = pkgutil.resolve_name(OURS[kind])
        return ours
    whose = f'the driver "{kind}" of {origin(kind)}'
    try:
        found = plugins()[kind].load()
    except KeyError:
        raise
    except Exception as error:  # the import of another package may raise any error
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(f"{whose} cannot be loaded: found {reason}") from error
    if not (isinstance(found, type) and issubclass(found, DriverSettings)):
        raise PluginError(f"{whose} cannot be used: expected a subclass of drivers.base.DriverSettings, found {found}")
    if found.API != DriverSettings.API:
        raise PluginError(
            f"{whose} cannot be used: it is written for edition {found.API} of the contract for drivers, and found "
            f"edition {DriverSettings.API} here: another version of one of the two is needed"
        )
    return found


def class_of(table: Any) -> type[DriverSettings]:
    """The settings class of a [drivers.NAME] table. Raises PydanticKnownError, PluginError."""
    kind = table.get("kind") if isinstance(table, dict) else None
    if kind is None:
        raise PydanticKnownError("union_tag_not_found", {"discriminator": "'kind'"})
    try:
        return settings_class(str(kind))
    except KeyError:
        known = ", ".join(f"'{one}'" for one in kinds())
        tags = {"discriminator": "'kind'", "tag": str(kind), "expected_tags": known}
        raise PydanticKnownError("union_tag_invalid", tags) from None


def named(kind: str) -> type[DriverSettings]:
    """Return the settings class of a kind that a person has typed. Raises PluginError if there is none."""
    try:
        return settings_class(kind)
    except KeyError:
        raise PluginError(f'unknown kind "{kind}", {nearest(kind, kinds())}') from None


def _validated(value: Any, info: ValidationInfo) -> DriverSettings:
    if isinstance(value, DriverSettings):
        return value
    return class_of(value).model_validate(value, context=info.context)


class _ByKind:
    """The catalogue for pydantic: a class is loaded when a table names it, and its schema on demand."""

    @staticmethod
    def __get_pydantic_core_schema__(_source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(_validated)

    @staticmethod
    def __get_pydantic_json_schema__(_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        choices: dict[Any, CoreSchema] = {}
        for kind in kinds():
            try:
                choices[kind] = settings_class(kind).__pydantic_core_schema__
            except PluginError:
                continue  # the error is reported when a table uses this kind
        return handler(core_schema.tagged_union_schema(choices, "kind"))


AnyDriver = Annotated[DriverSettings, _ByKind]
