// The messages of jointwatch's stream. Made by `jointwatch schema --as typescript`; never changed by hand.
// Over ZeroMQ a message is two frames, [topic][msgpack map]; a number that is not known is NaN there, and left out or
// null in JSON. A field with a question mark may be missing.

/** estimate/NAME: parameters of a joint */
export interface Estimate {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** what the estimator does */
  phase: "waiting" | "starting" | "normal" | "transient" | "held" | "faulted";
  /** estimates, in the units of meta */
  parameters: Record<string, number>;
  /** their standard deviations */
  deviations: Record<string, number>;
  /** state of each parameter; omitted while nothing is known */
  states?: Record<string, {
    /**
     * known: its value may be used; not_identifiable: this motion does not tell it apart from others, as its
     * deviation says; doubtful: not certain enough, whatever the others are
     */
    state: "known" | "not_identifiable" | "doubtful";
    /** the parameters from which it is not identifiable */
    from?: Array<string>;
    /** true where it is not identifiable from a torque that the model may lack, or from an error of the position */
    unmodelled_torque?: boolean;
  }>;
  /** rms prediction error over rms measured, of the last seconds */
  error?: number;
  /** lambda of the last update; 1 forgets nothing */
  forgetting?: number;
  /** of the starting procedure, per cent */
  progress: number;
  /** of the motion so far while starting, then of the last start or refit; 1 is best */
  condition?: number;
  /** of its regressor, columns whitened and of length one, largest first */
  singular_values?: Array<number>;
  /** the parameters that it separates least */
  weakest?: string;
  /** whether to trust the values */
  health: {
    /** what a consumer may do with them */
    status: "unestimated" | "learning" | "valid" | "held" | "faulted";
    /** why the status is not valid */
    reasons: Array<{
      /** code of the reason, see docs/troubleshooting.md */
      code: "waiting_for_motion" | "kernels_compiling" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
      /** its subject: a parameter, channel, joint or known constant */
      parameter?: string;
      /** numbers in the sentence by short names, SI or % */
      numbers?: Record<string, number>;
      /** words in the sentence by short names */
      words?: Record<string, string>;
      /** the sentence, with its numbers */
      text: string;
    }>;
  };
  /** Unix s of the arrival of the newest frame that was used */
  arrival: number;
  /** s from that arrival to this message */
  latency: number;
}

/** residual/NAME: torque of a joint */
export interface Residual {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** measured torque (force) of the last row */
  measured?: number;
  /** torque (force) of the last row by the model with the estimates */
  predicted?: number;
  /** measured - predicted */
  residual?: number;
  /** unit of the three values: N·m or N */
  unit: string;
}

