// The plots of one joint over time: residual and torque, its parameters, and what experts look at.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { Quantity } from "../page.js";
import { Panel } from "../panel.js";
import { calmExtent, effortLimits, inView } from "../plots.js";
import { effort, readable } from "../words.js";

const SIGMAS = 3; // of the residual at the start, that its wide band shows

const value = () => [element("span", { class: "value" })];
const percents = (column) => column.map((one) => (one === null ? null : 100 * one));

function parameterPanel(name, unit, hint) {
  const quantity = new Quantity(unit);
  const panel = new Panel(readable(name), `${unit}${hint ? ` · ${hint}` : ""}`, {
    kind: "parameter", ticks: 4, unit,
    lines: [{ label: "+σ" }, { label: "−σ" }, { label: name, colour: "estimate", width: 1.8 }], band: [0, 1],
    read: (idx, data) => `${format.significant(data[3][idx], 4)} ± ${format.significant(data[1][idx] - data[3][idx], 2)}`,
  }, quantity.nodes);
  return { panel, quantity };
}

export class JointPlots {
  constructor(joint) {
    const { unit } = joint;
    this.joint = joint;
    this.parameters = joint.names.map((name, i) => parameterPanel(name, joint.units[i], joint.meanings[i]));
    this.residual = new Panel("Residual", `${unit} · measured − predicted`, {
      kind: "wide low", ticks: 3, unit, lines: [{ label: "residual", colour: "residual", width: 0.9 }],
      keys: [["zone", "±1 σ"], ["zone-wide", "±3 σ of its start"]], read: (idx, data) => `${format.significant(data[1][idx])} ${unit}`,
    }, [...value(), element("span", { class: "unit" }, `${unit} rms`)]);
    this.torque = new Panel(effort(unit), `${unit} · what the sensors say and what the model expects`, {
      kind: "wide", unit, lines: [{ label: "measured", colour: "measured", width: 5 }, { label: "predicted", colour: "predicted", width: 1.4 }],
      keys: [["measured", "measured"], ["predicted", "predicted"]],
      read: (idx, data) => `${format.significant(data[1][idx])} measured, ${format.significant(data[2][idx])} predicted`,
    });
    this.error = new Panel("Prediction error", "relative to the measured rms, %; small and steady is good",
      { lines: [{ label: "error", colour: "error", width: 1.6 }], unit: "%", read: (idx, data) => `${data[1][idx].toFixed(2)} %`, least: 0.2, floor: 0, ticks: 3 }, value());
    this.alarm = new Panel("Alarm", "CUSUM of the squared error, % of its limit",
      { lines: [{ label: "CUSUM", colour: "alarm", width: 1.6 }], read: (idx, data) => `${data[1][idx].toFixed(0)} %`, floor: 0, ticks: 3 }, value());
    this.alarm.plot.levels = [[100, "bad"]];
    this.forgetting = new Panel("Forgetting λ", "1 keeps all of the past; lower adapts faster",
      { lines: [{ label: "λ", colour: "forgetting", width: 1.6 }], read: (idx, data) => format.forgetting(data[1][idx]), least: 2e-4, ceiling: 1, ticks: 3 }, value());
  }

  get all() { return [...this.parameters.map((row) => row.panel), this.residual, this.torque, this.error, this.alarm, this.forgetting]; }

  // as few rows as fit four columns, all equally full
  parameterGrid() {
    const grid = element("div", { class: "grid" }, ...this.parameters.map((row) => row.panel.node));
    const count = this.parameters.length;
    grid.style.setProperty("--columns", Math.ceil(count / Math.ceil(count / 4)) || 1);
    return grid;
  }

  words() {
    const { joint } = this, alarm = joint.alarms.last(1);
    this.parameters.forEach(({ quantity }, i) => quantity.update(joint.estimates.last(joint.valueColumn(i)), joint.estimates.last(joint.deviationColumn(i))));
    write(this.alarm.live.firstChild, alarm === null ? "–" : `${(100 * alarm).toFixed(0)} %`);
    write(this.error.live.firstChild, format.percent(joint.state.error));
    write(this.residual.live.firstChild, format.significant(joint.residualRms(5), 2));
    write(this.forgetting.live.firstChild, format.forgetting(joint.state.forgetting));
  }

