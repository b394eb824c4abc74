"""The fields of each topic of a whole robot, or of a mechanism with loops."""

from collections.abc import Iterable

from daq.stream.schema.fields import Schema, number, number_list, numbers_by_name, reason_list, table, text
from estimators.base import Phase, Status


def _robot_joint() -> Schema:
    return table(
        "one joint",
        {
            "measured": number("torque (force), low-passed"),
            "predicted": number("torque (force) by the whole robot's model, including the payload"),
            "residual": number("measured - predicted"),
            "deviation": number("of the residual where nothing was wrong"),
            "threshold": number("of its magnitude, beyond which it is a contact or a change"),
            "contact": {"type": "boolean", "description": "it is beyond"},
            "compensation": number("of predicted, what a learnt compensation gives; missing while none is used"),
            "unit": text("N·m or N"),
        },
        ("contact", "unit"),
    )


def _payload() -> Schema:
    return table(
        "body that the last link carries in addition to the model",
        {
            "carried": {"type": "boolean", "description": "whether the payload is certain"},
            "mass": number("kg"),
            "mass_deviation": number("kg; where torque is motor current, with what is not known of its unit"),
            "centre": number_list("m, in the last link's frame"),
            "centre_deviation": number_list("m"),
            "inertia": number_list("kg·m² about its centre: xx, xy, yy, xz, yz, zz; NaN where not identifiable"),
            "inertia_deviation": number_list("kg·m²"),
        },
        ("carried",),
    )


def _contact() -> Schema:
    return table(
        "place of a contact by the residuals of all joints; missing while there is no contact",
        {
            "link": text("the joint that moves the link"),
            "probability": number("probability of that link among all links, 0 to 1"),
            "point": number_list("m, base frame: the link's outer end, at which the force is stated"),
            "force": number_list("N, base frame"),
            "force_deviation": number_list("N; about 1000 in a direction that the joints do not measure"),
        },
        ("link", "probability"),
    )


def _tool() -> Schema:
    return table(
        "difference between the carried body and the controller's tool; missing if [robot.tool] is unset",
        {
            "differs": {
                "type": "boolean",
                "description": "whether they differ by four deviations, and by 0.25 kg or 20 mm",
            },
            "text": text("in words; empty unless it differs"),
            "mass": number("kg"),
            "mass_deviation": number("kg"),
            "centre": number_list("m, in the last link's frame"),
            "centre_deviation": number_list("m"),
        },
        ("differs", "text"),
    )


def _findings() -> Schema:
    return {
        "type": "array",
        "description": "findings, the oldest first; each is refined as more becomes known",
        "items": table(
            "one finding",
            {
                "number": number("permanent number of the finding"),
                "seconds": number("since it began"),
                "cause": text(
                    "contact, payload, tool, friction, torque_constant, encoder_slip, offset, base_tilt, spring, links"
                ),
                "joints": {"type": "array", "description": "that it names", "items": {"type": "string"}},
                "text": text("in words"),
                "others": {
                    "type": "array",
                    "description": "other causes that fit equally well",
                    "items": {"type": "string"},
                },
                "over": {"type": "boolean", "description": "whether it has passed, or is now part of the model"},
            },
            ("number", "cause", "text", "over"),
        ),
    }


def robot_fields(_: Iterable[str]) -> Schema:
    return {
        "phase": text("what the estimator does", (str(one) for one in Phase)),
        "health": table(
            "whether to trust the values",
            {
                "status": text("what a consumer may do with them", (str(one) for one in Status)),
                "reasons": reason_list("why the status is not valid"),
            },
            ("status", "reasons"),
        ),
        "progress": number("of the start, per cent"),
        "joints": {"type": "object", "description": "by name", "additionalProperties": _robot_joint()},
        "payload": _payload(),
        "contact": _contact(),
        "tool": _tool(),
        "findings": _findings(),
    }


def mechanism_fields(_: Iterable[str]) -> Schema:
    drive = table(
        "one drive",
        {
            "measured": number("torque (force), low-passed"),
            "predicted": number("the same from the mechanism's model, with the friction of every joint"),
            "residual": number("measured - predicted"),
            "friction": number("of predicted, what the joints' friction makes of it"),
            "deviation": number("of the residual where nothing was wrong"),
            "threshold": number("of its magnitude, beyond which it is a contact or a change"),
            "contact": {"type": "boolean", "description": "it is beyond"},
            "friction_ratio": number("factor of the drive's friction to the model's; missing while unknown"),
            "friction_ratio_deviation": number("its standard deviation"),
            "unit": text("N·m or N"),
        },
        ("contact", "unit"),
    )
    joint = table(
        "one joint of the tree, or one cut joint, with its forces by the model",
        {
            "radial": number("N across its axis"),
            "axial": number("N along it; of a prismatic joint N·m about it"),
            "bending": number("N·m across it"),
            "friction": number("of its bearing, in its unit"),
            "position": number("rad (m) of a joint of the tree; without an encoder by the loops"),
            "unit": text("of its friction, N·m or N"),
        },
        ("unit",),
    )
    return {
        "phase": text("what the estimator does", (str(one) for one in Phase)),
        "health": table(
            "whether to trust the values",
            {
                "status": text("what a consumer may do with them", (str(one) for one in Status)),
                "reasons": reason_list("why the status is not valid"),
            },
            ("status", "reasons"),
        ),
        "progress": number("of the start, per cent"),
        "drives": {"type": "object", "description": "by name in the mechanism", "additionalProperties": drive},
        "joints": {"type": "object", "description": "by name in the mechanism", "additionalProperties": joint},
    }


def robot_parameters_fields(_: Iterable[str]) -> Schema:
    friction = table(
        "friction torque of one joint at two speeds, the offset apart",
        {"speeds": number_list("rad/s (m/s)"), "torques": number_list("N·m (N)"), "deviations": number_list("N·m (N)")},
        ("speeds", "torques", "deviations"),
    )
    return {
        "parameters": numbers_by_name("base parameters of the links, then friction and what else the model has", ()),
        "deviations": numbers_by_name("their standard deviations", ()),
        "friction": {"type": "object", "description": "by joint", "additionalProperties": friction},
        "learnt": {"type": "integer", "description": "seconds of motion that were learnt from since the start"},
        "compensation": {
            "type": "object",
            "description": "by joint that has a learnt one",
            "additionalProperties": table(
                "whether it is used",
                {
                    "on": {"type": "boolean", "description": "it is used"},
                    "ratio": number("rms of the residual with it over that without, last 10 s of motion"),
                },
                ("on",),
            ),
        },
    }