/** event/NAME: something happened to a joint */
export interface Event {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /**
   * started: the starting procedure has ended: every value may be used from now on; alarm: the residual has grown
   * beyond what it was at the start: something has changed; resumed: the core has restarted and continues with the
   * values from before; transient: values from before the change are reported until its cause is found;
   * refit_started: the nonlinear parameters are searched anew; refit_accepted: the search's result is used from now
   * on; refit: by how much it moved the nonlinear parameters; refit_rejected: the search's result is not used; law:
   * another friction law explains the motion better and is used from now on; standstill: the standstill speed,
   * below which the joint counts as at rest, was found from its motion; bandwidth: how much of the motion a wide
   * smoothing kernel lets pass: if less than half, set half_width; mistake: the channels suggest a mistake in the
   * configuration: which one, and what to do; kernel: the steps of an encoder need a wider smoothing kernel: the
   * joint is learnt anew with it; gradual: a parameter goes on changing slowly: its values follow, and their
   * deviations contain the delay; scaled: all parameters have changed by one factor: the torque constant, or its
   * sensor; sharpened: the nonlinear parameters are confirmed, and are more certain now; drift: a parameter has
   * left its limits around the baseline, or the shape of the friction curve changes; fault: the values must not be
   * used: no data, or an estimate that had to start again; recovered: a problem is over: new values after an alarm,
   * data again, or values within the limits again; held: the joint stands still: the values do not change; moving:
   * the joint moves again; baseline: the baseline with which values are compared from now on; contact: the model
   * does not explain the torque of some joints: a contact, or something has changed; compensation: what was learnt
   * about a joint's residual is used from now on, or no longer; payload: the robot carries a body that its model
   * does not know, or has put it down; tool: what the robot carries differs from the tool configured in its
   * controller, or no longer does; friction: the friction of a joint in the whole robot's model, or that a
   * mechanism's drive feels, has changed; lost_motion_known: the lost motion of the gear, from a first window of
   * rows with loads in both directions; lost_motion_grown: the gear's lost motion has grown beyond what it was at
   * first: wear; clearance_known: the clearance of the pin in its bearing, from a first window of positions;
   * clearance_grown: the bearing's clearance has grown beyond what it was at first: wear
   */
  kind: "started" | "alarm" | "resumed" | "transient" | "refit_started" | "refit_accepted" | "refit" | "refit_rejected" | "law" | "standstill" | "bandwidth" | "mistake" | "kernel" | "gradual" | "scaled" | "sharpened" | "drift" | "fault" | "recovered" | "held" | "moving" | "baseline" | "contact" | "compensation" | "payload" | "tool" | "friction" | "lost_motion_known" | "lost_motion_grown" | "clearance_known" | "clearance_grown";
  /** the cause, in words */
  text: string;
  /** Unix s of the first row that the event concerns */
  from?: number;
  /** Unix s of the last row that the event concerns */
  to?: number;
  /** how nonlinear parameters were found, of refit_accepted and refit_rejected */
  search?: {
    /** name of the global search method */
    method: string;
    /** number of evaluated points */
    visits: number;
    /** rms of the residual in the window */
    evaluations: number;
    /** the second-best minimum: nonlinear parameter → value; absent where there is none */
    runner_up?: Record<string, number>;
    /** difference of χ² between the second-best and the best minimum */
    gap?: number;
  };
}

/** drift/NAME: a joint against its baseline, or its start */
export interface Drift {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** Unix s at which the baseline was set */
  since: number;
  /** parameters beyond their limits, with hysteresis */
  drifted: Array<string>;
  /** common cause of all drifted parameters, such as the torque's scale; empty if there is none */
  cause: string;
  /** reference of the comparison: a baseline, or the values of the joint's own start */
  reference?: "baseline" | "start";
  /** values of the reference */
  baseline: Record<string, number>;
  /** estimate - baseline, in the parameter's unit */
  change: Record<string, number>;
  /** change over |baseline|, per cent */
  percent: Record<string, number>;
  /** change over its own standard deviation */
  z: Record<string, number>;
}

/** change/NAME: what has changed of a joint, until a person acknowledges it */
export interface Change {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** all changes, the oldest first */
  records: Array<{
    /** its name */
    parameter: string;
    /** unit of both values */
    unit: string;
    /** value of the reference */
    from?: number;
    /** its standard deviation */
    from_deviation?: number;
    /** newest value while the change lasts */
    to?: number;
    /** its standard deviation */
    to_deviation?: number;
    /** change over |from|, per cent; missing where from cannot be distinguished from zero */
    percent?: number;
    /** change over its standard deviation */
    z?: number;
    /** Unix s at which it began: the first row of its alarm, or when it was last within limits */
    since: number;
    /** Unix s at which it was recorded */
    told: number;
    /** alarm: it came with an alarm; gradual: without one */
    evidence: "alarm" | "gradual";
    /** reference of the change */
    reference: "baseline" | "start";
    /** common cause of all changes; empty if there is none */
    cause?: string;
    /** Unix s at which it was within its limits again; 0: it is not yet */
    over: number;
    /** Unix s at which a person acknowledged it; 0: not yet */
    acknowledged: number;
    /** likely cause in words; empty while it is unknown */
    diagnosis?: string;
    /** recommended action */
    remedy?: string;
    /** causes that explain the change, the most likely first */
    ranked?: Array<{
      /** its name, or unknown */
      cause: string;
      /** between 0 and 1, given that something has changed */
      probability: number;
    }>;
    /** the sentence about it */
    text: string;
  }>;
}

