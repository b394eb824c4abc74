"""Recordings of a mechanism's drives: rows that fit its loops, its model from them, and what its joints carry.

The passive joints follow from the driven ones at some 200 Hz; columns of friction are formed there and go through the
torque's low-pass, as for a whole robot (robot/motion.py). The speed over which friction turns its sign is the one of
TRANSITIONS that leaves least of the torque. Afterwards friction stands in the bearings of a plain mechanism, as
products with μ = 1 (of a slide as μ): that one can be written down, and predicts torque and constraint forces with
friction in them.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from estimators.models.mechanisms.description import Description, MechanismLink
from estimators.models.mechanisms.dynamics import ALL
from estimators.models.mechanisms.mechanism import DynamicsSolution, Mechanism, MechanismMotion
from estimators.offline.mechanism_fit import MechanismFit, RowsOf, bearings_of, identify
from estimators.offline.robot.motion import EDGE, RATE, Piece, low_pass
from estimators.quantities import Floats

FORMED: Final = 200.0  # Hz, at which columns are formed
TRANSITIONS: Final = (1e-3, 3e-3, 1e-2, 3e-2)  # rad/s (m/s)
#: 1, tuned: Motions of one drive repeat, and so does what the model lacks: on the rig's leg with masses 15 % wrong 0.25
#: to 12 leave 1.4 to 0.7 % of other motions' torque, 0.02 leaves 3 to 7 %: links then explain friction's corners.
LASTS: Final = 4.0  # × the rows of all recordings, over which one error lasts


class MechanismRun(NamedTuple):
    """All pieces of some recordings, one after the other."""

    motion: MechanismMotion  # (samples, n) at FORMED Hz, fitting the loops
    torque: Floats  # (rows, drives) N·m (N)
    time: Floats  # (rows,) s, on each recording's clock
    rows: RowsOf


class IdentifiedMechanism(NamedTuple):
    """What was found."""

    fit: MechanismFit
    transition: float  # rad/s (m/s)
    description: Description  # with the parameters and friction that were found
    error: Floats  # (drives,) rms of what is not explained over rms of the torque


def prepared(mechanism: Mechanism, pieces: Sequence[Piece]) -> MechanismRun:
    """pieces: of the driven joints, in the mechanism's order. Raises MechanismError where a loop cannot close."""
    drives = np.flatnonzero(mechanism.drive)
    parts, torques, times, cuts = [], [], [], []
    for piece in pieces:
        step = max(1, round(piece.rate / FORMED))
        q, dq, ddq = np.zeros((3, len(piece.q[::step]), mechanism.size()))
        for whole, own in ((q, piece.q), (dq, piece.dq), (ddq, piece.ddq)):
            whole[:, drives] = own[::step]
        parts.append(mechanism.fit(q, dq, ddq))
        rate = piece.rate / step
        edge, thin = round(EDGE * rate), max(1, round(rate / RATE))
        cuts.append((len(q), rate, slice(edge, len(q) - edge, thin)))
        torques.append(piece.tau[::step][cuts[-1][2]])
        times.append((piece.time[0] - piece.at[0] / piece.rate + np.arange(len(q)) / rate)[cuts[-1][2]])
    motion = MechanismMotion(*(np.ascontiguousarray(np.concatenate(one)) for one in zip(*parts, strict=True)))

    def split(values: Floats, smooth: bool) -> Floats:
        found, first = [], 0
        for count, rate, part in cuts:
            own = values[first : first + count]
            found.append((low_pass(own, rate) if smooth else own)[part])
            first += count
        return np.concatenate(found)

    rows = RowsOf(lambda values: split(values, False), lambda values: split(values, True))
    return MechanismRun(motion, np.concatenate(torques), np.concatenate(times), rows)


def identified(mechanism: Mechanism, run: MechanismRun) -> IdentifiedMechanism:
    """The mechanism's inertia and friction; one set of coefficients for all joints of a kind where some are passive."""
    shared = bool((mechanism.drive == 0).any())
    lasts = LASTS * len(run.torque)
    fits = [identify(mechanism, run.motion, run.torque, one, shared, run.rows, lasts) for one in TRANSITIONS]
    best = int(np.argmin([fit.residual for fit in fits]))
    fit = fits[best]
    error = unexplained(run, fit.predict(run.motion, TRANSITIONS[best], run.rows))
    return IdentifiedMechanism(fit, TRANSITIONS[best], _described(mechanism, fit, TRANSITIONS[best]), error)


def unexplained(run: MechanismRun, predicted: Floats) -> Floats:
    """Rms of what is left over rms of the torque, (drives,)."""
    size = np.sqrt(np.mean(run.torque**2, axis=0))
    return np.asarray(np.sqrt(np.mean((run.torque - predicted) ** 2, axis=0)) / np.maximum(size, 1e-300))


def carried(mechanism: Mechanism, run: MechanismRun, transition: float) -> tuple[Floats, DynamicsSolution]:
    """Torque of the drives (rows, drives), filtered as the measured one; and the full solution at FORMED Hz."""
    solution = mechanism.inverse(run.motion, ALL, transition)
    return run.rows.filtered(solution.tau[:, np.flatnonzero(mechanism.drive)]), solution


def _described(mechanism: Mechanism, fit: MechanismFit, transition: float) -> Description:
    """The mechanism with what was found."""
    links = [_link(link, row) for link, row in zip(mechanism.description.links, fit.parameters, strict=True)]
    bearings = bearings_of(mechanism, fit.friction, fit.group)
    links = [link.model_copy(update={"bearing": own}) for link, own in zip(links, bearings[: len(links)], strict=True)]
    cuts = [
        cut.model_copy(update={"bearing": own})
        for cut, own in zip(mechanism.description.cuts, bearings[len(links) :], strict=True)
    ]
    found = {"links": tuple(links), "cuts": tuple(cuts), "transition": transition, "residuals": ()}
    return mechanism.description.model_copy(update=found)


def _link(link: MechanismLink, row: Floats) -> MechanismLink:
    """A link with these standard parameters: m, m c, inertia about its origin."""
    m = float(row[0])
    c = row[1:4] / m
    xx, xy, yy, xz, yz, zz = row[4:]
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (c @ c * np.eye(3) - np.outer(c, c))
    inertia = (about[0, 0], about[1, 1], about[2, 2], about[0, 1], about[0, 2], about[1, 2])
    update = {"mass": m, "centre": tuple(map(float, c)), "inertia": tuple(map(float, inertia))}
    return link.model_copy(update=update)
