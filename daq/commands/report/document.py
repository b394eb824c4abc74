"""A report as one self-contained HTML page: figures are inline SVG, and it prints well."""

import math
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Final

import numpy as np

from daq.commands.report.figures import curve, envelope, history
from daq.commands.report.run import Floats, JointRun, ReportContent
from daq.commands.report.words import clock, date, duration, number, often, readable, share, stamp

STYLE: Final = Path(__file__).with_name("style.css")
TONES: Final = {
    "alarm": "bad", "fault": "bad", "drift": "warn", "gradual": "warn", "refit_accepted": "busy", "recovered": "good",
    "started": "good",
}  # fmt: skip
GAPS: Final = 5  # gaps that are listed one by one
EVENTS: Final = 400  # rows of the table; the rest is counted
GRID: Final = np.sinh(np.linspace(-4.0, 4.0, 121)) / np.sinh(4.0)  # of a law: dense where it is steep
CERTAIN: Final = {"valid": "good", "held": "good", "faulted": "bad"}


def document(run: ReportContent) -> str:
    """The whole page."""
    title = f"{run.config.robot.name}, {date(run.start)} · jointwatch"
    parts = [_head(run), _overview(run), *(_joint(run, joint) for joint in run.joints), _acquisition(run), _events(run)]
    return page(title, parts)


def page(title: str, parts: Sequence[str], own_style: str = "") -> str:
    """A self-contained HTML page with the style of reports; parts: HTML."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE.read_text(encoding='utf-8')}{own_style}</style></head><body>\n{''.join(parts)}</body></html>\n"
    )


def header(label: str, title: str, facts: Sequence[tuple[str, str]]) -> str:
    """The head of a page; title: HTML, facts: [(name, text)]."""
    listed = "".join(f"<div><dt>{name}</dt><dd>{escape(text)}</dd></div>" for name, text in facts)
    return f"<header><p>{label}</p><h1>{title}</h1><dl>{listed}</dl></header>\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; head: text, rows: cells of HTML, the first of each being its heading."""
    titles = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    cells = ("".join(f"<td>{cell}</td>" for cell in row[1:]) for row in rows)
    body = "".join(f'<tr><th scope="row">{row[0]}</th>{rest}</tr>' for row, rest in zip(rows, cells, strict=True))
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _head(run: ReportContent) -> str:
    facts = (
        ("from", stamp(run.start)),
        ("to", stamp(run.end)),
        ("duration", duration(run.end - run.start)),
        ("joints", str(len(run.joints))),
        ("readings", f"{run.readings:,}".replace(",", "\u202f")),
        ("configuration", run.digest),
        ("recording", ", ".join(file.name for file in run.files)),
    )
    return header("jointwatch report", escape(run.config.robot.name), facts)


def _overview(run: ReportContent) -> str:
    rows = []
    for joint in run.joints:
        kinds = [event["kind"] for event in run.events if event["joint"] == joint.name]
        error = joint.estimates[:, 1]
        usual = error[np.isfinite(error)]
        records = [one["parameter"] for one in joint.changes if not one["acknowledged"]]
        changed = dict.fromkeys([*joint.drift.get("drifted", []), *records])  # those that are within limits again, too
        rows.append(
            (
                f'<a href="#joint-{escape(joint.name)}">{escape(joint.name)}</a>',
                f'<span class="state {CERTAIN.get(joint.status, "busy")}">{escape(joint.status)}</span>',
                share(joint.phases["normal"] + joint.phases["held"], sum(joint.phases.values())),
                f"{100 * float(np.median(usual)):.2f} %" if len(usual) else "–",
                f"{100 * float(np.quantile(usual, 0.95)):.2f} %" if len(usual) else "–",
                str(kinds.count("alarm")),
                _beyond(", ".join(map(readable, changed))) if changed else _no_drift(joint),
                _lost(joint),
            )
        )
    head = (
        "joint",
        "at the end",
        "in normal mode",
        "error, median",
        "error, 95 %",
        "alarms",
        "changed",
        "samples lost",
    )
    return f"<section><h2>Overview</h2>{table(head, rows)}</section>\n"


