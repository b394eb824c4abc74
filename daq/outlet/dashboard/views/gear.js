// The gear between two encoders: its lost motion over time, what else is known of it, and why there may be no number.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { Gate, Quantity } from "../page.js";
import { Panel } from "../panel.js";
import { calmExtent } from "../plots.js";

const MICRO = 1e6; // µrad in a rad
const REVERSALS = 10, RAREST = 0.1, IMITATED = 0.9; // what a number takes, as estimators/online/gear/lost_motion.py has it

// what is shown of a message lost_motion/<joint>: label, hint, unit, factor, parameter
const SHOWN = [
  ["Stiffness", "torque per twist between the encoders", "N·m/rad", 1, "gear_stiffness"],
  ["Friction", "dry friction of the motor's side", "N·m", 1, "gear_friction"],
  ["Link's friction", "dry friction of the link's side; it decides which loads may be believed", "N·m", 1, "link_friction"],
  ["Lag", "skew of the encoders, less viscous friction over stiffness", "ms", 1e3, "gear_lag"],
];
// what the motion must show before there is a number: label, hint, reading, share of what is needed
const GATES = [
  ["Rows", "of the first window", ({ progress }) => `${progress.toFixed(0)} %`, ({ progress }) => progress / 100],
  ["Load reversals", `in the window; ${REVERSALS} are needed`, ({ reversals }) => `${reversals} (≥ ${REVERSALS})`, ({ reversals }) => reversals / REVERSALS],
  ["Rarer side", `rows whose load has the rarer sign; ${100 * RAREST} % are needed`, ({ rarer }) => format.percent(rarer), ({ rarer }) => rarer / RAREST],
  ["Distinguishable", `what else imitates the load's sign, R²; below ${IMITATED} is needed`, ({ imitated }) => `R² ${imitated.toFixed(2)}`, ({ imitated }) => (1 - imitated) / (1 - IMITATED)],
];

export class GearSection {
  constructor(joint) {
    this.joint = joint;
    this.number = new Quantity("µrad");
    this.panel = new Panel("Lost motion", "µrad · between loads of either side, with its ±1 σ band; dashed: at first", {
      kind: "parameter wide", ticks: 4,
      lines: [{ label: "+σ" }, { label: "−σ" }, { label: "lost motion", colour: "estimate", width: 1.8 }], band: [0, 1],
      read: (idx, data) => `${format.significant(data[3][idx], 4)} ± ${format.significant(data[1][idx] - data[3][idx], 2)} µrad`,
    }, this.number.nodes);
    this.rows = SHOWN.map(([label, hint, unit, factor, parameter]) => {
      const quantity = new Quantity(unit), drift = element("span", { class: "number drift" });
      const node = element("div", { class: "row", title: hint }, element("span", { class: "name" }, label), element("span", { class: "quantity" }, ...quantity.nodes), drift);
      return { node, quantity, drift, factor, parameter };
    });
    this.drift = element("span", { class: "number drift" });
    this.gates = GATES.map((gate) => new Gate(gate));
    this.verdict = element("p", { class: "caption verdict" });
    this.node = element("section", { class: "gear", "aria-label": "The gear between the two encoders" },
      element("h2", {}, "Gear", element("small", {}, "between its two encoders")),
      element("div", { class: "grid gears" }, this.panel.node,
        element("article", { class: "panel knowing" },
          element("header", {}, element("h3", {}, "What is known of it"), this.drift), this.verdict,
          element("div", { class: "knowledge gearing" }, ...this.rows.map(({ node }) => node), ...this.gates.map(({ node }) => node)))));
  }

  update() {
    const { joint } = this, { gear } = joint;
    const known = gear.parameters !== undefined;
    const value = gear.parameters?.lost_motion, sigma = gear.deviations?.lost_motion;
    this.number.update(gear.known ? MICRO * value : null, MICRO * sigma);
    for (const { quantity, drift, factor, parameter } of this.rows) {
      const one = gear.parameters?.[parameter];
      quantity.update(Number.isFinite(one) ? factor * one : null, factor * gear.deviations?.[parameter]);
      writeDrift(drift, joint.drifted(parameter));
    }
    writeDrift(this.drift, joint.drifted("lost_motion"));
    this.gates.forEach((gate) => gate.update(known ? gear : null));
    write(this.verdict, verdict(gear));
    mark(this.node, "grown", String(gear.grown ?? false));
    this.panel.plot.levels = Number.isFinite(gear.first) ? [[MICRO * gear.first, "muted"]] : [];
  }

  draw(start, end) {
    const [times, values, deviations] = this.joint.gears.between(start, end, 1, 2);
    const [lost, sigma] = [values, deviations].map((column) => column.map((one) => (one === null ? null : MICRO * one)));
    const [upper, lower] = [1, -1].map((side) => lost.map((one, at) => (one === null ? null : one + side * sigma[at])));
    const [low, high, spike] = calmExtent(lost), wide = 1.5 * (sigma.findLast((one) => one !== null) ?? 0);
    this.panel.draw(start, end, [times, upper, lower, lost], low === null ? [null, null] : [low - wide, high + wide, spike]);
  }
}

function writeDrift(node, found) {
  mark(node, "beyond", String(found?.beyond ?? false));
  write(node, found ? `${found.beyond ? "◆ " : ""}${format.drift(found)}` : "");
}

// in one line: grown, known, or why not
function verdict(gear) {
  if (gear.parameters === undefined) return "No row has come yet.";
  if (gear.grown) return `Grown from ${format.significant(MICRO * gear.first)} µrad at first: wear, or a loose coupling.`;
  if (gear.soft) return "Small loads show less of it: the spring is soft at first, so not all of it is a gap.";
  return gear.known ? "The load changes sides often enough for a number." : `No number: ${gear.reasons.map(({ text }) => text).join("; ")}.`;
}
