"""A running fleet as a self-contained HTML page that reloads itself: robots that stand out, are silent, or wear."""

from collections.abc import Sequence
from html import escape
from typing import Final

from daq.commands.fleet.page import STYLE, board, headline, strips
from daq.commands.fleet.stands_out import stacked_table, who_stands_out
from daq.commands.report.document import header, page
from daq.commands.report.words import date, readable
from daq.fleet.live.standing import FleetStanding, JointStanding
from daq.fleet.live.time_left import FleetTimeLeft

LISTED: Final = 40  # rows of a table at most


def document(standing: FleetStanding, left: Sequence[FleetTimeLeft], every: float) -> str:
    """The whole page. left: times to the requested limits; every: s after which the page reloads; 0: never."""
    robots = {one.robot for one in standing.joints}
    parts = [
        _head(standing),
        who_stands_out(standing.quantities, lambda _: (standing.first, standing.end), standing.grain),
        _left(left),
        _silent(standing),
    ]
    parts += [board(robots, standing.quantities)] if robots else []
    parts += [strips(standing.quantities), _unsettled(standing.joints)]
    text = page("A fleet, live · jointwatch", parts, STYLE)
    again = f'<meta http-equiv="refresh" content="{max(5, round(every))}">'
    return text.replace("<head>", f"<head>{again}", 1) if every else text


def _head(standing: FleetStanding) -> str:
    lost, there = (sum(getattr(one, name) for one in standing.joints) for name in ("lost", "messages"))
    facts = [
        ("robots", str(len({one.robot for one in standing.joints}))),
        ("joints", str(len(standing.joints))),
        ("from", date(standing.first)),
        ("to", f"{date(standing.end)} UTC"),
        ("intervals", standing.grain),
        ("summaries missing", f"{lost} of {lost + there}"),
    ]
    said = headline(standing.quantities) if standing.joints else "Nothing was received in this time"
    return header("jointwatch fleet, live", said, facts)


def _left(left: Sequence[FleetTimeLeft]) -> str:
    if not left:
        return ""
    rows = [
        (escape(one.robot), escape(one.joint), escape(readable(one.time_left.parameter)), f"{one.time_left.limit:g}",
         escape(one.time_left.text))
        for one in left[:LISTED]
    ]  # fmt: skip
    table = stacked_table(("robot", "joint", "quantity", "limit", "time left"), rows)
    return f"<section><h2>How long to a limit</h2>{table}{_more(left)}</section>\n"


def _silent(standing: FleetStanding) -> str:
    if not standing.silent:
        return ""
    named = ", ".join(standing.silent[:LISTED])
    text = f"Nothing was received lately from {escape(named)}"
    return f"<section><h2>Silent</h2><p>{text}.</p>{_more(standing.silent)}</section>\n"


def _unsettled(joints: Sequence[JointStanding]) -> str:
    """A table of joints that are not valid: their values count with their σ, or not at all."""
    those = [one for one in joints if one.status not in ("valid", "held")]
    rows = [(escape(one.robot), escape(one.joint), escape(one.status)) for one in those[:LISTED]]
    table = stacked_table(("robot", "joint", "status"), rows)
    return f"<section><h2>Not valid at the end</h2>{table}{_more(those)}</section>\n" if rows else ""


def _more(those: Sequence[object]) -> str:
    return f"<p>and {len(those) - LISTED} more.</p>" if len(those) > LISTED else ""
