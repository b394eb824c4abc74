"""What motion would teach a parameter that lacks excitation, in words that someone at the robot can act on."""

from typing import Final

# by the ending of the parameter's name, the first that fits
NEEDS: Final = {
    "stiffness_cubic": "larger torque peaks",
    "stiffness": "a larger range of positions",
    "inertia": "stronger accelerations",
    "mass": "stronger accelerations",
    "viscous": "faster and slower motion",
    "cubic": "faster motion",
    "stribeck": "slow passes through standstill",
    "coulomb": "motion in both directions",
    "offset": "motion in both directions",
    "sin": "a larger range of angles",
    "cos": "a larger range of angles",
    "load": "different loads",
}


def needs(name: str) -> str:
    """What a parameter of this name needs."""
    return next((words for ending, words in NEEDS.items() if name.endswith(ending)), "a more varied motion")


def torque_peaks(torque: float, excess: float, unit: str) -> str:
    """What a cubic stiffness needs, whose deviation is `excess` times too large with peaks of this torque.

    Its column grows with the cube of the torque.
    """
    return f"torque peaks above {torque * excess ** (1 / 3):.0f} {unit}, there were {torque:.0f}"
