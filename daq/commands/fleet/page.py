"""A fleet as one self-contained HTML page: robots that stand out, every robot and joint, the spread of quantities."""

import math
from collections.abc import Collection, Sequence
from html import escape
from typing import Final

import numpy as np

from daq.commands.fleet.stands_out import (
    LISTED,
    anomaly_words,
    digits,
    quantity_words,
    relative_difference,
    stacked_table,
    who_stands_out,
)
from daq.commands.report.document import header, page
from daq.commands.report.words import date
from daq.fleet.comparison import JudgedQuantity
from daq.fleet.examine import ExaminedRecording
from daq.fleet.verdict import between, unsettled

UNDATED: Final = (math.nan, math.nan)
WIDTH, HEIGHT, EDGE = 520, 54, 8  # of a strip of points
FAR: Final = 2.0  # times the threshold; points beyond are drawn at the edge
NAMED: Final = 3  # robots in the headline; more are counted
CARDS: Final = 200  # robots on the board at most
POINTS: Final = 20_000  # of all strips; with more points, only strips in which a robot stands out are drawn
STYLE: Final = """
.board { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 0.4rem; }
.who { border: 1px solid var(--line); border-left: 4px solid var(--good); border-radius: 0.4rem;
  padding: 0.3rem 0.6rem; }
.who.odd { border-left-color: var(--bad); background: #fde8de; }
.who.drifts { border-left-color: var(--warn); background: #fdf0d9; }
.who.unknown { border-left-color: var(--line); color: var(--muted); } .who b { display: block; }
.who span { font-size: 0.85rem; }
.strip circle { fill: var(--law); fill-opacity: 0.45; } .strip circle.odd { fill: var(--bad); fill-opacity: 1; }
.strip circle.drifts { fill: var(--warn); fill-opacity: 1; } .strip rect { fill: var(--grid); }
.strip path { stroke: #b9c3cb; } .strip text { font-size: 17px; }
.stacked td, .stacked th { padding-right: 0.8rem; } .stacked + p { margin-top: 0.4rem; }
@media screen and (max-width: 50rem) {
  .stacked { overflow: visible; } .stacked thead { display: none; }
  .stacked :is(tbody, tr, th, td) { display: block; white-space: normal; padding: 0; border: 0; }
  .stacked tr { border-top: 1px solid var(--line); padding: 0.5rem 0; } .stacked th { font-size: 1.15rem; }
  .stacked td { display: grid; grid-template-columns: 6rem 1fr; }
  .stacked td::before { content: attr(data-name); color: var(--muted); }
}
"""


def document(found: Sequence[ExaminedRecording], judged: Sequence[JudgedQuantity]) -> str:
    """The whole page."""
    robots = {one.robot for one in found}
    dates = between(found)
    table = who_stands_out(judged, lambda one: dates.get((one.robot, one.joint, one.quantity), UNDATED))
    parts = [_head(found, judged), table, board(robots, judged), strips(judged), _unsettled(found), _recordings(found)]
    return page("A fleet · jointwatch", parts, STYLE)


def _head(found: Sequence[ExaminedRecording], judged: Sequence[JudgedQuantity]) -> str:
    began = [one.began for one in found if math.isfinite(one.began)]
    facts = [
        ("robots", str(len({one.robot for one in found}))),
        ("recordings", str(len(found))),
        ("joints", str(len({(one.robot, one.joint) for one in judged}))),
        ("motion", f"{sum(one.seconds for one in found) / 3600:.2f} h"),
    ]
    facts += [("from", date(min(began))), ("to", date(max(began)))] if began else []
    return header("jointwatch fleet", headline(judged), facts)


def headline(judged: Sequence[JudgedQuantity]) -> str:
    """A line of HTML that names the robots that stand out."""
    if not any(math.isfinite(one.z) for one in judged):
        return "No robot can be compared: at least five robots with the same joint are needed"
    odd = {one.robot for one in judged if one.odd}
    drifting = {one.robot for one in judged if one.drifts}
    if not odd | drifting:
        return "No robot stands out"
    if len(odd | drifting) > NAMED:
        parts = [(len(odd), "odd"), (len(drifting), "drifting")]
        return ", ".join(f"{count} robot{'s' if count > 1 else ''} {word}" for count, word in parts if count)
    words = {
        robot: " and ".join(word for word, those in (("odd", odd), ("drifting", drifting)) if robot in those)
        for robot in sorted(odd | drifting, key=lambda robot: -max(one.worst for one in judged if one.robot == robot))
    }
    return escape(", ".join(f"{robot} is {word}" for robot, word in words.items()))


