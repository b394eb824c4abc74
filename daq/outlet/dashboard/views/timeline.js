// What happened to every joint on one line of time: a lane each, a bar for what lasts, a sign for what happens once.

import { BEGINS, ENDS } from "../condition.js";
import { cutName, element } from "../elements.js";
import * as format from "../format.js";
import { readable, toneOf } from "../words.js";

const SPANS = [[120, 4], [300, 5], [600, 5], [1800, 6], [3600, 4], [6 * 3600, 6], [24 * 3600, 4]]; // s, parts of whole minutes
const TONES = ["bad", "warn", "busy", "good"]; // of signs that share a place the worst is drawn
const MEANINGS = { bad: "fault", warn: "change or warning", busy: "new fit or baseline", good: "started, or over" };
const APART = 1.15; // rem between two signs: the width of one
const LISTED = 8; // events in the tooltip of one sign

// from when to when each condition lasted; a clear end or the present. A change lasts until somebody acknowledges it.
function bars(joint, events, now) {
  const { key: standing, was, since, change } = joint.condition; // of a joint that is silent the last that was known
  const lasted = Object.keys(BEGINS).flatMap((key) => {
    const found = [];
    let from = null;
    for (const event of events) {
      if (BEGINS[key].includes(event.kind)) from ??= event.timestamp;
      else if (from !== null && ENDS[key].includes(event.kind)) { found.push({ key, from, to: event.timestamp }); from = null; }
    }
    if (from !== null && (was ?? standing) === key) found.push({ key, from, to: was ? since : now });
    return found;
  });
  const began = change && (change.since ?? events.findLast(({ kind }) => BEGINS.changed.includes(kind))?.timestamp);
  if (!began) return lasted;
  const before = lasted.filter(({ key, to }) => key !== "changed" || to <= began);
  return [{ key: "changed", from: began, to: was ? since : now }, ...before];
}

// How each event looks. A transient that ends while its change still stands brings new values, and nothing is over.
function tonesOf(joint, events) {
  const began = joint.condition.change?.since ?? Infinity;
  let lasting = "";
  return new Map(events.map((event) => {
    const tone = toneOf(event.kind), learnt = tone === "good" && lasting === "transient" && event.timestamp >= began;
    if (lasting && ENDS[lasting].includes(event.kind)) lasting = "";
    lasting = Object.keys(BEGINS).find((key) => key !== "changed" && BEGINS[key].includes(event.kind)) ?? lasting;
    return [event, learnt ? "busy" : tone];
  }));
}

// Events whose signs would lie on one another share one sign; share: of the span, that a sign is wide.
export function grouped(events, from, span, share) {
  const groups = [];
  for (const event of events) {
    const at = (event.timestamp - from) / span, last = groups.at(-1);
    if (last && at - last.at < share) last.events.push(event);
    else groups.push({ at, events: [event] });
  }
  return groups;
}

const ago = (seconds, span) => (seconds < 1 ? "now" : span <= 120 ? `−${Math.round(seconds)} s` : seconds < 7200 ? `−${Math.round(seconds / 60)} min` : `−${Math.round(seconds / 3600)} h`);

export class TimeLine {
  constructor(titled = true) {
    this.titled = titled;
    this.lanes = element("div", { class: "lanes" });
    this.scale = element("div", { class: "scale", "aria-hidden": "true" });
    this.legend = element("p", { class: "legend" });
    this.node = element("div", { class: `timeline ${titled ? "" : "single"}`, role: "group", "aria-label": "What happened" }, this.lanes, this.scale, this.legend);
  }

  update(joints, events, now) {
    const own = new Map(joints.map((joint) => [joint, events.filter((event) => event.joint === joint.name)]));
    this.node.dataset.many = String(joints.length > 10);
    const oldest = Math.min(now - 1, ...joints.flatMap((joint) => own.get(joint).map((event) => event.timestamp)));
    const [span, parts] = SPANS.find(([one]) => one >= now - oldest) ?? SPANS.at(-1);
    const width = this.lanes.querySelector(".track")?.clientWidth || 600;
    const share = (APART * parseFloat(getComputedStyle(document.documentElement).fontSize)) / width;
    const key = `${joints.map((joint) => `${joint.name} ${joint.condition.key} ${joint.condition.change?.since} ${own.get(joint).length} ${own.get(joint).at(-1)?.timestamp}`).join()} ${span} ${width} ${Math.floor(now / Math.max(1, span / 600))}`;
    if (key === this.key) return;
    this.key = key;
    this.lanes.replaceChildren(...joints.map((joint) => this.lane(joint, own.get(joint), now, span, share)));
    this.scale.replaceChildren(...Array.from({ length: parts + 1 }, (_, i) => {
      const tick = element("span", {}, ago((span * (parts - i)) / parts, span));
      tick.style.left = `${(100 * i) / parts}%`;
      return tick;
    }));
    this.explain();
  }

  // the signs that are there, and what they mean
  explain() {
    const shown = TONES.filter((tone) => this.lanes.querySelector(`[data-tone="${tone}"]`));
    const signs = shown.map((tone) => element("span", { class: "kind", "data-tone": tone }, MEANINGS[tone]));
    const bar = this.lanes.querySelector(".lasting") ? [element("span", { class: "bar-key" }, "how long it lasted")] : [];
    const several = this.lanes.querySelector(".event small") ? [element("span", { class: "several" }, "several at one place")] : [];
    this.legend.replaceChildren(...signs, ...bar, ...several);
    this.legend.hidden = !signs.length;
  }

  lane(joint, events, now, span, share) {
    const place = (time) => `${(100 * Math.min(1, Math.max(0, 1 - (now - time) / span))).toFixed(2)}%`;
    const track = element("div", { class: "track" }), tones = tonesOf(joint, events);
    for (const { key, from, to } of bars(joint, events, now)) {
      if (to < now - span) continue;
      const bar = element("i", { class: "lasting", "data-phase": key });
      bar.style.left = place(from);
      bar.style.right = `calc(100% - ${place(to)})`;
      track.append(bar);
    }
    for (const { at, events: same } of grouped(events.filter(({ timestamp }) => timestamp >= now - span), now - span, span, share)) {
      const tone = TONES.find((one) => same.some((event) => tones.get(event) === one));
      const lines = same.slice(-LISTED).map((event) => `${format.clock(event.timestamp)} ${readable(event.kind)}: ${event.text}`);
      const sign = element("i", { class: "kind event", "data-tone": tone, title: lines.join("\n") });
      if (same.length > 1) sign.append(element("small", {}, String(same.length)));
      sign.style.left = `${(100 * Math.min(1, Math.max(0, at))).toFixed(2)}%`;
      track.append(sign);
    }
    const lane = element("div", { class: "lane", "data-phase": joint.condition.key });
    if (this.titled) lane.append(cutName("a", { href: `#/joint/${encodeURIComponent(joint.name)}` }, joint.name));
    lane.append(track);
    return lane;
  }
}
