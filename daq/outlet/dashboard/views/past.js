// The last hour to the last year of one joint, from the history file: every quantity with its band, the use, what changed.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { extent, TimePlot } from "../plots.js";
import { readable } from "../words.js";

const FLAT = 4e-3; // of the values, what a plot spans at least
const SEEN = 0.008; // of the time shown, what a line takes at least
const HOUR = 3600, DAY = 24 * HOUR;
const SPANS = [[HOUR, "last hour"], [DAY, "last day"], [7 * DAY, "last week"], [30 * DAY, "last month"], [365 * DAY, "last year"]];
const STEPS = [600, 1200, HOUR, 3 * HOUR, 6 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 61 * DAY];
const AGAIN = 60000; // ms between two questions: the file gets a row a minute
const LEVELS = ["residual", "torque"]; // their rms is drawn, the last but one column

const number = (value, unit) => `${format.significant(value)} ${unit}`;
const ago = (seconds) => (seconds < 90 ? "now" : seconds < 2 * HOUR ? `−${Math.round(seconds / 60)} min` : seconds < 2 * DAY ? `−${Math.round(seconds / HOUR)} h` : `−${Math.round(seconds / DAY)} d`);

// A plot whose axis goes back by minutes, hours or days.
class LongPlot extends TimePlot {
  times(parts) {
    const step = STEPS.find((seconds) => seconds >= (this.end - this.start) / parts) ?? STEPS.at(-1);
    const result = [];
    for (let at = this.end; at >= this.start - 1e-6; at -= step) result.unshift(at);
    return result;
  }

  ago(at) { return ago(this.end - at); }
}

const BAND = "friction@"; // "friction@0.39" is the friction about that speed

// Rows of a quantity as columns, with a gap where an interval is missing. One between two gaps is drawn as long as it is, or
// as is needed to be seen; seen: s of that.
export function columns({ name, rows }, interval, seen) {
  const found = [[], [], [], []];
  const near = (a, b) => a && b && Math.abs(a[0] - b[0]) <= 1.5 * interval;
  rows.forEach((row, k) => {
    const [start, , mean, deviation] = row, before = near(rows[k - 1], row), after = near(row, rows[k + 1]);
    if (k > 0 && !before) { found[0].push(Math.max(found[0].at(-1), rows[k - 1][0] + interval)); found.slice(1).forEach((column) => column.push(null)); }
    const level = LEVELS.includes(name), value = level ? deviation : mean, measured = level || name === "temperature" || name.startsWith(BAND), sigma = measured ? 0 : deviation;
    const half = Math.max(0.45, 0.5 * seen / interval);
    const [from, to] = [Math.max(found[0].at(-1) ?? -Infinity, start + (0.5 - half) * interval), Math.min(rows[k + 1]?.[0] ?? Infinity, start + (0.5 + half) * interval)];
    for (const at of before || after ? [start + 0.5 * interval] : [from, to]) [at, value + sigma, value - sigma, value].forEach((one, i) => found[i].push(one));
  });
  return found;
}

// a band of speeds after the middle of its speeds; the others as they are called
const titled = (name, length) => (name.startsWith(BAND) ? `friction at ${name.slice(BAND.length)} ${length}/s` : readable(name));
const speedOf = ({ name }) => (name.startsWith(BAND) ? Number(name.slice(BAND.length)) : 0);

// Limits of values that hardly differ, as those of the first minutes do: no label needs more than four digits.
export function roomy([low, high]) {
  const lacking = low === null ? 0 : Math.max(0, FLAT * Math.max(Math.abs(low), Math.abs(high)) - (high - low));
  return lacking ? [low - lacking / 2, high + lacking / 2] : [low, high];
}

export class Past {
  constructor(joint) {
    this.joint = joint;
    this.panels = new Map();
    this.asked = 0;
    this.choice = element("select", { id: "past" }, ...SPANS.map(([seconds, text]) => element("option", { value: seconds }, text)));
    this.choice.value = DAY;
    this.choice.addEventListener("change", () => this.ask());
    this.use = element("p", { class: "caption use" });
    this.note = element("p", { class: "caption note" });
    this.grid = element("div", { class: "grid" });
    this.node = element("section", { class: "past", "aria-label": "History" },
      element("h2", {}, "History", element("label", { class: "choice" }, element("span", { class: "hidden" }, "Time shown of the history"), this.choice)),
      this.use, this.note, this.grid);
  }

  update() {
    if (performance.now() - this.asked > AGAIN || !this.asked) this.ask();
  }

  async ask() {
    this.asked = performance.now();
    const span = Number(this.choice.value);
    try {
      const answer = await fetch(`api/history?joint=${encodeURIComponent(this.joint.name)}&span=${span}`);
      if (span === Number(this.choice.value)) this.show(await answer.json());
    } catch { /* the connection is away, which the page says elsewhere; the next question is a minute later */ }
  }

  show({ cause, status, quantities = [], use = [], total, interval, start, end, changes = [] }) {
    const words = [cause, status?.cause && `not written: ${status.cause}`, ...(status?.remarks ?? []), status?.lost && `${status.lost} minutes are lost`];
    if (!cause && !quantities.length) words.push("no valid values in this time");
    write(this.note, words.filter(Boolean).join(" · "));
    const seconds = use.reduce((sum, [, one]) => sum + one, 0);
    write(this.use, total ? `In motion ${format.hours(seconds)} in this time; since ${format.date(total.since)} ${format.hours(total.seconds)}, ${total.travel < 100 ? number(total.travel, total.unit) : `${format.count(Math.round(total.travel))} ${total.unit}`}, ${format.count(total.reversals)} reversals, ${format.count(total.starts)} start${total.starts === 1 ? "" : "s"}` : "");
    for (const name of this.panels.keys()) if (!quantities.some((one) => one.name === name)) this.remove(name);
    for (const one of [...quantities].sort((a, b) => speedOf(a) - speedOf(b))) {
      const { plot, live } = this.panels.get(one.name) ?? this.add(one, total?.unit ?? "rad"), data = columns(one, interval, SEEN * (end - start));
      plot.events = changes.filter(({ parameter }) => parameter === one.name).map(({ since }) => ({ timestamp: since, kind: "drift" }));
      plot.draw(start, end, data, roomy(extent(data[1], data[2])));
      write(live, number(data[3].at(-1), one.unit));
    }
    mark(this.node, "interval", String(interval ?? ""));
  }

  add({ name, unit }, length) {
    const live = element("span", { class: "live value" });
    const plot = new LongPlot({ label: `History of ${titled(name, length)}`, ticks: 3, band: [0, 1], lines: [{ label: "+σ" }, { label: "−σ" }, { label: name, colour: "estimate", width: 1.6 }] });
    const caption = LEVELS.includes(name) ? `${unit} rms` : unit;
    const node = element("article", { class: "panel parameter" }, element("header", {}, element("h3", {}, titled(name, length)), live), element("p", { class: "caption" }, element("span", {}, caption)), plot.node);
    this.grid.append(node);
    const panel = { plot, live, node };
    this.panels.set(name, panel);
    return panel;
  }

  remove(name) {
    const { plot, node } = this.panels.get(name);
    plot.destroy();
    node.remove();
    this.panels.delete(name);
  }

  destroy() { [...this.panels.keys()].forEach((name) => this.remove(name)); }
}
