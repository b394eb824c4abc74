// Alarms, faults and drift of joints on one line of time: a lane each, a bar for what lasts, a sign for what happens once.

import { BEGINS, ENDS } from "../condition.js";
import { element } from "../elements.js";
import * as format from "../format.js";
import { readable, toneOf } from "../words.js";

const SPANS = [[120, 4], [300, 5], [600, 5], [1800, 6], [3600, 4], [6 * 3600, 6], [24 * 3600, 4]]; // s, parts of whole minutes
const SILENT = ["started", "standstill", "held", "moving", "baseline", "refit_started", "resumed"]; // no reason for a lane of one's own

// from when to when each condition lasted; a clear end or the present
function bars(joint, events, now) {
  return Object.keys(BEGINS).flatMap((key) => {
    const found = [];
    let from = null;
    for (const event of events) {
      if (BEGINS[key].includes(event.kind)) from ??= event.timestamp;
      else if (from !== null && ENDS[key].includes(event.kind)) { found.push({ key, from, to: event.timestamp }); from = null; }
    }
    if (from !== null && joint.condition.key === key) found.push({ key, from, to: now });
    return found;
  });
}

const ago = (seconds) => (seconds < 1 ? "now" : seconds < 120 ? `−${Math.round(seconds)} s` : seconds < 7200 ? `−${Math.round(seconds / 60)} min` : `−${Math.round(seconds / 3600)} h`);

export class TimeLine {
  constructor(lanes, titled = true) {
    this.most = lanes;
    this.titled = titled;
    this.lanes = element("div", { class: "lanes" });
    this.scale = element("div", { class: "scale", "aria-hidden": "true" });
    this.range = element("span", { class: "range" });
    this.node = element("div", { class: `timeline ${titled ? "" : "single"}`, role: "group", "aria-label": "What happened" }, this.lanes, this.scale);
  }

  update(joints, events, now) {
    const told = new Map(joints.map((joint) => [joint, events.filter((event) => event.joint === joint.name)]));
    const lively = joints.filter((joint) => !this.titled || told.get(joint).some((event) => !SILENT.includes(event.kind))).slice(0, this.most);
    this.node.hidden = !lively.length;
    if (!lively.length) return;
    const oldest = Math.min(now - 1, ...lively.flatMap((joint) => told.get(joint).map((event) => event.timestamp)));
    const [span, parts] = SPANS.find(([one]) => one >= now - oldest) ?? SPANS.at(-1);
    const key = `${lively.map((joint) => `${joint.name} ${joint.condition.key} ${told.get(joint).length} ${told.get(joint).at(-1)?.timestamp}`).join()} ${span} ${Math.floor(now / Math.max(1, span / 600))}`;
    if (key === this.key) return;
    this.key = key;
    const place = (time) => `${(100 * Math.min(1, Math.max(0, 1 - (now - time) / span))).toFixed(2)}%`;
    this.lanes.replaceChildren(...lively.map((joint) => this.lane(joint, told.get(joint), now, span, place)));
    this.scale.replaceChildren(...Array.from({ length: parts + 1 }, (_, i) => {
      const tick = element("span", {}, ago((span * (parts - i)) / parts));
      tick.style.left = `${(100 * i) / parts}%`;
      return tick;
    }));
  }

  lane(joint, events, now, span, place) {
    const track = element("div", { class: "track" });
    for (const { key, from, to } of bars(joint, events, now)) {
      if (to < now - span) continue;
      const bar = element("i", { class: "lasting", "data-phase": key });
      bar.style.left = place(from);
      bar.style.right = `calc(100% - ${place(to)})`;
      track.append(bar);
    }
    for (const event of events) {
      if (event.timestamp < now - span) continue;
      const sign = element("i", { class: "kind event", "data-tone": toneOf(event.kind), title: `${format.clock(event.timestamp)} ${readable(event.kind)}: ${event.text}` });
      sign.style.left = place(event.timestamp);
      track.append(sign);
    }
    const lane = element("div", { class: "lane", "data-phase": joint.condition.key });
    if (this.titled) lane.append(element("a", { href: `#/joint/${encodeURIComponent(joint.name)}` }, joint.name));
    lane.append(track);
    return lane;
  }
}