def _beyond(text: str) -> str:
    return f'<span class="warn">◆ {escape(text)}</span>'


def _lost(joint: JointRun) -> str:
    lost = sum(joint.lost.values())
    return f"{lost} ({share(lost, joint.samples + lost)})" if lost else "0"


def _joint(run: ReportContent, joint: JointRun) -> str:
    marks = [
        (event["timestamp"], TONES[event["kind"]])
        for event in run.events
        if event["joint"] == joint.name and event["kind"] in TONES
    ]
    marks.sort(key=lambda mark: mark[1] == "bad")  # what is bad lies on top
    changed = "".join(f"<p>{_beyond(record['text'])}</p>" for record in joint.changes)
    changed += f"<p>Wear: {escape(joint.wear)}</p>" if joint.wear else ""
    reasons = f" · {escape('; '.join(joint.reasons))}" if joint.reasons else ""
    status = f'<span class="state {CERTAIN.get(joint.status, "busy")}">{escape(joint.status)}</span>{reasons}'
    times, found = joint.estimates[:, 0], joint.estimates[:, 1]
    figures = "".join(
        _figure(name, unit, history(name, times, *joint.history(name), run.start, run.end, marks))
        for name, unit in joint.units.items()
    )
    residual = envelope("residual", joint.residuals[:, 0], joint.residuals[:, 1], run.start, run.end, marks)
    error = envelope("prediction error", times, 100 * found, run.start, run.end, marks)
    return (
        f'<section class="joint" id="joint-{escape(joint.name)}"><h2>{escape(joint.name)}</h2><p>{status}</p>{changed}'
        f'<div class="pair"><div class="curves">{_curves(joint)}</div>{_parameters(joint)}</div>'
        f'<h3>Parameters over time</h3><div class="grid">{figures}</div>'
        f'<h3>What the model does not explain</h3><div class="wide">'
        f"{_figure('residual', joint.unit, residual)}"
        f"{_figure('prediction error', '% of the measured rms', error)}</div></section>\n"
    )


def _curves(joint: JointRun) -> str:
    """Friction, and torsion where the gear is elastic."""
    speed = "m/s" if joint.unit == "N" else "rad/s"
    parts = [_curve(joint, "Friction", f"{joint.unit} over {speed}", 1, joint.curves.friction)]
    if joint.curves.has_spring:
        parts.append(_curve(joint, "Torsion", f"{joint.unit} over rad of twist", 3, joint.curves.spring))
    return "".join(parts)


def _no_drift(joint: JointRun) -> str:
    """What the overview says of a joint without drift."""
    return "none since its start" if _at_start(joint) else "none" if joint.drift else "no baseline"


def _curve(joint: JointRun, title: str, hint: str, column: int, law: Callable[[Floats, Floats], Floats]) -> str:
    """A curve: points (column of `points`: abscissa, then torque), the fitted law and the baseline's."""
    points = joint.points[:, [0, column, column + 1]]
    known = points[np.isfinite(points).all(axis=1)]
    reach = GRID * (float(np.abs(known[:, 1]).max()) if len(known) else 0.0)
    base, names = joint.drift.get("baseline", {}), joint.curves.names
    before = np.array([base[name] for name in names], np.float64) if names and base.keys() >= set(names) else None
    last = joint.last()
    fitted = (reach, law(last, reach)) if len(last) else None
    old = (reach, law(before, reach)) if before is not None else None
    keys = '<span class="key past">earlier samples</span><span class="key cloud">last fifth</span>'
    keys += '<span class="key law">at the end</span>'
    keys += f'<span class="key baseline">{"at its start" if _at_start(joint) else "baseline"}</span>' if old else ""
    return _figure(title, f"{hint}{keys}", curve(title, known, fitted, old), plain=True)


