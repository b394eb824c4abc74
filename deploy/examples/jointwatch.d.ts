// The messages of jointwatch's stream. Made by `jointwatch schema --as typescript`; never changed by hand.
// Over ZeroMQ a message is two frames, [topic][msgpack map]; a number that is not known is NaN there, and left out or
// null in JSON. A field with a question mark may be missing.

/** estimate/NAME: parameters of a joint */
export interface Estimate {
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** what the estimator does */
  phase: "waiting" | "starting" | "normal" | "transient" | "held" | "faulted";
  /** estimates, in the units of meta */
  parameters: Record<string, number>;
  /** their standard deviations */
  deviations: Record<string, number>;
  /** what is known of each parameter; left out while nothing is */
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
      /** what is so, see docs/troubleshooting.md */
      code: "waiting_for_motion" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
      /** what it is about: a parameter, channel, joint or known constant */
      parameter?: string;
      /** by short names, SI or % */
      numbers?: Record<string, number>;
      /** the same of words */
      words?: Record<string, string>;
      /** the sentence, with its numbers */
      text: string;
    }>;
  };
  /** Unix s at which the newest frame that went in came */
  arrival: number;
  /** s from there to this message */
  latency: number;
}

/** residual/NAME: torque of a joint */
export interface Residual {
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** torque (force) of the last row */
  measured?: number;
  /** the same from the model and the estimates */
  predicted?: number;
  /** measured - predicted */
  residual?: number;
  /** of all three: N·m or N */
  unit: string;
}

/** event/NAME: something happened to a joint */
export interface Event {
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
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
  /** Unix s of the first row that it speaks of */
  from?: number;
  /** Unix s of the last one */
  to?: number;
  /** how nonlinear parameters were found, of refit_accepted and refit_rejected */
  search?: {
    /** name of the global search */
    method: string;
    /** points at which it has looked */
    visits: number;
    /** of the residual, on the window */
    evaluations: number;
    /** the second-best minimum: nonlinear parameter → value; absent where there is none */
    runner_up?: Record<string, number>;
    /** χ² by which the runner-up is worse */
    gap?: number;
  };
}

