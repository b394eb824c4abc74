"""The fields of each topic of one joint; names: names of the joint's parameters, if known."""

from collections.abc import Iterable

from daq.stream.schema.fields import (
    JOINT,
    REFERENCES,
    Schema,
    number,
    number_list,
    numbers_by_name,
    reason_list,
    table,
    text,
    texts,
)
from daq.stream.update import EVENTS
from estimators.base import Knowledge, Phase, Status
from estimators.models.joints.lost_motion import PARAMETERS


def estimate_fields(names: Iterable[str]) -> Schema:
    return JOINT | {
        "phase": text("what the estimator does", (str(one) for one in Phase)),
        "parameters": numbers_by_name("estimates, in the units of meta", names),
        "deviations": numbers_by_name("their standard deviations", names),
        "states": {
            "type": "object",
            "description": "state of each parameter; omitted while nothing is known",
            "additionalProperties": table(
                "one parameter",
                {
                    "state": text(
                        "known: its value may be used; not_identifiable: this motion does not tell it apart from "
                        "others, as its deviation says; doubtful: not certain enough, whatever the others are",
                        (str(one) for one in Knowledge),
                    ),
                    "from": texts("the parameters from which it is not identifiable"),
                    "unmodelled_torque": {
                        "type": "boolean",
                        "description": "true where it is not identifiable from a torque that the model may lack, "
                        "or from an error of the position",
                    },
                },
                ("state",),
            ),
        },
        "error": number("rms prediction error over rms measured, of the last seconds"),
        "forgetting": number("lambda of the last update; 1 forgets nothing"),
        "progress": number("of the starting procedure, per cent"),
        "condition": number("of the motion so far while starting, then of the last start or refit; 1 is best"),
        "singular_values": number_list("of its regressor, columns whitened and of length one, largest first"),
        "weakest": text("the parameters that it separates least"),
        "health": table(
            "whether to trust the values",
            {
                "status": text("what a consumer may do with them", (str(one) for one in Status)),
                "reasons": reason_list("why the status is not valid"),
            },
            ("status", "reasons"),
        ),
        "arrival": number("Unix s of the arrival of the newest frame that was used"),
        "latency": number("s from that arrival to this message"),
    }


def residual_fields(_: Iterable[str]) -> Schema:
    return JOINT | {
        "measured": number("measured torque (force) of the last row"),
        "predicted": number("torque (force) of the last row by the model with the estimates"),
        "residual": number("measured - predicted"),
        "unit": text("unit of the three values: N·m or N"),
    }


def event_fields(_: Iterable[str]) -> Schema:
    return JOINT | {
        "kind": text("; ".join(f"{kind}: {meaning}" for kind, meaning in EVENTS.items()), EVENTS),
        "text": text("the cause, in words"),
        "from": number("Unix s of the first row that the event concerns"),
        "to": number("Unix s of the last row that the event concerns"),
        "search": {
            "type": "object",
            "description": "how nonlinear parameters were found, of refit_accepted and refit_rejected",
            "properties": {
                "method": text("name of the global search method"),
                "visits": {"type": "integer", "minimum": 0, "description": "number of evaluated points"},
                "evaluations": {"type": "integer", "minimum": 0, "description": "rms of the residual in the window"},
                "runner_up": {
                    "type": "object",
                    "additionalProperties": {"type": "number"},
                    "description": "the second-best minimum: nonlinear parameter → value; absent where there is none",
                },
                "gap": number("difference of χ² between the second-best and the best minimum"),
            },
            "required": ["method", "visits", "evaluations"],
            "additionalProperties": False,
        },
    }


def drift_fields(names: Iterable[str]) -> Schema:
    return JOINT | {
        "since": number("Unix s at which the baseline was set"),
        "drifted": texts("parameters beyond their limits, with hysteresis"),
        "cause": text("common cause of all drifted parameters, such as the torque's scale; empty if there is none"),
        "reference": text(
            "reference of the comparison: a baseline, or the values of the joint's own start", REFERENCES
        ),
        "baseline": numbers_by_name("values of the reference", names),
        "change": numbers_by_name("estimate - baseline, in the parameter's unit", names),
        "percent": numbers_by_name("change over |baseline|, per cent", names),
        "z": numbers_by_name("change over its own standard deviation", names),
    }


def change_fields(_: Iterable[str]) -> Schema:
    record = table(
        "one change of one parameter",
        {
            "parameter": text("its name"),
            "unit": text("unit of both values"),
            "from": number("value of the reference"),
            "from_deviation": number("its standard deviation"),
            "to": number("newest value while the change lasts"),
            "to_deviation": number("its standard deviation"),
            "percent": number("change over |from|, per cent; missing where from cannot be distinguished from zero"),
            "z": number("change over its standard deviation"),
            "since": number("Unix s at which it began: the first row of its alarm, or when it was last within limits"),
            "told": number("Unix s at which it was recorded"),
            "evidence": text("alarm: it came with an alarm; gradual: without one", ("alarm", "gradual")),
            "reference": text("reference of the change", REFERENCES),
            "cause": text("common cause of all changes; empty if there is none"),
            "over": number("Unix s at which it was within its limits again; 0: it is not yet"),
            "acknowledged": number("Unix s at which a person acknowledged it; 0: not yet"),
            "diagnosis": text("likely cause in words; empty while it is unknown"),
            "remedy": text("recommended action"),
            "ranked": {
                "type": "array",
                "items": table(
                    "a cause",
                    {
                        "cause": text("its name, or unknown"),
                        "probability": number("between 0 and 1, given that something has changed"),
                    },
                    ("cause", "probability"),
                ),
                "description": "causes that explain the change, the most likely first",
            },
            "text": text("the sentence about it"),
        },
        ("parameter", "unit", "since", "told", "evidence", "reference", "over", "acknowledged", "text"),
    )
    return JOINT | {"records": {"type": "array", "items": record, "description": "all changes, the oldest first"}}


