"""The messages of the stream as types. Made by `jointwatch schema --as python`; never changed by hand.

A number that is not known is NaN. A key that is NotRequired may be missing.
"""

from typing import Final, Literal, NotRequired, TypedDict

from jointwatch_client.family import Family

__all__ = [
    "CHANGE",
    "CLEARANCE",
    "DRIFT",
    "ESTIMATE",
    "EVENT",
    "LOST_MOTION",
    "MECHANISM",
    "META",
    "PROCESS",
    "RESIDUAL",
    "ROBOT",
    "ROBOT_PARAMETERS",
    "SUMMARY",
    "WEAR",
    "ChangeMessage",
    "ChangeMessageRecord",
    "ChangeMessageRecordEvidence",
    "ChangeMessageRecordRanked",
    "ChangeMessageRecordReference",
    "ClearanceMessage",
    "ClearanceMessageWay",
    "DriftMessage",
    "DriftMessageReference",
    "EstimateMessage",
    "EstimateMessageHealth",
    "EstimateMessageHealthReason",
    "EstimateMessageHealthReasonCode",
    "EstimateMessageHealthStatus",
    "EstimateMessagePhase",
    "EstimateMessageState",
    "EstimateMessageStateState",
    "EventMessage",
    "EventMessageKind",
    "EventMessageSearch",
    "JointMessage",
    "LostMotionMessage",
    "MechanismMessage",
    "MechanismMessageDrive",
    "MechanismMessageJoint",
    "MetaMessage",
    "MetaMessageJoint",
    "MetaMessageJointParameter",
    "ProcessMessage",
    "ResidualMessage",
    "RobotMessage",
    "RobotMessageContact",
    "RobotMessageFinding",
    "RobotMessageJoint",
    "RobotMessagePayload",
    "RobotMessageTool",
    "RobotParametersMessage",
    "RobotParametersMessageCompensation",
    "RobotParametersMessageFriction",
    "StreamMessage",
    "SummaryMessage",
    "SummaryMessageStatus",
    "SummaryMessageUse",
    "WearMessage",
]


class StreamMessage(TypedDict):
    """What every message has."""

    # Unix s of the instant that the message describes
    timestamp: float
    # version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone
    v: Literal[2]
    # [robot] name
    robot: str
    # counts up by one per topic; a repeated number is a message that was received before
    seq: int
    # changes when the core restarts; seq then begins again
    boot: int


class JointMessage(StreamMessage):
    """What every message of a joint has."""

    # [joints.NAME]
    joint: str


EstimateMessagePhase = Literal[
    "waiting",
    "starting",
    "normal",
    "transient",
    "held",
    "faulted",
]


EstimateMessageStateState = Literal[
    "known",
    "not_identifiable",
    "doubtful",
]


EstimateMessageState = TypedDict(
    "EstimateMessageState",
    {
        # known: its value may be used; not_identifiable: this motion does not tell it apart from others, as its
        # deviation says; doubtful: not certain enough, whatever the others are
        "state": EstimateMessageStateState,
        # the parameters from which it is not identifiable
        "from": NotRequired[list[str]],
        # true where it is not identifiable from a torque that the model may lack, or from an error of the position
        "unmodelled_torque": NotRequired[bool],
    },
)


EstimateMessageHealthStatus = Literal[
    "unestimated",
    "learning",
    "valid",
    "held",
    "faulted",
]


