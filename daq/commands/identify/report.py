"""The result of an identification as one self-contained HTML page."""

import argparse
from collections.abc import Sequence
from html import escape
from typing import Final

import numpy as np
from numpy.typing import NDArray

from daq.commands.report.document import header, page
from daq.commands.report.figures import curve, overlay
from daq.commands.report.words import number
from estimators.offline.robot.identification import JudgedPrediction, RobotIdentification
from estimators.quantities import Floats

POINTS: Final = 1500  # largest number of points of a cloud or a line
DIRECTIONS: Final = 20


def document(found: RobotIdentification, options: argparse.Namespace) -> str:
    """The whole page."""
    robot = found.found.robot
    judged = found.test or found.validation
    kind = "test recordings" if found.test is not None else "cross-validation: each block predicted by the others"
    parts = [
        _head(found, options),
        _overview(found, judged, kind),
        *(_joint(found, judged, j, kind) for j in range(len(robot.joints))),
        _base(found),
        _weak_directions(found),
        _comparison(found),
    ]
    return page(f"{robot.name} · jointwatch identify", parts)


def _head(found: RobotIdentification, options: argparse.Namespace) -> str:
    robot = found.found.robot
    facts = (
        ("robot", options.robot.name),
        ("joints", str(len(robot.joints))),
        ("base parameters", str(found.found.model().base)),
        ("friction law", found.law),
        ("rows learnt from", f"{len(found.train.rows.y)} at 50 Hz"),
        ("learnt from", ", ".join(file.name for file in options.train)),
        ("tested on", ", ".join(file.name for file in options.test) or "no separate recordings"),
        ("prior", "a guess from the total mass" if robot.guessed else "the description's links"),
        *_gears(found),
    )
    return header("jointwatch identify", escape(robot.name), facts)


def _gears(found: RobotIdentification) -> list[tuple[str, str]]:
    """Facts about joints with two encoders, and about the learnt compensation."""
    gears = [
        f"{joint.name} {gear.stiffness:.3g} {joint.axis.effort}/{joint.axis.length}, {1e3 * gear.lag:+.2f} ms late"
        for joint, gear in zip(found.found.robot.joints, found.found.twists, strict=True)
        if gear is not None
    ]
    facts = [("gears with two encoders", "; ".join(gears))] if gears else []
    if found.compensated:
        left = found.test_compensated or found.compensated[0]
        facts.append(("error with the learnt compensation", f"{left.error:.2f} %"))
    return facts


def _overview(found: RobotIdentification, judged: JudgedPrediction, kind: str) -> str:
    rows = []
    outside = judged.outside.mean(axis=0)
    for j, joint in enumerate(found.found.robot.joints):
        warn = outside[j] > 0.02
        rows.append(
            (
                f'<a href="#joint-{j}">{escape(joint.name)}</a>',
                f"{judged.rmse[j]:.3g} {joint.axis.effort}",
                f"{judged.relative[j]:.2f} %",
                f"{found.train.relative[j]:.2f} %",
                f"{found.found.speed[j]:.3g} {joint.axis.length}/s",
                f'<span class="{"warn" if warn else "good"}">{100 * outside[j]:.1f} %</span>',
                f"{np.sqrt(found.found.variance[j]):.3g} {joint.axis.effort}",
                f"{found.found.correlation[j]:.0f}",
            )
        )
    head = (
        "joint", "rmse", "error", "of learnt rows", "speed seen", "rows faster than that × 1.1", "residual σ",
        "rows that count as one",
    )  # fmt: skip
    inside = f", {judged.inside:.2f} % where no joint is faster than it was learnt at" if judged.outside.any() else ""
    return (
        f"<section><h2>Error on rows not learnt from: {judged.error:.2f} %</h2>"
        f"<p>100 · ‖τ − τ̂‖ / ‖τ‖ over all joints after an 8 Hz low-pass{inside}; "
        f"learnt rows {found.train.error:.2f} %. From {escape(kind)}.</p>{_table(head, rows)}</section>\n"
    )


