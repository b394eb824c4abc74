// The clearance of a joint's bearing: its value, what it was at first, and why there may be no number.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { Gate, Quantity } from "../page.js";

const MICRO = 1e6; // µm in a m
const ARC = 120; // degrees of its circle that the pin must visit, as estimators/models/mechanisms/pin_circle.py has it

// what the motion must show before there is a number: label, hint, reading, share of what is needed
const GATES = [
  ["Places", "of the first window", ({ progress }) => `${progress.toFixed(0)} %`, ({ progress }) => progress / 100],
  ["Arc", `of its circle that the pin, or what presses it, has visited; ${ARC}° are needed`, ({ arc }) => `${degrees(arc).toFixed(0)}°`, ({ arc }) => degrees(arc) / ARC],
  ["Touching", "share of the window in which the pin touches its bearing", ({ touching }) => (Number.isFinite(touching) ? format.percent(touching) : "not seen"), () => 1],
];
const WAYS = { "proximity sensors": "two proximity sensors", "link ring": "the encoders on either side of it" };
const degrees = (angle) => (180 * angle) / Math.PI;

export class ClearanceSection {
  constructor(joint) {
    this.joint = joint;
    this.number = new Quantity("µm");
    this.first = element("span", { class: "number" });
    this.gates = GATES.map((gate) => new Gate(gate));
    this.verdict = element("p", { class: "caption verdict" });
    const row = (label, hint, ...nodes) => element("div", { class: "row", title: hint }, element("span", { class: "name" }, label), ...nodes);
    this.node = element("section", { class: "gear clearance", "aria-label": "The clearance of the joint's bearing" },
      element("h2", {}, "Bearing", element("small", {}, `its clearance, by ${WAYS[joint.clearance.way]}`)),
      element("article", { class: "panel knowing" }, this.verdict,
        element("div", { class: "knowledge gearing" },
          row("Clearance", "± one standard deviation", element("span", { class: "quantity" }, ...this.number.nodes)),
          row("At first", "of the first window; growth is measured against it", this.first),
          ...this.gates.map(({ node }) => node))));
  }

  update() {
    const clearance = this.joint.clearance;
    this.number.update(clearance.known ? MICRO * clearance.clearance : null, MICRO * clearance.deviation);
    write(this.first, Number.isFinite(clearance.first) ? `${format.significant(MICRO * clearance.first, 3)} µm` : "–");
    this.gates.forEach((gate) => gate.update(clearance));
    mark(this.node, "grown", String(clearance.grown));
    write(this.verdict, verdict(clearance));
  }
}

// in one line: grown, known, or why not
function verdict(clearance) {
  if (clearance.grown) return `Grown from ${format.significant(MICRO * clearance.first, 3)} µm at first: wear of the bearing.`;
  return clearance.known ? "The motion shows it." : `No number: ${clearance.reasons.map(({ text }) => text).join("; ")}.`;
}