EstimateMessageHealthReasonCode = Literal[
    "waiting_for_motion",
    "kernels_compiling",
    "restarting",
    "at_standstill",
    "alarm_stands",
    "unexplained_lately",
    "not_identifiable",
    "uncertain",
    "prediction_uncertain",
    "torque_peaks_low",
    "implausible_value",
    "torque_lag",
    "torque_repeats",
    "torque_not_proportional",
    "torque_not_linear",
    "drive_elastic",
    "encoder_eccentric",
    "friction_shape",
    "friction_direction",
    "friction_load",
    "friction_place",
    "friction_memory",
    "residual_not_noise",
    "encoder_steps",
    "instant_not_identifiable",
    "reversal_friction",
    "torque_moves_nothing",
    "nonlinear_uncertain",
    "nonlinear_at_range_end",
    "coefficient_negative",
    "second_minimum",
    "search_failed",
    "start_unsettled",
    "nonlinear_encoder_steps",
    "constant_wrong",
    "constant_or_encoder_steps",
    "position_in_degrees",
    "position_wraps",
    "channels_exchanged",
    "joints_exchanged",
    "torque_sign_reversed",
    "position_sign_reversed",
    "velocity_sign_reversed",
    "torque_scale",
    "torque_misaligned",
    "current_as_torque",
    "time_factor",
    "time_in_milliseconds",
    "channel_dead",
    "channel_stuck",
    "channel_out_of_range",
    "channel_uneven",
    "kernel_too_wide",
    "gear_window_filling",
    "gear_load_one_sided",
    "gear_few_reversals",
    "gear_gap_uncertain",
    "gear_sign_imitated",
    "gear_twist_small",
    "clearance_filling",
    "clearance_arc",
    "clearance_changing",
    "clearance_swings",
    "clearance_skew",
    "clearance_twist",
    "clearance_none",
    "drives_incomplete",
    "loops_open",
    "mechanism_friction",
    "mechanism_unexplained",
    "joint_faulted",
    "incomplete_row",
    "robot_starting",
    "torque_unexplained",
    "payload_carried",
    "payload_below_zero",
    "robot_unexplained",
    "robot_torque_constant",
    "robot_encoder_slip",
    "robot_base_tilt",
    "robot_spring",
    "friction_refused",
    "friction_beyond_law",
    "wrong_rate",
    "counter_stuck",
    "counter_jumps",
    "counter_backwards",
    "counter_fast",
    "counter_smaller",
    "frames_disordered",
    "frames_zigzag",
    "frames_repeated",
    "values_held",
    "encoder_frozen",
    "encoder_leaps",
    "torque_held",
    "torque_frozen",
    "torque_clipped",
    "torque_dead_zone",
    "torque_drops",
    "no_data",
    "few_rows",
    "no_rows",
    "channel_silent",
    "core_down",
    "core_silent",
]


class EstimateMessageHealthReason(TypedDict):
    """One reason."""

    # code of the reason, see docs/troubleshooting.md
    code: EstimateMessageHealthReasonCode
    # its subject: a parameter, channel, joint or known constant
    parameter: NotRequired[str]
    # numbers in the sentence by short names, SI or %
    numbers: NotRequired[dict[str, float]]
    # words in the sentence by short names
    words: NotRequired[dict[str, str]]
    # the sentence, with its numbers
    text: str


class EstimateMessageHealth(TypedDict):
    """Whether to trust the values."""

    # what a consumer may do with them
    status: EstimateMessageHealthStatus
    # why the status is not valid
    reasons: list[EstimateMessageHealthReason]


class EstimateMessage(JointMessage):
    """Parameters of a joint."""

    # what the estimator does
    phase: EstimateMessagePhase
    # estimates, in the units of meta
    parameters: dict[str, float]
    # their standard deviations
    deviations: dict[str, float]
    # state of each parameter; omitted while nothing is known
    states: NotRequired[dict[str, EstimateMessageState]]
    # rms prediction error over rms measured, of the last seconds
    error: NotRequired[float]
    # lambda of the last update; 1 forgets nothing
    forgetting: NotRequired[float]
    # of the starting procedure, per cent
    progress: float
    # of the motion so far while starting, then of the last start or refit; 1 is best
    condition: NotRequired[float]
    # of its regressor, columns whitened and of length one, largest first
    singular_values: NotRequired[list[float]]
    # the parameters that it separates least
    weakest: NotRequired[str]
    # whether to trust the values
    health: EstimateMessageHealth
    # Unix s of the arrival of the newest frame that was used
    arrival: float
    # s from that arrival to this message
    latency: float


