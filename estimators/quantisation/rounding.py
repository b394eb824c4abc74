"""How white an encoder's rounding is: at a constant speed it is a beat, which a kernel averages away, or lets through.

A joint at v moves by ν = vT/Δ steps a sample (T: period, Δ: step). The error of rounding is a sawtooth of the
position, so its harmonics, of power 6/(πk)² of Δ²/12, come at the frequencies that kφ/T folds to, φ the distance of ν
from a whole number. Where the speed changes they sweep the band, and rounding is white; at a constant one the second
derivative under a kernel with the response H has

    ρ(φ) = Σ_k 6/(πk)² |H(kφ/T)|² / ∫|H|²

times the noise of white rounding: up to half_width/T times where φ is small, less where kφ is near a whole number, and
nothing for most φ. The mean speed under the kernel tells φ to SURE/K of a step, K samples, which is finer than such a
peak. In whole steps the readings' second differences have the variance 2φ: where that says another φ by more than it
can be wrong by, samples are not even, and the beat is as wide as both. Within what φ is wrong by a harmonic may be
narrower: the mean of ρ there is what is expected, its largest is what a row may have.
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats

#: bins, derived: Bins of φ from 0 to one half; finer than the speed is known.
BINS: Final = 512
#: 1, derived: Harmonics of a step's sawtooth that are summed; what is beyond has 2 % of the power, taken as white.
HARMONICS: Final = 40
#: points, derived: Points of the Fourier transform of a kernel, a power of two beyond every kernel's length.
FREQUENCIES: Final = 1 << 14
#: parts, argued: Parts of a kernel over which the speed may differ.
PARTS: Final = 4
#: readings, derived: Readings under a part; with fewer its second differences alone tell φ.
LEAST: Final = 15
#: steps, derived: K times the error of φ from the mean speed over K readings, at most; its rms is 0.2 (decision 015,
#: point 6).
SURE: Final = 0.35
#: points, argued: Values of φ that are tried on either side for the worst one.
TRIED: Final = 16
#: steps, derived: K times the error of φ from second differences over a part of K readings; its rms is 0.3 (decision
#: 015, point 6).
UNEVEN: Final = 1.0
#: points, derived: Ends of the bins.
ENDS: Final = BINS + 1


def beats(taps: Floats) -> Floats:
    """∫₀^φ ρ at the ends of the bins under this kernel: (ENDS,), which `whiteness` reads."""
    second = np.convolve(taps, (1.0, -2.0, 1.0))
    power = np.abs(np.fft.fft(second, FREQUENCIES)) ** 2
    power /= power.mean()
    k = np.arange(1, HARMONICS + 1)
    share = 6.0 / (np.pi * k) ** 2
    finer = 16
    phi = 0.5 * (np.arange(finer * BINS) + 0.5) / (finer * BINS)
    where = np.round(np.outer(phi, k) * FREQUENCIES).astype(np.int64) % FREQUENCIES
    found = power[where] @ share + 1.0 - share.sum()
    table = np.zeros(ENDS)
    table[1:] = np.cumsum(found.reshape(BINS, finer).mean(axis=1)) * 0.5 / BINS
    return table


@inline
def _integral(table: Floats, phi: float) -> float:
    """∫₀^φ ρ, which is even, and even about ½ too."""
    last = table[len(table) - 1]
    if phi < 0.0:
        return -_within(table, -phi)
    if phi > 0.5:
        return float(2.0 * last - _within(table, 1.0 - phi))
    return _within(table, phi)


@inline
def _within(table: Floats, phi: float) -> float:
    at = min(phi, 0.5) * 2.0 * BINS
    low = min(int(at), BINS - 1)
    before, after = table[low], table[low + 1]
    return float(before + (at - low) * (after - before))


@inline
def of_row(step: float, table: Floats, period: float, speed: Floats, second: Floats) -> tuple[float, float]:
    """ρ of a row, expected and at most, from speed and second derivative at the instants under its kernel, by parts:
    the second derivative weighs all parts alike, and a joint may keep its speed in one of them alone.

    step: Δ of the encoder, rad (m), 0 where it is not known; table: beats() of the kernel; period: s.
    """
    if step == 0.0:
        return 1.0, 1.0
    total, largest, parts, known = 0.0, 0.0, min(PARTS, len(speed)), SURE / len(speed)
    for part in range(parts):
        first, last = part * len(speed) // parts, (part + 1) * len(speed) // parts
        count = last - first
        mean = spread = bent = bend = 0.0
        for k in range(first, last):
            mean += speed[k] / count
            bent += second[k] / count
        for k in range(first, last):
            spread += (speed[k] - mean) ** 2 / count
            bend += (second[k] - bent) ** 2 / count
        usual, most = whiteness(step, table, period, count, mean, known, spread, bend)
        total, largest = total + usual, largest + most
    return total / parts, largest / parts


@inline
def whiteness(
    step: float,
    table: Floats,
    period: float,
    support: int,
    speed: float,
    known: float,
    spread: float,
    bend: float,
) -> tuple[float, float]:
    """ρ, expected and at most.

    step, table, period: as in of_row; support: readings; speed: mean; known: steps a sample to which the mean is known;
    spread: variance of the speed; bend: variance of the readings' second derivative.
    """
    if step == 0.0:
        return 1.0, 1.0
    steps = abs(speed) * period / step
    phi, bent = abs(steps - np.round(steps)), min(0.5, 0.5 * bend * (period * period / step) ** 2)
    even = np.sqrt(3.0 * max(spread, 0.0)) * period / step
    if support < LEAST:
        phi, swept = bent, max(0.5 / support, even)
    else:
        swept = max(known, even, abs(bent - phi) - UNEVEN / support)
    if swept >= 0.5:
        return 1.0, 1.0
    usual = (_integral(table, phi + swept) - _integral(table, phi - swept)) / (2.0 * swept)
    most, width = usual, max(even, 0.5 / BINS, swept / TRIED)
    if swept > width:  # else the speed sweeps all of it
        for i in range(-TRIED, TRIED + 1):
            at = phi + (swept - width) * i / TRIED
            most = max(most, (_integral(table, at + width) - _integral(table, at - width)) / (2.0 * width))
    return float(usual), float(most)
