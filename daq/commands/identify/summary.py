"""The result of an identification, as one JSON object and as text."""

import contextlib
from typing import Any, Final

import numpy as np

from daq.commands.report.words import number
from daq.stream.json_messages import finite
from estimators.offline.robot.identification import JudgedPrediction, RobotIdentification

WORST: Final = 6  # directions printed that are not identifiable


def summary(found: RobotIdentification) -> dict[str, Any]:
    """The object that --json prints; NaN becomes null."""
    robot = found.found.robot
    result: dict[str, Any] = {
        "robot": robot.name,
        "law": found.law,
        "train": _judged(found, found.train),
        "validation": _judged(found, found.validation),
    }
    if found.test is not None:
        result["test"] = _judged(found, found.test)
    model = found.found.model()
    if found.compensated:
        result["compensation"] = {"train": _judged(found, found.compensated[0])}
        if found.test_compensated is not None:
            result["compensation"]["test"] = _judged(found, found.test_compensated)
    gears = zip(robot.joints, found.found.twists, strict=True)
    result["gears"] = {
        joint.name: gear._asdict() | {"unit": f"{joint.axis.effort}/{joint.axis.length}"}
        for joint, gear in gears
        if gear is not None
    }
    result["comparison"] = found.rivals
    result["laws"] = [one._asdict() for one in found.verdicts]
    result["base_parameters"] = model.base
    result["parameters"] = {
        name: {
            "value": value,
            "deviation": deviation,
            "learnt": bool(learnt),
            **({"meaning": meaning} if meaning != name else {}),
        }
        for name, meaning, value, deviation, learnt in zip(
            model.names, model.meanings, found.fit.theta, found.found.spread(), found.fit.learnt, strict=True
        )
    }
    result["weak_directions"] = [
        {"information": one.information, "direction": one.words} for one in found.weak_directions
    ]
    result["guessed"] = robot.guessed
    cleaned: dict[str, Any] = finite(result)
    return cleaned


def _judged(found: RobotIdentification, judged: JudgedPrediction) -> dict[str, Any]:
    joints = {
        name: {
            "rmse": float(rmse),
            "error": float(relative),
            "deviation": float(deviation),
            "unit": joint.axis.effort,
            "outside": float(share),
        }
        for name, joint, rmse, relative, deviation, share in zip(
            found.found.robot.names,
            found.found.robot.joints,
            judged.rmse,
            judged.relative,
            np.sqrt(np.mean(judged.deviation**2, axis=0)),
            judged.outside.mean(axis=0),
            strict=True,
        )
    }
    return {
        "error": judged.error,
        "error_inside": judged.inside,
        "rows": len(judged.rows.y),
        "outside": float(judged.outside.mean()),
        "covered": judged.covered,
        "joints": joints,
    }


def tell(found: RobotIdentification) -> None:
    """Print the result as text."""
    robot, fit = found.found.robot, found.fit
    judged = found.test or found.validation
    kind = "test" if found.test is not None else "cross-validation"
    print(f"{robot.name}: {len(robot.joints)} joints, {found.found.model().base} base parameters, friction {found.law}")
    print(f"error on rows not learnt from ({kind}): {judged.error:.2f} %, learnt rows {found.train.error:.2f} %")
    print(f"within 2 of the stated deviations: {100 * judged.covered:.0f} % of the rows not learnt from")
    if judged.outside.any():
        print(f"inside the model's validity: {judged.inside:.2f} % ({100 * judged.outside.mean():.1f} % are outside)")
    if found.compensated:
        left = found.test_compensated or found.compensated[0]
        of = "the learnt rows" if found.test_compensated is None else "the test"
        print(f"error with the compensation learnt from the gears' twist: {left.error:.2f} % of {of}")
    others = ", ".join(f"{name} {one.get('test', one['train']):.2f} %" for name, one in found.rivals.items())
    print(f"least squares without a prior{'' if found.test is not None else ', on the learnt rows'}: {others}")
    print(f"\n{'joint':16} {'rmse':>9} {'error':>8}  friction, with σ")
    terms = found.found.model().terms
    base, deviations = found.found.model().base, found.found.spread()
    for j, joint in enumerate(robot.joints):
        mine = [k for k, term in enumerate(terms) if term.joints[0] == j]
        text = "  ".join(
            f"{terms[k].name.split('.')[0]} {number(fit.theta[base + k], 4)} ± {number(deviations[base + k], 2)}"
            for k in mine
        )
        print(f"{joint.name:16} {judged.rmse[j]:9.3g} {judged.relative[j]:6.2f} %  {text}")
    for joint, gear in zip(robot.joints, found.found.twists, strict=True):
        if gear is not None:
            print(
                f"{joint.name:16} gear {gear.stiffness:.3g} ± {gear.deviation:.2g} {joint.axis.effort}/"
                f"{joint.axis.length}, second encoder {gear.zero:+.3g} {joint.axis.length} apart "
                f"and {1e3 * gear.lag:+.2f} ms late"
            )
    learnt = int(fit.learnt[:base].sum())
    print(f"\n{learnt} of {base} base parameters were learnt from the motion")
    if found.weak_directions:
        print("combinations of parameters about which the description has as much information as the motion, or more:")
    with contextlib.suppress(BrokenPipeError):
        for one in found.weak_directions[:WORST]:
            print(f"  {one.words[:150]}")
        if len(found.weak_directions) > WORST:
            more = len(found.weak_directions) - WORST
            print(f"  and {more} more direction{'s' if more > 1 else ''}")
