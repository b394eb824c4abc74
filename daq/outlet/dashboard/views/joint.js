// One joint in full: every parameter with its band, torque and residual, error and forgetting, health and events.

import { baselineButton } from "./baseline.js";
import { ChangeList } from "./changes.js";
import { frictionPanel, torsionPanel } from "./curves.js";
import { GearSection } from "./gear.js";
import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { brief } from "../condition.js";
import { EventLog, PhasePill, Quantity } from "../page.js";
import { Panel } from "../panel.js";
import { effortLimits, extent, inView } from "../plots.js";
import { TimeLine } from "./timeline.js";
import { effort, phase, readable } from "../words.js";

const CURVES = 300; // ms between two drawings of the curves

// What the motion has taught about every parameter: excited now, how certain, how far from the baseline.
class Knowledge {
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
      write(certain, state?.state === "not_identifiable" ? "not told" : value && sigma !== null ? format.percent(sigma / Math.abs(value)) : "–");
      const found = joint.drifted(name);
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
  const others = [...(state.from ?? []).map(readable), ...(state.untold_torque ? ["a torque of the angle that the model may lack"] : [])];
  return others.length ? `this motion does not tell it apart from ${others.join(", ")}` : "this motion does not show it";
}

// what the motion of the start, or of the last refit, tells apart
function told({ phase, condition, weakest, singular_values: known }) {
  if (!known) return "";
  const when = phase === "starting" ? "so far" : "of the last start or refit";
  return `Condition ${when}: ${format.condition(condition)}${weakest ? ` · least identifiable: ${readable(weakest)}` : ""}`;
}

export class JointView {
  constructor(robot, joint) {
    this.joint = joint;
    this.pace = 12; // drawings a second
    this.pill = new PhasePill();
    this.explanation = element("p", { class: "explanation" });
    this.reasons = element("ul", { class: "reasons" });
    this.since = element("span", { class: "since" });
    this.todo = element("p", { class: "todo" });
    this.line = new TimeLine(1, false);
    this.progress = element("div", { class: "progress" }, element("i"));
    this.progressText = element("span", { class: "progress-text" });
    this.spectrum = element("p", { class: "spectrum", title: "how well the motion tells the parameters apart: largest over smallest singular value of the whitened regressor, columns of length one; 1 is best" });
    this.events = new EventLog(60, false);
    this.figures = Object.fromEntries([
      ["error", "prediction error", "rms of the prediction error, relative to what is measured"],
      ["residual", "residual, rms over 5 s", "what the model does not explain"],
      ["latency", "frame to update", "from the arrival of the newest frame to this update"],
      ["samples", "samples", "used since the core started"],
      ["lost", "samples lost", "lost, late or unusable, by cause"],
    ].map(([key, label, hint]) => [key, { label, hint, value: element("b"), more: element("small") }]));
    this.parameters = joint.names.map((name, i) => this.parameter(name, joint.units[i], joint.meanings[i]));
    this.torque = this.torquePanel();
    this.residual = this.residualPanel();
    this.error = new Panel("Prediction error", "relative to the measured rms, %; small and steady is good",
      { lines: [{ label: "error", colour: "error", width: 1.6 }], read: (idx, data) => `${data[1][idx].toFixed(2)} %`, least: 0.2, floor: 0, ticks: 3 }, [element("span", { class: "value" })]);
    this.forgetting = new Panel("Forgetting λ", "1 keeps all of the past; lower adapts faster",
      { lines: [{ label: "λ", colour: "forgetting", width: 1.6 }], read: (idx, data) => format.forgetting(data[1][idx]), least: 2e-4, ceiling: 1, ticks: 3 }, [element("span", { class: "value" })]);
    this.alarm = new Panel("Alarm", "CUSUM of the squared error, % of its limit",
      { lines: [{ label: "CUSUM", colour: "alarm", width: 1.6 }], read: (idx, data) => `${data[1][idx].toFixed(0)} %`, floor: 0, ticks: 3 }, [element("span", { class: "value" })]);
    this.alarm.plot.levels = [[100, "bad"]];
    this.curves = [frictionPanel(joint), ...(joint.elastic ? [torsionPanel(joint)] : [])];
    this.knowledge = new Knowledge(joint, robot.writable);
    this.changes = new ChangeList(joint, robot.writable);
    this.gear = joint.geared ? new GearSection(joint) : null;
    this.drawn = 0;
    this.node = this.build(robot);
  }

