// Where the robot is touched: the link, and the force at its outer end, each with its standard deviation; the last
// contact stays in view when it is over.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";

const WIDE = 500; // N of deviation from which the joints do not identify a component; its prior is 1000 N
const AXES = ["x", "y", "z"];

const identifiable = (deviation) => Number.isFinite(deviation) && deviation < WIDE;

// |force| and its deviation along the force; null where the joints do not identify all of it
export function size({ force, force_deviation: deviation }) {
  const whole = Math.hypot(...force);
  const along = Math.hypot(...force.map((value, i) => value * deviation[i])) / (whole || 1);
  return { force: whole, deviation: deviation.every(identifiable) ? along : null };
}

// "34 ± 2 N", or "at least 34 N" where a component is not identifiable
export function newtons(contact) {
  const { force, deviation } = size(contact);
  return deviation === null ? `at least ${format.significant(force, 2)} N` : `${format.significant(force, 2)} ± ${format.significant(deviation, 1)} N`;
}

export class ContactPanel {
  constructor() {
    this.verdict = element("p", { class: "caption verdict" });
    this.cells = AXES.map(() => ["force", "spread", "point"].map((kind) => element("td", { class: `number ${kind}` })));
    this.table = element("table", { "aria-label": "Force of the contact and where it acts" },
      element("thead", {}, element("tr", {}, ...[["", "axes of the base"], ["force, N", "that acts on the link, as if at its outer end"],
        ["± N", "one standard deviation"], ["at, m", "the link's outer end"]].map(([text, hint]) => element("th", { scope: "col", title: hint }, text)))),
      element("tbody", {}, ...AXES.map((axis, i) => element("tr", {}, element("th", { scope: "row" }, axis), ...this.cells[i]))));
    this.node = element("article", { class: "panel part contact", "aria-label": "Contact" },
      element("header", {}, element("h3", {}, "Contact"), element("small", {}, "by the residual of all joints")),
      this.verdict, element("div", { class: "scroll" }, this.table));
    this.last = null; // the newest contact
    this.since = null; // Unix s of its newest update
  }

  // contact: as `robot` has it, or nothing; time: Unix s of the update; now: Unix s
  words(contact, time, now) {
    if (contact) { this.last = contact; this.since = time; }
    const { last } = this;
    mark(this.node, "touched", String(Boolean(contact)));
    this.table.hidden = !last;
    if (!last) { write(this.verdict, "Nothing has touched the robot since this page was opened."); return; }
    const where = `the link of ${last.link} (${format.percent(last.probability)})`;
    write(this.verdict, contact ? `Touched on ${where}: ${newtons(last)}.` : `Nothing touches it now. Last, ${format.duration(Math.max(1, now - this.since))} ago: ${where}, ${newtons(last)}.`);
    this.cells.forEach(([force, spread, point], i) => {
      const known = identifiable(last.force_deviation[i]);
      write(force, known ? format.significant(last.force[i], 2) : "–");
      write(spread, known ? format.significant(last.force_deviation[i], 1) : "not identifiable");
      write(point, last.point[i].toFixed(2).replace("-", "−"));
    });
  }
}
