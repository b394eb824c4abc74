"""What is kept for years: the table [history]."""

from pydantic import Field

from estimators.quantities import Settings


class HistorySettings(Settings):
    """The history file: whether it is written, and how long minutes stay in it."""

    keep: bool = Field(default=True, description="write a history of minutes, hours and days beside the state")
    minutes: float = Field(
        default=14.0, ge=1, le=3660, description="days for which minutes are kept; hours and days are kept for ever"
    )
