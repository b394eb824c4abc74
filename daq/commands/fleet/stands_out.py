"""The table of a fleet's page that names the robots that stand out: by which quantity, how much, and since when."""

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from daq.commands.report.words import date, readable
from daq.fleet.comparison import JudgedQuantity

LISTED: Final = 40  # rows of a table at most; the Parquet file has all
UNDATED: Final = "no dates"
HEAD: Final = ("robot", "joint", "quantity", "", "value", "siblings", "differs by", "change", "since when", "evidence")
TEXT: Final = (  # {parts}: the parts of a robot's time: recordings, days, …
    "<b>odd</b>: the value differs from its siblings' (the same joint of the other robots) by more than they scatter. "
    "<b>drifts</b>: from the robot's earlier {parts} to its later ones, it changed by more than its siblings did. "
    "<b>evidence</b>: multiple of the limit; the limit is set so that of twenty pages about equal robots, one names a "
    "robot by chance."
)

# of a quantity, Unix s: its last recording before the change and the first one after it; NaN: unknown
When = Callable[[JudgedQuantity], tuple[float, float]]


def who_stands_out(judged: Sequence[JudgedQuantity], when: When, parts: str = "recordings") -> str:
    """The table of quantities that are odd or drift, the worst first; empty if there are none. parts: see TEXT."""
    out = sorted((one for one in judged if one.odd or one.drifts), key=lambda one: -one.worst)
    if not out:
        return ""
    rows = [_row(one, since(one, when(one), parts)) for one in out[:LISTED]]
    more = f"<p>and {len(out) - LISTED} more.</p>" if len(out) > LISTED else ""
    undated = any(row[8] == UNDATED for row in rows)
    note = f'<p class="none">{UNDATED}: the recordings\' times do not count from 1970.</p>' if undated else ""
    text = f"<section><h2>Who stands out</h2>{stacked_table(HEAD, rows)}{more}"
    return f'{text}{note}<p class="none">{TEXT.format(parts=parts)}</p></section>\n'


def anomaly_words(one: JudgedQuantity) -> str:
    """The words for a quantity that stands out: odd, drifts, or both."""
    return " and ".join(word for word, applies in (("odd", one.odd), ("drifts", one.drifts)) if applies)


def digits(value: float) -> str:
    """Write a number with four significant digits."""
    return f"{value:.4g}".replace("-", "−")


def relative_difference(one: JudgedQuantity) -> str:
    """Difference from the siblings' median in per cent of it; "–" if the median is zero."""
    return _percent(one.value - one.median, one.median)


def since(one: JudgedQuantity, between: tuple[float, float], parts: str = "recordings") -> str:
    """Words for when a quantity began to drift; between: see When; parts: see TEXT."""
    last, first = between
    if not math.isfinite(first):
        return UNDATED
    if not one.drifts:
        return f"in all {parts} (up to {date(first)})"
    return f"between {date(last)} and {date(first)}"


def stacked_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose rows become lists of names and values on a narrow page; cells are HTML."""
    titles = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f'<td data-name="{escape(name)}">{cell}</td>' for name, cell in zip(head[1:], row[1:], strict=True))
        + "</tr>"
        for row in rows
    )
    return f'<table class="stacked"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'


def _row(one: JudgedQuantity, since: str) -> tuple[str, ...]:
    before = one.value - one.change / 2.0  # approximately, since the value is the middle of both halves
    change = f"{one.change:+.3g} ({_percent(one.change, before)})".replace("-", "−")
    return (
        escape(one.robot),
        escape(one.joint),
        escape(quantity_words(one.quantity)),
        f'<span class="{"bad" if one.odd else "warn"}">{anomaly_words(one)}</span>',
        f"{digits(one.value)} ± {one.deviation:.2g} {escape(one.unit)}",
        digits(one.median),
        relative_difference(one),
        change if math.isfinite(one.change) else "–",
        escape(since),
        f'<span title="z {one.z:.1f}, z of the change {one.change_z:.1f}">{one.worst:.1f} ×\u00a0limit</span>',
    )


def quantity_words(name: str) -> str:
    """A quantity's name as words: "delay.torque" is the delay of the torque."""
    kind, _, channel = name.partition(".")
    return f"{kind} of {readable(channel)}" if channel else readable(name)


def _percent(part: float, whole: float) -> str:
    if not whole or not math.isfinite(part / whole):
        return "–"
    return f"{100 * part / abs(whole):+.3g}\u00a0%".replace("-", "−")