  get panels() { return [...this.parameters.map((row) => row.panel), this.torque, this.residual, this.error, this.alarm, this.forgetting, ...(this.gear ? [this.gear.panel] : [])]; }

  build(robot) {
    const tabs = element("nav", { class: "tabs", "aria-label": "Joints" }, element("a", { href: "#/", class: "all" }, "‹ All joints"));
    tabs.hidden = robot.joints.size === 1;
    this.tabs = [...robot.joints.values()].map((joint) => {
      const tab = element("a", { href: `#/joint/${encodeURIComponent(joint.name)}` }, element("i"), joint.name);
      if (joint === this.joint) tab.setAttribute("aria-current", "page");
      tabs.append(tab);
      return [tab, joint];
    });
    const figures = element("dl", { class: "figures" }, ...Object.values(this.figures).map(({ label, hint, value, more }) =>
      element("div", { title: hint }, element("dt", {}, label), element("dd", {}, value, more))));
    return element("section", { class: "joint", "aria-label": `Joint ${this.joint.name}` },
      tabs,
      element("header", { class: "head" },
        element("div", { class: "title" }, element("h1", {}, this.joint.name), this.pill.node, this.since),
        element("div", { class: "health" }, this.explanation, this.reasons, this.todo,
          element("div", { class: "startup" }, this.progress, this.progressText), this.spectrum),
        figures, this.line.node),
      this.changes.node,
      element("div", { class: `grid pictures ${this.curves.length > 1 ? "three" : ""}` }, ...this.curves.map((panel) => panel.node), this.knowledge.node),
      element("h2", {}, "Parameters", element("small", {}, "estimate with its ±1 σ band")),
      this.parameterGrid(),
      ...(this.gear ? [this.gear.node] : []),
      element("h2", {}, "How well the model explains the motion"),
      element("div", { class: "torques" }, this.torque.node, this.residual.node),
      element("div", { class: "grid last four" }, this.error.node, this.alarm.node, this.forgetting.node,
        element("article", { class: "panel log" }, element("header", {}, element("h3", {}, "Events")), this.events.node)));
  }

  // as few rows as fit four columns, all equally full
  parameterGrid() {
    const grid = element("div", { class: "grid" }, ...this.parameters.map((row) => row.panel.node));
    const count = this.parameters.length;
    grid.style.setProperty("--columns", Math.ceil(count / Math.ceil(count / 4)) || 1);
    return grid;
  }

  parameter(name, unit, hint) {
    const quantity = new Quantity(unit);
    const panel = new Panel(readable(name), `${unit}${hint ? ` · ${hint}` : ""}`, {
      kind: "parameter", ticks: 4,
      lines: [{ label: "+σ" }, { label: "−σ" }, { label: name, colour: "estimate", width: 1.8 }], band: [0, 1],
      read: (idx, data) => `${format.significant(data[3][idx], 4)} ± ${format.significant(data[1][idx] - data[3][idx], 2)}`,
    }, quantity.nodes);
    return { panel, quantity };
  }

  torquePanel() {
    const { unit } = this.joint;
    return new Panel(effort(unit), `${unit} · what the sensors say and what the model expects`, {
      kind: "wide", lines: [{ label: "measured", colour: "measured", width: 2.2 }, { label: "predicted", colour: "predicted", width: 1.3 }],
      keys: [["measured", "measured"], ["predicted", "predicted"]],
      read: (idx, data) => `${format.significant(data[1][idx])} measured, ${format.significant(data[2][idx])} predicted`,
    });
  }

  residualPanel() {
    const { unit } = this.joint;
    return new Panel("Residual", `${unit} · measured − predicted; dashed: ±3 σ of the start`, {
      kind: "wide low", ticks: 3, lines: [{ label: "residual", colour: "residual", width: 1.2 }],
      read: (idx, data) => `${format.significant(data[1][idx])} ${unit}`,
    }, [element("span", { class: "value" }), element("span", { class: "unit" }, `${unit} rms`)]);
  }

