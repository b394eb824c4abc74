"""A band's friction as a function of load and temperature: columns of a linear model with argued priors.

Relative to its mean, a band's friction is φ(ℓ, θ)·β with the standardised load ℓ, the temperature θ in units of KELVINS
around the usual one, and

    φ = [1, ℓ, θ, ℓθ, ℓ², bells(θ), ℓ·bells(θ)],   bells: exp(−(θ − θ_j)²/2) at θ_j = −2 … 3

so a Stribeck part that appears when a joint is warm, an exponential viscosity and their dependence on load are all
within it. Where no bell has seen an hour the prior's width is left, and wear cannot be detected there.
"""

from typing import Final

import numpy as np

from estimators.quantities import Floats

#: K, argued: Width of a bell: Bittencourt's Stribeck speed and viscosity change by a half to two thirds over it.
KELVINS: Final = 14.0
#: KELVINS, argued: Middles of the bells: from 28 K colder to 42 K warmer than in the first days.
MIDDLES: Final = np.arange(-2.0, 3.5)
#: 1, argued: Deviations of β: the mean is known to a fifth, load or 14 K may double a band's friction, each bell moves
#: it by 0.4, and the load's share by 0.3.
PRIOR: Final = np.array([0.2, 0.6, 1.0, 0.3, 0.1] + [0.4] * len(MIDDLES) + [0.3] * len(MIDDLES))


def columns(load: Floats, warmth: Floats) -> Floats:
    """φ of each hour: (hours, columns). load, warmth: (hours,), standardised."""
    bells = np.exp(-0.5 * (warmth[:, None] - MIDDLES) ** 2)
    ell = load[:, None]
    return np.column_stack([np.ones_like(load), load, warmth, load * warmth, load * load, bells, ell * bells])


def slopes(load: Floats, warmth: Floats) -> Floats:
    """∂φ/∂θ of each hour: (hours, columns)."""
    off = warmth[:, None] - MIDDLES
    bells = -off * np.exp(-0.5 * off**2)
    none = np.zeros_like(load)
    return np.column_stack([none, none, np.ones_like(load), load, none, bells, load[:, None] * bells])