/** wear/NAME: dry wear of a joint */
export interface Wear {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** Unix s of the beginning of the reference days */
  since: number;
  /** Unix s of the end of the last day that was used; 0: none yet */
  judged: number;
  /** days with motion so far */
  days: number;
  /** growth of dry friction, corrected for heat and load, as a share; missing: not known yet */
  wear?: number;
  /** its standard deviation */
  deviation?: number;
  /** evidence for the growth, in standard deviations */
  z: number;
  /** whether the growth is certain */
  told: boolean;
  /** Unix s of the day since which it has grown; 0 before it is reported */
  onset: number;
  /** share of the last day's hours at temperatures that are new, where wear cannot be judged */
  new: number;
  /** whether a thermometer is used; false: temperature from viscosity and losses */
  thermometer: boolean;
  /** growth of dry friction at which maintenance is needed, as a share */
  limit: number;
  /** days in use to the limit: 10, 50 and 90 %; empty before an onset */
  left: Array<number>;
  /** parameter of the friction → range of its hours' means that heat and load explain */
  usual: Record<string, Array<number>>;
  /** the sentence about it */
  text: string;
}

/** lost_motion/NAME: the gear between two encoders */
export interface LostMotion {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** of the gear, in the units of meta; lost_motion is 2b, from side to side */
  parameters: Record<string, number>;
  /** their standard deviations, from blocks of rows */
  deviations: Record<string, number>;
  /** whether lost_motion is known */
  known: boolean;
  /** why the value is unknown */
  reasons: Array<{
    /** code of the reason, see docs/troubleshooting.md */
    code: "waiting_for_motion" | "kernels_compiling" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
    /** its subject: a parameter, channel, joint or known constant */
    parameter?: string;
    /** numbers in the sentence by short names, SI or % */
    numbers?: Record<string, number>;
    /** words in the sentence by short names */
    words?: Record<string, string>;
    /** the sentence, with its numbers */
    text: string;
  }>;
  /** reversals of the load in the window */
  reversals: number;
  /** share of the window's rows whose load has the rarer sign */
  rarer: number;
  /** R² of the load's sign by the other columns */
  imitated: number;
  /** progress of the first window, per cent */
  progress: number;
  /** whether small loads show less lost motion: a spring that is soft at first */
  soft: boolean;
  /** lost_motion of the first window, rad: growth is measured against it */
  first?: number;
  /** whether it has certainly grown beyond its limit since then */
  grown: boolean;
}

/** summary/NAME: what a fleet keeps of a joint */
export interface Summary {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** kind of the model */
  model: string;
  /** unit of torque or force */
  unit: string;
  /** what the estimator does */
  phase: "waiting" | "starting" | "normal" | "transient" | "held" | "faulted";
  /** what a consumer may do with the values */
  status: "unestimated" | "learning" | "valid" | "held" | "faulted";
  /** estimates */
  parameters: Record<string, number>;
  /** their standard deviations */
  deviations: Record<string, number>;
  /** unit of each parameter */
  units: Record<string, string>;
  /** rms prediction error over rms measured, of the last seconds */
  error?: number;
  /** parameters whose change is not over, with their values before the change */
  changed: Record<string, number>;
  /** counted from the core's start to the beginning of this second */
  use: {
    /** unit of travel: rad or m */
    unit: string;
    /** seconds in motion */
    seconds: number;
    /** total distance travelled in both directions */
    travel: number;
    /** reversals of the direction of motion */
    reversals: number;
    /** number of motions that began after a rest */
    starts: number;
    /** newest temperature of the joint's channel, °C, if it has one */
    temperature?: number;
  };
}

/** clearance/NAME: the clearance of a joint's bearing */
export interface Clearance {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** method of measurement */
  way: "proximity sensors" | "link ring";
  /** radial clearance of the pin in its bearing, m; NaN if unknown */
  clearance: number;
  /** its standard deviation, m */
  deviation: number;
  /** whether there is a number */
  known: boolean;
  /** why the value is unknown */
  reasons: Array<{
    /** code of the reason, see docs/troubleshooting.md */
    code: "waiting_for_motion" | "kernels_compiling" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
    /** its subject: a parameter, channel, joint or known constant */
    parameter?: string;
    /** numbers in the sentence by short names, SI or % */
    numbers?: Record<string, number>;
    /** words in the sentence by short names */
    words?: Record<string, string>;
    /** the sentence, with its numbers */
    text: string;
  }>;
  /** progress of the first window, per cent */
  progress: number;
  /** angle of the circle, rad, that the pin or its load has covered in the window */
  arc: number;
  /** share of the window in which the pin touches its bearing; NaN if unknown */
  touching: number;
  /** m, of the first window: growth is measured against it */
  first?: number;
  /** whether it has certainly grown beyond its limit since then */
  grown: boolean;
}