  words(robot, now) {
    const { joint, figures } = this, { key, since, todo, lines } = joint.condition;
    this.tabs.forEach(([tab, other]) => mark(tab, "phase", other.condition.key ?? other.phase));
    this.pill.update(key);
    mark(this.node, "phase", key);
    write(this.explanation, phase(key)[1]);
    const reasons = key === "changed" ? [...lines, ...brief(joint.reasons)] : brief(joint.reasons);
    if (reasons.join() !== this.told) {
      this.told = reasons.join();
      this.reasons.replaceChildren(...reasons.map((reason) => element("li", {}, reason)));
    }
    write(this.since, since ? `since ${format.clock(since)}, ${format.duration(Math.max(1, now - since))}` : "");
    write(this.todo, todo);
    this.line.update([joint], robot.events, now);
    const starting = joint.phase === "starting";
    mark(this.progress.parentNode, "on", String(starting));
    this.progress.firstChild.style.width = `${joint.state.progress ?? 0}%`;
    write(this.progressText, starting ? `${(joint.state.progress ?? 0).toFixed(0)} %` : "");
    write(this.spectrum, told(joint.state));
    this.parameters.forEach(({ quantity }, i) => quantity.update(joint.estimates.last(joint.valueColumn(i)), joint.estimates.last(joint.deviationColumn(i))));
    write(figures.error.value, format.percent(joint.state.error));
    write(figures.residual.value, `${format.significant(joint.residualRms(5), 2)} ${joint.unit}`);
    write(figures.latency.value, format.duration(joint.latency));
    write(figures.samples.value, format.count(joint.totals.samples));
    write(figures.lost.value, format.count(joint.totals.lost && format.total(joint.totals.lost)));
    write(figures.lost.more, format.causes(joint.totals.lost));
    this.knowledge.update(robot);
    this.changes.update();
    this.gear?.update();
    const alarm = joint.alarms.last(1);
    write(this.alarm.live.firstChild, alarm === null ? "–" : `${(100 * alarm).toFixed(0)} %`);
    write(this.error.live.firstChild, figures.error.value.textContent);
    write(this.residual.live.firstChild, format.significant(joint.residualRms(5), 2));
    write(this.forgetting.live.firstChild, format.forgetting(joint.state.forgetting));
    const events = robot.events.filter((event) => event.joint === joint.name);
    this.events.update(events);
    this.panels.forEach(({ plot }) => { plot.events = events; });
  }

  draw(start, end) {
    const { joint } = this;
    const seen = (panel) => inView(panel.plot.node);
    this.parameters.forEach(({ panel }, i) => {
      if (!seen(panel)) return;
      const [times, values, deviations] = joint.estimates.since(start, joint.valueColumn(i), joint.deviationColumn(i));
      const upper = values.map((value, at) => (value === null ? null : value + deviations[at]));
      const lower = values.map((value, at) => (value === null ? null : value - deviations[at]));
      // today's σ decides what must be in view: yesterday's wide band may leave the plot
      const [low, high] = extent(values), sigma = deviations.at(-1) ?? 0;
      panel.plot.draw(start, end, [times, upper, lower, values], low === null ? [null, null] : [low - 1.5 * sigma, high + 1.5 * sigma]);
    });
    if (this.gear && seen(this.gear.panel)) this.gear.draw(start, end);
    if ([this.torque, this.residual].some(seen)) this.drawTorques(start, end);
    if ([this.error, this.alarm, this.forgetting].some(seen)) this.drawErrors(start, end);
    if (performance.now() - this.drawn > CURVES) {
      this.drawn = performance.now();
      this.curves.filter(seen).forEach((panel) => panel.draw(joint, start));
    }
  }

  drawTorques(start, end) {
    const { joint } = this;
    const torque = joint.residuals.since(start, 1, 2);
    this.torque.plot.draw(start, end, torque, effortLimits(torque[1], torque[2]));
    const residual = torque[1].map((value, i) => (value === null || torque[2][i] === null ? null : value - torque[2][i]));
    const [low, high] = extent(residual);
    const usual = Number.isFinite(joint.usual) ? 3 * joint.usual : 0;
    this.residual.plot.levels = usual ? [[usual, "muted"], [-usual, "muted"]] : [];
    this.residual.plot.draw(start, end, [torque[0], residual], low === null ? [null, null] : [Math.min(low, -usual), Math.max(high, usual)]);
  }

  drawErrors(start, end) {
    const { joint } = this;
    const [instants, cusum] = joint.alarms.since(start, 1);
    this.alarm.plot.draw(start, end, [instants, cusum.map((value) => (value === null ? null : 100 * value))], [0, 105]);
    const [times, error, forgetting] = joint.estimates.since(start, 1, 2);
    const percent = error.map((value) => (value === null ? null : 100 * value));
    this.error.plot.draw(start, end, [times, percent], [0, extent(percent)[1] ?? 1]);
    this.forgetting.plot.draw(start, end, [times, forgetting], [extent(forgetting)[0] ?? 0.999, 1]);
  }

  destroy() { this.panels.forEach((panel) => panel.plot.destroy()); }
}
