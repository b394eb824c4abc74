// A panel with a plot, used for all plots of the joint's view.

import { element, mark, write } from "./elements.js";
import { TimePlot } from "./plots.js";

const SYNC = "joint"; // one cursor through all plots

// A titled plot whose headline number turns into the value under the cursor.
export class Panel {
  constructor(title, hint, options, headline = []) {
    this.readout = element("span", { class: "readout" });
    this.live = element("span", { class: "live" }, ...headline);
    this.read = options.read;
    this.plot = new TimePlot({ ...options, label: title, sync: SYNC, onCursor: (idx, data) => this.cursor(idx, data) });
    this.node = element("article", { class: `panel ${options.kind ?? ""}` },
      element("header", {}, element("h3", {}, title), this.live, this.readout),
      element("p", { class: "caption" }, element("span", {}, hint),
        ...(options.keys ?? []).map(([name, text]) => element("span", { class: `key ${name}` }, text))),
      this.plot.node);
  }

  cursor(idx, data) {
    const time = idx === null ? undefined : data[0][idx];
    const shown = time !== undefined && data[1][idx] !== null;
    mark(this.node, "cursor", String(shown));
    if (shown) write(this.readout, `${(this.plot.end - time).toFixed(1)} s ago: ${this.read(idx, data)}`);
  }
}