class ResidualMessage(JointMessage):
    """Torque of a joint."""

    # measured torque (force) of the last row
    measured: NotRequired[float]
    # torque (force) of the last row by the model with the estimates
    predicted: NotRequired[float]
    # measured - predicted
    residual: NotRequired[float]
    # unit of the three values: N·m or N
    unit: str


EventMessageKind = Literal[
    "started",
    "alarm",
    "resumed",
    "transient",
    "refit_started",
    "refit_accepted",
    "refit",
    "refit_rejected",
    "law",
    "standstill",
    "bandwidth",
    "mistake",
    "kernel",
    "gradual",
    "scaled",
    "sharpened",
    "drift",
    "fault",
    "recovered",
    "held",
    "moving",
    "baseline",
    "contact",
    "compensation",
    "payload",
    "tool",
    "friction",
    "lost_motion_known",
    "lost_motion_grown",
    "clearance_known",
    "clearance_grown",
]


class EventMessageSearch(TypedDict):
    """How nonlinear parameters were found, of refit_accepted and refit_rejected."""

    # name of the global search method
    method: str
    # number of evaluated points
    visits: int
    # rms of the residual in the window
    evaluations: int
    # the second-best minimum: nonlinear parameter → value; absent where there is none
    runner_up: NotRequired[dict[str, float]]
    # difference of χ² between the second-best and the best minimum
    gap: NotRequired[float]


EventMessage = TypedDict(
    "EventMessage",
    {
        # Unix s of the instant that the message describes
        "timestamp": float,
        # version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone
        "v": Literal[2],
        # [robot] name
        "robot": str,
        # counts up by one per topic; a repeated number is a message that was received before
        "seq": int,
        # changes when the core restarts; seq then begins again
        "boot": int,
        # [joints.NAME]
        "joint": str,
        # started: the starting procedure has ended: every value may be used from now on; alarm: the residual has grown
        # beyond what it was at the start: something has changed; resumed: the core has restarted and continues with the
        # values from before; transient: values from before the change are reported until its cause is found;
        # refit_started: the nonlinear parameters are searched anew; refit_accepted: the search's result is used from
        # now on; refit: by how much it moved the nonlinear parameters; refit_rejected: the search's result is not used;
        # law: another friction law explains the motion better and is used from now on; standstill: the standstill
        # speed, below which the joint counts as at rest, was found from its motion; bandwidth: how much of the motion a
        # wide smoothing kernel lets pass: if less than half, set half_width; mistake: the channels suggest a mistake in
        # the configuration: which one, and what to do; kernel: the steps of an encoder need a wider smoothing kernel:
        # the joint is learnt anew with it; gradual: a parameter goes on changing slowly: its values follow, and their
        # deviations contain the delay; scaled: all parameters have changed by one factor: the torque constant, or its
        # sensor; sharpened: the nonlinear parameters are confirmed, and are more certain now; drift: a parameter has
        # left its limits around the baseline, or the shape of the friction curve changes; fault: the values must not be
        # used: no data, or an estimate that had to start again; recovered: a problem is over: new values after an
        # alarm, data again, or values within the limits again; held: the joint stands still: the values do not change;
        # moving: the joint moves again; baseline: the baseline with which values are compared from now on; contact: the
        # model does not explain the torque of some joints: a contact, or something has changed; compensation: what was
        # learnt about a joint's residual is used from now on, or no longer; payload: the robot carries a body that its
        # model does not know, or has put it down; tool: what the robot carries differs from the tool configured in its
        # controller, or no longer does; friction: the friction of a joint in the whole robot's model, or that a
        # mechanism's drive feels, has changed; lost_motion_known: the lost motion of the gear, from a first window of
        # rows with loads in both directions; lost_motion_grown: the gear's lost motion has grown beyond what it was at
        # first: wear; clearance_known: the clearance of the pin in its bearing, from a first window of positions;
        # clearance_grown: the bearing's clearance has grown beyond what it was at first: wear
        "kind": EventMessageKind,
        # the cause, in words
        "text": str,
        # Unix s of the first row that the event concerns
        "from": NotRequired[float],
        # Unix s of the last row that the event concerns
        "to": NotRequired[float],
        # how nonlinear parameters were found, of refit_accepted and refit_rejected
        "search": NotRequired[EventMessageSearch],
    },
)


