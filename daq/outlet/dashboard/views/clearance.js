// The clearance of a joint's bearing: its value, what it was at first, and why there may be no number.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { Quantity } from "../page.js";

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
    this.gates = GATES.map(([label, hint, read, share]) => {
      const bar = element("i"), text = element("span", { class: "number" });
      const node = element("div", { class: "row gate", title: hint }, element("span", { class: "name" }, label), element("span", { class: "meter" }, bar), text);
      return { node, bar, text, read, share };
    });
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
    const told = this.joint.clearance;
    this.number.update(told.known ? MICRO * told.clearance : null, MICRO * told.deviation);
    write(this.first, Number.isFinite(told.first) ? `${format.significant(MICRO * told.first, 3)} µm` : "–");
    for (const { node, bar, text, read, share } of this.gates) {
      const part = share(told);
      mark(node, "enough", String(part >= 1));
      bar.style.width = `${100 * Math.min(1, Math.max(0, part || 0))}%`;
      write(text, read(told));
    }
    mark(this.node, "grown", String(told.grown));
    write(this.verdict, tell(told));
  }
}

// in one line: grown, known, or why not
function tell(told) {
  if (told.grown) return `Grown from ${format.significant(MICRO * told.first, 3)} µm at first: wear of the bearing.`;
  return told.known ? "The motion shows it." : `No number: ${told.reasons.map(({ text }) => text).join("; ")}.`;
}
