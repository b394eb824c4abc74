// Wear of one joint, separated from heat and load, and when its limit is reached: what the history of years says, once a day.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";

export class WearLine {
  constructor(joint) {
    this.joint = joint;
    this.text = element("p", { class: "wear" });
    this.when = element("small");
    this.node = element("article", { class: "panel" }, element("header", {}, element("h3", {}, "Wear"), this.when), this.text);
  }

  update() {
    const { text, told, judged, onset } = this.joint.wear;
    this.node.hidden = !text;
    if (!text) return;
    mark(this.node, "open", String(told));
    write(this.text, `${text[0].toUpperCase()}${text.slice(1)}.`);
    write(this.when, told ? `since ${format.date(onset)}` : judged ? `judged up to ${format.date(judged)}` : "");
  }
}
