// The whole robot: joints with unexplained torque, how near each is to its threshold, and the payload.

import { listed } from "../condition.js";
import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { EventLog, Figures, PhasePill, Progress } from "../page.js";
import { Panel } from "../panel.js";
import { calmExtent, inView } from "../plots.js";
import { ViewBar } from "../view_bar.js";
import { ContactPanel, newtons } from "./contact.js";
import { RECENT, ResidualTable } from "./residual_table.js";
import { effort } from "../words.js";

const NAME = "robot"; // what events of the whole robot are called by
const FIRST = 3; // columns of the trace before the residuals: time, mass, its deviation
const TODO = {
  contact: "Check whether something touches the joint or is caught there. If not, its friction, a cable or the tool has changed.",
  payload: "Nothing to do; the model does not learn meanwhile. If nothing is carried, the tool differs from the model's.",
  tool: "Weigh the tool, or tell the controller what it carries: its limits and its contact detection rest on that.",
  drifting: "Wear, lubrication or temperature: compare with the sister joints, and with a warm robot.",
  starting: "Let the robot move: thresholds come from undisturbed motion.",
  faulted: "These values do not count until updates arrive again.",
  waiting: "Does every joint of the model send its position and torque?",
};

// of one friction torque against the baseline, where there is one
function changed({ percent = {}, drifted = [] }, name) {
  return percent[name] === undefined ? "" : `${drifted.includes(name) ? "◆ " : ""}${format.change(percent[name] / 100)}`;
}

// of one that has a record, against the start
const recorded = (one) => (one ? `◆ ${format.change(format.ratio(one))}` : "");

const size = (values) => (values.threshold > 0 ? Math.abs(values.residual) / values.threshold : null);
const torque = (value, unit) => `${format.significant(value, 2)} ${unit}`;

