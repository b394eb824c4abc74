"""The catalogue of reasons: for each code its text, what it means and what to do.

`{name}` in a sentence is the reason's parameter, or one of its numbers or words. `jointwatch reasons` prints the page
docs/troubleshooting.md from it.
"""

from typing import Final, NamedTuple


class ReasonEntry(NamedTuple):
    """What there is to say of one code."""

    group: str  # heading of the page
    says: str  # the sentence, with its numbers
    means: str
    todo: str


_STATE: Final = "Not yet, or not now"
_MOTION: Final = "The motion does not show it"
_MISFIT: Final = "The model does not fit"
_ETA: Final = "Nonlinear parameters and known constants"
_MISTAKE: Final = "Mistakes of a configuration"
_CHANNEL: Final = "Channels"
_SIGNAL: Final = "Signals that cannot be true"
_GEAR: Final = "Lost motion of a gear"
_ROBOT: Final = "The whole robot"
_MECHANISM: Final = "A mechanism with loops"
_CLEARANCE: Final = "Clearance of a bearing"
_SERVICE: Final = "No data"

CATALOGUE: Final[dict[str, ReasonEntry]] = {
    "waiting_for_motion": ReasonEntry(
        _STATE,
        "waiting for motion",
        "No usable sample of the moving joint has come yet.",
        "Let the joint move. If it moves, look whether all its channels arrive: jointwatch doctor.",
    ),
    "kernels_compiling": ReasonEntry(
        _STATE,
        "kernels that are needed next are still being compiled",
        "At a first start a joint begins to learn before all kernels are compiled. It goes on as soon as they are.",
        "Wait; this takes less than a minute, once. jointwatch compile does it beforehand.",
    ),
    "restarting": ReasonEntry(
        _STATE,
        "the estimator starts again",
        "A value ran away or was no longer finite; the last event says which. What had been learnt is dropped.",
        "Wait for the new start. If it happens again, check scale and sign of the joint's channels.",
    ),
    "at_standstill": ReasonEntry(
        _STATE,
        "at standstill",
        "A joint at standstill teaches nothing. The values stay as they are and may be used if they were valid.",
        "Nothing. If the joint does move, its speed is below the limit that the event standstill states.",
    ),
    "alarm_stands": ReasonEntry(
        _STATE,
        "an alarm stands: values from before it",
        "The prediction error grew suddenly. The values from before are shown until the change is understood.",
        "Wait some seconds. If it does not end, look for a collision, another load or a slipping brake.",
    ),
    "unexplained_lately": ReasonEntry(
        _STATE,
        "the last rows are not explained: a change may have begun",
        "The prediction error has just grown beyond what is usual for the joint; an alarm follows if it stays so.",
        "Wait: after some tenths of a second of motion the error is small again, or an alarm is raised.",
    ),
    "not_identifiable": ReasonEntry(
        _MOTION,
        "{parameter} is not identifiable from the motion so far: it needs {needs}",
        "The motion contains no information about this parameter, so it has no standard deviation.",
        "Let it make {needs}.",
    ),
    "uncertain": ReasonEntry(
        _MOTION,
        "{parameter} is not certain enough yet: {value:.4g} ± {deviation:.2g}{unit}; it needs {needs}",
        "The standard deviation is more than 5 % of the value, and changes the torque by more than 1 % of its rms.",
        "Let it make {needs}.",
    ),
    "prediction_uncertain": ReasonEntry(
        _MOTION,
        "the predicted torque is uncertain by {percent:.1f} % of its rms",
        "Each parameter may be certain enough by itself, but all of them together change the torque by more than 1 %.",
        "Let it move longer, and through more speeds and positions.",
    ),
    "torque_peaks_low": ReasonEntry(
        _MOTION,
        "{parameter} is not certain enough yet: {value:.4g} ± {deviation:.2g}{unit}; "
        "it needs torque peaks above {wanted:.0f} N·m, there were {peak:.0f}",
        "The cubic stiffness of a spring is visible only under large torque through the gear.",
        "Let it make torque peaks above {wanted:.0f} N·m.",
    ),
    "implausible_value": ReasonEntry(
        _MOTION,
        "{parameter} = {value:.4g}{unit} is outside its plausible range [{low:g}, {high:g}]",
        "The value is outside its physical range by more than three standard deviations.",
        "Check sign, scale and unit of position and torque, and whether the model's kind is right.",
    ),
    "torque_lag": ReasonEntry(
        _MISFIT,
        "the torque is {lag} against the position",
        "Torque and position were not measured at the same instant, so part of the inertia's torque is taken for "
        "friction.",
        "Measure the lag with jointwatch skew and set delay of the channel.",
    ),
    "torque_repeats": ReasonEntry(
        _MISFIT,
        "a torque repeats {times:.0f} × a turn, {torque:.2g} N·m",
        "A torque depends on the angle: cogging, a bent shaft, an eccentric gear, or an unbalance.",
        "Give the model ripple with this number, or a gravity column where it repeats once a turn.",
    ),
    "torque_not_proportional": ReasonEntry(
        _MISFIT,
        "the measured torque is not proportional near zero: {torque:.2g} N·m are missing on either side (a dead zone)",
        "The residual follows the predicted torque where it changes its sign, as under a dead zone of the sensor or of "
        "the drive's scaling; a negative number is a step of the torque there. It biases all parameters.",
        "Switch off the dead band of the sensor or of the drive's scaling, or record the torque ahead of it.",
    ),
    "torque_not_linear": ReasonEntry(
        _MISFIT,
        "the measured torque is not proportional at high load, as where a motor's iron saturates",
        "The residual follows the cube of the predicted torque: at high load the torque constant is different from "
        "that "
        "at low load, or the current sensor is not linear. It biases all parameters.",
        "Convert the current by the motor's curve of torque over current, or limit the peaks of the torque.",
    ),
    "drive_elastic": ReasonEntry(
        _MISFIT,
        "part of the inertia is coupled elastically, as behind a belt or a slender shaft",
        "The residual follows the second derivative of the acceleration: the load oscillates behind the motor.",
        "Identify the joint as elastic (two_mass), or tighten the belt; slower motion makes the effect smaller.",
    ),
    "encoder_eccentric": ReasonEntry(
        _MISFIT,
        "the measured speed and acceleration have an error once a turn, as with an encoder whose disc is eccentric",
        "The residual follows speed and acceleration times the sine of the angle, so the position has an error once a "
        "turn.",
        "Check the encoder's disc and its coupling, or apply the encoder's calibration table.",
    ),
    "friction_shape": ReasonEntry(
        _MISFIT,
        "friction has another shape over speed than the law's",
        "The residual follows the speed: the friction law cannot describe the friction curve of this joint.",
        "Choose a law with more parameters: see docs/models.md.",
    ),
    "friction_direction": ReasonEntry(
        _MISFIT,
        "friction differs between the directions",
        "The residual follows the magnitude of the speed: friction is larger in one direction than in the other.",
        "Choose a friction law with a value for each direction: see docs/models.md.",
    ),
    "friction_load": ReasonEntry(
        _MISFIT,
        "friction grows with the load that the joint carries",
        "The residual follows the direction of motion times the load, as in gears and bearings under pressure.",
        "Measure the load and use the friction law load_dependent; without that, compare values only under similar "
        "loads.",
    ),
    "friction_place": ReasonEntry(
        _MISFIT,
        "friction changes with the angle of the joint",
        "The residual follows the direction of motion times the sine of the angle: friction is larger on one side of "
        "a turn.",
        "Look for a bent shaft, a gear out of line, a cable or a seal that drags, or a bearing worn on one side.",
    ),
    "friction_memory": ReasonEntry(
        _MISFIT,
        "friction remembers where the joint turned (a law with memory: prandtl_ishlinskii)",
        "After each reversal friction builds up over some milliradians, as presliding and backlash do.",
        "Use the friction law prandtl_ishlinskii.",
    ),
    "residual_not_noise": ReasonEntry(
        _MISFIT,
        "the residual is correlated, not noise, and no known cause explains it",
        "Consecutive residuals are similar, so the values are less certain than with noise alone.",
        "Look at the residual over time on the page: something acts on the joint that the model does not contain.",
    ),
    "encoder_steps": ReasonEntry(
        _MISFIT,
        "the encoder's steps of {step:.2g} are too coarse for it under this kernel "
        "(conditioning.half_width = {half_width:.2g} s would do)",
        "Differentiating a coarse position gives noise that cannot be distinguished from the parameter.",
        "Set conditioning.half_width = {half_width:.2g}, or move the joint faster.",
    ),
    "instant_not_identifiable": ReasonEntry(
        _MISFIT,
        "this motion does not show whether torque and position are of the same instant",
        "A lag between torque and position would change this value, and this motion cannot show whether there is one.",
        "Let it change its speed more often, or set delay of the channel from jointwatch skew.",
    ),
    "reversal_friction": ReasonEntry(
        _MISFIT,
        "where the joint turns round, friction is not what its law says",
        "Rows just after a reversal give another value than the others: backlash, or friction with memory.",
        "Let it move farther between reversals, or use the friction law prandtl_ishlinskii.",
    ),
    "torque_moves_nothing": ReasonEntry(
        _MISFIT,
        "the torque does not move the joint: neither inertia nor friction is in it",
        "The measured torque only holds the weight of the joint, and something else moves it: a hand, or another "
        "drive. "
        "Or the signal is not the whole torque, but only the part that compensates the weight.",
        "If the joint is guided by hand, let it go: the values follow within seconds. Else check which signal is "
        "configured as "
        "the torque.",
    ),
    "nonlinear_uncertain": ReasonEntry(
        _ETA,
        "{parameter} = {value:.4g}{unit} is uncertain by {percent:.0f} %",
        "After the search of the friction law's shape, the uncertainty of this parameter is more than 8 %.",
        "Let it pass slowly through standstill and through many speeds.",
    ),
    "nonlinear_at_range_end": ReasonEntry(
        _ETA,
        "{parameter} is at the end of its range",
        "The best value of the search is a limit of the parameter's plausible range.",
        "Let it move through more speeds. If it stays, another friction law fits better.",
    ),
    "coefficient_negative": ReasonEntry(
        _ETA,
        "{parameter} would be negative",
        "Without its bound the fit would give a negative value, which has no physical meaning.",
        "Check the sign of the torque; else choose a friction law without this term.",
    ),
    "second_minimum": ReasonEntry(
        _ETA,
        "{cause}",
        "Two shapes of the friction law explain the motion almost equally well.",
        "Let it pass slowly through standstill and through many speeds.",
    ),
    "search_failed": ReasonEntry(
        _ETA,
        "the search of the nonlinear parameters gave no result: {cause}",
        "The window of the start could not be fitted.",
        "Let it go on with a different motion: the search is repeated with more data.",
    ),
    "start_unsettled": ReasonEntry(
        _ETA,
        "the start does not meet the configured limits: {cause}",
        "monitor.delta or monitor.delta_theta of the configuration is smaller than the motion so far can reach.",
        "Let it go on with a different motion, or set larger limits: the search is repeated with more data.",
    ),
    "nonlinear_encoder_steps": ReasonEntry(
        _ETA,
        "{parameter} = {value:.4g}{unit} is uncertain by {percent:.0f} %: "
        "where the joint turns, its encoder's steps are too coarse for it",
        "The value changes by more than 8 % with the place between two steps at which the joint turns.",
        "Let it reverse at different positions, or use an encoder with smaller steps.",
    ),
    "constant_wrong": ReasonEntry(
        _ETA,
        "something taken as known is wrong, most likely {suspects}",
        "The residual shows an error of a configured constant; every value that depends on it has the same error.",
        "Check this constant in the configuration against the data sheet: {parameter}.",
    ),
    "constant_or_encoder_steps": ReasonEntry(
        _ETA,
        "the encoders' steps are too coarse for this joint: they look like an error of {suspects}",
        "An error of a constant and the rounding of the encoders cannot be distinguished here.",
        "Use encoders with smaller steps, or let the joint move faster.",
    ),
    "position_in_degrees": ReasonEntry(
        _MISTAKE,
        "the position looks like degrees",
        "The gravity torque fits the position in degrees and not in radians, or one turn is 360.",
        'Give the position its unit: unit = "deg" in a table of columns, scale = 0.0174533 in a configuration.',
    ),
    "position_wraps": ReasonEntry(
        _MISTAKE,
        "the position jumps by a whole turn, {jumps:.0f} times",
        "The encoder starts again after one turn, and no joint moves a turn between two samples.",
        "Set wrap = 6.2832 for the position.",
    ),
    "channels_exchanged": ReasonEntry(
        _MISTAKE,
        "position and torque look exchanged",
        "The position channel fits as a torque that causes the motion in the torque channel.",
        "Exchange the two signals (or columns).",
    ),
    "joints_exchanged": ReasonEntry(
        _MISTAKE,
        "the torque looks like that of {other}, and that of {other} like its own",
        "The motion of each of two joints explains the torque of the other joint, and not its own.",
        "Exchange the torque signals (or columns) of the two joints.",
    ),
    "torque_sign_reversed": ReasonEntry(
        _MISTAKE,
        "the sign of the torque looks reversed against the position",
        "Inertia and friction would be negative: the torque and the position count in opposite directions.",
        "Set scale = -1 for the torque (where it has a scale, the negative of it), or for the position where that one "
        "counts the other way.",
    ),
    "position_sign_reversed": ReasonEntry(
        _MISTAKE,
        "the sign of the position looks reversed",
        "Velocity and torque agree with each other, and neither with the position.",
        "Set scale = -1 for the position (where it has a scale, the negative of it).",
    ),
    "velocity_sign_reversed": ReasonEntry(
        _MISTAKE,
        "the sign of the velocity looks reversed",
        "The velocity has the opposite sign of the position's derivative, and the torque agrees with the position.",
        "Set scale = -1 for the velocity (where it has a scale, the negative of it).",
    ),
    "torque_scale": ReasonEntry(
        _MISTAKE,
        "the torque looks {factor:g} times too large",
        "The torque differs by a power of ten from what the known bodies need, or exceeds what the drive can give.",
        "Set scale = {scale:g} for the torque, and check its unit (mN·m?).",
    ),
    "torque_misaligned": ReasonEntry(
        _MISTAKE,
        "the torque looks {milliseconds:.1f} ± {deviation:.1f} ms {way}",
        "The equation of motion explains the torque better at another instant than that of the position.",
        "Run jointwatch skew on a recording, and set delay of the channel as it says.",
    ),
    "current_as_torque": ReasonEntry(
        _MISTAKE,
        "the torque looks like a current: {cause}",
        "What is given as torque has another unit, for which the configuration has no scale.",
        "Set scale to the torque constant times the gear ratio, in N·m per A at the joint.",
    ),
    "time_factor": ReasonEntry(
        _MISTAKE,
        "the times look {factor:g} times as long as they are",
        "The velocity channel, or the inertia of the known bodies, does not fit the derivative of the position.",
        "Multiply rate by {factor:g}, or the times by {inverse:g}: jointwatch doctor measures the rate.",
    ),
    "time_in_milliseconds": ReasonEntry(
        _MISTAKE,
        "the times look like milliseconds read as seconds",
        "Read as seconds, the joint accelerates more slowly than any driven machine, or than its velocity channel "
        "says.",
        'Give the times their unit: time_unit = "ms".',
    ),
    "channel_dead": ReasonEntry(
        _CHANNEL,
        "{parameter} gave no finite value for {seconds:g} s",
        "The channel sends nothing that is a number.",
        "Check sensor, cable and decoding of this channel: jointwatch doctor shows what it sends.",
    ),
    "channel_stuck": ReasonEntry(
        _CHANNEL,
        "{parameter} stays at {value:.6g} although other channels change",
        "The sensor, or the device that sends it, repeats one value.",
        "Check this sensor: jointwatch doctor shows what it sends.",
    ),
    "channel_out_of_range": ReasonEntry(
        _CHANNEL,
        "{parameter} had impossible values, which are left out",
        "Single values were a thousand times beyond the usual spread: a wrong bit, a glitch, a wrong scale.",
        "Check cable, scale and byte order of this channel.",
    ),
    "channel_uneven": ReasonEntry(
        _CHANNEL,
        "{parameter} is sampled unevenly, which causes wrong accelerations",
        "The position's samples are not taken at equal intervals, which looks like acceleration.",
        "Let the device send its own clock and configure it as counter, or sample evenly.",
    ),
    "kernel_too_wide": ReasonEntry(
        _CHANNEL,
        "{parameter}: the kernel that its steps need, {half_width:.2g} s, passes only {percent:.0f} % of the motion: "
        "set conditioning.half_width for a joint that moves so fast",
        "The joint moves faster than the smoothing for its coarse encoder can follow.",
        "Set a smaller conditioning.half_width, or use an encoder with smaller steps.",
    ),
    "gear_window_filling": ReasonEntry(
        _GEAR,
        "{percent:.0f} % of the rows that a first window takes",
        "The first window of usable rows is not full yet.",
        "Let the joint move under load, with changes of the load's sign.",
    ),
    "gear_load_one_sided": ReasonEntry(
        _GEAR,
        "the load is one-sided: {percent:.0f} % of the rows have the rarer sign, {needed:.0f} % are needed",
        "Lost motion shows only when the load pushes the gear to either side.",
        "Let the load act in both directions, for example by moving through the balance point.",
    ),
    "gear_few_reversals": ReasonEntry(
        _GEAR,
        "the load changed its sign {reversals:.0f} times, {needed:.0f} are needed",
        "Each change of the load's sign shows the lost motion once; there were too few of them.",
        "Let the load change its direction more often.",
    ),
    "gear_gap_uncertain": ReasonEntry(
        _GEAR,
        "from the motor alone lost motion is {lost:.0f} ± {deviation:.0f} µrad: uncertain by more than a tenth",
        "Without an encoder on the link, lost motion is reported only where its deviation is a tenth of it at most. It "
        "is more with small gaps, noisy currents, low rates and heavy friction.",
        "Let the load change its direction more often and faster, or give the link an encoder.",
    ),
    "gear_sign_imitated": ReasonEntry(
        _GEAR,
        "other columns imitate the load's sign (R² {r2:.3f}, below {limit:g} is needed)",
        "The load's sign changes together with something else, so that the two cannot be distinguished.",
        "Let load, speed and direction change independently of each other.",
    ),
    "gear_twist_small": ReasonEntry(
        _GEAR,
        "the torque does not twist the gear measurably",
        "The stiffness is not more than two standard deviations above zero.",
        "Use more torque, and check that both encoders and the ratio are right.",
    ),
    "clearance_filling": ReasonEntry(
        _CLEARANCE,
        "{percent:.0f} % of the places that a first window takes",
        "The first window of the pin's places is not full yet.",
        "Let the joint move for half a minute.",
    ),
    "clearance_arc": ReasonEntry(
        _CLEARANCE,
        "the pin has visited {arc:.0f}° of its circle, {needed:.0f}° are needed",
        "On a short arc the circle's radius and centre cannot be distinguished.",
        "Let the load turn: over the top, or fast about a vertical axis.",
    ),
    "clearance_changing": ReasonEntry(
        _CLEARANCE,
        "the halves of the window show {older:.1f} and {newer:.1f} µm",
        "The clearance, or the place of a sensor, has changed within the window.",
        "Wait for half a minute of motion. If it stays so, look whether a sensor is loose.",
    ),
    "clearance_swings": ReasonEntry(
        _CLEARANCE,
        "the load has changed its side {reversals:.0f} times where {needed:.0f} are needed, and its direction explains "
        "{percent:.0f} % of what the ring shows where {limit:.0f} % are needed",
        "The encoders on either side of the bearing see the clearance where its load passes from one side of the "
        "ring's head to the other.",
        "Let the joint speed up and brake many times a minute. If it does, check ring_radius, gravity, centre and "
        "upright of `clearance`, and that the ring has one head.",
    ),
    "clearance_skew": ReasonEntry(
        _CLEARANCE,
        "the ring is read {milliseconds:.1f} ms before or after the motor's encoder, which looks like a clearance",
        "Both encoders are compared at one instant; the clocks of their frames do not say when that was.",
        "Send both encoders in one frame, or give the frames a counter or a device's time. A clock that has just "
        "begun, or a busy machine, settles by itself.",
    ),
    "clearance_twist": ReasonEntry(
        _CLEARANCE,
        "{percent:.0f} % of what the ring shows grow with the torque, where {limit:.0f} % may",
        "Something between the two encoders twists: a gear, a shaft or a coupling.",
        "Give the joint `lost_motion` instead, which separates the twist from the lost motion.",
    ),
    "clearance_none": ReasonEntry(
        _CLEARANCE,
        "{value:.1f} ± {deviation:.1f} µm is no clearance of a bearing",
        "What the sensors show is not larger than its own uncertainty, or far too large.",
        "Check scale and place of the proximity sensors, or the ring's radius.",
    ),
    "drives_incomplete": ReasonEntry(
        _MECHANISM,
        "no row with every drive of the mechanism in it yet",
        "The mechanism's model needs position and torque of all its drives at the same instants.",
        "Check that every drive of the mechanism sends its position and torque.",
    ),
    "loops_open": ReasonEntry(
        _MECHANISM,
        "{cause}",
        "With the positions that the drives send, the model's links cannot be joined, or do not determine a motion.",
        "Check the drives' scale, sign and zero, and the points of the cuts in the mechanism file.",
    ),
    "mechanism_friction": ReasonEntry(
        _MECHANISM,
        "{parameter} feels {percent:.0f} % of the model's friction",
        "The friction of the bearings, as this drive feels it, has changed since the mechanism was identified.",
        "Look at the bearings: lubrication, preload, temperature. If the change stays, identify the mechanism anew.",
    ),
    "mechanism_unexplained": ReasonEntry(
        _MECHANISM,
        "the mechanism's model leaves {percent:.0f} % of the torque unexplained",
        "The torque of the drives does not follow from the model, so its constraint forces are doubtful, too.",
        "Identify the mechanism from its own recordings: jointwatch identify.",
    ),
    "joint_faulted": ReasonEntry(
        _ROBOT,
        "{parameter}: {cause}",
        "A joint of the model gives no rows, so there is no torque of the whole robot to compare with.",
        "Remove the cause that is named; the robot goes on with the joint's next row.",
    ),
    "incomplete_row": ReasonEntry(
        _ROBOT,
        "no row with every joint in it yet",
        "The whole robot's model needs position and torque of all its joints at the same instants.",
        "Check that every joint of the model sends its position and torque.",
    ),
    "robot_starting": ReasonEntry(
        _ROBOT,
        "the start lasts {seconds:.0f} s of motion",
        "Thresholds of the residual torques come from undisturbed motion at the start.",
        "Let the robot move without touching it.",
    ),
    "torque_unexplained": ReasonEntry(
        _ROBOT,
        "torque that the model does not explain",
        "The residual of at least one joint is beyond its threshold, or has been just before.",
        "Look for what touches the robot. If nothing does, friction, a cable or the tool has changed.",
    ),
    "payload_carried": ReasonEntry(
        _ROBOT,
        "a payload is carried: the model stays as it is",
        "The robot carries a body that its model does not have, so the model does not learn meanwhile.",
        "Nothing needs to be done. If the robot carries nothing, its tool differs from the model's.",
    ),
    "payload_below_zero": ReasonEntry(
        _ROBOT,
        "the robot seems to carry {missing:.2g} ± {deviation:.2g} kg less than its model: a payload cannot have a "
        "negative mass",
        "The torque fits a body of negative mass. Samples that were lost under overload, a bad clock, a tool that the "
        "model has and the robot has not, or a wrong sign of torque make it so. The model does not learn meanwhile.",
        "Look at lost samples and at the clock first (`jointwatch doctor`). If both are in order, put on the tool that "
        "the robot was identified with, or identify it again without.",
    ),
    "robot_unexplained": ReasonEntry(
        _ROBOT,
        "{percent:.0f} % of the torque of all joints is unexplained",
        "In the last ten seconds of motion, neither the model nor what was found explains more than 5 % of the torque.",
        "Look at the findings. If there is none, identify the robot again on motion like this one.",
    ),
    "robot_torque_constant": ReasonEntry(
        _ROBOT,
        "{parameter}: its torque is reported with another factor than before",
        "The residual of this joint follows all of its torque. The model does not learn meanwhile.",
        "Look at the torque constant, the gain of the sensor, and the drive's settings; then identify the robot again.",
    ),
    "robot_encoder_slip": ReasonEntry(
        _ROBOT,
        "{parameter}: its encoder reads another angle than before",
        "The residuals are those of a robot whose joint has another angle than reported. The model does not learn "
        "meanwhile.",
        "Look at the coupling of the encoder and at its zero, and set the joint's zero anew.",
    ),
    "robot_base_tilt": ReasonEntry(
        _ROBOT,
        "the base is not mounted as in the model",
        "The residuals fit another direction of gravity. The model does not learn meanwhile.",
        "Level the base, or give the model its true mounting.",
    ),
    "robot_spring": ReasonEntry(
        _ROBOT,
        "{parameter}: a torque acts on it that follows its angle, as of a spring",
        "The residual of this joint alone grows with its angle: a hose or cable that pulls, or a balancer. The finding "
        "has its stiffness and where it is at rest. The model does not learn meanwhile.",
        "Move the joint by hand through its range, and look where cables and hoses catch or are stretched. If what "
        "pulls is to stay, identify the robot again.",
    ),
    "friction_refused": ReasonEntry(
        _ROBOT,
        "{parameter}: friction has left its law, and {searches:.0f} searches of its nonlinear parameters were refused, "
        "the last one since {cause}",
        "Since a change the joint's torque no longer fits its friction law, and no values of the law's nonlinear "
        "parameters explain the motion. The model does not learn meanwhile.",
        "Look at the joint's bearing, brake, gear and lubrication. If it is as it should be, identify the robot again; "
        "if that is refused, too, with another friction law: see docs/robot.md.",
    ),
    "friction_beyond_law": ReasonEntry(
        _ROBOT,
        "{parameter}: friction differs from its law by {torque:+.2g}{unit} at {speed:.2g} {rate}, "
        "{percent:.0f} % of its torque",
        "At this speed the friction of the joint differs from the law by more than 5 % of the joint's torque.",
        "Identify the robot again with a friction law that has this shape: see docs/robot.md.",
    ),
    "wrong_rate": ReasonEntry(
        _SIGNAL,
        "the stream {signal} arrives at {arrives:.4g} Hz, `rate` says {configured:.4g}",
        "Speeds and accelerations come from the time between samples. With a wrong rate all of them are wrong.",
        "Set rate = {arrives:.4g} (the channel's, where it has its own), or let the device send {configured:.4g} Hz.",
    ),
    "counter_stuck": ReasonEntry(
        _SIGNAL,
        "the counter of {signal} is stuck",
        "Values change from frame to frame and the counter does not, so lost samples cannot be counted.",
        "Check that counter.signal names the device's sample counter; without a counter leave the section out.",
    ),
    "counter_jumps": ReasonEntry(
        _SIGNAL,
        "the counter of {signal} jumps at random",
        "A counter grows by one from sample to sample. This one leaps by another number each time.",
        "Check that counter.signal names the device's sample counter, and its type and modulo.",
    ),
    "counter_backwards": ReasonEntry(
        _SIGNAL,
        "the counter of {signal} counts down",
        "A counter grows by one from sample to sample. This one becomes smaller.",
        "Check the counter's type and byte order; without a usable counter leave the section out.",
    ),
    "counter_fast": ReasonEntry(
        _SIGNAL,
        "the counter of {signal} counts {arrives:.4g} samples a second, `rate` says {configured:.4g}",
        "Frames arrive as often as `rate` says, but the counter grows by more than one from frame to frame, so samples "
        "seem to be lost.",
        "Set rate = {arrives:.4g} if the device samples so often and sends some of its samples; else leave the counter "
        "out.",
    ),
    "counter_smaller": ReasonEntry(
        _SIGNAL,
        "the counter of {signal} starts again after {modulo:.0f} samples, its modulo says otherwise",
        "At each new start of the counter samples seem to be lost, or to come again.",
        "Set counter.modulo = {modulo:.0f}.",
    ),
    "frames_disordered": ReasonEntry(
        _SIGNAL,
        "frames of {signal} come out of order: {percent:.0f} % of them are behind their predecessor",
        "The counter shows that frames overtake each other, more often than the gaps can be bridged.",
        "Look at what lies between the device and this computer: a queue or a log that changes the order of frames.",
    ),
    "frames_zigzag": ReasonEntry(
        _SIGNAL,
        "frames of {signal} come out of order: the position jumps to and fro between evenly spaced places",
        "The positions that arrive are those of a smooth motion, but not in the order in which a joint passes them.",
        "Look at what lies between the device and this computer: a queue or a log that changes the order of frames. A "
        "counter would let the service restore it.",
    ),
    "frames_repeated": ReasonEntry(
        _SIGNAL,
        "frames of {signal} come more than once: {percent:.0f} % of them repeat the one before",
        "There is no counter that would show which frames are new, so each one counts as a sample.",
        "Let the device or the log send each sample once, or configure its counter: repeated frames are then dropped.",
    ),
    "values_held": ReasonEntry(
        _SIGNAL,
        "values of {signal} are held from frame to frame: {percent:.0f} % of them cannot have been sampled",
        "The frames arrive at the configured rate, but the device has new values less often and repeats the last one; "
        "the sentence ends with how often they are new.",
        "Set rate to the rate of new values, or let the device send each value once.",
    ),
    "encoder_frozen": ReasonEntry(
        _SIGNAL,
        "the encoder of {signal} is frozen, or was just before",
        "The position stopped, or leapt and moved on, faster than a joint with mass can, and was the same to the last "
        "bit between.",
        "Check the encoder, its cable and its power. The joint starts anew after a second of sound positions.",
    ),
    "encoder_leaps": ReasonEntry(
        _SIGNAL,
        "the encoder of {signal} leaps: in one frame it is somewhere else, and goes on from there",
        "What was learnt of the weight belongs to the places before. The joint starts anew after a second of sound "
        "positions.",
        "Check the encoder, its cable and its power. Where it starts again after a turn, set wrap.",
    ),
    "torque_held": ReasonEntry(
        _SIGNAL,
        "the torque of {signal} has a new value only in every {samples:.3g}th frame, and is held in between",
        "Positions are sampled in each frame, so the torque is late by a varying time.",
        "Set rate = {arrives:.4g}, at which both are new, or let the device send the torque of each sample.",
    ),
    "torque_frozen": ReasonEntry(
        _SIGNAL,
        "the torque of {signal} stays at {value:.4g} to the last bit while the joint moves",
        "The sensor is frozen, the drive is switched off, or it gives the largest torque that it can.",
        "Check the sensor and the drive: `jointwatch doctor` shows what it sends. If the drive is at its limit, set "
        "saturation.",
    ),
    "torque_clipped": ReasonEntry(
        _SIGNAL,
        "the torque of {signal} is clipped: it reaches {limit:.4g} again and again and stays exactly there",
        "The true torque is larger there, so inertia and friction come out too small.",
        "Set saturation = {limit:.4g}, so that clipped samples are left out, or widen the range of the sensor.",
    ),
    "torque_dead_zone": ReasonEntry(
        _SIGNAL,
        "the torque of {signal} has a dead zone: it stays at zero to the last bit where it changes its sign",
        "Small torques are reported as zero, so friction and gravity come out too small.",
        "Switch off the dead band of the sensor or of the drive's scaling, or record the torque ahead of it.",
    ),
    "torque_drops": ReasonEntry(
        _SIGNAL,
        "the torque of {signal} drops to zero in {percent:.1f} % of the frames, and is back at once",
        "The device sends zero where it has no value, so all parameters come out too small by that share.",
        "Look why the value is missing: the cycle of the drive's bus is too short, or a sensor has a loose contact. "
        "Where the device has a mark for missing values, set invalid.",
    ),
    "no_data": ReasonEntry(
        _SERVICE,
        "no data for {seconds:.1f} s",
        "None of the joint's channels has sent anything for longer than stale.",
        "Check its power, cable and interface; the page's view Acquisition says which bus.",
    ),
    "few_rows": ReasonEntry(
        _SERVICE,
        "gaps leave {percent:.0f} % of the rows: a row needs {samples:.0f} samples without a gap",
        "Samples are lost so often that few rows can be formed. They are used, but a start takes longer.",
        "Look where samples are lost: jointwatch doctor. A larger bridge interpolates longer gaps, a smaller "
        "conditioning.half_width needs fewer samples.",
    ),
    "no_rows": ReasonEntry(
        _SERVICE,
        "readings arrive, but no row for {seconds:.1f} s: a row needs {samples:.0f} samples without a gap",
        "Samples are lost, repeated or out of order more often than a row's window is long, so nothing can be learnt.",
        "Compare the joint's rate with the device's, and look where samples are lost: jointwatch doctor. A larger "
        "bridge interpolates longer gaps, a smaller conditioning.half_width needs fewer samples.",
    ),
    "channel_silent": ReasonEntry(
        _SERVICE,
        "no {parameter} ({signal}) for {seconds:.1f} s",
        "The joint's other channels arrive, this one does not.",
        "Check the device that sends {signal}, and its cable.",
    ),
    "core_down": ReasonEntry(
        _SERVICE,
        "the core does not run{cause}",
        "The process that estimates has ended or hangs; the supervisor starts it again.",
        "Wait some seconds. If it does not come back, read the service's log: docs/faults.md.",
    ),
    "core_silent": ReasonEntry(
        _SERVICE,
        "the core has sent nothing for {seconds:.0f} s",
        "The estimating process sends nothing: it hangs, or the machine is overloaded.",
        "Wait some seconds. If it does not come back, read the service's log: docs/faults.md.",
    ),
}