DriftMessageReference = Literal[
    "baseline",
    "start",
]


class DriftMessage(JointMessage):
    """A joint against its baseline, or its start."""

    # Unix s at which the baseline was set
    since: float
    # parameters beyond their limits, with hysteresis
    drifted: list[str]
    # common cause of all drifted parameters, such as the torque's scale; empty if there is none
    cause: str
    # reference of the comparison: a baseline, or the values of the joint's own start
    reference: NotRequired[DriftMessageReference]
    # values of the reference
    baseline: dict[str, float]
    # estimate - baseline, in the parameter's unit
    change: dict[str, float]
    # change over |baseline|, per cent
    percent: dict[str, float]
    # change over its own standard deviation
    z: dict[str, float]


ChangeMessageRecordEvidence = Literal[
    "alarm",
    "gradual",
]


ChangeMessageRecordReference = Literal[
    "baseline",
    "start",
]


class ChangeMessageRecordRanked(TypedDict):
    """A cause."""

    # its name, or unknown
    cause: str
    # between 0 and 1, given that something has changed
    probability: float


ChangeMessageRecord = TypedDict(
    "ChangeMessageRecord",
    {
        # its name
        "parameter": str,
        # unit of both values
        "unit": str,
        # value of the reference
        "from": NotRequired[float],
        # its standard deviation
        "from_deviation": NotRequired[float],
        # newest value while the change lasts
        "to": NotRequired[float],
        # its standard deviation
        "to_deviation": NotRequired[float],
        # change over |from|, per cent; missing where from cannot be distinguished from zero
        "percent": NotRequired[float],
        # change over its standard deviation
        "z": NotRequired[float],
        # Unix s at which it began: the first row of its alarm, or when it was last within limits
        "since": float,
        # Unix s at which it was recorded
        "told": float,
        # alarm: it came with an alarm; gradual: without one
        "evidence": ChangeMessageRecordEvidence,
        # reference of the change
        "reference": ChangeMessageRecordReference,
        # common cause of all changes; empty if there is none
        "cause": NotRequired[str],
        # Unix s at which it was within its limits again; 0: it is not yet
        "over": float,
        # Unix s at which a person acknowledged it; 0: not yet
        "acknowledged": float,
        # likely cause in words; empty while it is unknown
        "diagnosis": NotRequired[str],
        # recommended action
        "remedy": NotRequired[str],
        # causes that explain the change, the most likely first
        "ranked": NotRequired[list[ChangeMessageRecordRanked]],
        # the sentence about it
        "text": str,
    },
)


class ChangeMessage(JointMessage):
    """What has changed of a joint, until a person acknowledges it."""

    # all changes, the oldest first
    records: list[ChangeMessageRecord]


class WearMessage(JointMessage):
    """Dry wear of a joint."""

    # Unix s of the beginning of the reference days
    since: float
    # Unix s of the end of the last day that was used; 0: none yet
    judged: float
    # days with motion so far
    days: int
    # growth of dry friction, corrected for heat and load, as a share; missing: not known yet
    wear: NotRequired[float]
    # its standard deviation
    deviation: NotRequired[float]
    # evidence for the growth, in standard deviations
    z: float
    # whether the growth is certain
    told: bool
    # Unix s of the day since which it has grown; 0 before it is reported
    onset: float
    # share of the last day's hours at temperatures that are new, where wear cannot be judged
    new: float
    # whether a thermometer is used; false: temperature from viscosity and losses
    thermometer: bool
    # growth of dry friction at which maintenance is needed, as a share
    limit: float
    # days in use to the limit: 10, 50 and 90 %; empty before an onset
    left: list[float]
    # parameter of the friction → range of its hours' means that heat and load explain
    usual: dict[str, list[float]]
    # the sentence about it
    text: str