  draw(start, end) {
    const seen = (panel) => inView(panel.plot.node);
    this.parameters.forEach(({ panel }, i) => { if (seen(panel)) this.drawParameter(panel, i, start, end); });
    if ([this.residual, this.torque].some(seen)) this.drawTorques(start, end);
    if ([this.error, this.alarm, this.forgetting].some(seen)) this.drawErrors(start, end);
  }

  drawParameter(panel, i, start, end) {
    const { joint } = this;
    const [times, values, deviations] = joint.estimates.between(start, end, joint.valueColumn(i), joint.deviationColumn(i));
    const [upper, lower] = [1, -1].map((side) => values.map((one, at) => (one === null ? null : one + side * deviations[at])));
    // today's σ decides what must be in view: yesterday's wide band may leave the plot
    const [low, high, spike] = calmExtent(values), sigma = deviations.findLast((one) => one !== null) ?? 0;
    panel.draw(start, end, [times, upper, lower, values], low === null ? [null, null] : [low - 1.5 * sigma, high + 1.5 * sigma, spike]);
  }

  drawTorques(start, end) {
    const { joint } = this, torque = joint.residuals.between(start, end, 1, 2);
    this.torque.draw(start, end, torque, effortLimits(torque[1], torque[2]));
    const residual = torque[1].map((one, i) => (one === null || torque[2][i] === null ? null : one - torque[2][i]));
    const [low, high, spike] = calmExtent(residual), sigma = Number.isFinite(joint.usual) ? joint.usual : 0, wide = SIGMAS * sigma;
    this.residual.plot.zones = sigma ? [[-wide, wide, "zone-wide"], [-sigma, sigma, "zone"]] : [];
    mark(this.residual.node, "band", String(sigma > 0));
    this.residual.plot.levels = [[0, "line-strong"]];
    this.residual.draw(start, end, [torque[0], residual], low === null ? [null, null] : [Math.min(low, -wide), Math.max(high, wide), spike]);
  }

  drawErrors(start, end) {
    const { joint } = this;
    const [instants, cusum] = joint.alarms.between(start, end, 1);
    this.alarm.draw(start, end, [instants, percents(cusum)], [0, 105]);
    const [times, error, forgetting] = joint.estimates.between(start, end, 1, 2), [, high, spike] = calmExtent(percents(error));
    this.error.draw(start, end, [times, percents(error)], [0, high ?? 1, spike]);
    this.forgetting.draw(start, end, [times, forgetting], [calmExtent(forgetting)[0] ?? 0.999, 1]);
  }

  // of the table of what is seen: [[title, times, values] …]
  columns() {
    const { joint } = this, { residuals, estimates, points } = joint;
    const [measured, predicted] = [residuals.columns[1], residuals.columns[2]];
    const residual = measured.map((one, i) => (one === null || predicted[i] === null ? null : one - predicted[i]));
    const name = effort(joint.unit).toLowerCase();
    return [
      [`measured ${name} [${joint.unit}]`, residuals.columns[0], measured], [`predicted ${name} [${joint.unit}]`, residuals.columns[0], predicted],
      [`residual [${joint.unit}]`, residuals.columns[0], residual], [`velocity [${joint.unit === "N" ? "m/s" : "rad/s"}]`, points.columns[0], points.columns[1]],
      ["prediction error [1]", estimates.columns[0], estimates.columns[1]],
      ...joint.names.flatMap((one, i) => [[`${one} [${joint.units[i]}]`, estimates.columns[0], estimates.columns[joint.valueColumn(i)]],
        [`${one} deviation [${joint.units[i]}]`, estimates.columns[0], estimates.columns[joint.deviationColumn(i)]]]),
    ];
  }

  destroy() { this.all.forEach((panel) => panel.plot.destroy()); }
}
