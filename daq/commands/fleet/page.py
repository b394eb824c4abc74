"""A fleet as one self-contained HTML page: robots that stand out, every robot and joint, the spread of quantities."""

import math
from collections.abc import Collection, Sequence
from html import escape
from typing import Final

import numpy as np

from daq.commands.report.document import page, table
from daq.commands.report.words import date, readable
from daq.fleet.comparison import JudgedQuantity
from daq.fleet.examine import ExaminedRecording
from daq.fleet.verdict import unsettled

WIDTH, HEIGHT, EDGE = 520, 54, 8  # of a strip of points
FAR: Final = 2.0  # times the threshold, from which a point is drawn at the edge
NAMED: Final = 3  # robots in the headline; more are counted
CARDS: Final = 200  # robots on the board at most
POINTS: Final = 20_000  # in strips, beyond which only those are drawn in which a robot stands out
LISTED: Final = 40  # rows of a table at most; the Parquet file has all
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
.strip path { stroke: #b9c3cb; } .strip text { font-size: 17px; } .scroll { overflow-x: auto; }
"""


def document(found: Sequence[ExaminedRecording], judged: Sequence[JudgedQuantity]) -> str:
    """The whole page."""
    robots = {one.robot for one in found}
    parts = [_head(found, judged), who_stands_out(judged), board(robots, judged), strips(judged), _unsettled(found)]
    parts.append(_recordings(found))
    return page("A fleet · jointwatch", parts, STYLE)


def _head(found: Sequence[ExaminedRecording], judged: Sequence[JudgedQuantity]) -> str:
    began = [one.began for one in found if math.isfinite(one.began)]
    facts = [
        ("robots", str(len({one.robot for one in found}))),
        ("recordings", str(len(found))),
        ("joints", str(len({(one.robot, one.joint) for one in judged}))),
        ("motion", f"{sum(one.seconds for one in found) / 3600:.2f} h"),
        ("accepted re-fits", str(sum(joint.refits for one in found for joint in one.joints))),
    ]
    facts += [("from", date(min(began))), ("to", date(max(began)))] if began else []
    told = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    return f"<header><p>jointwatch fleet</p><h1>{headline(judged)}</h1><dl>{told}</dl></header>\n"


def headline(judged: Sequence[JudgedQuantity]) -> str:
    """Who stands out, in a line of HTML."""
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


def who_stands_out(judged: Sequence[JudgedQuantity]) -> str:
    """The table of what is odd or drifts, the worst first; nothing where nothing is."""
    out = sorted((one for one in judged if one.odd or one.drifts), key=lambda one: -one.worst)
    if not out:
        return ""
    rows = [
        (
            escape(one.robot),
            escape(one.joint),
            escape(readable(one.quantity)),
            f'<span class="{"bad" if one.odd else "warn"}">{_what(one)}</span>',
            f"{_number(one.value)} ± {one.deviation:.2g} {escape(one.unit)}",
            _number(one.median),
            _z(one.z, one.threshold),
            f"{one.change:+.4g}".replace("-", "−") if math.isfinite(one.change) else "–",
            _z(one.change_z, one.threshold),
        )
        for one in out[:LISTED]
    ]
    head = ("robot", "joint", "quantity", "", "value", "siblings", "z", "change", "z of the change")
    more = f"<p>and {len(out) - LISTED} more.</p>" if len(out) > LISTED else ""
    limits = sorted({round(one.threshold, 1) for one in judged if math.isfinite(one.threshold)})
    limit = f"{limits[0]:g}" if len(limits) == 1 else f"{limits[0]:g} to {limits[-1]:g}" if limits else "–"
    text = (
        "z is robust (median and Qₙ of the siblings). "
        f"A |z| above {limit} is reported: of twenty pages about robots that are all alike, one names a robot."
    )
    return f"<section><h2>Who stands out</h2><p>{text}</p>{scrolled_table(head, rows)}{more}</section>\n"


def _what(one: JudgedQuantity) -> str:
    return " and ".join(word for word, told in (("odd", one.odd), ("drifts", one.drifts)) if told)


def _z(z: float, limit: float) -> str:
    text = f"{z:+.1f}".replace("-", "−") if math.isfinite(z) else "–"
    return f'<b class="bad">{text}</b>' if abs(z) > limit else text


def board(robots: Collection[str], judged: Sequence[JudgedQuantity]) -> str:
    """One card a robot, worst first."""
    mine: dict[str, list[JudgedQuantity]] = {robot: [] for robot in robots}
    for one in judged:
        mine[one.robot].append(one)
    cards = []
    worst_of = {robot: max((one.worst for one in rows), default=0.0) for robot, rows in mine.items()}
    for robot, rows in sorted(mine.items(), key=lambda item: (-worst_of[item[0]], item[0]))[:CARDS]:
        worst = max(rows, key=lambda one: one.worst, default=None)
        tone, told = "unknown", "nothing known of it" if worst is None else "too few siblings"
        if worst is not None and worst.worst > 0:
            tone = "odd" if any(one.odd for one in rows) else "drifts" if any(one.drifts for one in rows) else ""
            place = f"{worst.joint}, {readable(worst.quantity)}"
            told = (
                f"{_what(worst)}: {place}" if worst.worst > 1 else f"largest |z| {100 * worst.worst:.0f} % of the limit"
            )
        cards.append(f'<div class="who {tone}"><b>{escape(robot)}</b><span>{escape(told)}</span></div>')
    more = f"<p>and {len(mine) - CARDS} more that stand out less.</p>" if len(mine) > CARDS else ""
    return f'<section><h2>Every robot</h2><div class="board">{"".join(cards)}</div>{more}</section>\n'


def strips(judged: Sequence[JudgedQuantity]) -> str:
    """One strip per quantity of each joint: a point per robot; within the band nothing is significant.

    Of a large fleet only those in which a robot stands out.
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
                f"<figure><figcaption><b>{escape(readable(quantity))}</b><span>{escape(unit)}, {len(rows)} robots"
                f"</span></figcaption>{_strip(rows)}</figure>"
            )
    parts = (f'<h3>{escape(joint)}</h3><div class="grid">{"".join(figures)}</div>' for joint, figures in joints.items())
    return f"<section><h2>Every joint against its siblings</h2>{''.join(parts)}</section>\n" if joints else ""


