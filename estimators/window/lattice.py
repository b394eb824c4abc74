"""What an encoder's steps do to a law's columns, and through them to θ and η: the motion as found, read again.

Columns are formed of the smoothed speed, and where a joint turns round it stands on a step of its encoder. It does so
at the same places period after period, so what that does to ω1 is no noise: it does not average out, and no residual
shows it. Where on the lattice of steps a joint turns is chance. So the smoothed motion is read by an encoder that has
these steps and lies elsewhere by a share of one, is smoothed once more, and least squares say by how much the columns
then are different:

    b = −([Φ' T]ᵀW[Φ' T])⁻¹ [Φ' T]ᵀW (Φ' − Φ)θ,   Φ' of that reading, T: tangents of η

The mean of b bᵀ over the lattice is the covariance of [θ s] that is owed to it. What smoothing takes from the motion is
in it, too, to first order.
"""

from typing import Final, NamedTuple

import numpy as np

from estimators.models.nonlinear_block import NonlinearBlock
from estimators.models.shared_instants import columns_of, distinct, smooth
from estimators.quantities import Floats
from estimators.rows import ARGUMENTS, POSITION, VELOCITY, Rows

PLACES: Final = 8  # of the lattice against the motion, evenly over one step


class Lattice(NamedTuple):
    """How an encoder is read, and how that is smoothed for a law."""

    step: float  # rad (m)
    kernel: Floats  # of a law's arguments
    period: float  # s between samples


def owed(block: NonlinearBlock, rows: Rows, eta: Floats, theta: Floats, noise: Floats, lattice: Lattice) -> Floats:
    """Covariance of [θ s] (parameters + nonlinear,)²; rows: with the columns of η; noise: (outputs,) variances.

    Zero where rows do not hang together for long enough to be smoothed once more.
    """
    p, place, taps = len(theta), block.place, len(block.taps)
    seen, first = distinct(rows.samples[:, block.index], ARGUMENTS)
    reach = len(lattice.kernel) // 2 + 1
    ends = np.concatenate(([0], first[1:][np.diff(first) >= taps], [seen.shape[1]]))
    stretch = np.searchsorted(ends, first, "right")
    whole = (first - reach >= ends[stretch - 1]) & (first + taps + reach <= ends[stretch])
    covariance = np.zeros((p + len(eta), p + len(eta)))
    if np.count_nonzero(whole) <= len(covariance):
        return covariance
    rows, first = rows.part(np.flatnonzero(whole)), first[whole]
    weight = np.isfinite(rows.y) / np.sqrt(noise)
    tangents = np.nan_to_num(block.tangents(rows, eta, theta))
    step = lattice.step * abs(place.scale[0])
    for number in range(PLACES):
        read = np.round(seen[POSITION] / step + number / PLACES) * step
        phi = rows.phi.copy()
        columns = columns_of(block.law, _smoothed(seen, read, lattice), eta)
        smooth(columns, first, block.taps, block.own, place.sign, place.output, block.moving, phi)
        moved = np.nan_to_num((phi - rows.phi) @ theta) * weight
        design = np.concatenate((np.nan_to_num(phi), tangents), axis=2) * weight[:, :, np.newaxis]
        flat = design.reshape(-1, len(covariance))
        b = np.linalg.lstsq(flat, -moved.reshape(-1), rcond=None)[0]
        covariance += np.outer(b, b) / PLACES
    return covariance


def _smoothed(seen: Floats, read: Floats, lattice: Lattice) -> Floats:
    """What a law sees (arguments, instants) of a position that is read so (instants,)."""
    found = seen.copy()
    place = np.convolve(read, lattice.kernel, "same")
    found[POSITION] = place
    found[VELOCITY, 1:-1] = (place[2:] - place[:-2]) / (2.0 * lattice.period)
    return found
