// What a person must know of a joint at once: which condition it is in, how bad, since when, and what to do about it.

import * as format from "./format.js";
import { phase, readable } from "./words.js";

// worst first
const ORDER = ["faulted", "transient", "changed", "waiting", "doubtful", "starting", "unsure", "learning", "held", "normal"];
export const TROUBLES = ORDER.slice(0, 3); // what somebody should look at

// events that begin a condition, and those that end it
export const BEGINS = { faulted: ["fault"], transient: ["alarm", "transient"], changed: ["drift"] };
export const ENDS = {
  faulted: ["recovered", "started", "resumed"],
  transient: ["recovered", "refit_accepted", "refit_rejected", "started", "fault"],
  changed: ["recovered", "baseline", "started"],
};
const SETTLES = ["started", "resumed", "recovered", "refit_accepted", "moving"];

// codes of reasons by which the motion does not show one parameter: what they have in common appears once
const WEAK = ["not_identifiable", "uncertain", "torque_peaks_low"];
const MOTION = ["waiting_for_motion", "at_standstill", "instant_not_identifiable"]; // what motion alone settles

// "a", "a and b", "a, b and c"
export const listed = (words) => (words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

// Reasons as short as they can be: what many parameters have in common appears once.
export function brief(reasons) {
  const others = reasons.filter((reason) => !weak(reason)).map(({ text }) => text);
  const names = reasons.filter(weak).map(({ parameter }) => readable(parameter));
  if (!names.length) return others;
  const shown = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} more`] : names;
  return [...others, `not identifiable yet: ${listed(shown)}`];
}

// what to do about reasons: the motion that would teach it in one sentence, then the others' own
function asks(reasons) {
  const needs = [...new Set(reasons.filter(({ words }) => words?.needs).map(({ words }) => words.needs))];
  const others = [...new Set(reasons.filter(({ words }) => !words?.needs).map(({ todo }) => todo))];
  return [...(needs.length ? [`Let it make ${listed(needs)}.`] : []), ...others].slice(0, 2).join(" ");
}

// parameters that some reason is about; all of them where one speaks of the whole joint
function unsure({ names, reasons }) {
  const found = names.filter((name) => reasons.some(({ parameter }) => parameter === name));
  return reasons.some(({ parameter }) => !names.includes(parameter)) ? names.length : found.length;
}

const weak = ({ code }) => WEAK.includes(code);

// in two or three words
function unsureWords(joint) {
  const count = unsure(joint);
  return count === joint.names.length ? "all parameters unsure" : `${count} of ${joint.names.length} unsure`;
}

// What a joint lacks whose values do not all count, by the codes of its reasons: another model, another motion, or only more time.
function unsureKey({ reasons }) {
  const codes = reasons.map(({ code }) => code);
  if (codes.some((code) => !WEAK.includes(code) && !MOTION.includes(code))) return "doubtful";
  return codes.length && codes.every((code) => code === "uncertain") ? "learning" : "unsure";
}

// parameters beyond their limits of which there is no record
const unrecorded = (joint) => (joint.drift.drifted ?? []).filter((name) => !joint.changes.some(({ parameter, over }) => parameter === name && !over));

// what has changed and is not acknowledged, the largest first
function drifts(joint) {
  const recorded = joint.open.map((one) => ({ ...one, name: one.parameter, change: (one.percent ?? NaN) / 100 }));
  const changes = [...recorded, ...unrecorded(joint).map((name) => ({ name, todo: joint.drift.todo?.[name], ...joint.drifted(name) }))];
  const size = ({ change, z }) => (Number.isFinite(change) ? Math.abs(change) : Math.abs(z) / 100);
  return changes.sort((a, b) => size(b) - size(a));
}

function kindOf(joint) {
  if (joint.phase === "faulted" || joint.phase === "transient") return joint.phase;
  if (joint.open.length || unrecorded(joint).length) return "changed";
  return joint.phase === "normal" && joint.state.health?.status === "learning" ? unsureKey(joint) : joint.phase;
}

// [short text for a chip, how bad as a number, lines for a headline, what to do]
const TELL = {
  faulted: (joint) => [brief(joint.reasons)[0] ?? "", 1, brief(joint.reasons), asks(joint.reasons.slice(0, 1)) || "Do not use its values; jointwatch doctor looks closer."],
  transient: (joint) => ["changed", 1, [...brief(joint.reasons), `prediction error ${format.percent(joint.state.error)}`], "Wait: the last good values stand. If it does not end: a collision, another load, a slipping brake?"],
  changed: (joint) => {
    const found = drifts(joint), worst = found[0];
    if (joint.drift.cause) return ["torque scale", Math.abs(worst.change) || 0, [joint.drift.cause], worst.todo ?? ""];
    const texts = found.map((one) => `${readable(one.name)} ${format.drift(one)}`);
    const all = listed(texts.length > 3 ? [...texts.slice(0, 3), `${texts.length - 3} more`] : texts);
    const sudden = found.some(({ evidence }) => evidence === "alarm") ? ", suddenly" : "";
    const against = worst.reference === "start" ? "; against its start, since no baseline is set" : "";
    return [texts[0], Math.abs(worst.change) || 0, [`${all}${sudden}${against}`], found.every(({ over }) => over) ? "It is within its limits again. Acknowledge it." : worst.todo ?? ""];
  },
  waiting: (joint) => ["no data yet", 0, brief(joint.reasons), "Is the drive on? Acquisition shows what comes."],
  starting: (joint) => [`${(joint.state.progress ?? 0).toFixed(0)} %`, 0, brief(joint.reasons), asks(joint.reasons.filter(({ code }) => code !== "at_standstill")) || "Keep it moving."],
  ...Object.fromEntries(["doubtful", "unsure", "learning"].map((key) => [key, (joint) => [unsureWords(joint), unsure(joint), brief(joint.reasons), asks(joint.reasons)]])),
  held: () => ["stands still", 0, [], ""],
  normal: (joint) => [`error ${format.percent(joint.state.error)}`, 0, [], ""],
};

// when the condition began, Unix s: as its event says, else since the page has seen it; null: longer than anybody here knows
function beginning(joint, key, events, now) {
  const kinds = BEGINS[key] ?? (key === "normal" ? SETTLES : []);
  if (key === "changed" && joint.open.length) return Math.min(...joint.open.map(({ since }) => since));
  const told = events.findLast((event) => event.joint === joint.name && kinds.includes(event.kind))?.timestamp;
  if (joint.condition.key !== key) joint.seen = joint.condition.key === undefined ? null : now;
  return joint.seen && (!told || told < joint.seen - 5) ? joint.seen : told ?? null;
}

// a joint of which nothing comes any more; since: Unix s of the last update
function silent(joint, since) {
  const text = `no data since ${format.clock(since)}`, { key, word, lines } = joint.condition;
  const before = key === "stale" ? joint.condition.before : word && [word.toLowerCase(), ...(lines.length ? [lines.join(", ")] : [])].join(": ");
  const was = key === "stale" ? joint.condition.was : key;
  return { key: "stale", rank: ORDER.length, word: phase("stale")[0], short: text, size: 0, lines: [text], todo: "", since, before, was };
}

export function judge(joint, events, now, silence = null) {
  if (silence !== null) return silent(joint, silence);
  const key = kindOf(joint);
  const [short, size, lines, todo] = (TELL[key] ?? TELL.waiting)(joint);
  const since = beginning(joint, key, events, now);
  return { key, rank: ORDER.indexOf(key), word: phase(key)[0], short, size, lines, todo, since };
}

export const trouble = (joint) => TROUBLES.includes(joint.condition.key);

// Joints, worst first; equal ones as they are configured.
export const worstFirst = (joints) => [...joints].sort((a, b) => a.condition.rank - b.condition.rank || (trouble(a) ? b.condition.size - a.condition.size : 0));
