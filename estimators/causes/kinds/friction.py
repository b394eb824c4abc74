"""Causes in what rubs: worn gears, bearings, brakes, cables, and the temperature of the joint."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from estimators.causes.base import CauseKind, FaultWindow, Shape
from estimators.quantities import Floats

#: 1, argued: Stribeck part that wear adds, shares of the dry friction that it adds: none, half as much, as much.
STRIBECK: Final = (0.0, 0.5, 1.0)
#: 1, argued: Share of the top speed over which a Stribeck part fades.
FADE: Final = 0.05
#: 1, argued: Share of the torque's rms over which the gear changes its flank.
PLAY: Final = 0.03
#: 1/turn, argued: Orders that a row's bandwidth shows, from above what gravity and cables make to a ring of 45 balls.
ORDERS: Final = np.arange(6.0, 20.0, 0.5)
#: 1, argued: Phases of a ripple that are tried: it is a tenth of its size off at most, but for what leaks.
RIPPLE_PHASES: Final = 12
#: 1, argued: Shares of the range from which on the cable pulls.
BEGINS: Final = (0.2, 0.35, 0.5, 0.65, 0.8)
#: 1, argued: Powers of the stretch by which it pulls: a spring, and a hose that straightens first.
POWERS: Final = (1.0, 2.0)
#: 1, argued: Dry part of that pull, shares of the pull at the end of the range.
DRY: Final = (0.0, 0.2, 0.4)
#: 1, argued: Stribeck part that moves against the viscous one, shares of its change (Bittencourt's F_sT and F_vT).
AGAINST: Final = (0.0, 0.15, 0.3)


# --- Worn teeth, or aged or lost lubricant: dry friction has grown, at low speed and under load most, slowly.


def gear_wear_torque(window: FaultWindow) -> Sequence[Shape]:
    """Dry friction by one factor, with more or less of a Stribeck part."""
    size = float(np.sqrt((window.dry**2).mean()))
    fading = window.side * np.exp(-np.abs(window.rows.v) / (FADE * window.healthy.scales.speed))
    return [Shape.of(window.dry + share * size * fading) for share in STRIBECK]


def gear_wear_twist(window: FaultWindow) -> Sequence[Shape]:
    """A little play comes with wear."""
    load = window.gear_torque
    return [Shape.of(load / np.hypot(load, PLAY * window.healthy.scales.torque))]


GEAR_WEAR = CauseKind(
    "gear_wear",
    "wear of the gear or its lubricant",
    "Look at the gear's lubricant and its wear: change the lubricant, then see whether friction falls.",
    gear_wear_torque,
    gear_wear_twist,
    sudden=False,
    in_torque=True,
)


# --- A damaged bearing: torque ripples as balls pass the damage, many times a turn, and drags a little.


def bearing_torque(window: FaultWindow) -> Sequence[Shape]:
    """A ripple of one order, whose phase is not known, with a little friction."""
    return [Shape.phased(_waves(window), RIPPLE_PHASES, window.side)]


def bearing_twist(window: FaultWindow) -> Sequence[Shape]:
    """The gear is wound by that ripple, too."""
    return [Shape.phased(_waves(window), RIPPLE_PHASES)]


def _waves(window: FaultWindow) -> list[tuple[Floats, Floats]]:
    q = window.rows.q
    return [(np.sin(order * q), np.cos(order * q)) for order in ORDERS]


BEARING = CauseKind(
    "bearing",
    "damage of a bearing",
    "Turn the joint by hand or slowly: does it rattle at even angles? Listen to it, and change the bearing.",
    bearing_torque,
    bearing_twist,
    sudden=False,
    in_torque=True,
)


# --- A brake that does not open fully: a dry torque that neither speed nor load changes, at once.


def brake_drag_torque(window: FaultWindow) -> Sequence[Shape]:
    """Against the motion, the same at any speed."""
    return [Shape.of(window.side)]


BRAKE_DRAG = CauseKind(
    "brake_drag",
    "a dragging brake",
    "Measure the brake's voltage while it is open, and its air gap; let it open and close a few times.",
    brake_drag_torque,
    sudden=True,
)


# --- A cable or hose that catches: beyond some angle it pulls back like a spring, harder when stretched, and rubs.


def cable_drag_torque(window: FaultWindow) -> Sequence[Shape]:
    """A hinge over the angle, from either end, with friction where it pulls or wherever the joint is."""
    pulls, rubs = list[Floats](), list[Floats]()
    for begin in BEGINS:
        for way in (1.0, -1.0):
            beyond = np.maximum(way * (window.place - 0.5) + 0.5 - begin, 0.0) / (1.0 - begin)
            for power in POWERS:
                pulls.append(way * beyond**power)
                rubs.append(window.side * (beyond > 0.0))
    one, none, anywhere = np.eye(len(pulls)), np.zeros((len(pulls), len(pulls))), np.ones((1, len(pulls)))
    mixes = [np.vstack([one, dry * one, 0.0 * anywhere]) for dry in DRY]
    mixes += [np.vstack([one, none, dry * anywhere]) for dry in DRY if dry > 0.0]
    return [Shape(np.column_stack([*pulls, *rubs, window.side]), np.hstack(mixes))]


CABLE_DRAG = CauseKind(
    "cable_drag",
    "a cable or hose that drags",
    "Move the joint by hand through its range, and look where cables and hoses catch or are stretched.",
    cable_drag_torque,
    cable_drag_torque,
    sudden=True,
    in_torque=True,
)


# --- A hotter or colder joint: viscous friction follows the oil, and the Stribeck part moves the other way.


def temperature_torque(window: FaultWindow) -> Sequence[Shape]:
    """Viscous friction by one factor, with more or less of the other."""
    v = window.rows.v
    rms = float(np.sqrt((v**2).mean()))
    fading = rms * window.side * np.exp(-np.abs(v) / (FADE * window.healthy.scales.speed))
    return [Shape.of(v - share * fading, either=True) for share in AGAINST]


TEMPERATURE = CauseKind(
    "temperature",
    "a hotter or colder joint",
    "If the room's temperature or the duty has changed, do nothing: the friction returns by itself. "
    "Otherwise check the cooling and the lubricant's grade.",
    temperature_torque,
    sudden=False,
    only=True,
    leak=0.1,
)
