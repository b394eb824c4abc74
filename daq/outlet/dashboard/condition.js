// What a person must know of a joint at once: its condition, how bad it is, since when, and what to do about it.

import * as format from "./format.js";
import { effort, phase, readable } from "./words.js";

// worst first
export const ORDER = ["faulted", "transient", "changed", "waiting", "doubtful", "starting", "unsure", "learning", "held", "normal"];
export const TROUBLES = ORDER.slice(0, 3); // what somebody should look at
const CORE = ["core_down", "core_silent"]; // codes by which the outlet says that a state is out of date
const URGENT = ["faulted", "transient"]; // states that are named before what has changed

const WEAR = "dry_wear"; // the parameter of a record that the history tells

// events that begin a condition, and those that end it
export const BEGINS = { faulted: ["fault"], transient: ["alarm", "transient"], changed: ["drift"] };
export const ENDS = {
  faulted: ["recovered", "started", "resumed"],
  transient: ["recovered", "gradual", "refit_accepted", "refit_rejected", "started", "fault"],
  changed: ["recovered", "baseline", "started"],
};
const SETTLES = ["started", "resumed", "recovered", "gradual", "refit_accepted", "moving"];

// codes of reasons why the motion does not identify one parameter
const WEAK = ["not_identifiable", "uncertain", "torque_peaks_low"];
const MOTION = ["waiting_for_motion", "at_standstill", "instant_not_identifiable"]; // what motion alone settles