/** robot: the whole robot */
export interface Robot {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** what the estimator does */
  phase: "waiting" | "starting" | "normal" | "transient" | "held" | "faulted";
  /** whether to trust the values */
  health: {
    /** what a consumer may do with them */
    status: "unestimated" | "learning" | "valid" | "held" | "faulted";
    /** why the status is not valid */
    reasons: Array<{
      /** code of the reason, see docs/troubleshooting.md */
      code: "waiting_for_motion" | "kernels_compiling" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
      /** its subject: a parameter, channel, joint or known constant */
      parameter?: string;
      /** numbers in the sentence by short names, SI or % */
      numbers?: Record<string, number>;
      /** words in the sentence by short names */
      words?: Record<string, string>;
      /** the sentence, with its numbers */
      text: string;
    }>;
  };
  /** of the start, per cent */
  progress: number;
  /** by name */
  joints: Record<string, {
    /** torque (force), low-passed */
    measured?: number;
    /** torque (force) by the whole robot's model, including the payload */
    predicted?: number;
    /** measured - predicted */
    residual?: number;
    /** of the residual where nothing was wrong */
    deviation?: number;
    /** of its magnitude, beyond which it is a contact or a change */
    threshold?: number;
    /** it is beyond */
    contact: boolean;
    /** of predicted, what a learnt compensation gives; missing while none is used */
    compensation?: number;
    /** N·m or N */
    unit: string;
  }>;
  /** body that the last link carries in addition to the model */
  payload: {
    /** whether the payload is certain */
    carried: boolean;
    /** kg */
    mass?: number;
    /** kg; where torque is motor current, with what is not known of its unit */
    mass_deviation?: number;
    /** m, in the last link's frame */
    centre?: Array<number>;
    /** m */
    centre_deviation?: Array<number>;
    /** kg·m² about its centre: xx, xy, yy, xz, yz, zz; NaN where not identifiable */
    inertia?: Array<number>;
    /** kg·m² */
    inertia_deviation?: Array<number>;
  };
  /** place of a contact by the residuals of all joints; missing while there is no contact */
  contact?: {
    /** the joint that moves the link */
    link: string;
    /** probability of that link among all links, 0 to 1 */
    probability: number;
    /** m, base frame: the link's outer end, at which the force is stated */
    point?: Array<number>;
    /** N, base frame */
    force?: Array<number>;
    /** N; about 1000 in a direction that the joints do not measure */
    force_deviation?: Array<number>;
  };
  /** difference between the carried body and the controller's tool; missing if [robot.tool] is unset */
  tool?: {
    /** whether they differ by four deviations, and by 0.25 kg or 20 mm */
    differs: boolean;
    /** in words; empty unless it differs */
    text: string;
    /** kg */
    mass?: number;
    /** kg */
    mass_deviation?: number;
    /** m, in the last link's frame */
    centre?: Array<number>;
    /** m */
    centre_deviation?: Array<number>;
  };
  /** findings, the oldest first; each is refined as more becomes known */
  findings: Array<{
    /** permanent number of the finding */
    number: number;
    /** since it began */
    seconds?: number;
    /** contact, payload, tool, friction, torque_constant, encoder_slip, offset, base_tilt, spring, links */
    cause: string;
    /** that it names */
    joints?: Array<string>;
    /** in words */
    text: string;
    /** other causes that fit equally well */
    others?: Array<string>;
    /** whether it has passed, or is now part of the model */
    over: boolean;
  }>;
}

/** robot/parameters: parameters of the whole robot */
export interface RobotParameters {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** base parameters of the links, then friction and what else the model has */
  parameters: Record<string, number>;
  /** their standard deviations */
  deviations: Record<string, number>;
  /** by joint */
  friction: Record<string, {
    /** rad/s (m/s) */
    speeds: Array<number>;
    /** N·m (N) */
    torques: Array<number>;
    /** N·m (N) */
    deviations: Array<number>;
  }>;
  /** seconds of motion that were learnt from since the start */
  learnt: number;
  /** by joint that has a learnt one */
  compensation: Record<string, {
    /** it is used */
    on: boolean;
    /** rms of the residual with it over that without, last 10 s of motion */
    ratio?: number;
  }>;
}

