// Residual torque of every joint, compared with its threshold. Every bar has one scale: the largest residual of the last seconds
// over the threshold, which is the mark.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";

export const RECENT = 10; // s of which the largest residual is shown
const FULL = 1.5; // thresholds of a full bar

const torque = (value, unit) => (Number.isFinite(value) ? `${format.significant(value, 2)} ${unit}` : "–");

// of the newest seconds, by magnitude; null where there is none
function largest(trace, column) {
  const [, values] = trace.between((trace.last(0) ?? 0) - RECENT, Infinity, column);
  return values.reduce((most, one) => (one !== null && (most === null || Math.abs(one) > most) ? Math.abs(one) : most), null);
}

export class ResidualTable {
  constructor(joints, first) {
    this.rows = joints.map(([name], i) => {
      const bar = element("i"), meter = element("span", { class: "meter threshold", role: "meter", "aria-label": `${name}: largest residual over its threshold`, "aria-valuemin": 0, "aria-valuemax": 150 }, bar);
      const cells = ["share", "most", "limit", "now", "learnt"].map((kind) => element("td", { class: `number ${kind}` }));
      const node = element("tr", { "data-joint": name }, element("th", { scope: "row" }, element("a", { href: `#/joint/${encodeURIComponent(name)}` }, name)),
        element("td", {}, meter), ...cells);
      return { name, column: first + i, node, bar, meter, cells };
    });
    const titles = [["joint", ""], ["", "the mark is the threshold, a full bar one and a half of it"], ["of threshold", "largest residual over the threshold of its instant"],
      [`largest of ${RECENT} s`, "magnitude of the residual"], ["threshold", "of a contact; a joint that turns around may hold its friction, too"], ["now", "measured − predicted"], ["compensated", "what was learnt of the residual and is taken off"]];
    this.node = element("div", { class: "scroll" }, element("table", { class: "residual-table", "aria-label": "Residual and threshold of every joint" },
      element("thead", {}, element("tr", {}, ...titles.map(([text, hint]) => element("th", { scope: "col", title: hint }, text)))),
      element("tbody", {}, ...this.rows.map(({ node }) => node))));
  }

  // and which joint has come nearest to its threshold: [name, largest residual over it]
  words(joints, trace) {
    let nearest = ["", -1];
    for (const { name, column, node, bar, meter, cells: [share, most, limit, now, learnt] } of this.rows) {
      const own = joints[name], peak = largest(trace, column), usual = own.usual_threshold ?? own.threshold, ratio = own.largest_share ?? (own.threshold > 0 && peak !== null ? peak / own.threshold : null);
      mark(node, "contact", String(own.contact));
      write(now, torque(own.residual, own.unit));
      write(most, torque(peak, own.unit));
      write(limit, usual > 0 ? torque(usual, own.unit) : "not yet");
      write(share, ratio === null ? "–" : `${own.contact ? "◆ " : ""}${format.percent(ratio)}`);
      write(learnt, Number.isFinite(own.compensation) ? torque(own.compensation, own.unit) : "–");
      mark(meter, "beyond", String(ratio !== null && ratio >= 1));
      bar.style.width = `${(100 * Math.min(1, (ratio ?? 0) / FULL)).toFixed(1)}%`;
      meter.setAttribute("aria-valuenow", ratio === null ? 0 : Math.round(100 * ratio));
      if (ratio !== null && ratio > nearest[1]) nearest = [name, ratio];
    }
    return nearest;
  }
}
