// Curves: torque over velocity or twist, the recent points as a cloud, the fitted law and the baseline's as lines.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { CalmLimits, colour, FONT, numbers, rem, watch } from "../plots.js";

const FADE = 0.25; // of the newest points' strength that the oldest keep
const NARROW = 16; // rem, below which a plot has no room for names of its axes
const STEPS = [1, 2, 5, 10];

function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * STEPS.find((factor) => factor * power >= rough);
  const result = [];
  for (let at = Math.ceil(low / step) * step; at <= high + 1e-9 * step; at += step) result.push(Math.abs(at) < 1e-9 * step ? 0 : at);
  return result;
}

// one canvas; law and baseline: [[abscissa …], [torque …]]
export class CurvePlot {
  constructor(label) {
    this.node = element("canvas", { class: "curve", role: "img", "aria-label": label });
    this.names = ["", ""]; // of abscissa and ordinate, with units
    watch(this.node);
    this.x = new CalmLimits();
    this.y = new CalmLimits();
  }

  // columns: [abscissa …, torque …], oldest first; since: index of the first to draw
  draw(horizontal, vertical, since, law, baseline, until = horizontal.length) {
    const ratio = devicePixelRatio, width = this.node.clientWidth, height = this.node.clientHeight;
    if (!width || !height) return;
    const wide = Math.round(width * ratio), high = Math.round(height * ratio);
    if (this.node.width !== wide || this.node.height !== high) Object.assign(this.node, { width: wide, height: high });
    const pen = this.node.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (until < horizontal.length) [horizontal, vertical] = [horizontal.slice(0, until), vertical.slice(0, until)];
    this.cover(horizontal, vertical, since, [law, baseline].filter(Boolean));
    const unit = rem();
    const box = { left: 3.6 * unit, right: width - 0.9 * unit, top: 0.5 * unit, bottom: height - 1.7 * unit };
    this.box = box;
    if (this.x.low === null) return;
    this.axes(pen, box, unit);
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
    pen.clip();
    this.cloud(pen, horizontal, vertical, since, unit);
    if (law && baseline) this.between(pen, law, baseline);
    if (baseline) this.line(pen, baseline, "baseline", 2.4 * unit / 15, [0.5 * unit, 0.35 * unit]);
    if (law) this.line(pen, law, "estimate", 2.2 * unit / 15, []);
    pen.restore();
    this.axisNames(pen, box, unit);
  }

  // in the corners that a torque which grows with its abscissa leaves free
  axisNames(pen, box, unit) {
    pen.fillStyle = colour("muted");
    pen.strokeStyle = colour("card");
    pen.lineWidth = 3;
    pen.lineJoin = "round";
    if (box.right - box.left < NARROW * unit) return;
    const [across, up] = this.names, gap = 0.3 * unit;
    pen.textAlign = "left"; pen.textBaseline = "top";
    pen.strokeText(up, box.left + gap, box.top + gap / 2); pen.fillText(up, box.left + gap, box.top + gap / 2);
    pen.textAlign = "right"; pen.textBaseline = "bottom";
    pen.strokeText(across, box.right - gap, box.bottom - gap); pen.fillText(across, box.right - gap, box.bottom - gap);
  }

  cover(horizontal, vertical, since, laws) {
    const range = (points, index) => {
      let low = Infinity, high = -Infinity;
      const take = (value) => { if (value !== null && value < low) low = value; if (value !== null && value > high) high = value; };
      for (let i = since; i < points.length; i++) if (horizontal[i] !== null && vertical[i] !== null) take(points[i]);
      laws.forEach((law) => law[index].forEach(take));
      return low > high ? [null, null] : [low, high];
    };
    this.x.cover(...range(horizontal, 0));
    this.y.cover(...range(vertical, 1));
  }

  across(value) { return this.box.left + ((value - this.x.low) / (this.x.high - this.x.low)) * (this.box.right - this.box.left); }
  up(value) { return this.box.bottom - ((value - this.y.low) / (this.y.high - this.y.low)) * (this.box.bottom - this.box.top); }

