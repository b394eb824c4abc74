"""The start of a whole robot or mechanism: how much motion there was, and which frictions it has found anew."""


class RobotStart:
    """Counts rows of motion until the thresholds of the residuals can be set, and until they may be set anew."""

    def __init__(self, rows: float) -> None:
        """rows: of motion that the start lasts."""
        self.rows, self.active = rows, True
        self.changed: set[tuple[str, tuple[int, ...]]] = set()  # causes, with their joints, that the start has found
        self._moved, self._marked = 0, 0

    def count(self, moves: bool) -> None:
        """Count one row; moves: whether the robot is in motion."""
        self._moved += moves

    @property
    def progress(self) -> float:
        """Share of the start that is over, per cent."""
        return min(99.0, 100.0 * self._moved / max(self.rows, 1)) if self.active else 100.0

    @property
    def enough(self) -> bool:
        """Whether there was as much motion as the start takes."""
        return self._moved >= self.rows

    @property
    def due(self) -> bool:
        """Whether there was as much motion again since the thresholds were set."""
        return self._moved - self._marked >= self.rows

    def mark(self) -> None:
        """Note that the thresholds are set now."""
        self._marked = self._moved

    def begin_anew(self) -> None:
        """Count from zero: something has changed since the rows so far."""
        self._moved = 0