/** drift/NAME: a joint against its baseline, or its start */
export interface Drift {
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** Unix s at which the baseline was set */
  since: number;
  /** parameters beyond their limits, with hysteresis */
  drifted: Array<string>;
  /** of all that has drifted, where it is one: the torque's scale; else empty */
  cause: string;
  /** what it is compared with: a baseline, or the values of the joint's own start */
  reference?: "baseline" | "start";
  /** values at commissioning */
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
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** of all changes, the oldest first */
  records: Array<{
    /** its name */
    parameter: string;
    /** of both values */
    unit: string;
    /** value of the reference */
    from?: number;
    /** its standard deviation */
    from_deviation?: number;
    /** newest value while the change stands */
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
    /** what it is measured against */
    reference: "baseline" | "start";
    /** common to all that has changed, where it is one; else empty */
    cause?: string;
    /** Unix s at which it was within its limits again; 0: it is not */
    over: number;
    /** Unix s at which a person acknowledged it; 0: nobody has */
    acknowledged: number;
    /** what it is likely to be, in words; empty while nothing is known of that */
    diagnosis?: string;
    /** what to do about that */
    remedy?: string;
    /** causes that explain it, the likeliest first */
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
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** Unix s at which the days begin that it is measured against */
  since: number;
  /** Unix s of the end of the last day that went in; 0: none yet */
  judged: number;
  /** with motion so far */
  days: number;
  /** growth of dry friction, corrected for heat and load, as a share; missing: not known yet */
  wear?: number;
  /** its standard deviation */
  deviation?: number;
  /** the evidence for it, in standard deviations */
  z: number;
  /** whether it is certain */
  told: boolean;
  /** Unix s of the day since which it has grown; 0 before it is reported */
  onset: number;
  /** share of the last day's hours at temperatures that are new, where wear cannot be judged */
  new: number;
  /** false: the temperature is that of its viscosity and losses */
  thermometer: boolean;
  /** share of dry friction at which something must be done */
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
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** of the gear, in the units of meta; lost_motion is 2b, from side to side */
  parameters: Record<string, number>;
  /** their standard deviations, from blocks of rows */
  deviations: Record<string, number>;
  /** whether there is a number for lost_motion */
  known: boolean;
  /** why there is none */
  reasons: Array<{
    /** what is so, see docs/troubleshooting.md */
    code: "waiting_for_motion" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
    /** what it is about: a parameter, channel, joint or known constant */
    parameter?: string;
    /** by short names, SI or % */
    numbers?: Record<string, number>;
    /** the same of words */
    words?: Record<string, string>;
    /** the sentence, with its numbers */
    text: string;
  }>;
  /** of the load, in the window */
  reversals: number;
  /** share of the window's rows whose load has the rarer sign */
  rarer: number;
  /** R² of the load's sign by the other columns */
  imitated: number;
  /** of the first window, per cent */
  progress: number;
  /** small loads show less of it: a spring that is soft at first */
  soft: boolean;
  /** lost_motion of the first window, rad: growth is measured against it */
  first?: number;
  /** it has grown since, beyond its limit and for certain */
  grown: boolean;
}

/** summary/NAME: what a fleet keeps of a joint */
export interface Summary {
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** kind of the model */
  model: string;
  /** of torque or force */
  unit: string;
  /** what the estimator does */
  phase: "waiting" | "starting" | "normal" | "transient" | "held" | "faulted";
  /** what a consumer may do with the values */
  status: "unestimated" | "learning" | "valid" | "held" | "faulted";
  /** estimates */
  parameters: Record<string, number>;
  /** their standard deviations */
  deviations: Record<string, number>;
  /** of each parameter */
  units: Record<string, string>;
  /** rms prediction error over rms measured, of the last seconds */
  error?: number;
  /** of parameters whose change is not over: the value that they have left */
  changed: Record<string, number>;
  /** counted from the core's start to the beginning of this second */
  use: {
    /** of travel: rad or m */
    unit: string;
    /** in motion */
    seconds: number;
    /** way, there and back */
    travel: number;
    /** of the motion */
    reversals: number;
    /** motions after a rest */
    starts: number;
    /** °C, newest of the joint's channel, where it has one */
    temperature?: number;
  };
}

/** clearance/NAME: the clearance of a joint's bearing */
export interface Clearance {
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** [joints.NAME] */
  joint: string;
  /** how it is measured */
  way: "proximity sensors" | "link ring";
  /** m, half of the pin's room in its bearing; NaN where there is no number */
  clearance: number;
  /** its standard deviation, m */
  deviation: number;
  /** whether there is a number */
  known: boolean;
  /** why there is none */
  reasons: Array<{
    /** what is so, see docs/troubleshooting.md */
    code: "waiting_for_motion" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
    /** what it is about: a parameter, channel, joint or known constant */
    parameter?: string;
    /** by short names, SI or % */
    numbers?: Record<string, number>;
    /** the same of words */
    words?: Record<string, string>;
    /** the sentence, with its numbers */
    text: string;
  }>;
  /** of the first window, per cent */
  progress: number;
  /** rad of its circle that the pin, or what presses it, has visited in the window */
  arc: number;
  /** share of the window in which the pin touches its bearing; NaN where nothing shows it */
  touching: number;
  /** m, of the first window: growth is measured against it */
  first?: number;
  /** it has grown since, beyond its limit and for certain */
  grown: boolean;
}

/** robot: the whole robot */
export interface Robot {
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** what the estimator does */
  phase: "waiting" | "starting" | "normal" | "transient" | "held" | "faulted";
  /** whether to trust the values */
  health: {
    /** what a consumer may do with them */
    status: "unestimated" | "learning" | "valid" | "held" | "faulted";
    /** why the status is not valid */
    reasons: Array<{
      /** what is so, see docs/troubleshooting.md */
      code: "waiting_for_motion" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
      /** what it is about: a parameter, channel, joint or known constant */
      parameter?: string;
      /** by short names, SI or % */
      numbers?: Record<string, number>;
      /** the same of words */
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
    /** the same from the whole robot's model, the payload included */
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
  /** what the last link carries beyond the model */
  payload: {
    /** certain enough to be counted */
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
  /** where it is touched, by the residual of all joints; missing while nothing touches it */
  contact?: {
    /** the joint that moves the link */
    link: string;
    /** of that link against the others, 0 to 1 */
    probability: number;
    /** m, base frame: the link's outer end, at which the force is stated */
    point?: Array<number>;
    /** N, base frame */
    force?: Array<number>;
    /** N; about 1000 in a direction that the joints do not measure */
    force_deviation?: Array<number>;
  };
  /** what is carried less the tool configured in the controller; missing where [robot.tool] is unset */
  tool?: {
    /** by four deviations, and by 0.25 kg or 20 mm */
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
  /** what has happened, the oldest first: one each, refined while more is known */
  findings: Array<{
    /** its identity, which stays */
    number: number;
    /** since it began */
    seconds?: number;
    /** contact, payload, tool, friction, torque_constant, encoder_slip, offset, base_tilt, spring, links */
    cause: string;
    /** that it names */
    joints?: Array<string>;
    /** in words */
    text: string;
    /** causes that fit as well */
    others?: Array<string>;
    /** it has passed, or is part of the model by now */
    over: boolean;
  }>;
}

/** robot/parameters: parameters of the whole robot */
export interface RobotParameters {
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
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
  /** seconds of motion that have taught since the start */
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
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** what the estimator does */
  phase: "waiting" | "starting" | "normal" | "transient" | "held" | "faulted";
  /** whether to trust the values */
  health: {
    /** what a consumer may do with them */
    status: "unestimated" | "learning" | "valid" | "held" | "faulted";
    /** why the status is not valid */
    reasons: Array<{
      /** what is so, see docs/troubleshooting.md */
      code: "waiting_for_motion" | "restarting" | "at_standstill" | "alarm_stands" | "unexplained_lately" | "not_identifiable" | "uncertain" | "prediction_uncertain" | "torque_peaks_low" | "implausible_value" | "torque_lag" | "torque_repeats" | "torque_not_proportional" | "torque_not_linear" | "drive_elastic" | "encoder_eccentric" | "friction_shape" | "friction_direction" | "friction_load" | "friction_place" | "friction_memory" | "residual_not_noise" | "encoder_steps" | "instant_not_identifiable" | "reversal_friction" | "torque_moves_nothing" | "nonlinear_uncertain" | "nonlinear_at_range_end" | "coefficient_negative" | "second_minimum" | "search_failed" | "start_unsettled" | "nonlinear_encoder_steps" | "constant_wrong" | "constant_or_encoder_steps" | "position_in_degrees" | "position_wraps" | "channels_exchanged" | "joints_exchanged" | "torque_sign_reversed" | "position_sign_reversed" | "velocity_sign_reversed" | "torque_scale" | "torque_misaligned" | "current_as_torque" | "time_factor" | "time_in_milliseconds" | "channel_dead" | "channel_stuck" | "channel_out_of_range" | "channel_uneven" | "kernel_too_wide" | "gear_window_filling" | "gear_load_one_sided" | "gear_few_reversals" | "gear_gap_uncertain" | "gear_sign_imitated" | "gear_twist_small" | "clearance_filling" | "clearance_arc" | "clearance_changing" | "clearance_swings" | "clearance_skew" | "clearance_twist" | "clearance_none" | "drives_incomplete" | "loops_open" | "mechanism_friction" | "mechanism_unexplained" | "joint_faulted" | "incomplete_row" | "robot_starting" | "torque_unexplained" | "payload_carried" | "payload_below_zero" | "robot_unexplained" | "robot_torque_constant" | "robot_encoder_slip" | "robot_base_tilt" | "robot_spring" | "friction_refused" | "friction_beyond_law" | "wrong_rate" | "counter_stuck" | "counter_jumps" | "counter_backwards" | "counter_fast" | "counter_smaller" | "frames_disordered" | "frames_zigzag" | "frames_repeated" | "values_held" | "encoder_frozen" | "encoder_leaps" | "torque_held" | "torque_frozen" | "torque_clipped" | "torque_dead_zone" | "torque_drops" | "no_data" | "few_rows" | "no_rows" | "channel_silent" | "core_down" | "core_silent";
      /** what it is about: a parameter, channel, joint or known constant */
      parameter?: string;
      /** by short names, SI or % */
      numbers?: Record<string, number>;
      /** the same of words */
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
    /** friction that the drive feels over the model's; missing while nothing says it */
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
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** outlet, core, refits, recorder, supervisor, or [drivers.NAME] */
  name: string;
  /** whether it runs, and gave a sign of life within its time */
  up: boolean;
  /** by the supervisor; of refits, by the core */
  restarts: number;
  /** 0: none runs */
  pid: number;
  /** why it died, or is not up, last */
  cause: string;
  /** s since its last sign of life */
  age: number;
  /** s of silence after which it is ended and started anew; 0: never */
  deadline: number;
}

/** meta: names, units, models */
export interface Meta {
  /** Unix s of the instant that the message speaks of */
  timestamp: number;
  /** version of the stream; 2: a reason is a map with a code and its text, in 1 it was the text alone */
  v: 2;
  /** [robot] name */
  robot: string;
  /** counts up by one per topic; seen before: nothing new */
  seq: number;
  /** another one: the core started anew, and seq with it */
  boot: number;
  /** digest of the configuration: another one, other settings */
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
      /** plausible range, from; in recordings left out where it has no end */
      low?: number;
      /** plausible range, to; the same */
      high?: number;
      /** where it is defined */
      equation: string;
      /** what it is */
      meaning?: string;
      /** what motion would teach it */
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
