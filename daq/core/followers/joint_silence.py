"""Detects that a joint gives no data: silent channels, or readings from which no row can be formed."""

from typing import Final

import numpy as np

from daq.config.sections import JointSection
from estimators.base import Estimate, Phase, Status
from estimators.numerics.jit import inline, kernel
from estimators.online.joint import JointEstimator
from estimators.reasons import Reason
from jointwatch_numba.direct import direct
from jointwatch_numba.layout import Layout

#: ns, argued: Time between two updates of a joint that has no data.
STALE_EVERY: Final = 500_000_000
ROWLESS: Final = ("no_rows", "channel_dead")  # codes where readings arrive and no row can be formed
#: rows, argued: Least number of row periods without a row before a joint is faulted, if `stale` is shorter than that.
FEWEST_ROWS: Final = 3


class RowsState(Layout):
    """Arrival times of readings and rows of one joint, ns."""

    last_arrival: int = 0  # arrival of the last reading
    newest: int = 0  # last sample of the newest window without a gap
    row_arrival: int = 0  # arrival of that sample
    clipped: int = 0  # number of samples at saturation up to that window


class JointSilence:
    """Tracks which data of one joint are missing. Times are monotonic ns; `estimator` is the present one."""

    def __init__(self, joint: JointSection, channels: tuple[str, ...]) -> None:
        """channels: names of the columns of the joint's samples."""
        self.missing: tuple[Reason, ...] = ()  # reasons why data are missing
        self.stale = False  # whether an event has reported the missing data
        self.due = 0  # earliest time at which a channel could have been silent for too long
        self.last_arrivals = np.zeros(len(channels) + 1, np.int64)  # of each column; written by the pass
        self.rows = RowsState()
        self._sources = [(role, joint.channels[role].signal) for role in channels]
        rates = [joint.channels[role].rate or joint.rate for role in channels]
        self._stale_after = np.array([max(joint.stale, 3 / rate) * 1e9 for rate in rates])

    def note_rows(self, arrival: int, refused: bool, estimator: JointEstimator) -> None:
        """Note the arrival of the newest window of samples without a gap. refused: whether frames are refused."""
        rows = self.rows
        if refused or (self.missing and self.missing[0].code not in ROWLESS):  # no row can be expected meanwhile
            rows.row_arrival = 0
        _note(arrival, estimator.conditioner.former.newest, estimator.preprocessor.state.clipped, rows)

    def recovers(self, now: int, estimator: JointEstimator) -> bool:
        """Whether the joint was silent until now and has data again."""
        if not self.stale or self._unusable(now, estimator):
            return False
        self.stale, self.missing = False, ()
        return True

    def look(self, now: int, estimator: JointEstimator) -> None:
        """Update the reasons why data are missing."""
        if self.rows.last_arrival == 0:
            self.rows.last_arrival = now
        self.last_arrivals[self.last_arrivals == 0] = now
        self.missing = self._unusable(now, estimator)
        if not self.missing:
            rows_due = self.rows.row_arrival + self._rowless_after(estimator)
            self.due = min(int((self.last_arrivals[:-1] + self._stale_after).min()), rows_due)

    def faulted(self, estimate: Estimate, mistakes: tuple[Reason, ...]) -> Estimate:
        """Return the estimate of a joint whose data are missing. mistakes: suspected mistakes of the configuration."""
        reasons = self.missing
        if reasons[0].code in ROWLESS:
            codes = {one.identity for one in reasons}
            more = tuple(
                one for one in estimate.reasons if one.code.startswith("channel_") and one.identity not in codes
            )
            more += mistakes
            reasons += more
        return estimate._replace(phase=Phase.FAULTED, status=Status.FAULTED, reasons=reasons)

    def _unusable(self, now: int, estimator: JointEstimator) -> tuple[Reason, ...]:
        """Return the reasons why nothing can be learnt: channels that give no data, or data that form no rows."""
        return self._silent_channels(now) or self._missing_rows(estimator)

    def _silent_channels(self, now: int) -> tuple[Reason, ...]:
        """Return a reason for every channel that gives no data."""
        silence = now - self.last_arrivals[:-1]
        silent = (silence >= self._stale_after).nonzero()[0]
        if len(silent) == 0:
            return ()
        if len(silent) == len(silence):
            return (Reason("no_data", None, {"seconds": float(silence.min()) / 1e9}),)
        return tuple(
            Reason("channel_silent", role, {"seconds": float(silence[at]) / 1e9}, {"signal": signal})
            for at, (role, signal) in enumerate(self._sources)
            if at in silent
        )

    def _rowless_after(self, estimator: JointEstimator) -> int:
        """Return the time without a row (ns) until the joint is faulted: the channels' limit plus the span of a row."""
        own = estimator.conditioner
        spanned = 1e9 * own.support * own.period
        return round(max(float(self._stale_after.max()), FEWEST_ROWS * 1e9 * own.row_period) + spanned)

    def _missing_rows(self, estimator: JointEstimator) -> tuple[Reason, ...]:
        """Return the reason why arriving readings form no row, if there is one."""
        waited = self.rows.last_arrival - self.rows.row_arrival
        if not self.rows.row_arrival or waited < self._rowless_after(estimator):
            return ()
        support, former = estimator.conditioner.support, estimator.conditioner.former
        finite = np.isfinite(former.raw[max(0, former.filled - support) : former.filled])
        dead = [role for (role, _), there in zip(self._sources, finite.T, strict=False) if not there.any()]
        # left out, although they are numbers
        clipped = estimator.preprocessor.state.clipped - self.rows.clipped >= support
        if dead and len(finite) == support and not clipped:
            return tuple(Reason("channel_dead", role, {"seconds": round(waited / 1e9, 1)}) for role in dead)
        return (Reason("no_rows", None, {"seconds": waited / 1e9, "samples": float(support)}),)


@inline
def note_rows(arrival: int, newest: int, clipped: int, rows: RowsState) -> None:
    """Note when readings came, and whether a newer window came with them."""
    rows.last_arrival = arrival
    if newest != rows.newest or rows.row_arrival == 0:
        rows.newest, rows.row_arrival, rows.clipped = newest, arrival, clipped


@kernel(("i8", "i8", "i8", RowsState))
def _note_rows(arrival: int, newest: int, clipped: int, rows: RowsState) -> None:
    note_rows(arrival, newest, clipped, rows)


_note: Final = direct(_note_rows)