def _joint(found: RobotIdentification, judged: JudgedPrediction, j: int, kind: str) -> str:
    joint, model = found.found.robot.joints[j], found.found.model()
    rows = judged.rows
    thin = slice(None, None, max(len(rows.y) // POINTS, 1))
    time = _running(rows.time, rows.piece)[thin]
    torque = overlay(f"torque of {joint.name}", time, rows.y[thin, j], judged.predicted[thin, j])
    friction = curve(f"friction of {joint.name}", *_friction(found, j), None)
    terms = [(model.base + k, term) for k, term in enumerate(model.terms) if j in term.joints]
    table = [
        (
            escape(term.name.split(".")[0]),
            number(found.fit.theta[place], 5),
            number(found.found.spread()[place], 2),
            escape(term.unit),
            _how_known(found, place),
        )
        for place, term in terms
    ]
    head = ("coefficient", "value", "σ", "unit", "")
    unit = joint.axis.effort
    return (
        f'<section class="joint" id="joint-{j}"><h2>{escape(joint.name)}</h2>'
        f"<div class='wide'><figure><figcaption><b>torque, {unit}</b><span><span class='key baseline'>measured</span>"
        f"<span class='key'>predicted ({escape(kind)})</span></span></figcaption>{torque}</figure></div>"
        f"<div class='pair'><figure><figcaption><b>friction, {unit} over speed, {joint.axis.length}/s</b><span>"
        f"<span class='key cloud'>measured − links</span><span class='key'>law</span></span></figcaption>{friction}"
        f"</figure><div>{_table(head, table)}</div></div></section>\n"
    )


def _running(time: Floats, piece: NDArray[np.int64]) -> Floats:
    """The times of all pieces, shifted so that the pieces are consecutive."""
    shifted, end = time.copy(), 0.0
    for one in np.unique(piece):
        mine = piece == one
        shifted[mine] += end - time[mine].min()
        end = float(shifted[mine].max()) + 1.0
    return shifted


def _friction(found: RobotIdentification, j: int) -> tuple[Floats, tuple[Floats, Floats]]:
    """The torque that the links do not explain, as a cloud, and the friction law at median position and load."""
    rows, model = found.train.rows, found.found.model()
    links = rows.X[:, j, : model.base] @ found.fit.theta[: model.base]
    own = slice(sum(model.count_of(k) for k in range(j)), sum(model.count_of(k) for k in range(j + 1)))
    law = model.law_of(j)
    count = len(law.parameters)
    others = np.ones(model.size, bool)
    others[: model.base] = False
    others[model.base + own.start : model.base + own.start + count + 1] = False
    left = rows.y[:, j] - links - rows.X[:, j, others] @ found.fit.theta[others]
    thin = slice(None, None, max(len(left) // POINTS, 1))
    reach = found.found.speed[j]
    speed = np.sinh(np.linspace(-4.0, 4.0, 161)) / np.sinh(4.0) * reach
    place = np.full(len(speed), float(np.median(rows.q[:, j])))
    load = np.full(len(speed), float(np.median(np.abs(links))))
    theta = found.fit.theta[model.base + own.start : model.base + own.start + count + 1]
    torque = law.columns(place, speed, load, law.start) @ theta[:count] + theta[count]
    late = np.ones(len(left[thin]))  # all of the same age, so that none is drawn pale
    late[:1] = 0.0
    return np.column_stack([late, rows.dq[thin, j], left[thin]]), (speed, torque)


def _how_known(found: RobotIdentification, place: int) -> str:
    if found.fit.at_zero[place]:
        return '<span class="warn">held at zero</span>'
    return "learnt" if found.fit.learnt[place] else '<span class="none">mostly the prior</span>'


def _base(found: RobotIdentification) -> str:
    model = found.found.model()
    rows = [
        (
            escape(name),
            escape(meaning),
            number(found.fit.theta[k], 5),
            number(found.found.spread()[k], 2),
            number(found.fit.prior[k], 5),
            _how_known(found, k),
        )
        for k, (name, meaning) in enumerate(zip(model.names[: model.base], model.meanings[: model.base], strict=True))
    ]
    head = ("", "combination of standard parameters", "value", "σ", "described", "")
    return f"<section><h2>Base parameters</h2>{_table(head, rows)}</section>\n"


def _weak_directions(found: RobotIdentification) -> str:
    rows = [(escape(one.words), f"{one.information:.2g}") for one in found.weak_directions[:DIRECTIONS]]
    more = (
        f"<p>and {len(found.weak_directions) - DIRECTIONS} more</p>" if len(found.weak_directions) > DIRECTIONS else ""
    )
    if not rows:
        return "<section><h2>Not identifiable</h2><p>None: every direction is identifiable.</p></section>\n"
    head = ("direction", "information of the data (prior = 1)")
    return (
        "<section><h2>Not identifiable</h2><p>Along these directions the recordings have less information than the "
        f"description; there the model keeps the description's values.</p>{_table(head, rows)}{more}</section>\n"
    )


def _comparison(found: RobotIdentification) -> str:
    test = found.test
    rows = [("recipe", f"{found.train.error:.2f} %", f"{test.error:.2f} %" if test is not None else "–")]
    rows += [
        (f"{name} least squares, no prior", f"{one['train']:.2f} %", f"{one['test']:.2f} %" if "test" in one else "–")
        for name, one in found.rivals.items()
    ]
    laws = [
        (
            escape(one.law) + (" (chosen)" if one.law == found.law else ""),
            f"{one.error:.2f} %",
            "–" if one.deviation == 0 else f"{1e4 * one.difference:+.3g} ± {1e4 * one.deviation:.2g}",
        )
        for one in found.verdicts
    ]
    return (
        f"<section><h2>Comparison</h2>{_table(('method', 'learnt rows', 'test'), rows)}"
        "<h3>Friction laws under blocked cross-validation</h3>"
        f"{_table(('law', 'error', 'gain on the default, 10⁻⁴ of the squared torque'), laws)}</section>\n"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; its cells are HTML."""
    columns = "".join(f"<th>{name}</th>" for name in head)
    lines = "".join(f"<tr><th>{row[0]}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>" for row in rows)
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{lines}</tbody></table>"
