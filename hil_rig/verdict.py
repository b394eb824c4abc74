"""A verdict: published or true values beside ours, row by row, for people and for programs."""

import json
from collections.abc import Sequence
from typing import NamedTuple


class VerdictRow(NamedTuple):
    """One figure: what it should be, what it is, and whether that is near enough."""

    name: str
    unit: str
    reference: float
    ours: float
    tolerance: float  # of the reference, relative

    @property
    def deviation(self) -> float:
        """Relative, of the reference."""
        return (self.ours - self.reference) / abs(self.reference)

    @property
    def ok(self) -> bool:
        """Whether it is inside the tolerance (a NaN is not)."""
        return bool(abs(self.deviation) <= self.tolerance)


def as_json(rows: Sequence[VerdictRow]) -> str:
    """One object: rows of {name, unit, reference, ours, ok}, and ok for all."""
    keys = [
        {"name": row.name, "unit": row.unit, "reference": float(row.reference), "ours": float(row.ours), "ok": row.ok}
        for row in rows
    ]
    return json.dumps({"rows": keys, "ok": all(row.ok for row in rows)})


def as_table(rows: Sequence[VerdictRow]) -> str:
    """Columns for a terminal."""
    lines = [f"{'':24} {'reference':>12} {'ours':>12} {'off':>9} {'allowed':>9}"]
    for row in rows:
        name = f"{row.name} [{row.unit}]"
        mark = "" if row.ok else "  MISSED"
        lines.append(
            f"{name:24} {row.reference:12.6g} {row.ours:12.6g} {row.deviation:+9.2%} {row.tolerance:9.1%}{mark}"
        )
    return "\n".join(lines)