def _reference(joint: JointRun) -> str:
    """What the drift of a joint is measured against, in words."""
    if not joint.drift:
        return "no baseline was set"
    since = stamp(joint.drift["since"])
    return f"since its start, {since}; no baseline was set" if _at_start(joint) else f"baseline of {since}"


def _at_start(joint: JointRun) -> bool:
    """Whether drift is measured against the joint's own start, since no baseline was set."""
    return bool(joint.drift) and joint.drift.get("reference") == "start"


def _parameters(joint: JointRun) -> str:
    """The table of parameters at the end, with their change against the baseline."""
    excited = dict(zip(joint.curves.names, joint.excitation, strict=False))
    rows = []
    for name, unit in joint.units.items():
        values, deviations = joint.history(name)
        known = np.flatnonzero(np.isfinite(values))
        if not len(known):
            rows.append((escape(readable(name)), "–", "–", escape(unit), "–", "–", "–"))
            continue
        value, sigma = values[known[-1]], deviations[known[-1]]
        change, z = (joint.drift.get(key, {}).get(name, math.nan) for key in ("percent", "z"))
        beyond = name in joint.drift.get("drifted", ())
        drift = f"{change:+.2f}\u202f%".replace("-", "−") if math.isfinite(change) else "–"
        rows.append(
            (
                escape(readable(name)),
                f"<b>{number(value, 5)}</b>",
                number(sigma, 2),
                escape(unit),
                _beyond(drift) if beyond else drift,
                f"{z:.1f}".replace("-", "−") if math.isfinite(z) else "–",
                f"{100 * excited[name]:.0f} %" if name in excited else "–",
            )
        )
    head = ("parameter", "at the end", "± σ", "unit", "drift", "z", "excited")
    return (
        f'<div class="drift"><h3>Parameters and drift<small>{_reference(joint)}</small></h3>{table(head, rows)}</div>'
    )


def _acquisition(run: ReportContent) -> str:
    causes = sorted({cause for joint in run.joints for cause, count in joint.lost.items() if count})
    rows = [
        (escape(joint.name), str(joint.samples), _lost(joint), *(str(joint.lost.get(cause, 0)) for cause in causes))
        for joint in run.joints
    ]
    found = []
    if run.restarts:
        found.append(f"The core was restarted {often(run.restarts)}.")
    if run.gaps:
        found += [f"In the recording, {gap}." for gap in run.gaps[:GAPS]]
        found += [f"{len(run.gaps) - GAPS} more gaps follow."] if len(run.gaps) > GAPS else []
    if run.missed:
        found.append(f"{run.missed} messages are missing in the recording.")
    words = " ".join(found) or "Nothing is missing in the recording, and the core was never restarted."
    losses = table(("joint", "samples", "lost in all", *map(readable, causes)), rows)
    return f"<section><h2>Acquisition and losses</h2><p>{words}</p>{losses}</section>\n"


def _events(run: ReportContent) -> str:
    rows = [
        (
            clock(event["timestamp"]),
            f"{event['timestamp'] - run.start:.2f} s",
            escape(event["joint"]),
            f'<span class="{TONES.get(event["kind"], "busy")}">{escape(readable(event["kind"]))}</span>',
            escape(event["text"]),
        )
        for event in run.events[:EVENTS]
    ]
    more = f"<p>and {len(run.events) - EVENTS} more.</p>" if len(run.events) > EVENTS else ""
    listed = table(("time", "after", "joint", "event", "cause"), rows) if rows else "<p>None.</p>"
    return f'<section class="events"><h2>Events</h2>{listed}{more}</section>\n'


def _figure(title: str, hint: str, drawing: str, plain: bool = False) -> str:
    words = hint if plain else escape(hint)
    return f"<figure><figcaption><b>{escape(readable(title))}</b><span>{words}</span></figcaption>{drawing}</figure>"
