"""JSON Schema of every public topic.

A number that is not known yet is NaN in the stream (msgpack) and left out of the recording (JSON has no NaN); only what
is always known is required. Written for simple readers: one plain type a field, no references, no unions.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from daq.stream.update import EVENTS, VERSION
from estimators.base import Knowledge, Phase, Status
from estimators.models.joints.lost_motion import PARAMETERS
from estimators.reason_words import CATALOGUE

Schema = dict[str, Any]

CHANGES: Final = "version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone"
REFERENCES: Final = ("baseline", "start")
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def _number(text: str) -> Schema:
    return {"type": "number", "description": text}


def _text(text: str, valid: Iterable[str] = ()) -> Schema:
    return {"type": "string", "description": text} | ({"enum": list(valid)} if valid else {})


def _texts(text: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": text}


def _object(text: str, properties: Schema, required: Iterable[str]) -> Schema:
    return {"type": "object", "description": text, "properties": properties, "required": list(required)}


def _list(text: str) -> Schema:
    return {"type": "array", "items": {"type": "number"}, "description": text}


def _numbers(text: str, names: Iterable[str]) -> Schema:
    """Numbers by parameter name; the names are listed where they are known."""
    properties = {name: {"type": "number"} for name in names}
    return {"type": "object", "description": text, "properties": properties, "additionalProperties": {"type": "number"}}


def _reasons(text: str) -> Schema:
    numbers, words = {"type": "number"}, {"type": "string"}
    reason = _object(
        "one reason",
        {
            "code": _text("what is so, see docs/troubleshooting.md", CATALOGUE),
            "parameter": _text("what it is about: a parameter, channel, joint or known constant"),
            "numbers": {"type": "object", "description": "by short names, SI or %", "additionalProperties": numbers},
            "words": {"type": "object", "description": "the same of words", "additionalProperties": words},
            "text": _text("the sentence, with its numbers"),
        },
        ("code", "text"),
    )
    return {"type": "array", "items": reason, "description": text}


HEAD: Final[Schema] = {
    "timestamp": _number("Unix s of the instant that the message speaks of"),
    "v": {"type": "integer", "const": VERSION, "description": CHANGES},
    "robot": _text("[robot] name"),
    "seq": {"type": "integer", "minimum": 0, "description": "counts up by one per topic; seen before: nothing new"},
    "boot": {"type": "integer", "minimum": 0, "description": "another one: the core started anew, and seq with it"},
}
JOINT: Final[Schema] = {"joint": _text("[joints.NAME]")}


def _estimate(names: Iterable[str]) -> Schema:
    return JOINT | {
        "phase": _text("what the estimator does", (str(one) for one in Phase)),
        "parameters": _numbers("estimates, in the units of meta", names),
        "deviations": _numbers("their standard deviations", names),
        "states": {
            "type": "object",
            "description": "what is known of each parameter; left out while nothing is",
            "additionalProperties": _object(
                "one parameter",
                {
                    "state": _text(
                        "known: its value may be used; not_identifiable: this motion does not tell it apart from "
                        "others, as its deviation says; doubtful: not certain enough, whatever the others are",
                        (str(one) for one in Knowledge),
                    ),
                    "from": _texts("the parameters from which it is not identifiable"),
                    "untold_torque": {
                        "type": "boolean",
                        "description": "true where it is not identifiable from a torque that the model may lack",
                    },
                },
                ("state",),
            ),
        },
        "error": _number("rms prediction error over rms measured, of the last seconds"),
        "forgetting": _number("lambda of the last update; 1 forgets nothing"),
        "progress": _number("of the starting procedure, per cent"),
        "condition": _number("of the motion so far while starting, then of the last start or refit; 1 is best"),
        "singular_values": _list("of its regressor, columns whitened and of length one, largest first"),
        "weakest": _text("the parameters that it tells least apart"),
        "health": _object(
            "whether to trust the values",
            {
                "status": _text("what a consumer may do with them", (str(one) for one in Status)),
                "reasons": _reasons("why the status is not valid"),
            },
            ("status", "reasons"),
        ),
        "arrival": _number("Unix s at which the newest frame that went in came"),
        "latency": _number("s from there to this message"),
    }


def _residual(_: Iterable[str]) -> Schema:
    return JOINT | {
        "measured": _number("torque (force) of the last row"),
        "predicted": _number("the same from the model and the estimates"),
        "residual": _number("measured - predicted"),
        "unit": _text("of all three: N·m or N"),
    }


def _event(_: Iterable[str]) -> Schema:
    return JOINT | {
        "kind": _text("; ".join(f"{kind}: {text}" for kind, text in EVENTS.items()), EVENTS),
        "text": _text("the cause, in words"),
        "from": _number("Unix s of the first row that it speaks of"),
        "to": _number("Unix s of the last one"),
        "search": {
            "type": "object",
            "description": "how nonlinear parameters were found, of refit_accepted and refit_rejected",
            "properties": {
                "method": _text("name of the global search"),
                "visits": {"type": "integer", "minimum": 0, "description": "points at which it has looked"},
                "evaluations": {"type": "integer", "minimum": 0, "description": "of the residual, on the window"},
                "runner_up": {
                    "type": "object",
                    "additionalProperties": {"type": "number"},
                    "description": "the second-best minimum: nonlinear parameter → value; absent where there is none",
                },
                "gap": _number("χ² by which the runner-up is worse"),
            },
            "required": ["method", "visits", "evaluations"],
            "additionalProperties": False,
        },
    }


def _drift(names: Iterable[str]) -> Schema:
    return JOINT | {
        "since": _number("Unix s at which the baseline was set"),
        "drifted": _texts("parameters beyond their limits, with hysteresis"),
        "cause": _text("of all that has drifted, where it is one: the torque's scale; else empty"),
        "reference": _text("what it is compared with: a baseline, or the values of the joint's own start", REFERENCES),
        "baseline": _numbers("values at commissioning", names),
        "change": _numbers("estimate - baseline, in the parameter's unit", names),
        "percent": _numbers("change over |baseline|, per cent", names),
        "z": _numbers("change over its own standard deviation", names),
    }


def _change(_: Iterable[str]) -> Schema:
    record = _object(
        "one change of one parameter",
        {
            "parameter": _text("its name"),
            "unit": _text("of both values"),
            "from": _number("value of the reference"),
            "from_deviation": _number("its standard deviation"),
            "to": _number("newest value while the change stands"),
            "to_deviation": _number("its standard deviation"),
            "percent": _number("change over |from|, per cent; missing where from cannot be told from zero"),
            "z": _number("change over its standard deviation"),
            "since": _number("Unix s at which it began: the first row of its alarm, or when it was last within limits"),
            "told": _number("Unix s at which it was recorded"),
            "evidence": _text("alarm: it came with an alarm; gradual: without one", ("alarm", "gradual")),
            "reference": _text("what it is measured against", REFERENCES),
            "cause": _text("common to all that has changed, where it is one; else empty"),
            "over": _number("Unix s at which it was within its limits again; 0: it is not"),
            "acknowledged": _number("Unix s at which a person acknowledged it; 0: nobody has"),
            "diagnosis": _text("what it is likely to be, in words; empty while nothing is known of that"),
            "remedy": _text("what to do about that"),
            "ranked": {
                "type": "array",
                "items": _object(
                    "a cause",
                    {
                        "cause": _text("its name, or unknown"),
                        "probability": _number("between 0 and 1, given that something has changed"),
                    },
                    ("cause", "probability"),
                ),
                "description": "causes that explain it, the likeliest first",
            },
            "text": _text("the sentence about it"),
        },
        ("parameter", "unit", "since", "told", "evidence", "reference", "over", "acknowledged", "text"),
    )
    return JOINT | {"records": {"type": "array", "items": record, "description": "of all changes, the oldest first"}}


def _wear(_: Iterable[str]) -> Schema:
    both = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    return JOINT | {
        "since": _number("Unix s at which the days begin that it is measured against"),
        "judged": _number("Unix s of the end of the last day that went in; 0: none yet"),
        "days": {"type": "integer", "minimum": 0, "description": "with motion so far"},
        "wear": _number("share by which dry friction has grown beside heat and load; missing: not known yet"),
        "deviation": _number("its standard deviation"),
        "z": _number("the evidence for it, in standard deviations"),
        "told": {"type": "boolean", "description": "whether it is certain"},
        "onset": _number("Unix s of the day since which it has grown; 0 before it is told"),
        "new": _number("share of the last day's hours at temperatures that are new, where wear cannot be told"),
        "thermometer": {"type": "boolean", "description": "false: the temperature is that of its viscosity and losses"},
        "limit": _number("share of dry friction at which something must be done"),
        "left": _list("days in use to the limit: 10, 50 and 90 %; empty before an onset"),
        "usual": {
            "type": "object",
            "additionalProperties": both,
            "description": "parameter of the friction → range of its hours' means that heat and load explain",
        },
        "text": _text("the sentence about it"),
    }


def _lost_motion(_: Iterable[str]) -> Schema:
    names = [one.name for one in PARAMETERS]
    return JOINT | {
        "parameters": _numbers("of the gear, in the units of meta; lost_motion is 2b, from side to side", names),
        "deviations": _numbers("their standard deviations, from blocks of rows", names),
        "known": {"type": "boolean", "description": "whether there is a number for lost_motion"},
        "reasons": _reasons("why there is none"),
        "reversals": {"type": "integer", "minimum": 0, "description": "of the load, in the window"},
        "rarer": _number("share of the window's rows whose load has the rarer sign"),
        "imitated": _number("R² of the load's sign by the other columns"),
        "progress": _number("of the first window, per cent"),
        "soft": {"type": "boolean", "description": "small loads show less of it: a spring that is soft at first"},
        "first": _number("lost_motion of the first window, rad: growth is measured against it"),
        "grown": {"type": "boolean", "description": "it has grown since, beyond its limit and for certain"},
    }


def _summary(names: Iterable[str]) -> Schema:
    names, count = list(names), {"type": "integer", "minimum": 0}
    use = {
        "unit": _text("of travel: rad or m"),
        "seconds": _number("in motion"),
        "travel": _number("way, there and back"),
        "reversals": count | {"description": "of the motion"},
        "starts": count | {"description": "motions after a rest"},
        "temperature": _number("°C, newest of the joint's channel, where it has one"),
    }
    return JOINT | {
        "model": _text("kind of the model"),
        "unit": _text("of torque or force"),
        "phase": _text("what the estimator does", (str(one) for one in Phase)),
        "status": _text("what a consumer may do with the values", (str(one) for one in Status)),
        "parameters": _numbers("estimates", names),
        "deviations": _numbers("their standard deviations", names),
        "units": {"type": "object", "description": "of each parameter", "additionalProperties": {"type": "string"}},
        "error": _number("rms prediction error over rms measured, of the last seconds"),
        "changed": _numbers("of parameters whose change is not over: the value that they have left", names),
        "use": _object(
            "counted from the core's start to the beginning of this second",
            use,
            [name for name in use if name != "temperature"],
        ),
    }


def _clearance(_: Iterable[str]) -> Schema:
    return JOINT | {
        "way": {"enum": ["proximity sensors", "link ring"], "description": "how it is measured"},
        "clearance": _number("m, half of the pin's room in its bearing; NaN where there is no number"),
        "deviation": _number("its standard deviation, m"),
        "known": {"type": "boolean", "description": "whether there is a number"},
        "reasons": _reasons("why there is none"),
        "progress": _number("of the first window, per cent"),
        "arc": _number("rad of its circle that the pin, or what presses it, has visited in the window"),
        "touching": _number(
            "share of the window in which the pin touches its bearing; NaN where the sensors do not show it"
        ),
        "first": _number("m, of the first window: growth is measured against it"),
        "grown": {"type": "boolean", "description": "it has grown since, beyond its limit and for certain"},
    }


def _process(_: Iterable[str]) -> Schema:
    return {
        "name": _text("outlet, core, refits, recorder, supervisor, or [drivers.NAME]"),
        "up": {"type": "boolean", "description": "whether it runs, and gave a sign of life within its time"},
        "restarts": {"type": "integer", "minimum": 0, "description": "by the supervisor; of refits, by the core"},
        "pid": {"type": "integer", "minimum": 0, "description": "0: none runs"},
        "cause": _text("why it died, or is not up, last"),
        "age": _number("s since its last sign of life"),
        "deadline": _number("s of silence after which it is ended and started anew; 0: never"),
    }


def _meta(_: Iterable[str]) -> Schema:
    parameter = _object(
        "one parameter",
        {
            "unit": _text("SI"),
            "low": _number("plausible range, from; in recordings left out where it has no end"),
            "high": _number("plausible range, to; the same"),
            "equation": _text("where it is defined"),
            "meaning": _text("what it is"),
            "needs": _text("what motion would teach it"),
        },
        ("unit", "equation"),
    )
    joint = _object(
        "one joint",
        {
            "model": _text("kind of the model"),
            "unit": _text("of torque or force"),
            "rate": _number("Hz of the samples"),
            "parameters": {"type": "object", "description": "by name", "additionalProperties": parameter},
        },
        ("model", "unit", "rate", "parameters"),
    )
    return {
        "configuration": _text("digest of the configuration: another one, other settings"),
        "joints": {"type": "object", "description": "by name", "additionalProperties": joint},
    }


def _robot_joint() -> Schema:
    return _object(
        "one joint",
        {
            "measured": _number("torque (force), low-passed"),
            "predicted": _number("the same from the whole robot's model, the payload included"),
            "residual": _number("measured - predicted"),
            "deviation": _number("of the residual where nothing was wrong"),
            "threshold": _number("of its magnitude, beyond which it is a contact or a change"),
            "contact": {"type": "boolean", "description": "it is beyond"},
            "compensation": _number("of predicted, what a learnt compensation gives; missing while none is used"),
            "unit": _text("N·m or N"),
        },
        ("contact", "unit"),
    )


def _payload() -> Schema:
    return _object(
        "what the last link carries beyond the model",
        {
            "carried": {"type": "boolean", "description": "certain enough to be counted"},
            "mass": _number("kg"),
            "mass_deviation": _number("kg; where torque is motor current, with what is not known of its unit"),
            "centre": _list("m, in the last link's frame"),
            "centre_deviation": _list("m"),
            "inertia": _list("kg·m² about its centre: xx, xy, yy, xz, yz, zz; NaN where the motion tells none"),
            "inertia_deviation": _list("kg·m²"),
        },
        ("carried",),
    )


def _contact() -> Schema:
    return _object(
        "where it is touched, by the residual of all joints; missing while nothing touches it",
        {
            "link": _text("the joint that moves the link"),
            "probability": _number("of that link against the others, 0 to 1"),
            "point": _list("m, base frame: the link's outer end, at which the force is stated"),
            "force": _list("N, base frame"),
            "force_deviation": _list("N; about 1000 in a direction that the joints do not tell"),
        },
        ("link", "probability"),
    )


def _tool() -> Schema:
    return _object(
        "what is carried less what the controller was told; missing where [robot.tool] is unset",
        {
            "differs": {"type": "boolean", "description": "by four deviations, and by 0.25 kg or 20 mm"},
            "text": _text("in words; empty unless it differs"),
            "mass": _number("kg"),
            "mass_deviation": _number("kg"),
            "centre": _list("m, in the last link's frame"),
            "centre_deviation": _list("m"),
        },
        ("differs", "text"),
    )


def _findings() -> Schema:
    return {
        "type": "array",
        "description": "what has happened, the oldest first: one each, refined while more is known",
        "items": _object(
            "one finding",
            {
                "number": _number("its identity, which stays"),
                "seconds": _number("since it began"),
                "cause": _text(
                    "contact, payload, tool, friction, torque_constant, encoder_slip, offset, base_tilt, links"
                ),
                "joints": {"type": "array", "description": "that it names", "items": {"type": "string"}},
                "text": _text("in words"),
                "others": {"type": "array", "description": "causes that fit as well", "items": {"type": "string"}},
                "over": {"type": "boolean", "description": "it has passed, or is part of the model by now"},
            },
            ("number", "cause", "text", "over"),
        ),
    }


def _robot(_: Iterable[str]) -> Schema:
    return {
        "phase": _text("what the estimator does", (str(one) for one in Phase)),
        "health": _object(
            "whether to trust the values",
            {
                "status": _text("what a consumer may do with them", (str(one) for one in Status)),
                "reasons": _reasons("why the status is not valid"),
            },
            ("status", "reasons"),
        ),
        "progress": _number("of the start, per cent"),
        "joints": {"type": "object", "description": "by name", "additionalProperties": _robot_joint()},
        "payload": _payload(),
        "contact": _contact(),
        "tool": _tool(),
        "findings": _findings(),
    }


def _mechanism(_: Iterable[str]) -> Schema:
    drive = _object(
        "one drive",
        {
            "measured": _number("torque (force), low-passed"),
            "predicted": _number("the same from the mechanism's model, with the friction of every joint"),
            "residual": _number("measured - predicted"),
            "friction": _number("of predicted, what the joints' friction makes of it"),
            "deviation": _number("of the residual where nothing was wrong"),
            "threshold": _number("of its magnitude, beyond which it is a contact or a change"),
            "contact": {"type": "boolean", "description": "it is beyond"},
            "friction_ratio": _number("friction that the drive feels over the model's; missing while nothing says it"),
            "friction_ratio_deviation": _number("its standard deviation"),
            "unit": _text("N·m or N"),
        },
        ("contact", "unit"),
    )
    joint = _object(
        "one joint of the tree, or one cut, by the forces that the model says it carries",
        {
            "radial": _number("N across its axis"),
            "axial": _number("N along it; of a prismatic joint N·m about it"),
            "bending": _number("N·m across it"),
            "friction": _number("of its bearing, in its unit"),
            "position": _number("rad (m) of a joint of the tree; without an encoder by the loops"),
            "unit": _text("of its friction, N·m or N"),
        },
        ("unit",),
    )
    return {
        "phase": _text("what the estimator does", (str(one) for one in Phase)),
        "health": _object(
            "whether to trust the values",
            {
                "status": _text("what a consumer may do with them", (str(one) for one in Status)),
                "reasons": _reasons("why the status is not valid"),
            },
            ("status", "reasons"),
        ),
        "progress": _number("of the start, per cent"),
        "drives": {"type": "object", "description": "by name in the mechanism", "additionalProperties": drive},
        "joints": {"type": "object", "description": "by name in the mechanism", "additionalProperties": joint},
    }


def _robot_parameters(_: Iterable[str]) -> Schema:
    friction = _object(
        "friction torque of one joint at two speeds, the offset apart",
        {"speeds": _list("rad/s (m/s)"), "torques": _list("N·m (N)"), "deviations": _list("N·m (N)")},
        ("speeds", "torques", "deviations"),
    )
    return {
        "parameters": _numbers("base parameters of the links, then friction and what else the model has", ()),
        "deviations": _numbers("their standard deviations", ()),
        "friction": {"type": "object", "description": "by joint", "additionalProperties": friction},
        "learnt": {"type": "integer", "description": "seconds of motion that have taught since the start"},
        "compensation": {
            "type": "object",
            "description": "by joint that has a learnt one",
            "additionalProperties": _object(
                "whether it is used",
                {
                    "on": {"type": "boolean", "description": "it is used"},
                    "ratio": _number("rms of the residual with it over that without, last 10 s of motion"),
                },
                ("on",),
            ),
        },
    }


CLOCK: Final[Schema] = {"$schema": DIALECT, "title": "clock"} | _object(
    "how the clocks stood to each other, in recordings only",
    {
        "timestamp": _number("Unix s"),
        "monotonic": _number("s of CLOCK_MONOTONIC at the same instant, which readings are stamped with"),
        "epoch": _text("ns from CLOCK_MONOTONIC to Unix time, exactly"),
    },
    ("timestamp", "monotonic", "epoch"),
)
SPECTRUM: Final = ("condition", "singular_values", "weakest")
WINDOW: Final = ("from", "to")
# family → (title, fields, fields that may be missing)
TOPICS: Final[dict[str, tuple[str, Callable[[Iterable[str]], Schema], frozenset[str]]]] = {
    "estimate/": ("parameters of a joint", _estimate, frozenset(("error", "forgetting", "states", *SPECTRUM))),
    "residual/": ("torque of a joint", _residual, frozenset(("measured", "predicted", "residual"))),
    "event/": ("something happened to a joint", _event, frozenset({*WINDOW, "search"})),
    "drift/": ("a joint against its baseline, or its start", _drift, frozenset(("reference",))),
    "change/": ("what has changed of a joint, until a person acknowledges it", _change, frozenset()),
    "wear/": ("dry wear of a joint beside heat and load", _wear, frozenset(("wear", "deviation"))),
    "lost_motion/": ("the gear between two encoders", _lost_motion, frozenset(("first",))),
    "summary/": ("what a fleet keeps of a joint", _summary, frozenset(("error",))),
    "clearance/": ("the clearance of a joint's bearing", _clearance, frozenset(("first",))),
    "robot": ("the whole robot", _robot, frozenset(("contact", "tool"))),
    "robot/parameters": ("parameters of the whole robot", _robot_parameters, frozenset()),
    "mechanism": ("a mechanism with loops", _mechanism, frozenset()),
    "process/": ("whether a process of the service lives", _process, frozenset()),
    "meta": ("names, units, models", _meta, frozenset()),
}


def schema(family: str, parameters: Iterable[str] = ()) -> Schema:
    """The schema of one family of topics; parameters: names of one joint's, where they are known."""
    title, fields, optional = TOPICS[family]
    properties = HEAD | fields(list(parameters))
    body = _object(title, properties, (name for name in properties if name not in optional))
    return {"$schema": DIALECT, "title": family.rstrip("/")} | body