// reasons in words; what is so of several joints is said once
function together(reasons) {
  const said = new Map();
  for (const { text, parameter } of reasons) {
    const of = parameter && text.startsWith(`${parameter}: `), what = of ? text.slice(parameter.length + 2) : text;
    said.set(what, [...(said.get(what) ?? []), ...(of ? [parameter] : [])]);
  }
  return [...said].map(([what, joints]) => (joints.length ? `${joints.length > 3 ? `${joints.length} joints` : listed(joints)}: ${what}` : what)).join("; ");
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// the joints, those beyond their threshold first, the nearest to it first
export function ranked(state) {
  return Object.entries(state.joints ?? {}).sort(([, a], [, b]) => b.contact - a.contact || (size(b) ?? 0) - (size(a) ?? 0));
}

const CAUSE = { transient: "contact", held: "payload" }; // of the finding behind a condition

// since when the robot is in this condition, Unix s, as a finding says; null where none does
function beginning({ findings, timestamp }, key) {
  const behind = (findings ?? []).filter((one) => one.cause === CAUSE[key] && !one.over).at(-1);
  return behind ? timestamp - behind.seconds : null;
}

const sinceWords = (state, key, now) => {
  const since = beginning(state, key);
  return since === null ? "" : format.sinceAndFor(since, now);
};

// the robot's condition; silence: Unix s of the last update where none comes; key (as of a joint's phase), text, what to do
export function standing(state, silence = null) {
  if (silence !== null) return { key: "stale", text: `No data since ${format.clock(silence)}`, todo: "" };
  const worst = ranked(state), touched = worst.filter(([, values]) => values.contact);
  const key = state.phase ?? "waiting", { carried, mass, mass_deviation: sigma } = state.payload ?? {};
  if (key === "faulted" || key === "waiting") return { key, text: together(state.health?.reasons ?? []) || "No row with every joint in it yet", todo: TODO[key] };
  if (touched.length) {
    const words = touched.map(([name, values]) => size(values) < 1 // it may come back
      ? `${name}: just back below its threshold of ${torque(values.threshold, values.unit)}`
      : `${name}: ${torque(values.residual, values.unit)} unexplained, threshold ${torque(values.threshold, values.unit)}`);
    const { contact } = state, where = contact ? `Touched on the link of ${contact.link}, ${newtons(contact)}: ` : "";
    return { key: "transient", text: where + words.join("; "), todo: TODO.contact };
  }
  if (key === "starting") return { key, text: "The model of the whole robot is starting", todo: TODO.starting };
  if (state.tool?.differs) return { key: "drifting", text: sentence(state.tool.text), todo: TODO.tool };
  if (carried) return { key: "held", text: `A payload of ${format.significant(mass, 3)} ± ${format.significant(sigma, 1)} kg is carried`, todo: TODO.payload };
  const drifted = state.drift?.drifted ?? [];
  if (drifted.length) {
    const words = drifted.map((one) => `friction of ${one.replace(/\.(slow|fast)$/, " when $1")} ${format.change((state.drift.percent[one] ?? NaN) / 100)}`);
    return { key: "drifting", text: words.join("; "), todo: TODO.drifting };
  }
  const [name, values] = worst[0] ?? [];
  const near = name && size(values) !== null ? `nearest to its threshold now: ${name}, ${format.percent(size(values))}` : "";
  return { key, text: "One model explains the torque of every joint", todo: near };
}

// One line of the overview; it opens the view.
export class WholeBanner {
  constructor() {
    this.text = element("p", { class: "what" });
    this.todo = element("p", { class: "todo" });
    this.pill = new PhasePill();
    this.since = element("span", { class: "since" });
    this.node = element("article", { class: "headline all whole" }, element("div", { class: "words" },
      element("header", {}, element("a", { class: "which", href: "#/robot" }, "Whole robot"), this.pill.node, this.since), this.text, this.todo));
  }

  words(robot, now, stale) {
    this.node.hidden = !robot.whole;
    if (!robot.whole) return;
    const { state } = robot.whole, { key, text, todo } = standing(state, stale ? robot.lastUpdate : null);
    mark(this.node, "phase", key);
    this.pill.update(key);
    write(this.since, sinceWords(state, key, now));
    write(this.text, text);
    write(this.todo, todo);
  }
}

// One joint's residual between its thresholds; joint: its own view, where it has one.
export class Residual {
  constructor(name, unit, column, joint = name) {
    Object.assign(this, { name, column });
    this.panel = new Panel(name, `${unit} · dashed: thresholds`, {
      kind: "residual", ticks: 3, unit, sync: "whole", lines: [{ label: "residual", colour: "residual", width: 1.3 }],
      read: (idx, data) => `${format.significant(data[1][idx], 3)} ${unit}`,
    }, [element("span", { class: "value" }), element("span", { class: "unit" }, unit)]);
    if (joint) this.panel.node.querySelector("h3").replaceChildren(element("a", { href: `#/joint/${encodeURIComponent(joint)}` }, name));
    this.node = this.panel.node;
    this.node.dataset.joint = name;
  }

  words(values, place) {
    mark(this.node, "contact", String(values.contact));
    write(this.panel.live.firstChild, format.significant(values.residual, 2));
    this.node.style.order = values.contact ? place - 100 : 0; // the others keep their places
    const usual = this.threshold = values.usual_threshold ?? values.threshold; // a joint that turns around may hold its friction, too
    this.panel.plot.levels = usual > 0 ? [[usual, "bad"], [-usual, "bad"]] : [];
  }

  draw(start, end, trace) {
    if (!inView(this.panel.plot.node)) return;
    const data = trace.between(start, end, this.column), [low, high, spike] = calmExtent(data[1]);
    const most = Math.max(1.3 * (this.threshold || 0), Math.abs(low ?? 0), Math.abs(high ?? 0));
    this.panel.draw(start, end, data, [-most, most, spike]);
  }
}

// Friction at two speeds, the numbers by which joints are compared over months.
export class FrictionTable {
  constructor() {
    this.head = element("tr");
    this.body = element("tbody");
    this.node = element("div", { class: "scroll" }, element("table", { "aria-label": "Friction of every joint at two speeds" }, element("thead", {}, this.head), this.body));
  }

  // records: joint → records of what has changed of it
  words({ friction = {}, joints = {}, drift = {} }, records) {
    const units = [...new Set(Object.values(joints).map(({ unit }) => unit))];
    const efforts = units.join(" or "), rates = units.map((unit) => (unit === "N" ? "m/s" : "rad/s")).join(" or ");
    const of = (name, word) => records.get(name)?.find(({ parameter, over }) => parameter === `friction_${word}` && !over);
    const titles = ["joint", ...["slow", "fast"].flatMap((word) => [`${word}, ${rates}`, efforts])];
    const rows = Object.entries(friction).map(([name, { speeds, torques, deviations }]) => [name, ...speeds.flatMap((speed, i) => [
      [format.significant(speed, 2)], [`${format.significant(torques[i], 3)} ± ${format.significant(deviations[i], 1)}`,
        changed(drift, `${name}.${["slow", "fast"][i]}`) || recorded(of(name, ["slow", "fast"][i]))],
    ])]);
    const key = JSON.stringify([titles, rows]);
    if (key === this.key) return;
    this.key = key;
    this.head.replaceChildren(...titles.map((text) => element("th", { scope: "col" }, text)));
    this.body.replaceChildren(...rows.map(([name, ...cells]) => element("tr", {}, element("th", { scope: "row" }, name), ...cells.map(([text, change]) => element("td", {}, text, ...(change ? [element("br"), element("b", {}, change)] : []))))));
  }
}

export class WholeView {
  constructor(robot) {
    this.robot = robot;
    const joints = Object.entries(robot.whole.state.joints);
    this.pace = 12;
    this.pill = new PhasePill();
    this.since = element("span", { class: "since" });
    this.text = element("p", { class: "explanation" });
    this.todo = element("p", { class: "todo" });
    this.progress = new Progress();
    this.figures = new Figures([
      ["mass", "payload", "mass that the last link carries beyond the model, ± one standard deviation"],
      ["centre", "its centre", "in the last link's frame, ± one standard deviation"],
      ["inertia", "its inertia", "about its centre, axes of the last link: xx, yy, zz, ± one standard deviation"],
      ["nearest", "nearest to its threshold", `largest residual of the last ${RECENT} s over the threshold, as in the table`],
      ["learnt", "learnt from", "seconds of motion that have taught the model since the start"],
    ]);
    this.residuals = joints.map(([name, values], i) => new Residual(name, values.unit, FIRST + i));
    this.table = new ResidualTable(joints, FIRST);
    this.friction = new FrictionTable();
    this.contact = new ContactPanel();
    this.bar = new ViewBar(robot.name || "robot", () => this.columns());
    this.events = new EventLog(60, false);
    const unit = joints[0]?.[1].unit ?? "N·m";
    this.node = element("section", { class: "joint whole", "aria-label": "Whole robot" },
      element("header", { class: "head" },
        element("div", { class: "title" }, element("h1", {}, "Whole robot"), this.pill.node, this.since),
        element("div", { class: "health" }, this.text, this.todo, this.progress.node),
        this.figures.node),
      element("h2", {}, "Residual torque", element("small", {}, `${effort(unit).toLowerCase()} measured − predicted by the whole robot's model`)),
      element("div", { class: "table-and-contact" }, element("article", { class: "panel part" }, this.table.node), this.contact.node),
      this.bar.node,
      element("div", { class: "grid residuals" }, ...this.residuals.map((one) => one.node)),
      element("div", { class: "pair last" },
        element("article", { class: "panel part" }, element("header", {}, element("h3", {}, "Friction")), this.friction.node),
        element("article", { class: "panel log" }, element("header", {}, element("h3", {}, "Events")), this.events.node)));
  }

  words(robot, now, stale) {
    const { state } = robot.whole, { figures } = this, { key, text, todo } = standing(state, stale ? robot.lastUpdate : null);
    mark(this.node, "phase", key);
    this.pill.update(key);
    write(this.since, sinceWords(state, key, now));
    write(this.text, text);
    write(this.todo, todo);
    this.progress.update(state.phase === "starting", state.progress);
    const { carried, mass, mass_deviation: sigma, centre, centre_deviation: around } = state.payload;
    write(figures.mass.value, carried ? `${format.significant(mass, 3)} kg` : "none");
    write(figures.mass.more, carried ? `± ${format.significant(sigma, 1)} kg` : "");
    write(figures.centre.value, carried && centre.every(Number.isFinite) ? `${centre.map((value) => Math.round(1000 * value) || 0).join(", ").replaceAll("-", "−")} mm` : "–");
    write(figures.centre.more, carried && centre.every(Number.isFinite) ? `± ${around.map((value) => Math.max(1, Math.round(1000 * value))).join(", ")} mm` : "");
    const { inertia = [], inertia_deviation: spread = [] } = state.payload, own = [0, 2, 5].filter((i) => Number.isFinite(inertia[i]));
    write(figures.inertia.value, carried && own.length === 3 ? `${own.map((i) => format.significant(inertia[i], 2)).join(", ")} kg·m²` : "–");
    write(figures.inertia.more, carried && own.length === 3 ? `± ${own.map((i) => format.significant(spread[i], 1)).join(", ")} kg·m²` : "");
    const order = ranked(state), [nearest, most] = this.table.words(state.joints, robot.whole.trace);
    write(figures.nearest.value, nearest || "–");
    write(figures.nearest.more, nearest ? `${format.percent(most)} in ${RECENT} s` : "");
    write(figures.learnt.value, format.duration(state.learnt));
    this.residuals.forEach((one) => one.words(state.joints[one.name], order.findIndex(([other]) => other === one.name)));
    this.friction.words(state, new Map([...robot.joints].map(([name, joint]) => [name, joint.changes])));
    this.contact.words(stale || state.phase === "faulted" ? null : state.contact, state.timestamp, now);
    const events = robot.events.filter((event) => event.joint === NAME);
    this.events.update(events);
    this.residuals.forEach((one) => { one.panel.plot.events = events; });
  }

  draw(start, end) { this.residuals.forEach((one) => one.draw(start, end, this.robot.whole.trace)); }

  // of the table of what is seen
  columns() {
    const { columns } = this.robot.whole.trace, { joints } = this.robot.whole.state;
    return [["payload [kg]", columns[0], columns[1]], ["payload deviation [kg]", columns[0], columns[2]],
      ...Object.entries(joints).map(([name, { unit }], i) => [`residual of ${name} [${unit}]`, columns[0], columns[FIRST + i]])];
  }

  destroy() { this.residuals.forEach((one) => one.panel.plot.destroy()); }
}
