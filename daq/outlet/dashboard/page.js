// What the views share: a phase, a quantity, progress of a start, figures, gates, what happened.

import { element, mark, write } from "./elements.js";
import * as format from "./format.js";
import { happened, icon, phase, readable, toneOf } from "./words.js";

export class PhasePill {
  constructor() {
    this.text = element("b");
    this.node = element("span", { class: "pill" }, this.text);
  }

  update(key) {
    if (this.node.dataset.phase === key) return;
    const [word, , shape] = phase(key);
    this.node.dataset.phase = key;
    this.node.title = phase(key)[1];
    this.text.textContent = word;
    this.node.querySelector("svg")?.remove();
    this.node.prepend(icon(shape));
  }
}

// Two badges: the state of a joint, then that something has changed of it. A normal joint with a change shows only the change.
export class Badges {
  constructor() {
    this.state = new PhasePill();
    this.change = new PhasePill();
    this.change.update("changed");
    this.node = element("span", { class: "badges" });
  }

  // condition: see condition.js
  update({ state, change }) {
    this.state.update(state ?? "waiting");
    const shown = [...(change && state === "normal" ? [] : [this.state.node]), ...(change ? [this.change.node] : [])];
    if (shown.length !== this.node.children.length || shown[0] !== this.node.firstChild) this.node.replaceChildren(...shown);
  }
}

// the line about a change that stands beside a state; "" where the change is the headline itself
export function changeBeside({ key, change }) {
  if (!change || key === "changed") return "";
  return `${change.line}${change.since ? `, since ${format.when(change.since)}` : ""}`;
}

// "0.4127 ± 0.0015 kg·m²", in columns so that digits stand still
export class Quantity {
  constructor(unit) {
    this.format = format.quantity();
    this.value = element("span", { class: "value" });
    this.deviation = element("span", { class: "deviation" });
    this.unit = element("span", { class: "unit" });
    this.suffix = unit;
    this.nodes = [this.value, this.deviation, this.unit];
  }

  update(value, deviation) {
    const [number, sigma, power] = this.format(value, deviation);
    write(this.value, number);
    write(this.deviation, sigma ? `± ${sigma}${power}` : "");
    write(this.unit, this.suffix);
  }
}

// How far a start is: a bar and its percentage; hidden by the style when it is off.
export class Progress {
  constructor() {
    this.bar = element("i");
    this.text = element("span", { class: "progress-text" });
    this.node = element("div", { class: "startup" }, element("div", { class: "progress" }, this.bar), this.text);
  }

  // share: 0 to 100
  update(starting, share = 0) {
    mark(this.node, "on", String(starting));
    this.bar.style.width = `${share}%`;
    write(this.text, starting ? `${share.toFixed(0)} %` : "");
  }
}

// A list of figures; rows: [[key, label, hint] …]. Each key becomes {value, more}, two elements to write to.
export class Figures {
  constructor(rows) {
    this.node = element("dl", { class: "figures" });
    for (const [key, label, hint] of rows) {
      this[key] = { value: element("b"), more: element("small") };
      this.node.append(element("div", { title: hint }, element("dt", {}, label), element("dd", {}, this[key].value, this[key].more)));
    }
  }
}

// What a motion must show before there is a number: a bar that fills up; read, share: of a message, its text and the part that is there.
export class Gate {
  constructor([label, hint, read, share]) {
    Object.assign(this, { read, share, bar: element("i"), text: element("span", { class: "number" }) });
    this.node = element("div", { class: "row gate", title: hint }, element("span", { class: "name" }, label), element("span", { class: "meter" }, this.bar), this.text);
  }

  // message: null before the first
  update(message) {
    const part = message === null ? 0 : this.share(message);
    mark(this.node, "enough", String(part >= 1));
    this.bar.style.width = `${100 * Math.min(1, Math.max(0, part || 0))}%`;
    write(this.text, message === null ? "–" : this.read(message));
  }
}

// How a refit has found its values: method, points, evaluations, and the runner-up where there is one.
export function searched({ search }) {
  if (!search) return "";
  const other = Object.entries(search.runner_up ?? {}).map(([name, value]) => `${name} ${value.toPrecision(3)}`).join(", ");
  const worse = other ? `; runner-up ${other}, χ² ${search.gap.toPrecision(3)} worse` : "; no runner-up";
  return ` [${search.method.replace("_", " ")}, ${search.visits} points, ${search.evaluations} evaluations${worse}]`;
}

export class EventLog {
  constructor(limit, withJoint) {
    this.limit = limit;
    this.withJoint = withJoint;
    this.node = element("ol", { class: "events" });
  }

  update(events) {
    // what the robot says with the time of its data may come after what the service says with its own
    const shown = events.slice(-this.limit).reverse().sort((a, b) => b.timestamp - a.timestamp);
    const key = shown.map((event) => `${event.timestamp}${event.joint}${event.kind}`).join();
    if (key === this.key) return;
    this.key = key;
    this.node.replaceChildren(...shown.map((event) => {
      const span = event.from === undefined ? "" : format.span(event.from, event.to);
      return element("li", {},
        element("time", {}, format.clock(event.timestamp)),
        element("span", { class: "kind", "data-tone": toneOf(event.kind), title: happened(event.kind) }, readable(event.kind)),
        element("span", { class: "text", title: (span ? `${event.text} (${span})` : event.text) + searched(event) },
          this.withJoint ? element("b", {}, event.joint) : "", event.text + searched(event), span && !this.withJoint ? element("small", {}, span) : ""));
    }));
    if (!shown.length) this.node.append(element("li", { class: "none" }, "Nothing has happened yet."));
  }
}