class LostMotionMessage(JointMessage):
    """The gear between two encoders."""

    # of the gear, in the units of meta; lost_motion is 2b, from side to side
    parameters: dict[str, float]
    # their standard deviations, from blocks of rows
    deviations: dict[str, float]
    # whether lost_motion is known
    known: bool
    # why the value is unknown
    reasons: list[EstimateMessageHealthReason]
    # reversals of the load in the window
    reversals: int
    # share of the window's rows whose load has the rarer sign
    rarer: float
    # R² of the load's sign by the other columns
    imitated: float
    # progress of the first window, per cent
    progress: float
    # whether small loads show less lost motion: a spring that is soft at first
    soft: bool
    # lost_motion of the first window, rad: growth is measured against it
    first: NotRequired[float]
    # whether it has certainly grown beyond its limit since then
    grown: bool


SummaryMessageStatus = Literal[
    "unestimated",
    "learning",
    "valid",
    "held",
    "faulted",
]


class SummaryMessageUse(TypedDict):
    """Counted from the core's start to the beginning of this second."""

    # unit of travel: rad or m
    unit: str
    # seconds in motion
    seconds: float
    # total distance travelled in both directions
    travel: float
    # reversals of the direction of motion
    reversals: int
    # number of motions that began after a rest
    starts: int
    # newest temperature of the joint's channel, °C, if it has one
    temperature: NotRequired[float]


class SummaryMessage(JointMessage):
    """What a fleet keeps of a joint."""

    # kind of the model
    model: str
    # unit of torque or force
    unit: str
    # what the estimator does
    phase: EstimateMessagePhase
    # what a consumer may do with the values
    status: SummaryMessageStatus
    # estimates
    parameters: dict[str, float]
    # their standard deviations
    deviations: dict[str, float]
    # unit of each parameter
    units: dict[str, str]
    # rms prediction error over rms measured, of the last seconds
    error: NotRequired[float]
    # parameters whose change is not over, with their values before the change
    changed: dict[str, float]
    # counted from the core's start to the beginning of this second
    use: SummaryMessageUse


ClearanceMessageWay = Literal[
    "proximity sensors",
    "link ring",
]


class ClearanceMessage(JointMessage):
    """The clearance of a joint's bearing."""

    # method of measurement
    way: ClearanceMessageWay
    # radial clearance of the pin in its bearing, m; NaN if unknown
    clearance: float
    # its standard deviation, m
    deviation: float
    # whether there is a number
    known: bool
    # why the value is unknown
    reasons: list[EstimateMessageHealthReason]
    # progress of the first window, per cent
    progress: float
    # angle of the circle, rad, that the pin or its load has covered in the window
    arc: float
    # share of the window in which the pin touches its bearing; NaN if unknown
    touching: float
    # m, of the first window: growth is measured against it
    first: NotRequired[float]
    # whether it has certainly grown beyond its limit since then
    grown: bool


class RobotMessageJoint(TypedDict):
    """One joint."""

    # torque (force), low-passed
    measured: NotRequired[float]
    # torque (force) by the whole robot's model, including the payload
    predicted: NotRequired[float]
    # measured - predicted
    residual: NotRequired[float]
    # of the residual where nothing was wrong
    deviation: NotRequired[float]
    # of its magnitude, beyond which it is a contact or a change
    threshold: NotRequired[float]
    # it is beyond
    contact: bool
    # of predicted, what a learnt compensation gives; missing while none is used
    compensation: NotRequired[float]
    # N·m or N
    unit: str