def _strip(rows: Sequence[JudgedQuantity]) -> str:
    """One strip; abscissa: z over the threshold, which is the edge of the band."""
    middle, half = WIDTH / 2, (WIDTH / 2 - EDGE) / FAR
    known = [one for one in rows if math.isfinite(one.z)]
    points = []
    for i, one in enumerate(sorted(known, key=lambda row: row.odd or row.drifts)):
        x = middle + half * float(np.clip(one.z / one.threshold, -FAR, FAR))
        y = 9 + 16 * ((i * 0.618034) % 1.0)
        tone = ' class="odd" r="4"' if one.odd else ' class="drifts" r="4"' if one.drifts else ' r="2.5"'
        points.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}"{tone}><title>{escape(one.robot)} {_number(one.value)}</title></circle>'
        )
    out = [one for one in known if one.odd]
    named = ", ".join(one.robot for one in sorted(out, key=lambda row: -row.worst)[:3])
    return (
        f'<svg class="strip" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{len(known)} robots, {len(out)} odd">'
        f'<rect x="{middle - half:.1f}" y="2" width="{2 * half:.1f}" height="30"/><path d="M{middle} 2V32"/>'
        f'{"".join(points)}<text x="{middle}" y="{HEIGHT - 3}" text-anchor="middle">{_number(known[0].median)}</text>'
        f'<text x="{WIDTH - 2}" y="{HEIGHT - 3}" text-anchor="end">{escape(named)}</text></svg>'
    )


def _unsettled(found: Sequence[ExaminedRecording]) -> str:
    """Joints that were not valid at the end of a recording: their values count with their σ, or not at all."""
    rows = [(escape(one.robot), escape(name), escape(one.address), escape(why)) for one, name, why in unsettled(found)]
    more = f"<p>and {len(rows) - LISTED} more.</p>" if len(rows) > LISTED else ""
    listed = scrolled_table(("robot", "joint", "recording", "why"), rows[:LISTED])
    return f"<section><h2>Not valid at the end</h2>{listed}{more}</section>\n" if rows else ""


def _recordings(found: Sequence[ExaminedRecording]) -> str:
    broken = [one for one in found if one.problem]
    if not broken:
        return f"<section><h2>Recordings</h2><p>All {len(found)} were read whole.</p></section>\n"
    rows = [(escape(one.robot), escape(one.address), escape(one.problem)) for one in broken]
    told = f"{len(found) - len(broken)} of {len(found)} were read whole; these were not:"
    return f"<section><h2>Recordings</h2><p>{told}</p>{scrolled_table(('robot', 'recording', 'why'), rows)}</section>\n"


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def scrolled_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that scrolls where the page is too narrow; head: text, rows: cells of HTML."""
    return f'<div class="scroll">{table(head, rows)}</div>'
