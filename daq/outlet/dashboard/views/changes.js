// What has changed of one joint: every record until it is acknowledged, then until it is over.

import { acknowledgeButton } from "./baseline.js";
import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { readable } from "../words.js";

const NEVER = 0;

// what a parameter is that no model of the joint alone has
const ABOUT = {
  friction_slow: "at a tenth of its highest speed, by the model of the whole robot",
  friction_fast: "at half of its highest speed, by the model of the whole robot",
  torque_offset: "by the model of the whole robot",
  torque_constant: "torque told over the true one, by the model of the whole robot",
  encoder_slip: "by the model of the whole robot",
  spring: "stiffness of what pulls on it, by the model of the whole robot",
};

const against = ({ parameter, reference }) => (parameter === "dry_wear" ? "against its first 60 days, corrected for heat and load" : reference === "start" ? "against its start: no baseline is set" : "against its baseline");

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
        element("b", { class: "amount" }, format.drift({ change: format.ratio(one), z: one.z })),
        element("span", { class: "when" }, `${one.evidence === "alarm" ? "suddenly at" : "gradually since"} ${format.when(one.since)}`),
        element("span", { class: "when" }, one.over !== NEVER ? "within its limits again" : one.acknowledged !== NEVER ? `acknowledged at ${format.when(one.acknowledged)}` : against(one)),
        element("span", { class: "when" }, ABOUT[one.parameter] ?? one.diagnosis ?? ""));
      mark(row, "open", String(one.acknowledged === NEVER));
      return row;
    }));
    write(this.button, "Acknowledge…");
  }
}
