// The words of the page: names of phases and events, and what they mean.

export const PHASES = {
  waiting: ["Waiting", "No usable data yet.", "dots"],
  starting: ["Starting up", "Watching the motion until every parameter is identifiable.", "play"],
  normal: ["Normal", "The model explains the motion; the parameters are updated all the time.", "check"],
  transient: ["Transient", "Something changed. The last good values stay until the change is identified.", "wave"],
  held: ["Held", "The joint stands still, so there is nothing to learn; the values stay.", "pause"],
  faulted: ["Faulted", "The values must not be used.", "cross"],
  changed: ["Changed", "The model explains the motion, but a parameter has left its limits around the baseline or its start. It stays here until somebody acknowledges it.", "diamond"],
  drifting: ["Drifting", "The model explains the motion, but a friction torque has left its limits around the baseline.", "diamond"],
  unsure: ["Needs other motion", "The model explains the motion, but not every parameter is identifiable from this motion.", "dots"],
  learning: ["Still learning", "The model explains the motion; some parameters are not certain enough yet.", "dots"],
  doubtful: ["In doubt", "Some values are not to be relied on: the reasons say which, and why.", "dots"],
  stale: ["No data", "No update comes: what is shown is the last that was known. Is the service running, and this screen's network up?", "cross"],
};

const SEVERAL = { unsure: "need other motion" }; // of phases whose words are others for several joints

// "2 need other motion": how many joints are in this phase
export const counted = (key, count) => `${count} ${(count > 1 && SEVERAL[key]) || PHASES[key][0].toLowerCase()}`;

// every kind of event, and what it means for the values
const EVENTS = {
  started: "The start is complete: every value counts from now on.",
  alarm: "The residual is larger than it was at the start: something has changed.",
  resumed: "The core has restarted and continues with the values from before.",
  transient: "The values from before the change are reported until its cause is found.",
  refit_started: "A new search for the nonlinear parameters has begun.",
  refit_accepted: "The result of the search is used from now on.",
  refit: "The change of the nonlinear parameters by the search.",
  refit_rejected: "The result of the search is not used.",
  sharpened: "The nonlinear parameters still hold and are more certain now.",
  law: "Another friction law explains the motion better and is used from now on.",
  drift: "A parameter has exceeded its limits around the baseline, or the shape of the friction changes.",
  gradual: "A parameter goes on changing slowly: its values follow, and their deviations contain the delay.",
  scaled: "All parameters have changed by one factor: look at the torque constant or its sensor, not at the joint.",
  fault: "The values must not be used.",
  recovered: "The problem is over.",
  held: "The joint stands still: the values do not change.",
  moving: "The joint moves again.",
  standstill: "The standstill speed was set from the motion and the encoder's step.",
  kernel: "The encoder's steps require a wider kernel: the joint is learnt again with it.",
  mistake: "The joint's channels suggest a mistake in the configuration.",
  bandwidth: "The joint moves faster than the kernel that its encoder requires can follow: its values are less certain.",
  baseline: "The baseline that drift is measured against from now on.",
  contact: "The model does not explain the torque of some joints: a contact, or something has changed.",
  compensation: "What was learnt about a joint's residual is used from now on, or no longer.",
  tool: "The tool configured in the controller differs from what the robot carries.",
  payload: "The robot carries a body that its model does not know, or has put it down.",
  friction: "The friction of a joint in the whole robot's model, or that a mechanism's drive feels, has changed.",
  lost_motion_known: "The gear's lost motion between loads of either sign is known for the first time.",
  lost_motion_grown: "The gear's lost motion has grown beyond what it was at first: wear.",
  clearance_known: "The clearance of the joint's bearing is known for the first time.",
  clearance_grown: "The bearing's clearance has grown beyond what it was at first: wear.",
};

// how an event looks on a time axis: shape and colour both show its kind
const TONES = { bad: ["mistake", "faulted", "fault", "stale", "gap"], warn: ["alarm", "transient", "drift", "gradual", "scaled", "contact", "tool", "payload", "friction", "lost_motion_grown", "clearance_grown", "refit_rejected", "held"], busy: ["refit_started", "refit", "refit_accepted", "law", "baseline", "compensation"] };
export const toneOf = (kind) => Object.keys(TONES).find((tone) => TONES[tone].includes(kind)) ?? "good";

export const happened = (kind) => EVENTS[kind] ?? "";

export const effort = (unit) => ({ N: "Force", rad: "Position", m: "Position" })[unit] ?? "Torque";

export const readable = (name) => name.replaceAll("_", " ");

export const phase = (key) => PHASES[key] ?? [key, "", "dots"];

// outlines on a 16 × 16 grid: the shape is distinct without colour
const ICONS = {
  dots: "M3 8h.01M8 8h.01M13 8h.01",
  play: "M5 3.5v9l7-4.5z",
  check: "M3.5 8.5l3 3 6-7",
  wave: "M2 9c1.5-5 3-5 4 0s2.5 5 4 0 2.5-5 4-1",
  pause: "M5.5 4v8M10.5 4v8",
  cross: "M4 4l8 8M12 4l-8 8",
  diamond: "M8 2.5l5 5.5-5 5.5L3 8z",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}
