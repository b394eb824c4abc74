"""Looks: half seconds of rows, and their sums over the windows that causes compete on.

    G_j = Σ Z_jᵀZ_j      d_j = Σ Z_jᵀ y_j      y_jᵀy_j      of each joint j

so that residuals against any ψ follow from the sums: c_j = d_j − G_j ψ. Most columns are zero on most joints, for
example those of the others' frictions: only columns that may differ from zero are kept for each
(CauseColumns.of_joints). A window is the last 1, 2 or 4 looks, or all since a change may have begun, of which old ones
fade.
"""

from collections import deque
from typing import Final, NamedTuple

import numpy as np

from estimators.numerics.jit import kernel
from estimators.numerics.nnls import Integers
from estimators.quantities import Floats

#: looks, argued: Looks of each short window: a payload shows within one or two, friction within four.
SHORT: Final = (1, 2, 4)
#: 1, argued: Weight of the past of the long window after a look: forty looks count, a period or two of a slow motion.
FADE: Final = 0.975


class Sums(NamedTuple):
    """Sums of one window for n joints and k columns, of which m may differ from zero on one joint."""

    G: Floats  # (n, m, m)
    d: Floats  # (n, m)
    squares: Floats  # (n,) of y
    rows: Floats  # (n,) that say something
    pulls: Floats  # (k,) what the encoders' steps add to Σ W Zᵀr
    forward: Floats  # (n,) those of the rows in which a joint moves forward
    places: Integers  # (n, m) of each joint's columns among all

    def plus(self, other: "Sums", weight: float = 1.0) -> "Sums":
        """These, times weight, and others."""
        both = zip(self[:-1], other[:-1], strict=True)
        return Sums._make([*(weight * mine + theirs for mine, theirs in both), self.places])

    @property
    def rarer(self) -> Floats:
        """Rows (n,) of the direction in which a joint has moved less."""
        return np.minimum(self.forward, self.rows - self.forward)

    def against(self, psi: Floats) -> tuple[Floats, Floats]:
        """c (n, m) and squares (n,) of the residual against ψ (k,)."""
        own = psi[self.places]
        c = self.d - (self.G @ own[:, :, None])[:, :, 0]
        return c, self.squares - ((self.d + c) * own).sum(axis=1)

    def weighed(self, weights: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Σ_j w_j G_j (k, k) and Σ_j w_j c_j − pulls (k,); weights: (n,), c: (n, m)."""
        k = len(self.pulls)
        G, b = np.zeros((k, k)), -self.pulls
        _add(self.G, c, self.places, weights, G, b)
        return G, b


class Window(NamedTuple):
    """A window, and how many looks ago it began."""

    sums: Sums
    looks: int


@kernel("void(f8[:, :, ::1], f8[:, ::1], i8[:, ::1], f8[::1], f8[:, ::1], f8[::1])")
def _add(every: Floats, pulls: Floats, places: Integers, weights: Floats, G: Floats, b: Floats) -> None:
    for j in range(len(weights)):
        for i in range(places.shape[1]):
            at = places[j, i]
            b[at] += weights[j] * pulls[j, i]
            for k in range(places.shape[1]):
                G[at, places[j, k]] += weights[j] * every[j, i, k]


def sums_of(Z: Floats, y: Floats, there: Floats, dq: Floats, pulls: Floats, places: Integers) -> Sums:
    """Sums of a look; Z: (rows, n, k); y, there: (rows, n) torque, and 1 where a row says something, else 0.

    dq: (rows, n) speeds; places: see Sums.
    """
    own = np.take_along_axis(Z, places[None], axis=2)
    columns = np.ascontiguousarray((own * there[:, :, None]).transpose(1, 0, 2))
    torque = np.ascontiguousarray((y * there).T)[:, :, None]
    turned = columns.transpose(0, 2, 1)
    return Sums(
        turned @ columns,
        (turned @ torque)[:, :, 0],
        (torque[:, :, 0] ** 2).sum(axis=1),
        there.sum(axis=0),
        pulls,
        (there * (dq > 0.0)).sum(axis=0),
        places,
    )


class Looks:
    """The last looks, and the sum of all since a change may have begun."""

    def __init__(self) -> None:
        self._last: deque[Sums] = deque(maxlen=max(SHORT))
        self._since: Sums | None = None
        self.count = 0
        """Looks since a change may have begun."""

    def absorb(self, sums: Sums) -> None:
        """Add a look."""
        self._last.append(sums)
        self._since = sums if self._since is None else self._since.plus(sums, FADE)
        self.count += 1

    def begin(self) -> None:
        """A change may have begun: the long window begins with the next look; the short ones keep what they have."""
        self._since, self.count = None, 0

    def resume(self, sums: Sums) -> None:
        """Go on from what was known before this start of the program, as if from one look of the long window."""
        self.clear()
        self._since, self.count = sums, 1

    def clear(self) -> None:
        """Forget everything."""
        self._last.clear()
        self.begin()

    def only(self, looks: int) -> None:
        """Forget all but the last looks: earlier ones belong to another state of the robot."""
        if looks < self.count:
            kept = list(self._last)[-looks:]
            self.clear()
            for one in kept:
                self.absorb(one)

    @property
    def since(self) -> Window | None:
        """The long window; None before the first look."""
        return None if self._since is None else Window(self._since, self.count)

    def windows(self) -> list[Window]:
        """All windows, the shortest first."""
        last, found = list(self._last), list[Window]()
        for looks in SHORT:
            if looks <= len(last):
                total = last[-looks]
                for one in last[len(last) - looks + 1 :]:
                    total = total.plus(one)
                found.append(Window(total, looks))
        if self._since is not None and self.count > len(last):
            found.append(Window(self._since, self.count))
        return found