/** mechanism: a mechanism with loops */
export interface Mechanism {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** what the estimator does */
  phase: "waiting" | "starting" | "normal" | "transient" | "held" | "faulted";
  /** whether to trust the values */
  health: {
    /** what a consumer may do with them */
    status: "unestimated" | "learning" | "valid" | "held" | "faulted";
    /** why the status is not valid */
    reasons: Array<{
      /** code of the reason, see docs/troubleshooting.md */
      code: "waiting_for_motion" | "kernels_compiling" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
      /** its subject: a parameter, channel, joint or known constant */
      parameter?: string;
      /** numbers in the sentence by short names, SI or % */
      numbers?: Record<string, number>;
      /** words in the sentence by short names */
      words?: Record<string, string>;
      /** the sentence, with its numbers */
      text: string;
    }>;
  };
  /** of the start, per cent */
  progress: number;
  /** by name in the mechanism */
  drives: Record<string, {
    /** torque (force), low-passed */
    measured?: number;
    /** the same from the mechanism's model, with the friction of every joint */
    predicted?: number;
    /** measured - predicted */
    residual?: number;
    /** of predicted, what the joints' friction makes of it */
    friction?: number;
    /** of the residual where nothing was wrong */
    deviation?: number;
    /** of its magnitude, beyond which it is a contact or a change */
    threshold?: number;
    /** it is beyond */
    contact: boolean;
    /** factor of the drive's friction to the model's; missing while unknown */
    friction_ratio?: number;
    /** its standard deviation */
    friction_ratio_deviation?: number;
    /** N·m or N */
    unit: string;
  }>;
  /** by name in the mechanism */
  joints: Record<string, {
    /** N across its axis */
    radial?: number;
    /** N along it; of a prismatic joint N·m about it */
    axial?: number;
    /** N·m across it */
    bending?: number;
    /** of its bearing, in its unit */
    friction?: number;
    /** rad (m) of a joint of the tree; without an encoder by the loops */
    position?: number;
    /** of its friction, N·m or N */
    unit: string;
  }>;
}

/** process/NAME: whether a process of the service lives */
export interface Process {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** outlet, core, refits, recorder, supervisor, or [drivers.NAME] */
  name: string;
  /** whether it runs, and gave a sign of life in time */
  up: boolean;
  /** by the supervisor; of refits, by the core */
  restarts: number;
  /** process id; 0: it does not run */
  pid: number;
  /** the last reason why it died or was down */
  cause: string;
  /** s since its last sign of life */
  age: number;
  /** s of silence after which it is ended and restarted; 0: never */
  deadline: number;
}

/** meta: names, units, models */
export interface Meta {
  /** Unix s of the instant that the message describes */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; a repeated number is a message that was received before */
  seq: number;
  /** changes when the core restarts; seq then begins again */
  boot: number;
  /** digest of the configuration, which changes with any setting */
  configuration: string;
  /** by name */
  joints: Record<string, {
    /** kind of the model */
    model: string;
    /** of torque or force */
    unit: string;
    /** Hz of the samples */
    rate: number;
    /** by name */
    parameters: Record<string, {
      /** SI */
      unit: string;
      /** lower end of the plausible range; omitted in recordings if unlimited */
      low?: number;
      /** upper end of the plausible range; omitted in recordings if unlimited */
      high?: number;
      /** equation that defines the parameter */
      equation: string;
      /** meaning of the parameter */
      meaning?: string;
      /** motion that would identify it */
      needs?: string;
    }>;
  }>;
}

/** Topic → type of its messages. */
export interface Topics {
  "robot": Robot;
  "robot/parameters": RobotParameters;
  "mechanism": Mechanism;
  "meta": Meta;
  [topic: `estimate/${string}`]: Estimate;
  [topic: `residual/${string}`]: Residual;
  [topic: `event/${string}`]: Event;
  [topic: `drift/${string}`]: Drift;
  [topic: `change/${string}`]: Change;
  [topic: `wear/${string}`]: Wear;
  [topic: `lost_motion/${string}`]: LostMotion;
  [topic: `summary/${string}`]: Summary;
  [topic: `clearance/${string}`]: Clearance;
  [topic: `process/${string}`]: Process;
}

/** A message with its topic, distinguished by it. */
export type Message = Topics[keyof Topics];
