"""The fields of each topic of one joint; names: the joint's parameters, where they are known."""

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
            "description": "what is known of each parameter; left out while nothing is",
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
        "arrival": number("Unix s at which the newest frame that went in came"),
        "latency": number("s from there to this message"),
    }


def residual_fields(_: Iterable[str]) -> Schema:
    return JOINT | {
        "measured": number("torque (force) of the last row"),
        "predicted": number("the same from the model and the estimates"),
        "residual": number("measured - predicted"),
        "unit": text("of all three: N·m or N"),
    }


def event_fields(_: Iterable[str]) -> Schema:
    return JOINT | {
        "kind": text("; ".join(f"{kind}: {meaning}" for kind, meaning in EVENTS.items()), EVENTS),
        "text": text("the cause, in words"),
        "from": number("Unix s of the first row that it speaks of"),
        "to": number("Unix s of the last one"),
        "search": {
            "type": "object",
            "description": "how nonlinear parameters were found, of refit_accepted and refit_rejected",
            "properties": {
                "method": text("name of the global search"),
                "visits": {"type": "integer", "minimum": 0, "description": "points at which it has looked"},
                "evaluations": {"type": "integer", "minimum": 0, "description": "of the residual, on the window"},
                "runner_up": {
                    "type": "object",
                    "additionalProperties": {"type": "number"},
                    "description": "the second-best minimum: nonlinear parameter → value; absent where there is none",
                },
                "gap": number("χ² by which the runner-up is worse"),
            },
            "required": ["method", "visits", "evaluations"],
            "additionalProperties": False,
        },
    }


def drift_fields(names: Iterable[str]) -> Schema:
    return JOINT | {
        "since": number("Unix s at which the baseline was set"),
        "drifted": texts("parameters beyond their limits, with hysteresis"),
        "cause": text("of all that has drifted, where it is one: the torque's scale; else empty"),
        "reference": text("what it is compared with: a baseline, or the values of the joint's own start", REFERENCES),
        "baseline": numbers_by_name("values at commissioning", names),
        "change": numbers_by_name("estimate - baseline, in the parameter's unit", names),
        "percent": numbers_by_name("change over |baseline|, per cent", names),
        "z": numbers_by_name("change over its own standard deviation", names),
    }


def change_fields(_: Iterable[str]) -> Schema:
    record = table(
        "one change of one parameter",
        {
            "parameter": text("its name"),
            "unit": text("of both values"),
            "from": number("value of the reference"),
            "from_deviation": number("its standard deviation"),
            "to": number("newest value while the change stands"),
            "to_deviation": number("its standard deviation"),
            "percent": number("change over |from|, per cent; missing where from cannot be distinguished from zero"),
            "z": number("change over its standard deviation"),
            "since": number("Unix s at which it began: the first row of its alarm, or when it was last within limits"),
            "told": number("Unix s at which it was recorded"),
            "evidence": text("alarm: it came with an alarm; gradual: without one", ("alarm", "gradual")),
            "reference": text("what it is measured against", REFERENCES),
            "cause": text("common to all that has changed, where it is one; else empty"),
            "over": number("Unix s at which it was within its limits again; 0: it is not"),
            "acknowledged": number("Unix s at which a person acknowledged it; 0: nobody has"),
            "diagnosis": text("what it is likely to be, in words; empty while nothing is known of that"),
            "remedy": text("what to do about that"),
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
                "description": "causes that explain it, the likeliest first",
            },
            "text": text("the sentence about it"),
        },
        ("parameter", "unit", "since", "told", "evidence", "reference", "over", "acknowledged", "text"),
    )
    return JOINT | {"records": {"type": "array", "items": record, "description": "of all changes, the oldest first"}}


def wear_fields(_: Iterable[str]) -> Schema:
    both = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    return JOINT | {
        "since": number("Unix s at which the days begin that it is measured against"),
        "judged": number("Unix s of the end of the last day that went in; 0: none yet"),
        "days": {"type": "integer", "minimum": 0, "description": "with motion so far"},
        "wear": number("growth of dry friction, corrected for heat and load, as a share; missing: not known yet"),
        "deviation": number("its standard deviation"),
        "z": number("the evidence for it, in standard deviations"),
        "told": {"type": "boolean", "description": "whether it is certain"},
        "onset": number("Unix s of the day since which it has grown; 0 before it is reported"),
        "new": number("share of the last day's hours at temperatures that are new, where wear cannot be judged"),
        "thermometer": {"type": "boolean", "description": "false: the temperature is that of its viscosity and losses"},
        "limit": number("share of dry friction at which something must be done"),
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
        "known": {"type": "boolean", "description": "whether there is a number for lost_motion"},
        "reasons": reason_list("why there is none"),
        "reversals": {"type": "integer", "minimum": 0, "description": "of the load, in the window"},
        "rarer": number("share of the window's rows whose load has the rarer sign"),
        "imitated": number("R² of the load's sign by the other columns"),
        "progress": number("of the first window, per cent"),
        "soft": {"type": "boolean", "description": "small loads show less of it: a spring that is soft at first"},
        "first": number("lost_motion of the first window, rad: growth is measured against it"),
        "grown": {"type": "boolean", "description": "it has grown since, beyond its limit and for certain"},
    }


def summary_fields(names: Iterable[str]) -> Schema:
    names, count = list(names), {"type": "integer", "minimum": 0}
    use = {
        "unit": text("of travel: rad or m"),
        "seconds": number("in motion"),
        "travel": number("way, there and back"),
        "reversals": count | {"description": "of the motion"},
        "starts": count | {"description": "motions after a rest"},
        "temperature": number("°C, newest of the joint's channel, where it has one"),
    }
    return JOINT | {
        "model": text("kind of the model"),
        "unit": text("of torque or force"),
        "phase": text("what the estimator does", (str(one) for one in Phase)),
        "status": text("what a consumer may do with the values", (str(one) for one in Status)),
        "parameters": numbers_by_name("estimates", names),
        "deviations": numbers_by_name("their standard deviations", names),
        "units": {"type": "object", "description": "of each parameter", "additionalProperties": {"type": "string"}},
        "error": number("rms prediction error over rms measured, of the last seconds"),
        "changed": numbers_by_name("of parameters whose change is not over: the value that they have left", names),
        "use": table(
            "counted from the core's start to the beginning of this second",
            use,
            [name for name in use if name != "temperature"],
        ),
    }


def clearance_fields(_: Iterable[str]) -> Schema:
    return JOINT | {
        "way": {"enum": ["proximity sensors", "link ring"], "description": "how it is measured"},
        "clearance": number("m, half of the pin's room in its bearing; NaN where there is no number"),
        "deviation": number("its standard deviation, m"),
        "known": {"type": "boolean", "description": "whether there is a number"},
        "reasons": reason_list("why there is none"),
        "progress": number("of the first window, per cent"),
        "arc": number("rad of its circle that the pin, or what presses it, has visited in the window"),
        "touching": number("share of the window in which the pin touches its bearing; NaN where nothing shows it"),
        "first": number("m, of the first window: growth is measured against it"),
        "grown": {"type": "boolean", "description": "it has grown since, beyond its limit and for certain"},
    }