  axes(pen, box, unit) {
    pen.font = `${Math.round(0.73 * unit)}px ${FONT}`;
    pen.fillStyle = colour("muted");
    pen.lineWidth = 1;
    const vertical = ticks(this.y.low, this.y.high, Math.max(4, (box.bottom - box.top) / (2.6 * unit)));
    const horizontal = ticks(this.x.low, this.x.high, Math.max(2, (box.right - box.left) / (5 * unit)));
    const rule = (at, x1, y1, x2, y2) => {
      pen.strokeStyle = colour(at === 0 ? "line-strong" : "grid");
      pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x2, y2); pen.stroke();
    };
    pen.textAlign = "right"; pen.textBaseline = "middle";
    numbers(vertical).forEach((text, i) => {
      const y = Math.round(this.up(vertical[i])) + 0.5;
      rule(vertical[i], box.left, y, box.right, y);
      pen.fillText(text, box.left - 0.4 * unit, y);
    });
    pen.textAlign = "center"; pen.textBaseline = "top";
    numbers(horizontal).forEach((text, i) => {
      const x = Math.round(this.across(horizontal[i])) + 0.5;
      rule(horizontal[i], x, box.top, x, box.bottom);
      pen.fillText(text, x, box.bottom + 0.45 * unit);
    });
  }

  cloud(pen, horizontal, vertical, since, unit) {
    const count = horizontal.length - since, size = Math.max(4, 0.45 * unit); // wider than the law, which lies on top
    pen.fillStyle = colour("cloud");
    for (let i = since; i < horizontal.length; i++) {
      if ((i - since) % 64 === 0) pen.globalAlpha = FADE + (1 - FADE) * ((i - since) / count) ** 2;
      if (horizontal[i] === null || vertical[i] === null) continue;
      pen.fillRect(this.across(horizontal[i]) - size / 2, this.up(vertical[i]) - size / 2, size, size);
    }
    pen.globalAlpha = 1;
  }

  // what has changed since the baseline, as an area
  between(pen, law, baseline) {
    pen.beginPath();
    law[0].forEach((x, i) => pen.lineTo(this.across(x), this.up(law[1][i])));
    for (let i = baseline[0].length - 1; i >= 0; i--) pen.lineTo(this.across(baseline[0][i]), this.up(baseline[1][i]));
    pen.closePath();
    pen.fillStyle = colour("baseline");
    pen.globalAlpha = 0.22;
    pen.fill();
    pen.globalAlpha = 1;
  }

  line(pen, [horizontal, vertical], name, width, dash) {
    pen.beginPath();
    horizontal.forEach((x, i) => pen.lineTo(this.across(x), this.up(vertical[i])));
    pen.setLineDash(dash);
    pen.lineJoin = "round";
    pen.strokeStyle = colour("card"); // a seam, so that the line stands out of its cloud
    pen.lineWidth = width + 2;
    if (!dash.length) pen.stroke();
    pen.strokeStyle = colour(name);
    pen.lineWidth = width;
    pen.stroke();
    pen.setLineDash([]);
  }
}

function at([horizontal, vertical], x) {
  if (x < horizontal[0] || x > horizontal.at(-1)) return null;
  const next = Math.max(1, horizontal.findIndex((value) => value >= x));
  const share = (x - horizontal[next - 1]) / (horizontal[next] - horizontal[next - 1] || 1);
  return vertical[next - 1] + share * (vertical[next] - vertical[next - 1]);
}

// what: {title, hint, abscissa, ordinate (columns of the points), law, baseline (names), units: [x, y]}
export class CurvePanel {
  constructor(what) {
    this.what = what;
    this.plot = new CurvePlot(what.title);
    this.plot.names = what.axes;
    this.readout = element("span", { class: "readout" });
    this.baselineKey = element("span", { class: "key baseline" }, "baseline");
    this.node = element("article", { class: "panel wide curves" },
      element("header", {}, element("h3", {}, what.title), this.readout),
      element("p", { class: "caption" }, element("span", { title: "measured, less all that the rest of the model explains" }, what.hint),
        element("span", { class: "key cloud" }, "samples"), element("span", { class: "key estimate" }, "fitted"), this.baselineKey),
      this.plot.node);
    this.plot.node.addEventListener("pointermove", (event) => this.read(event));
    this.plot.node.addEventListener("pointerleave", () => mark(this.node, "cursor", "false"));
  }

  read(event) {
    const { plot, law } = this;
    if (!law || plot.x.low === null) return;
    const x = plot.x.low + ((event.offsetX - plot.box.left) / (plot.box.right - plot.box.left)) * (plot.x.high - plot.x.low);
    const fitted = at(law, x), before = this.baseline ? at(this.baseline, x) : null;
    mark(this.node, "cursor", String(fitted !== null));
    const more = before === null ? "" : `, ${this.baselineKey.textContent} ${format.significant(before)}`;
    const [length, torque] = this.what.units;
    write(this.readout, `at ${format.significant(x)} ${length}: ${format.significant(fitted)}${more} ${torque}`);
  }

  draw(joint, start, end) {
    const { abscissa, ordinate } = this.what;
    this.law = joint.laws[this.what.law];
    this.baseline = joint.laws[this.what.baseline];
    this.baselineKey.hidden = !this.baseline;
    write(this.baselineKey, joint.drift.reference === "start" ? "at its start" : "baseline");
    this.plot.draw(joint.points.columns[abscissa], joint.points.columns[ordinate], joint.points.from(start), this.law, this.baseline, joint.points.from(end) + 1);
  }
}

const speedUnit = (joint) => (joint.unit === "N" ? "m/s" : "rad/s");
const frictionUnits = (joint) => [`speed, ${speedUnit(joint)}`, `friction, ${joint.unit}`];
export const frictionCaption = (joint) => `${joint.unit} over ${speedUnit(joint)}`;

export function frictionPanel(joint) {
  const speed = speedUnit(joint);
  return new CurvePanel({
    title: "Friction", hint: `${joint.unit} over ${speed}`, axes: frictionUnits(joint),
    abscissa: 1, ordinate: 2, law: "friction", baseline: "friction_baseline", units: [speed, joint.unit],
  });
}

export function torsionPanel(joint) {
  return new CurvePanel({
    title: "Torsion", hint: `${joint.unit} over rad of twist`, axes: ["twist, rad", `torque, ${joint.unit}`],
    abscissa: 3, ordinate: 4, law: "spring", baseline: "spring_baseline", units: ["rad", joint.unit],
  });
}