// "a", "a and b", "a, b and c"
export const listed = (words) => (words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

// Reasons as short as they can be: what many parameters have in common appears once.
export function brief(reasons, since = null) {
  // where it is known since when no data has come, the page shows that time beside it: the text needs no duration
  const whole = new Set(reasons.filter(({ parameter }) => !parameter).map(({ code }) => code));
  const follows = (reason) => reason.parameter && !weak(reason) && whole.has(reason.code); // from what is so of the whole joint
  const others = reasons.filter((reason) => !weak(reason) && !follows(reason)).map(({ code, text }) => (code === "no_data" && since !== null ? "no data" : text));
  const named = (which) => some([...new Set(reasons.filter(which).map(({ parameter }) => readable(parameter)))]);
  const doubted = named(follows), weakly = named(weak);
  return [...others, ...(doubted ? [`not certain therefore: ${doubted}`] : []), ...(weakly ? [`not identifiable yet: ${weakly}`] : [])];
}

// the first of many names
const some = (names) => listed(names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} more`] : names);

// What to do about reasons: one sentence with all the motion that is needed, then what other reasons ask for.
function todoOf(reasons) {
  const needs = [...new Set(reasons.filter(({ words }) => words?.needs).map(({ words }) => words.needs))];
  const others = [...new Set(reasons.filter(({ words }) => !words?.needs).map(({ todo }) => todo))];
  return [...(needs.length ? [`Let it make ${listed(needs)}.`] : []), ...others].slice(0, 2).join(" ");
}

// how many parameters some reason is about; all of them where a reason is about the whole joint
function countUnsure({ names, reasons }) {
  const found = names.filter((name) => reasons.some(({ parameter }) => parameter === name));
  return reasons.some(({ parameter }) => !names.includes(parameter)) ? names.length : found.length;
}

const weak = ({ code }) => WEAK.includes(code);

// the same in two or three words
function unsureWords(joint) {
  const count = countUnsure(joint);
  return count === joint.names.length ? "all parameters unsure" : `${count} of ${joint.names.length} unsure`;
}

// What a joint needs whose values are not all valid, by the codes of its reasons: another model, another motion, or only more time.
function unsureKey({ reasons }) {
  const codes = reasons.map(({ code }) => code);
  if (codes.some((code) => !WEAK.includes(code) && !MOTION.includes(code))) return "doubtful";
  return codes.length && codes.every((code) => code === "uncertain") ? "learning" : "unsure";
}

// parameters beyond their limits of which there is no record
const unrecorded = (joint) => (joint.drift.drifted ?? []).filter((name) => !joint.changes.some(({ parameter, over }) => parameter === name && !over));

// what has changed and is not acknowledged, the largest first
function drifts(joint) {
  const recorded = joint.open.map((one) => ({ ...one, name: one.parameter, change: format.ratio(one) }));
  const changes = [...recorded, ...unrecorded(joint).map((name) => ({ name, todo: joint.drift.todo?.[name], ...joint.drifted(name) }))];
  const size = ({ change, z }) => (Number.isFinite(change) ? Math.abs(change) : Math.abs(z) / 100);
  return changes.sort((a, b) => size(b) - size(a));
}

// the state that a joint is in now, whatever has changed of it before
const compiles = ({ phase, reasons }) => phase === "waiting" && reasons.some(({ code }) => code === "kernels_compiling"); // its data have come
const stateOf = (joint) => (joint.phase === "normal" && joint.state.health?.status === "learning" ? unsureKey(joint) : compiles(joint) ? "starting" : joint.phase);

// What has changed of a joint and is not acknowledged, whatever state it is in now; null: nothing.
function changeOf(joint) {
  const found = drifts(joint), worst = found[0];
  if (!worst) return null;
  const since = joint.open.length ? Math.min(...joint.open.map((one) => one.since)) : null;
  const size = Math.abs(worst.change) || 0;
  if (joint.drift.cause) return { short: "torque scale", rounded: "torque scale", size, line: joint.drift.cause, todo: worst.todo ?? "", since };
  // wear found in the history is a separate sentence
  const texts = found.map((one) => (one.name === WEAR && one.cause ? one.cause : `${readable(one.name)} ${format.drift(one)}`));
  const all = listed(texts.length > 3 ? [...texts.slice(0, 3), `${texts.length - 3} more`] : texts);
  const sudden = found.some(({ evidence }) => evidence === "alarm") ? ", suddenly" : "";
  const against = worst.reference === "start" ? " (against its start: no baseline is set)" : "";
  const todo = found.every(({ over }) => over) ? "It is within its limits again. Acknowledge it." : worst.todo ?? "";
  const rounded = `${readable(worst.name)} ${format.drift(worst, 0)}`;
  return { short: `${readable(worst.name)} ${format.drift(worst)}`, rounded, size, line: `${all}${sudden}${against}`, todo, since };
}

// how much torque is not explained since the change, against what is usual
function unexplained(joint, now) {
  const rms = joint.residualRms?.(Math.min(5, Math.max(1, now - (joint.condition.since ?? now))));
  if (!(rms > 0)) return [];
  const times = joint.usual > 0 ? `, ${format.significant(rms / joint.usual, 2)} times as much as at its start` : "";
  return [`${effort(joint.unit).toLowerCase()} differs from the model by ${format.significant(rms, 2)} ${joint.unit} rms${times}`];
}

// of each condition: [short text for a chip, how bad as a number, lines for a headline, what to do]
const DESCRIBE = {
  faulted: (joint, now, since) => [readable(joint.reasons[0]?.code ?? ""), 1, brief(joint.reasons, since), todoOf(joint.reasons.slice(0, 1)) || "Do not use its values; jointwatch doctor looks closer."],
  transient: (joint, now) => {
    const others = joint.reasons.filter(({ code }) => code !== "alarm_stands");
    return ["transient", 1, [...unexplained(joint, now), ...brief(others)],
      "Wait some seconds: the change is being identified, and the last good values are shown. If it does not end, look for a collision, another load or a slipping brake."];
  },
  waiting: (joint) => ["no data yet", 0, brief(joint.reasons), "Is the drive on? Acquisition shows what comes."],
  starting: (joint) => [`${(joint.state.progress ?? 0).toFixed(0)} %`, 0, brief(joint.reasons), todoOf(joint.reasons.filter(({ code }) => code !== "at_standstill")) || "Keep it moving."],
  ...Object.fromEntries(["doubtful", "unsure", "learning"].map((key) => [key, (joint) => [unsureWords(joint), countUnsure(joint), brief(joint.reasons), todoOf(joint.reasons)]])),
  held: () => ["stands still", 0, [], ""],
  normal: (joint) => [format.percent(joint.state.error), 0, [], ""],
};
// what stands before the short text, where there is room for it
const LABELS = { normal: "error ", stale: "before: " };
export const label = (key, short) => (short && LABELS[key]) ?? "";

// when the condition began, Unix s: as its event says, else since the page has seen it; null: longer than anybody here knows
function beginning(joint, key, events, now) {
  const kinds = BEGINS[key] ?? (key === "normal" ? SETTLES : []);
  const reported = events.findLast((event) => event.joint === joint.name && kinds.includes(event.kind))?.timestamp;
  if (joint.condition.key !== key) joint.seen = joint.condition.key === undefined ? null : now;
  const began = joint.phase === key ? joint.state.since : null;
  return joint.seen && (!reported || reported < joint.seen - 5) ? began ?? joint.seen : reported ?? began ?? null;
}

// whether the outlet has replaced the joint's own last state
const replaced = ({ state, reasons }) => !state.phase || reasons.some(({ code }) => CORE.includes(code));

// the last condition of a joint's own, from before its core was silent
function lastKnown(joint, events, since) {
  if (joint.own) return joint.own;
  return replaced(joint) ? { lines: [] } : judge(joint, events, since);
}

// the condition of a joint whose data no longer come; since: Unix s of the last update
function silent(joint, events, since) {
  const again = joint.condition.key === "stale", { key, state, lines, since: begun } = again ? joint.condition : lastKnown(joint, events, since);
  const known = state && phase(key === "changed" ? key : state)[0].toLowerCase();
  const last = state && (key !== "changed" && lines.length ? `${known} (${lines.join(", ")})` : known) + (URGENT.includes(key) && begun ? `, since ${format.clock(begun)}` : "");
  const change = changeOf(joint), before = again ? joint.condition.before : last, was = again ? joint.condition.was : key;
  const rank = ORDER.length + (was ? ORDER.indexOf(was) : 0);
  return { key: "stale", state: "stale", rank, word: phase("stale")[0], short: again ? joint.condition.short : known ?? "", size: change?.size ?? 0,
    lines: [`no data since ${format.clock(since)}`], todo: "", since, before, was, change };
}

// key: what decides about order and colour, the worse of state and change; state: what the joint does now; change: see changeOf.
export function judge(joint, events, now, silence = null) {
  if (silence !== null) return silent(joint, events, silence);
  const found = living(joint, events, now);
  if (!replaced(joint)) joint.own = found;
  return found;
}

// the condition of a joint whose data come
function living(joint, events, now) {
  const state = stateOf(joint), change = changeOf(joint), key = change && !URGENT.includes(state) ? "changed" : state;
  const rank = ORDER.indexOf(key), word = phase(key)[0];
  if (key === "changed") return { key, state, rank, word, change, lines: [change.line], ...change, since: change.since ?? beginning(joint, key, events, now) };
  const since = beginning(joint, key, events, now), [short, size, lines, todo] = (DESCRIBE[key] ?? DESCRIBE.waiting)(joint, now, since);
  return { key, state, rank, word, short, size, lines, todo, since, change };
}

const troubling = ({ key, was }) => TROUBLES.includes(key === "stale" ? was : key);
export const trouble = (joint) => troubling(joint.condition);

// Joints, worst first; equal ones as they are configured.
export const worstFirst = (joints) => [...joints].sort((a, b) => a.condition.rank - b.condition.rank || (trouble(a) ? b.condition.size - a.condition.size : 0));

// The words beside the connection's sign, and its state: "quiet" where the service answers and joints, or all of them, do not.
// lastUpdate: Unix s of the newest update; null before the first
export function connectionWords(state, lastUpdate, joints) {
  if (state === "lost") return { state, text: lastUpdate === null ? "Connecting…" : `Reconnecting · no data since ${format.clock(lastUpdate)}` };
  if (state === "waiting") return { state, text: "Connected · no updates yet" };
  if (state === "stale") return { state, text: `No data since ${format.clock(lastUpdate)}` };
  const down = joints.length > 0 && joints.every(({ reasons }) => reasons.some(({ code }) => CORE.includes(code)));
  if (down) return { state: "quiet", text: "Service up, its core sends nothing" };
  const count = joints.filter((joint) => joint.silent).length;
  if (!count) return { state, text: "Live" };
  return { state: "quiet", text: count < joints.length ? `Live, ${count} of ${joints.length} silent` : "Service up, no data from the robot" };
}