def wear_fields(_: Iterable[str]) -> Schema:
    both = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    return JOINT | {
        "since": number("Unix s of the beginning of the reference days"),
        "judged": number("Unix s of the end of the last day that was used; 0: none yet"),
        "days": {"type": "integer", "minimum": 0, "description": "days with motion so far"},
        "wear": number("growth of dry friction, corrected for heat and load, as a share; missing: not known yet"),
        "deviation": number("its standard deviation"),
        "z": number("evidence for the growth, in standard deviations"),
        "told": {"type": "boolean", "description": "whether the growth is certain"},
        "onset": number("Unix s of the day since which it has grown; 0 before it is reported"),
        "new": number("share of the last day's hours at temperatures that are new, where wear cannot be judged"),
        "thermometer": {
            "type": "boolean",
            "description": "whether a thermometer is used; false: temperature from viscosity and losses",
        },
        "limit": number("growth of dry friction at which maintenance is needed, as a share"),
        "left": number_list("days in use to the limit: 10, 50 and 90 %; empty before an onset"),
        "usual": {
            "type": "object",
            "additionalProperties": both,
            "description": "parameter of the friction → range of its hours' means that heat and load explain",
        },
        "text": text("the sentence about it"),
    }


def lost_motion_fields(_: Iterable[str]) -> Schema:
    names = [one.name for one in PARAMETERS]
    return JOINT | {
        "parameters": numbers_by_name("of the gear, in the units of meta; lost_motion is 2b, from side to side", names),
        "deviations": numbers_by_name("their standard deviations, from blocks of rows", names),
        "known": {"type": "boolean", "description": "whether lost_motion is known"},
        "reasons": reason_list("why the value is unknown"),
        "reversals": {"type": "integer", "minimum": 0, "description": "reversals of the load in the window"},
        "rarer": number("share of the window's rows whose load has the rarer sign"),
        "imitated": number("R² of the load's sign by the other columns"),
        "progress": number("progress of the first window, per cent"),
        "soft": {
            "type": "boolean",
            "description": "whether small loads show less lost motion: a spring that is soft at first",
        },
        "first": number("lost_motion of the first window, rad: growth is measured against it"),
        "grown": {"type": "boolean", "description": "whether it has certainly grown beyond its limit since then"},
    }


def summary_fields(names: Iterable[str]) -> Schema:
    names, count = list(names), {"type": "integer", "minimum": 0}
    use = {
        "unit": text("unit of travel: rad or m"),
        "seconds": number("seconds in motion"),
        "travel": number("total distance travelled in both directions"),
        "reversals": count | {"description": "reversals of the direction of motion"},
        "starts": count | {"description": "number of motions that began after a rest"},
        "temperature": number("newest temperature of the joint's channel, °C, if it has one"),
    }
    return JOINT | {
        "model": text("kind of the model"),
        "unit": text("unit of torque or force"),
        "phase": text("what the estimator does", (str(one) for one in Phase)),
        "status": text("what a consumer may do with the values", (str(one) for one in Status)),
        "parameters": numbers_by_name("estimates", names),
        "deviations": numbers_by_name("their standard deviations", names),
        "units": {
            "type": "object",
            "description": "unit of each parameter",
            "additionalProperties": {"type": "string"},
        },
        "error": number("rms prediction error over rms measured, of the last seconds"),
        "changed": numbers_by_name("parameters whose change is not over, with their values before the change", names),
        "use": table(
            "counted from the core's start to the beginning of this second",
            use,
            [name for name in use if name != "temperature"],
        ),
    }


def clearance_fields(_: Iterable[str]) -> Schema:
    return JOINT | {
        "way": {"enum": ["proximity sensors", "link ring"], "description": "method of measurement"},
        "clearance": number("radial clearance of the pin in its bearing, m; NaN if unknown"),
        "deviation": number("its standard deviation, m"),
        "known": {"type": "boolean", "description": "whether there is a number"},
        "reasons": reason_list("why the value is unknown"),
        "progress": number("progress of the first window, per cent"),
        "arc": number("angle of the circle, rad, that the pin or its load has covered in the window"),
        "touching": number("share of the window in which the pin touches its bearing; NaN if unknown"),
        "first": number("m, of the first window: growth is measured against it"),
        "grown": {"type": "boolean", "description": "whether it has certainly grown beyond its limit since then"},
    }
