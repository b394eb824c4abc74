// What has changed of one joint: every record until it is acknowledged, then until it is over.

import { acknowledgeButton } from "./baseline.js";
import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { readable } from "../words.js";

const NEVER = 0;

export class ChangeList {
  constructor(joint, writable) {
    this.joint = joint;
    this.rows = element("ul", { class: "changes" });
    this.button = writable ? acknowledgeButton(joint) : element("span");
    this.node = element("article", { class: "panel changed" },
      element("header", {}, element("h3", {}, "What has changed"), this.button), this.rows);
  }

  update() {
    const shown = this.joint.changes.filter(({ acknowledged, over }) => !acknowledged || !over);
    this.node.hidden = !shown.length;
    this.button.hidden = !this.joint.open.length;
    const key = shown.map((one) => `${one.text}${one.acknowledged}`).join();
    if (key === this.key) return;
    this.key = key;
    this.rows.replaceChildren(...shown.slice().reverse().map((one) => {
      const number = format.quantity(), [from, fromSigma] = format.quantity()(one.from, one.from_deviation), [to, toSigma] = number(one.to, one.to_deviation);
      const row = element("li", {},
        element("b", {}, readable(one.parameter)), element("span", { class: "number" }, `${from} ± ${fromSigma} → ${to} ± ${toSigma} ${one.unit}`),
        element("b", { class: "amount" }, format.drift({ change: (one.percent ?? NaN) / 100, z: one.z })),
        element("span", { class: "when" }, `${one.evidence === "alarm" ? "suddenly at" : "gradually since"} ${format.clock(one.since)}`),
        element("span", { class: "when" }, one.over !== NEVER ? "within its limits again" : one.acknowledged !== NEVER ? `acknowledged at ${format.clock(one.acknowledged)}` : one.reference === "start" ? "against its start: no baseline is set" : "against its baseline"),
        element("span", { class: "when" }, one.diagnosis ?? ""));
      mark(row, "open", String(one.acknowledged === NEVER));
      return row;
    }));
    write(this.button, "Acknowledge…");
  }
}