class RobotMessagePayload(TypedDict):
    """Body that the last link carries in addition to the model."""

    # whether the payload is certain
    carried: bool
    # kg
    mass: NotRequired[float]
    # kg; where torque is motor current, with what is not known of its unit
    mass_deviation: NotRequired[float]
    # m, in the last link's frame
    centre: NotRequired[list[float]]
    # m
    centre_deviation: NotRequired[list[float]]
    # kg·m² about its centre: xx, xy, yy, xz, yz, zz; NaN where not identifiable
    inertia: NotRequired[list[float]]
    # kg·m²
    inertia_deviation: NotRequired[list[float]]


class RobotMessageContact(TypedDict):
    """Place of a contact by the residuals of all joints; missing while there is no contact."""

    # the joint that moves the link
    link: str
    # probability of that link among all links, 0 to 1
    probability: float
    # m, base frame: the link's outer end, at which the force is stated
    point: NotRequired[list[float]]
    # N, base frame
    force: NotRequired[list[float]]
    # N; about 1000 in a direction that the joints do not measure
    force_deviation: NotRequired[list[float]]


class RobotMessageTool(TypedDict):
    """Difference between the carried body and the controller's tool; missing if [robot.tool] is unset."""

    # whether they differ by four deviations, and by 0.25 kg or 20 mm
    differs: bool
    # in words; empty unless it differs
    text: str
    # kg
    mass: NotRequired[float]
    # kg
    mass_deviation: NotRequired[float]
    # m, in the last link's frame
    centre: NotRequired[list[float]]
    # m
    centre_deviation: NotRequired[list[float]]


class RobotMessageFinding(TypedDict):
    """One finding."""

    # permanent number of the finding
    number: float
    # since it began
    seconds: NotRequired[float]
    # contact, payload, tool, friction, torque_constant, encoder_slip, offset, base_tilt, spring, links
    cause: str
    # that it names
    joints: NotRequired[list[str]]
    # in words
    text: str
    # other causes that fit equally well
    others: NotRequired[list[str]]
    # whether it has passed, or is now part of the model
    over: bool


class RobotMessage(StreamMessage):
    """The whole robot."""

    # what the estimator does
    phase: EstimateMessagePhase
    # whether to trust the values
    health: EstimateMessageHealth
    # of the start, per cent
    progress: float
    # by name
    joints: dict[str, RobotMessageJoint]
    # body that the last link carries in addition to the model
    payload: RobotMessagePayload
    # place of a contact by the residuals of all joints; missing while there is no contact
    contact: NotRequired[RobotMessageContact]
    # difference between the carried body and the controller's tool; missing if [robot.tool] is unset
    tool: NotRequired[RobotMessageTool]
    # findings, the oldest first; each is refined as more becomes known
    findings: list[RobotMessageFinding]


class RobotParametersMessageFriction(TypedDict):
    """Friction torque of one joint at two speeds, the offset apart."""

    # rad/s (m/s)
    speeds: list[float]
    # N·m (N)
    torques: list[float]
    # N·m (N)
    deviations: list[float]


class RobotParametersMessageCompensation(TypedDict):
    """Whether it is used."""

    # it is used
    on: bool
    # rms of the residual with it over that without, last 10 s of motion
    ratio: NotRequired[float]


class RobotParametersMessage(StreamMessage):
    """Parameters of the whole robot."""

    # base parameters of the links, then friction and what else the model has
    parameters: dict[str, float]
    # their standard deviations
    deviations: dict[str, float]
    # by joint
    friction: dict[str, RobotParametersMessageFriction]
    # seconds of motion that were learnt from since the start
    learnt: int
    # by joint that has a learnt one
    compensation: dict[str, RobotParametersMessageCompensation]


