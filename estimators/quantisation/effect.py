"""Effect of encoder steps on θ and η of a searched law: the smoothed motion is read again by shifted encoders.

Where a joint turns round, it rests on a step of its encoder, at the same place in each period. The error that this
causes in ω1, or in a spring, is not noise: it does not average out, and no residual shows it. Where between two steps
a joint turns is random. So the smoothed motion is read by an encoder with the same steps, shifted by a share of one
step; the readings are smoothed as usual, and least squares give the shift of the parameters:

    b = −([Φ' T']ᵀW[Φ' T'])⁻¹ [Φ' T']ᵀW ((Φ' − Φ)θ − (y' − y)),   T: tangents of η, ': of that reading

The mean of b bᵀ over all shifts is the covariance of [θ s] due to the steps; it includes the motion that smoothing
removes. The motion is smoothed AGAIN times more than rows are, because one smoothing leaves part of the step at a
reversal. The spread of b for white steps, of an encoder that is shifted anew at each instant, is subtracted as far as
the residual shows it (`beyond`). That part of the deviation falls with the number of rows; the part due to steps that
are the same at each return does not.
"""

import itertools
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.models.nonlinear_block import NonlinearBlock
from estimators.models.shared_instants import columns_of, distinct, smooth
from estimators.quantisation.shifted_quantiser import PLACES
from estimators.quantities import Floats
from estimators.rows import ARGUMENTS, POSITION, VELOCITY, Rows

#: s, argued: Rows that are read again with shifted encoders, at most; bounds the time of a refit.
READ: Final = 16.0
#: times, tuned: Times that a motion is smoothed more before it is read again; Stribeck friction at 12 bits (decision
#: 018, point 39).
AGAIN: Final = 2


Reading = tuple[Floats, Floats]  # [Φ' T'] (equations, columns), and the change of the residual


class EncoderGrid(NamedTuple):
    """The steps of an encoder, their effect on a row, and how readings are smoothed."""

    step: float  # rad (m)
    slopes: Floats  # (3, outputs, parameters) ∂φ by value, rate and second derivative of the angle that it reads
    own: Floats  # (3, outputs) ∂y, likewise
    kernel: Floats  # of a law's arguments
    period: float  # s between samples


class ExplainedWindow(NamedTuple):
    """A window of rows, the values that explain it, and the encoders that its motion was read by."""

    block: NonlinearBlock
    rows: Rows  # with the columns of η
    eta: Floats
    theta: Floats
    noise: Floats  # (outputs,) variances
    law: EncoderGrid  # encoder that the law's speed comes from
    far: EncoderGrid | None  # encoder behind the spring, if there is one


def beyond(steps: Floats, white: Floats, shown: Floats | float) -> Floats:
    """Covariance due to the steps, without the part that the residual already contains.

    steps: all of it; white: variances that steps which are shifted anew at each instant would give; shown: variances
    by the residual.
    """
    square = np.maximum(np.diag(steps), np.finfo(float).tiny)
    own = np.sqrt(np.maximum(1.0 - np.minimum(white, shown) / square, 0.0))
    return np.asarray(steps * np.outer(own, own))


def steps_effect(window: ExplainedWindow) -> tuple[Floats, Floats, dict[str, float]]:
    """Arguments `steps` and `white` of `beyond`, and `imitated`, from the same readings: most of a refit's time.

    The first two are of [θ s]: (parameters + nonlinear,)² and (parameters + nonlinear,). They are zero where no stretch
    of rows is long enough to be smoothed once more.
    """
    readings, count = _readings(window), len(window.theta) + len(window.eta)
    if readings is None:
        return np.zeros((count, count)), np.zeros(count), {}
    shifted = _shifted(readings)
    rng = np.random.default_rng(0)
    white = np.array([_solved(*readings.read(rng.random(readings.instants))) for _ in range(PLACES)])
    each = np.array([_solved(*one) for one in shifted])
    return np.asarray(each.T @ each / PLACES), white.var(axis=0, ddof=1), _imitated(readings, shifted, window)


def imitated(window: ExplainedWindow) -> dict[str, float]:
    """Error of each known constant, rms, that its score test would find because of the steps alone."""
    readings = _readings(window)
    return {} if readings is None else _imitated(readings, _shifted(readings), window)


def _imitated(readings: "_Readings", shifted: list[Reading], window: ExplainedWindow) -> dict[str, float]:
    """Error of each known constant by these readings of shifted encoders."""
    block, theta, part = window.block, window.theta, window.rows.part(readings.which)
    weight = np.isfinite(part.y) / np.sqrt(window.noise)
    constants = block.joint.constants(part, block.taps, theta)
    if not constants:
        return {}
    columns = np.array([(np.nan_to_num(constant.column) * weight).reshape(-1) for constant in constants]).T
    squares = np.zeros(len(constants))
    for design, left in shifted:
        base, _ = np.linalg.qr(design / np.maximum(np.linalg.norm(design, axis=0), np.finfo(float).tiny))
        own = columns - base @ (base.T @ columns)
        squares += (own.T @ left / np.maximum(np.sum(own**2, axis=0), np.finfo(float).tiny)) ** 2 / PLACES
    return {constant.name: float(np.sqrt(square)) for constant, square in zip(constants, squares, strict=True)}


def _shifted(readings: "_Readings") -> list[Reading]:
    """A window as each of PLACES shifted encoders reads it."""
    return [readings.read(np.full(readings.instants, number / PLACES)) for number in range(PLACES)]


