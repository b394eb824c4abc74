"""An elastic gear about another zero of its twist: what the encoders' zeros differ by, taken off finished rows."""

from estimators.models.base import SpringPlace
from estimators.rows import Rows


def recentre(spring: SpringPlace, rows: Rows, zero: float) -> None:
    """Move the zero of the spring's twist in the rows' phi, in place; zero: rad."""
    linear, cubic = spring.columns
    for output, sign in enumerate(spring.signs):
        twist = sign * rows.phi[:, output, linear]
        rows.phi[:, output, linear] -= sign * zero
        rows.phi[:, output, cubic] -= sign * (3.0 * zero * twist * (twist - zero) + zero**3)