class MechanismMessageDrive(TypedDict):
    """One drive."""

    # torque (force), low-passed
    measured: NotRequired[float]
    # the same from the mechanism's model, with the friction of every joint
    predicted: NotRequired[float]
    # measured - predicted
    residual: NotRequired[float]
    # of predicted, what the joints' friction makes of it
    friction: NotRequired[float]
    # of the residual where nothing was wrong
    deviation: NotRequired[float]
    # of its magnitude, beyond which it is a contact or a change
    threshold: NotRequired[float]
    # it is beyond
    contact: bool
    # factor of the drive's friction to the model's; missing while unknown
    friction_ratio: NotRequired[float]
    # its standard deviation
    friction_ratio_deviation: NotRequired[float]
    # N·m or N
    unit: str


class MechanismMessageJoint(TypedDict):
    """One joint of the tree, or one cut joint, with its forces by the model."""

    # N across its axis
    radial: NotRequired[float]
    # N along it; of a prismatic joint N·m about it
    axial: NotRequired[float]
    # N·m across it
    bending: NotRequired[float]
    # of its bearing, in its unit
    friction: NotRequired[float]
    # rad (m) of a joint of the tree; without an encoder by the loops
    position: NotRequired[float]
    # of its friction, N·m or N
    unit: str


class MechanismMessage(StreamMessage):
    """A mechanism with loops."""

    # what the estimator does
    phase: EstimateMessagePhase
    # whether to trust the values
    health: EstimateMessageHealth
    # of the start, per cent
    progress: float
    # by name in the mechanism
    drives: dict[str, MechanismMessageDrive]
    # by name in the mechanism
    joints: dict[str, MechanismMessageJoint]


class ProcessMessage(StreamMessage):
    """Whether a process of the service lives."""

    # outlet, core, refits, recorder, supervisor, or [drivers.NAME]
    name: str
    # whether it runs, and gave a sign of life in time
    up: bool
    # by the supervisor; of refits, by the core
    restarts: int
    # process id; 0: it does not run
    pid: int
    # the last reason why it died or was down
    cause: str
    # s since its last sign of life
    age: float
    # s of silence after which it is ended and restarted; 0: never
    deadline: float


class MetaMessageJointParameter(TypedDict):
    """One parameter."""

    # SI
    unit: str
    # lower end of the plausible range; omitted in recordings if unlimited
    low: NotRequired[float]
    # upper end of the plausible range; omitted in recordings if unlimited
    high: NotRequired[float]
    # equation that defines the parameter
    equation: str
    # meaning of the parameter
    meaning: NotRequired[str]
    # motion that would identify it
    needs: NotRequired[str]


class MetaMessageJoint(TypedDict):
    """One joint."""

    # kind of the model
    model: str
    # of torque or force
    unit: str
    # Hz of the samples
    rate: float
    # by name
    parameters: dict[str, MetaMessageJointParameter]


class MetaMessage(StreamMessage):
    """Names, units, models."""

    # digest of the configuration, which changes with any setting
    configuration: str
    # by name
    joints: dict[str, MetaMessageJoint]


ESTIMATE: Final = Family[EstimateMessage]("estimate/")
RESIDUAL: Final = Family[ResidualMessage]("residual/")
EVENT: Final = Family[EventMessage]("event/")
DRIFT: Final = Family[DriftMessage]("drift/")
CHANGE: Final = Family[ChangeMessage]("change/")
WEAR: Final = Family[WearMessage]("wear/")
LOST_MOTION: Final = Family[LostMotionMessage]("lost_motion/")
SUMMARY: Final = Family[SummaryMessage]("summary/")
CLEARANCE: Final = Family[ClearanceMessage]("clearance/")
ROBOT: Final = Family[RobotMessage]("robot")
ROBOT_PARAMETERS: Final = Family[RobotParametersMessage]("robot/parameters")
MECHANISM: Final = Family[MechanismMessage]("mechanism")
PROCESS: Final = Family[ProcessMessage]("process/")
META: Final = Family[MetaMessage]("meta")