class _Readings(NamedTuple):
    """Reads a window by shifted encoders."""

    which: NDArray[np.int64]  # of its rows
    instants: int
    read: Callable[[Floats], Reading]  # [Φ' T'] (equations, columns), and the change of the residual


def _readings(window: ExplainedWindow) -> _Readings | None:
    """Prepare a window for shifted encoders; None where too few rows are contiguous."""
    block, rows, eta, theta, noise, law, far = window
    place, taps, count = block.place, len(block.taps), len(theta) + len(eta)
    seen, first = distinct(rows.samples[:, block.index], ARGUMENTS)
    reach = len(law.kernel) // 2 + 1
    ends = np.concatenate(([0], first[1:][np.diff(first) >= taps], [seen.shape[1]]))
    stretch = np.searchsorted(ends, first, "right")
    which = np.flatnonzero((first - reach >= ends[stretch - 1]) & (first + taps + reach <= ends[stretch]))
    if len(which) <= count:
        return None
    rows, first = rows.part(which), first[which]
    weight = np.isfinite(rows.y) / np.sqrt(noise)
    near = _calm(seen[POSITION] / place.scale[0], ends, law)
    beyond = _calm(seen[POSITION] - _twist(block, rows, first, seen.shape[1]), ends, law)
    before, design = rows.phi.copy(), np.empty((len(rows.time), rows.y.shape[1], count))
    _look(block, _seen(seen, place.scale[0] * near, law.period), first, eta, theta, before, design)

    def read(shares: Floats) -> tuple[Floats, Floats]:
        """Read the motion by an encoder that is shifted by these shares of a step (instants,)."""
        off = _read(near, law.step, shares)
        phi, y = rows.phi.copy(), np.zeros_like(rows.y)
        _add(law, off, block.taps, first, phi, y)
        if far is not None:
            _add(far, _read(beyond, far.step, shares), block.taps, first, phi, y)
        smoothed = np.convolve(place.scale[0] * (near + off), law.kernel, "same")
        _look(block, _seen(seen, smoothed, law.period), first, eta, theta, phi, design)
        left = np.nan_to_num(y - (phi - before) @ theta) * weight
        return (design * weight[:, :, np.newaxis]).reshape(-1, count), left.reshape(-1)

    return _Readings(which, len(near), read)


def _solved(design: Floats, left: Floats) -> Floats:
    """Solve for b by least squares."""
    return np.asarray(np.linalg.lstsq(design, left, rcond=None)[0])


def _look(
    block: NonlinearBlock, seen: Floats, first: NDArray[np.int64], eta: Floats, theta: Floats, phi: Floats, out: Floats
) -> None:
    """Write the law's columns into phi, and [Φ T] into out (rows, outputs, parameters + nonlinear)."""
    place, p = block.place, len(theta)
    smooth(
        columns_of(block.law, seen, eta), first, block.taps, block.own, place.sign, place.output, block.moving, phi
    )  # fmt: skip
    out[:, :, :p], out[:, :, p:] = phi, 0.0
    slopes = block.slopes_along(seen, first, eta)
    out[:, place.output, p:] = place.sign * np.einsum("rck,c->rk", slopes, theta[block.moving])
    np.nan_to_num(out, copy=False)


def _calm(place: Floats, ends: NDArray[np.int64], encoder: EncoderGrid) -> Floats:
    """Smooth a position (instants,) until no steps are left in it; ends: of contiguous stretches."""
    half, found = len(encoder.kernel) // 2, place.copy()
    for _ in range(AGAIN):
        for begin, end in itertools.pairwise(ends):
            padded = np.pad(found[begin:end], half, "reflect", reflect_type="odd")
            found[begin:end] = np.convolve(padded, encoder.kernel, "valid")
    return found


def _read(place: Floats, step: float, share: Floats) -> Floats:
    """Reading error (instants,) of an encoder whose steps are shifted by these shares of one (instants,)."""
    return np.asarray((np.round(place / step + share) - share) * step - place)


def _twist(block: NonlinearBlock, rows: Rows, first: NDArray[np.int64], instants: int) -> Floats:
    """Twist of the spring (instants,), rad; 0 where there is none."""
    if not block.joint.springs:
        return np.zeros(instants)
    spring = block.joint.springs[0]
    twist = rows.phi[:, spring.output, spring.columns[0]]
    known = np.isfinite(twist)
    if not known.any():
        return np.zeros(instants)
    return np.interp(np.arange(instants), first[known] + len(block.taps) // 2, twist[known])


def _add(encoder: EncoderGrid, off: Floats, taps: Floats, first: NDArray[np.int64], phi: Floats, y: Floats) -> None:
    """Add the effect of reading errors, off (instants,), to the linear columns: phi (rows, outputs, parameters), y."""
    rate, second = np.zeros_like(off), np.zeros_like(off)
    rate[1:-1] = (off[2:] - off[:-2]) / (2.0 * encoder.period)
    second[1:-1] = (off[2:] - 2.0 * off[1:-1] + off[:-2]) / encoder.period**2
    kinds = np.stack([np.convolve(one, taps, "same")[first + len(taps) // 2] for one in (off, rate, second)])
    phi += np.einsum("kr,kop->rop", kinds, encoder.slopes)
    y += np.einsum("kr,ko->ro", kinds, encoder.own)


def _seen(seen: Floats, place: Floats, period: float) -> Floats:
    """Arguments of a law (arguments, instants) for this position (instants,)."""
    found = seen.copy()
    found[POSITION] = place
    found[VELOCITY, 1:-1] = (place[2:] - place[:-2]) / (2.0 * period)
    return found
