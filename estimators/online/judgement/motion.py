"""Amount of motion since a phase began, its period, and the length of a start that follows from them."""

from dataclasses import dataclass
from typing import ClassVar, Final

#: s, argued: Motion whose rows are kept; about 7 MB a joint (decision 006).
LOOK_BACK: Final = 64.0
#: 1, argued: Times the start's length after which it ends without its uncertain parameters.
PATIENCE: Final = 5.0
#: periods, argued: Motion periods that a resting memory reaches at least (decision 001).
MEMORY_PERIODS: Final = 2.0


@dataclass(slots=True)
class MotionState:
    """State of a MotionCount."""

    VERSION: ClassVar[int] = 1

    count: int = 0  # rows that taught since the phase began
    cycle: int = 0  # rows in one motion period, 0 when there is none


class MotionCount:
    """Counts rows of motion; all lengths are in rows unless they say seconds."""

    def __init__(self, row: float, start: float, periods: float, configured: float | None = None) -> None:
        """row: s between rows; start: s of motion, and periods of it, that a start takes at least; configured: s."""
        self.row, self._start, self._periods = row, start, periods
        self._configured = 0 if configured is None else round(configured / row)
        self.state = MotionState(cycle=self._configured)

    @property
    def seconds(self) -> float:
        """Seconds of motion since the phase began."""
        return self.state.count * self.row

    @property
    def length(self) -> float:
        """Rows of a start of the configured length."""
        return self._start / self.row

    @property
    def needed(self) -> float:
        """Rows of motion that a start takes at least."""
        return max(self._start / self.row, self._periods * self.state.cycle)

    @property
    def memory(self) -> float:
        """Rows that a resting memory reaches at least."""
        return MEMORY_PERIODS * self.state.cycle

    @property
    def span(self) -> int:
        """Rows of one motion period; of the start's length where there is none."""
        return self.state.cycle or round(self._start / self.row)

    @property
    def patience(self) -> float:
        """Seconds of motion after which a start ends in any case."""
        return PATIENCE * self._start

    @property
    def period_wanted(self) -> bool:
        """Whether the motion's period is not known, and may be looked for."""
        return not self.state.cycle and not self._configured

    def found(self, cycle: int) -> None:
        """Set the rows of one motion period, unless it is configured."""
        if not self._configured:
            self.state.cycle = cycle

    def restart(self) -> None:
        """Count from zero, for another motion."""
        self.state.count, self.state.cycle = 0, self._configured
