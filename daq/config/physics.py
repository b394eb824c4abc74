"""Checks that each channel gets the right physical quantity: the role needs one, and the signal's unit names one."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from daq.config.sections import Channel, Config, JointSection
from estimators.quantities import Axis

Path = tuple[str, ...]
# what a unit is called, in a sentence
QUANTITIES: Final = {
    "rad": "an angle",
    "rad/s": "a rotational speed",
    "rad/s²": "a rotational acceleration",
    "m": "a length",
    "m/s": "a speed",
    "m/s²": "an acceleration",
    "N·m": "a torque",
    "N": "a force",
    "A": "a current",
    "V": "a voltage",
    "W": "a power",
    "J": "an energy",
    "°C": "a temperature",
    "s": "a time",
    "Hz": "a frequency",
    "kg": "a mass",
    "Pa": "a pressure",
}
# (wanted, found) → what the scale between them is
SCALES: Final = {
    ("N·m", "A"): "the torque constant times the gear ratio, in N·m per A at the joint",
    ("N·m", "N"): "the lever arm, in m",
    ("N·m", "V"): "that of the amplifier, in N·m per V",
    ("N·m", "rad"): "the stiffness of the spring whose twist this is, in N·m per rad",
    ("N·m", "Pa"): "the motor's displacement, in m³ per rad",
    ("N", "A"): "the force constant, in N per A",
    ("N", "N·m"): "one over the radius (2π / lead for a spindle), per m",
    ("N", "V"): "that of the amplifier, in N per V",
    ("N", "m"): "the stiffness of the spring whose deflection this is, in N per m",
    ("N", "Pa"): "the piston's area, in m²",
    ("N", "kg"): "9.80665, in m/s²",
    ("rad", "m"): "one over the radius (2π / lead for a spindle), in rad per m",
    ("rad", "V"): "that of the encoder, in rad per V",
    ("m", "rad"): "the radius (lead / 2π for a spindle), in m per rad",
    ("m", "V"): "that of the encoder, in m per V",
}
USUAL: Final = (("N·m", "A"), ("N", "A"), ("rad", "m"), ("m", "rad"))
ANY: Final = ("A",)  # where a scale of exactly one may be meant
#: 1, derived: Over a kernel's half width (s): the frequency (Hz) of which a Hann kernel passes half.
SEEN: Final = 0.5
MOTOR: Final = re.compile(r"motor|rotor|(?<![a-z])mot(?![a-z])", re.IGNORECASE)


def mistakes(joints: Mapping[str, JointSection], units: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[Path, str]]:
    """Channels whose signal is another quantity than the role needs, with the remedy; yields (path, text).

    units: driver → each signal that it can deliver → its SI unit.
    """
    for name, joint in joints.items():
        for role, channel in joint.channels.items():
            known, found = _found(channel.signal, units)
            wanted = wanted_unit(joint, role)
            if found is not None and wanted is not None and found not in (wanted, "1"):
                text = _mistake(wanted, found, channel, known)
                if text:
                    yield ("joints", name, "channels", role, "signal"), text
        for key, clock, fitting in (("counter", joint.counter, ("1",)), ("device_time", joint.device_time, ("s", "1"))):
            found = None if clock is None else _found(clock.signal, units)[1]
            if clock is not None and found is not None and found not in fitting:
                expected = "a plain count" if key == "counter" else "a time"
                text = f"expected {expected}, found {_quantity(found)}: {clock.signal} is in {found}"
                yield ("joints", name, key, "signal"), text


def remarks(config: Config) -> Iterator[str]:
    """Settings that may be right but should be checked once more."""
    units = {name: driver.signals() for name, driver in config.drivers.items()}
    for name, joint in config.joints.items():
        for role, channel in joint.channels.items():
            wanted, found = wanted_unit(joint, role), _found(channel.signal, units)[1]
            unscaled = "scale" not in channel.model_fields_set
            subject = f"{name}.{role}"
            if unscaled and found == "1" and wanted is not None:
                yield (
                    f"{subject}: {channel.signal} has no unit and is assumed to be in {wanted}; "
                    "give its unit where the signal is described, or scale = 1.0 here"
                )
            elif abs(channel.scale) == 1 and unscaled and _of_the_motor(role, channel, joint):
                inverse = "the gear ratio" if wanted in ("N·m", "N") else "1/gear ratio"
                yield (
                    f"{subject}: the name {channel.signal} suggests the motor's side, and this channel is the joint's: "
                    f"set scale = {inverse} (or scale = 1.0 for a joint without a gear)"
                )
        yield from _coarse(name, joint, config)
    for name, driver in config.drivers.items():
        layout = getattr(driver, "layout", None)
        for message, why in getattr(layout, "unsound", {}).items():
            yield f"{name}: message {message} is left out: {why}"


def _coarse(name: str, joint: JointSection, config: Config) -> Iterator[str]:
    """A remark where the step of an encoder, given by its layout, is too coarse for the inertia."""
    if "position" not in joint.channels:
        return
    channel = joint.channels["position"]
    driver, _, signal = channel.signal.partition(".")
    layout = getattr(config.drivers.get(driver), "layout", None)
    field = None if layout is None else layout.signals.get(signal)
    if field is not None and field.kind != "float" and (said := coarse(joint, abs(field.scale * channel.scale))):
        yield f"{name}.position: {said}"


def coarse(joint: JointSection, step: float) -> str:
    """How the encoder's steps (rad, m) affect a joint's inertia and what would help, in words; "" where they do not
    matter."""
    if joint.model.kind != "rigid" or step <= 0.0:
        return ""
    from estimators.conditioning import conditioner
    from estimators.quantisation.encoder_steps import half_width, least_acceleration

    period, given, unit = 1.0 / joint.rate, joint.conditioning.half_width, wanted_unit(joint, "position")
    wanted = half_width(step, period)
    if wanted <= (conditioner.USUAL if given is None else given):
        return ""
    least = least_acceleration(step, period, wanted if given is None else given)
    if given is not None:
        return (
            f"steps of {step:.2g} {unit} take more than 1 % of the inertia where accelerations are below {least:.2g} "
            f"{unit}/s² (rms): conditioning.half_width = {wanted:.2g} s would do, and is found where none is given"
        )
    return (
        f"steps of {step:.2g} {unit} want a kernel of half_width = {wanted:.2g} s, and get it: motion is seen up to "
        f"{SEEN / wanted:.2g} Hz, and inertia is identifiable where accelerations are above {least:.2g} {unit}/s² (rms)"
    )


def wanted_unit(joint: JointSection, role: str) -> str | None:
    """The SI unit of a role; None where any unit is allowed."""
    axis = getattr(joint.model, "axis", None)
    return Axis(axis or Axis.ROTARY).unit_of(role)


def _mistake(wanted: str, found: str, channel: Channel, known: Mapping[str, str]) -> str:
    """The message; empty where the given scale can convert one quantity to the other."""
    text = f"expected {_quantity(wanted)} in {wanted}, found {_quantity(found)}: {channel.signal} is in {found}"
    scale = SCALES.get((wanted, found))
    if scale is None:
        return f"{text}, and no scale converts one to the other{_instead(wanted, known)}"
    given = "scale" in channel.model_fields_set and (abs(channel.scale) != 1 or found in ANY)
    return "" if given else f"{text}; scale must be {scale}"


def _instead(wanted: str, known: Mapping[str, str]) -> str:
    """Signals of the same driver that could be used, the best first."""
    same = [name for name, unit in known.items() if unit == wanted]
    scaled = [f"{name} (in {unit}, with a scale)" for name, unit in known.items() if (wanted, unit) in USUAL]
    near = (same + scaled)[:4]
    return f"; this driver has {' or '.join(near)}" if near else ""


def _found(signal: str, units: Mapping[str, Mapping[str, str]]) -> tuple[Mapping[str, str], str | None]:
    """The signals of a driver, and the unit of this one of them where it is known."""
    driver, _, name = signal.partition(".")
    known = units.get(driver, {})
    return known, known.get(name)


def _quantity(unit: str) -> str:
    return QUANTITIES.get(unit, f"a quantity in {unit}")


def _of_the_motor(role: str, channel: Channel, joint: JointSection) -> bool:
    """Whether a signal's name suggests the motor's side while the model needs the joint's."""
    return (
        joint.model.kind == "rigid"
        and not role.startswith("motor")
        and bool(MOTOR.search(channel.signal.split(".", 1)[1]))
    )
