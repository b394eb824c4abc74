"""Whiteness of an encoder's rounding: at a constant speed it is a beat, which a kernel averages away or passes.

A joint at v moves by ν = vT/Δ steps a sample (T: period, Δ: step). The error of rounding is a sawtooth of the
position, so its harmonics, of power 6/(πk)² of Δ²/12, come at the frequencies that kφ/T folds to, φ the distance of ν
from a whole number. Where the speed changes they sweep the band, and rounding is white; at a constant one the second
derivative under a kernel with the response H has

    ρ(φ) = Σ_k 6/(πk)² |H(kφ/T)|² / ∫|H|²

times the noise of white rounding: up to half_width/T times where φ is small, less where kφ is near a whole number, and
nothing for most φ. The mean speed under the kernel gives φ to SURE/K of a step, where K is the number of samples; that
is finer than such a peak. In whole steps the second differences of the readings have the variance 2φ. Where this gives
another φ, beyond its own error, the samples are not equidistant, and the beat is as wide as both. Within the error of φ
a harmonic may be narrower: the mean of ρ there is the expected value, the largest is the worst case.
"""

from typing import Final

import numpy as np

from estimators.numerics.jit import inline
from estimators.quantities import Floats

BINS: Final = 512  # of φ, from 0 to ½
HARMONICS: Final = 40  # what is beyond is white
FREQUENCIES: Final = 1 << 14
PARTS: Final = 4  # of a kernel
LEAST: Final = 15  # readings under a part: with fewer, second differences alone tell φ
SURE: Final = 0.35  # K times what φ of the mean speed is off by at most: 0.2, rms, whatever the speed and K
TRIED: Final = 16  # φ on either side
UNEVEN: Final = 1.0  # the same of φ of the second differences and a part's length: 0.3, rms
STEP, TABLE = 0, 1  # of a lattice: Δ (0: not known), then ∫₀^φ ρ at the bins' ends
LENGTH: Final = TABLE + BINS + 1


def lattice(taps: Floats, step: float) -> Floats:
    """Table for `whiteness` of an encoder with this step (rad, m) under this kernel: (LENGTH,)."""
    second = np.convolve(taps, (1.0, -2.0, 1.0))
    power = np.abs(np.fft.fft(second, FREQUENCIES)) ** 2
    power /= power.mean()
    k = np.arange(1, HARMONICS + 1)
    share = 6.0 / (np.pi * k) ** 2
    finer = 16
    phi = 0.5 * (np.arange(finer * BINS) + 0.5) / (finer * BINS)
    where = np.round(np.outer(phi, k) * FREQUENCIES).astype(np.int64) % FREQUENCIES
    found = power[where] @ share + 1.0 - share.sum()
    table = np.zeros(LENGTH)
    table[STEP] = step
    table[TABLE + 1 :] = np.cumsum(found.reshape(BINS, finer).mean(axis=1)) * 0.5 / BINS
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
    before, after = table[TABLE + low], table[TABLE + low + 1]
    return float(before + (at - low) * (after - before))


@inline
def of_row(lattice: Floats, period: float, speed: Floats, second: Floats) -> tuple[float, float]:
    """Return ρ of a row, expected and worst case, from speed and second derivative at the instants under its kernel.

    The mean over parts of the kernel is taken: the second derivative weighs all parts alike, and a joint may keep its
    speed in one of them alone.
    """
    if lattice[STEP] == 0.0:
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
        usual, most = whiteness(lattice, period, count, mean, known, spread, bend)
        total, largest = total + usual, largest + most
    return total / parts, largest / parts


@inline
def whiteness(
    lattice: Floats, period: float, support: int, speed: float, known: float, spread: float, bend: float
) -> tuple[float, float]:
    """Return ρ, expected and worst case.

    support: readings; speed: their mean; known: its error, steps a sample; spread: variance of the speed; bend:
    variance of the second derivative of the readings.
    """
    step = lattice[STEP]
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
    usual = (_integral(lattice, phi + swept) - _integral(lattice, phi - swept)) / (2.0 * swept)
    most, width = usual, max(even, 0.5 / BINS, swept / TRIED)
    if swept > width:  # else the speed sweeps all of it
        for i in range(-TRIED, TRIED + 1):
            at = phi + (swept - width) * i / TRIED
            most = max(most, (_integral(lattice, at + width) - _integral(lattice, at - width)) / (2.0 * width))
    return float(usual), float(most)
