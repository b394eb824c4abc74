// A mechanism with loops: what each drive's torque leaves unexplained, its friction, and what every joint carries.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { EventLog, PhasePill, Progress } from "../page.js";
import { ViewBar } from "../view_bar.js";
import { Residual } from "./whole.js";

const NAME = "mechanism"; // what events of the mechanism are called by
const FIRST = 1; // column of the trace before the residuals: time

const amount = (value, unit) => (Number.isFinite(value) ? `${format.significant(value, 3)} ${unit}` : "–");

// the mechanism's condition; silence: Unix s of the last update where none comes
export function standing(state, silence = null) {
  if (silence !== null) return { key: "stale", text: `No data since ${format.clock(silence)}`, todo: "" };
  const reasons = state.health?.reasons ?? [], worn = reasons.some(({ code }) => code === "mechanism_friction");
  const key = state.phase === "normal" && worn ? "changed" : state.phase ?? "waiting";
  const todo = reasons.map((one) => one.todo).filter(Boolean).join(" ");
  const touched = Object.entries(state.drives ?? {}).filter(([, values]) => values.contact)
    .map(([name, values]) => `${name}: ${amount(values.residual, values.unit)} unexplained, threshold ${amount(values.threshold, values.unit)}`);
  if (touched.length) return { key, text: touched.join("; "), todo };
  return { key, text: reasons.map(({ text }) => text).join("; ") || "The model explains the torque of every drive", todo };
}

// rows of numbers that are written anew where they change
class NumbersTable {
  constructor(label, titles, names) {
    this.rows = names.map((name) => {
      const cells = titles.slice(1).map(() => element("td", { class: "number" }));
      return { name, cells, node: element("tr", { "data-joint": name }, element("th", { scope: "row" }, name), ...cells) };
    });
    this.node = element("div", { class: "scroll" }, element("table", { "aria-label": label },
      element("thead", {}, element("tr", {}, ...titles.map(([text, hint]) => element("th", { scope: "col", title: hint }, text)))),
      element("tbody", {}, ...this.rows.map(({ node }) => node))));
  }

  words(read) {
    for (const { name, cells } of this.rows) read(name).forEach((text, i) => write(cells[i], text));
  }
}

export class MechanismView {
  constructor(robot) {
    this.robot = robot;
    this.pace = 12;
    const { drives, joints } = robot.mechanism.state;
    this.pill = new PhasePill();
    this.text = element("p", { class: "explanation" });
    this.todo = element("p", { class: "todo" });
    this.progress = new Progress();
    this.drives = new NumbersTable("Torque and friction of every drive", [
      ["drive", ""], ["measured", "low-passed"], ["predicted", "with the friction of every joint"], ["unexplained", "measured − predicted"],
      ["threshold", "beyond which it is reported"], ["friction", "of predicted, what all joints' friction makes of it"],
      ["of the model's", "friction that the drive feels over the model's, from 20 s of motion"]], Object.keys(drives));
    this.joints = new NumbersTable("What every joint carries", [
      ["joint", "of the tree, then the cuts"], ["radial", "force across the axis"], ["axial", "force along it (of a slide: moment about it)"],
      ["bending", "moment across the axis"], ["friction", "of its bearing"], ["position", "of joints without an encoder by the loops"]], Object.keys(joints));
    this.residuals = Object.entries(drives).map(([name, values], i) => new Residual(name, values.unit, FIRST + i, robot.joints.has(name) ? name : ""));
    this.bar = new ViewBar(robot.name || "mechanism", () => this.columns());
    this.events = new EventLog(60, false);
    this.node = element("section", { class: "joint whole", "aria-label": "Mechanism" },
      element("header", { class: "head" },
        element("div", { class: "title" }, element("h1", {}, "Mechanism"), this.pill.node),
        element("div", { class: "health" }, this.text, this.todo, this.progress.node)),
      element("h2", {}, "Drives", element("small", {}, "by the mechanism's own model, loops closed")),
      element("article", { class: "panel part" }, this.drives.node),
      this.bar.node,
      element("div", { class: "grid residuals" }, ...this.residuals.map((one) => one.node)),
      element("div", { class: "pair last" },
        element("article", { class: "panel part" }, element("header", {}, element("h3", {}, "Constraint forces")), this.joints.node),
        element("article", { class: "panel log" }, element("header", {}, element("h3", {}, "Events")), this.events.node)));
  }

  words(robot, now, stale) {
    const { state } = robot.mechanism, { key, text, todo } = standing(state, stale ? robot.lastUpdate : null);
    mark(this.node, "phase", key);
    this.pill.update(key);
    write(this.text, text);
    write(this.todo, todo);
    this.progress.update(state.phase === "starting", state.progress);
    this.drives.words((name) => {
      const one = state.drives[name], ratio = one.friction_ratio;
      const share = Number.isFinite(ratio) ? `${(100 * ratio).toFixed(0)} ± ${Math.max(0.1, 100 * one.friction_ratio_deviation).toFixed(1)} %` : "not yet";
      return [...["measured", "predicted", "residual", "threshold", "friction"].map((which) => amount(one[which], one.unit)), share];
    });
    this.joints.words((name) => {
      const one = state.joints[name], slides = one.unit === "N";
      return [amount(one.radial, "N"), amount(one.axial, slides ? "N·m" : "N"), amount(one.bending, "N·m"), amount(one.friction, one.unit),
        one.position === undefined ? "–" : amount(one.position, slides ? "m" : "rad")];
    });
    this.residuals.forEach((one, i) => one.words(state.drives[one.name], i));
    const events = robot.events.filter((event) => event.joint === NAME);
    this.events.update(events);
    this.residuals.forEach((one) => { one.panel.plot.events = events; });
  }

  draw(start, end) { this.residuals.forEach((one) => one.draw(start, end, this.robot.mechanism.trace)); }

  // of the table of what is seen
  columns() {
    const { columns } = this.robot.mechanism.trace, { drives } = this.robot.mechanism.state;
    return Object.entries(drives).map(([name, { unit }], i) => [`residual of ${name} [${unit}]`, columns[0], columns[FIRST + i]]);
  }

  destroy() { this.residuals.forEach((one) => one.panel.plot.destroy()); }
}
