// What the motion has taught about every parameter, and how far each is from the baseline.

import { baselineButton } from "./baseline.js";
import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { readable } from "../words.js";

// What the motion has taught about every parameter: excited now, how certain, how far from the baseline.
export class Knowledge {
  constructor(joint, writable) {
    this.joint = joint;
    this.rows = joint.names.map((name, i) => {
      const bar = element("i"), excited = element("span", { class: "number" }), certain = element("span", { class: "number" });
      const drift = element("span", { class: "number drift", role: "cell" }), z = element("span", { class: "number drift z", role: "cell" });
      const node = element("div", { class: "row", role: "row" },
        element("span", { class: "name", role: "rowheader" }, readable(name)),
        element("span", { class: "excitation", role: "cell" }, element("span", { class: "meter" }, bar), excited),
        certain, drift, z);
      certain.setAttribute("role", "cell");
      return { node, bar, excited, certain, drift, z, name, i };
    });
    this.since = element("span", { class: "since" });
    const title = (text, hint, name = "") => element("span", { role: "columnheader", title: hint, class: name }, text);
    this.table = element("div", { class: "knowledge", role: "table", "aria-label": "What the motion teaches about each parameter" },
      element("div", { class: "row titles", role: "row" }, title("parameter", ""),
        title("excited now", "the last 10 s: how much of its effect no other parameter can imitate, against the most so far"),
        title("± σ", "standard deviation, relative to the value"),
        title("drift", "change against the baseline", "drift"), title("z", "the change in its own standard deviations", "drift")),
      ...this.rows.map(({ node }) => node));
    this.node = element("article", { class: "panel knowing" },
      element("header", {}, element("h3", {}, "What is known"), ...(writable ? [baselineButton(joint)] : [])),
      element("p", { class: "caption" }, element("span", {}, "what the motion does not excite is not identifiable"), this.since),
      this.table);
  }

  update() {
    const { joint } = this;
    mark(this.table, "baseline", String(Boolean(joint.drift.since)));
    write(this.since, joint.drift.reference === "start" ? `since its start, ${format.clock(joint.drift.since)}; no baseline yet` : joint.drift.since ? `baseline of ${format.date(joint.drift.since)}` : "no baseline yet");
    for (const { bar, excited, certain, drift, z, name, i } of this.rows) {
      const share = joint.excitation[i];
      bar.style.width = `${100 * (share ?? 0)}%`;
      write(excited, share === undefined ? "–" : `${(100 * share).toFixed(0)} %`);
      const value = joint.estimates.last(joint.valueColumn(i)), sigma = joint.estimates.last(joint.deviationColumn(i));
      const state = joint.state.states?.[name];
      mark(certain, "state", state?.state ?? "");
      certain.title = inWords(state);
      write(certain, state?.state === "not_identifiable" ? "not identifiable" : value && sigma !== null ? format.percent(sigma / Math.abs(value)) : "–");
      const found = state?.state === "not_identifiable" ? null : joint.drifted(name); // its change would be one of a guess
      mark(drift, "beyond", String(found?.beyond ?? false));
      write(drift, found ? `${found.beyond ? "◆ " : ""}${format.change(found.change)}` : "–");
      mark(z, "beyond", drift.dataset.beyond);
      write(z, found && Number.isFinite(found.z) ? found.z.toFixed(Math.abs(found.z) < 9.95 ? 1 : 0).replace("-", "−") : "–");
    }
  }
}

// what is known of one parameter, in words
function inWords(state) {
  if (!state || state.state === "known") return "";
  if (state.state === "doubtful") return "not certain enough yet";
  const others = [...(state.from ?? []).map(readable), ...(state.unmodelled_torque ? ["a torque that the model may lack, or an error of the position"] : [])];
  return others.length ? `this motion does not tell it apart from ${others.join(", ")}` : "this motion does not show it";
}
