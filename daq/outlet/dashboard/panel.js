// A panel with a plot, used for all plots of the joint's view.

import { element, mark, write } from "./elements.js";
import * as format from "./format.js";
import { TimePlot } from "./plots.js";
import { shown } from "./time_window.js";

const SYNC = "joint"; // one cursor through all plots

// A titled plot whose headline number turns into the value under the cursor.
export class Panel {
  constructor(title, hint, options, headline = []) {
    this.readout = element("span", { class: "readout" });
    this.live = element("span", { class: "live" }, ...headline);
    this.beyond = element("span", { class: "beyond", hidden: "" }); // of a spike that is larger than the plot
    this.unit = options.unit ?? "";
    this.read = options.read;
    this.plot = new TimePlot({ ...options, label: title, sync: options.sync ?? SYNC, onCursor: (idx, data) => this.cursor(idx, data) });
    this.node = element("article", { class: `panel ${options.kind ?? ""}` },
      element("header", {}, element("h3", {}, title), this.live, this.readout),
      element("p", { class: "caption" }, element("span", {}, hint), this.beyond,
        ...(options.keys ?? []).map(([name, text]) => element("span", { class: `key ${name}` }, text))),
      this.plot.node);
  }

  // limits: [low, high, spike], as calmExtent gives them
  draw(start, end, data, [low, high, spike = null]) {
    this.plot.draw(start, end, data, [low, high]);
    this.beyond.hidden = spike === null;
    if (spike !== null) write(this.beyond, `▲ one spike of ${format.significant(spike)} ${this.unit} is beyond the plot`);
  }

  cursor(idx, data) {
    const time = idx === null ? undefined : data[0][idx];
    const values = time !== undefined && data[1][idx] !== null;
    mark(this.node, "cursor", String(values));
    if (values) write(this.readout, `${shown.live ? `${(this.plot.end - time).toFixed(1)} s ago` : format.instant(time)}: ${this.read(idx, data)}`);
  }
}