def board(robots: Collection[str], judged: Sequence[JudgedQuantity]) -> str:
    """One card for each robot, worst first."""
    mine: dict[str, list[JudgedQuantity]] = {robot: [] for robot in robots}
    for one in judged:
        mine[one.robot].append(one)
    cards = []
    worst_of = {robot: max((one.worst for one in rows), default=0.0) for robot, rows in mine.items()}
    for robot, rows in sorted(mine.items(), key=lambda item: (-worst_of[item[0]], item[0]))[:CARDS]:
        worst = max(rows, key=lambda one: one.worst, default=None)
        tone, text = "unknown", "no known values" if worst is None else "too few siblings"
        if worst is not None and worst.worst > 0:
            tone = "odd" if any(one.odd for one in rows) else "drifts" if any(one.drifts for one in rows) else ""
            text = f"like its siblings ({100 * worst.worst:.0f} % of the limit)"
            if worst.worst > 1:
                text = f"{anomaly_words(worst)}: {worst.joint}, {quantity_words(worst.quantity)} {_by(worst)}"
        cards.append(f'<div class="who {tone}"><b>{escape(robot)}</b><span>{escape(text)}</span></div>')
    more = f"<p>and {len(mine) - CARDS} more that stand out less.</p>" if len(mine) > CARDS else ""
    return f'<section><h2>Every robot</h2><div class="board">{"".join(cards)}</div>{more}</section>\n'


def _by(one: JudgedQuantity) -> str:
    return (
        f"{relative_difference(one)} from its siblings"
        if one.odd
        else f"{one.change:+.3g} {one.unit}".replace("-", "−")
    )


def strips(judged: Sequence[JudgedQuantity]) -> str:
    """One strip per quantity of each joint: a point per robot; within the band nothing is significant.

    In a large fleet, only strips in which a robot differs from the others.
    """
    groups: dict[tuple[str, str, str], list[JudgedQuantity]] = {}
    telling = {(one.joint, one.quantity, one.unit) for one in judged if one.odd or one.drifts}
    for one in judged:
        if len(judged) > POINTS and (one.joint, one.quantity, one.unit) not in telling:
            continue
        groups.setdefault((one.joint, one.quantity, one.unit), []).append(one)
    joints: dict[str, list[str]] = {}
    for (joint, quantity, unit), rows in groups.items():
        if any(math.isfinite(one.z) for one in rows):
            joints.setdefault(joint, []).append(
                f"<figure><figcaption><b>{escape(quantity_words(quantity))}</b><span>{escape(unit)}, {len(rows)} robots"
                f"</span></figcaption>{_strip(rows)}</figure>"
            )
    parts = (f'<h3>{escape(joint)}</h3><div class="grid">{"".join(figures)}</div>' for joint, figures in joints.items())
    return f"<section><h2>Every joint compared with its siblings</h2>{''.join(parts)}</section>\n" if joints else ""


def _strip(rows: Sequence[JudgedQuantity]) -> str:
    """One strip; its abscissa is z over the threshold, which is the edge of the band."""
    middle, half = WIDTH / 2, (WIDTH / 2 - EDGE) / FAR
    known = [one for one in rows if math.isfinite(one.z)]
    points = []
    for i, one in enumerate(sorted(known, key=lambda row: row.odd or row.drifts)):
        x = middle + half * float(np.clip(one.z / one.threshold, -FAR, FAR))
        y = 9 + 16 * ((i * 0.618034) % 1.0)
        tone = ' class="odd" r="4"' if one.odd else ' class="drifts" r="4"' if one.drifts else ' r="2.5"'
        points.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}"{tone}><title>{escape(one.robot)} {digits(one.value)}</title></circle>'
        )
    out = [one for one in known if one.odd]
    named = ", ".join(one.robot for one in sorted(out, key=lambda row: -row.worst)[:3])
    return (
        f'<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{len(known)} robots, {len(out)} odd">'
        f'<rect x="{middle - half:.1f}" y="2" width="{2 * half:.1f}" height="30"/><path d="M{middle} 2V32"/>'
        f'{"".join(points)}<text x="{middle}" y="{HEIGHT - 3}" text-anchor="middle">{digits(known[0].median)}</text>'
        f'<text x="{WIDTH - 2}" y="{HEIGHT - 3}" text-anchor="end">{escape(named)}</text></svg>'
    )


def _unsettled(found: Sequence[ExaminedRecording]) -> str:
    """List joints that were not valid at the end of a recording: their values count with their σ, or not at all."""
    rows = [(escape(one.robot), escape(name), escape(one.address), escape(why)) for one, name, why in unsettled(found)]
    more = f"<p>and {len(rows) - LISTED} more.</p>" if len(rows) > LISTED else ""
    listed = stacked_table(("robot", "joint", "recording", "why"), rows[:LISTED])
    return f"<section><h2>Not valid at the end</h2>{listed}{more}</section>\n" if rows else ""


def _recordings(found: Sequence[ExaminedRecording]) -> str:
    broken = [one for one in found if one.problem]
    if not broken:
        return f"<section><h2>Recordings</h2><p>All {len(found)} were read completely.</p></section>\n"
    rows = [(escape(one.robot), escape(one.address), escape(one.problem)) for one in broken]
    text = f"{len(found) - len(broken)} of {len(found)} were read completely; these were not:"
    return f"<section><h2>Recordings</h2><p>{text}</p>{stacked_table(('robot', 'recording', 'why'), rows)}</section>\n"
