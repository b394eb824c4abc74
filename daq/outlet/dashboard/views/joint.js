// One joint in full: its condition, residual and torque, curves, every parameter with its band, and what experts look at.

import { BaselineOffer } from "./baseline.js";
import { ChangeList } from "./changes.js";
import { WearLine } from "./wear.js";
import { frictionPanel, torsionPanel } from "./curves.js";
import { ClearanceSection } from "./clearance.js";
import { GearSection } from "./gear.js";
import { JointPlots } from "./joint_plots.js";
import { Knowledge } from "./knowledge.js";
import { writeLosses } from "./losses.js";
import { RawChannels } from "./raw_channels.js";
import { TimeLine } from "./timeline.js";
import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { brief } from "../condition.js";
import { Badges, changeBeside, EventLog, Figures, Progress } from "../page.js";
import { inView } from "../plots.js";
import { Past } from "./past.js";
import { ViewBar } from "../view_bar.js";
import { phase, readable } from "../words.js";

const CURVES = 300; // ms between two drawings of the curves

// how well the motion of the start, or of the last refit, separates the parameters
function separation({ phase, condition, weakest, singular_values: known }) {
  if (!known) return "";
  const when = phase === "starting" ? "so far" : "of the last start or refit";
  return `Condition ${when}: ${format.condition(condition)}${weakest ? ` · least identifiable: ${readable(weakest)}` : ""}`;
}

export class JointView {
  constructor(robot, joint) {
    this.joint = joint;
    this.pace = 12; // drawings a second
    this.badges = new Badges();
    this.change = element("p", { class: "change" });
    this.explanation = element("p", { class: "explanation" });
    this.reasons = element("ul", { class: "reasons" });
    this.since = element("span", { class: "since" });
    this.todo = element("p", { class: "todo" });
    this.line = new TimeLine(false);
    this.progress = new Progress();
    this.spectrum = element("p", { class: "spectrum", title: "how well the motion tells the parameters apart: largest over smallest singular value of the whitened regressor, columns of length one; 1 is best" });
    this.events = new EventLog(60, false);
    this.figures = new Figures([
      ["error", "prediction error", "rms of the prediction error, relative to what is measured"],
      ["residual", "residual, rms over 5 s", "what the model does not explain"],
      ["lost", "samples lost", "lost, late or unusable: how fast and why while it happens, else when it was last"],
    ]);
    this.experts = new Figures([
      ["latency", "frame to update", "from the arrival of the newest frame to this update"],
      ["samples", "samples", "used since the core started"],
      ["causes", "samples lost, by cause", "since the core started"],
    ]);
    this.plots = new JointPlots(joint);
    this.curves = [frictionPanel(joint), ...(joint.elastic ? [torsionPanel(joint)] : [])];
    this.knowledge = new Knowledge(joint, robot.writable);
    this.offer = new BaselineOffer([joint], robot.writable);
    this.changes = new ChangeList(joint, robot.writable);
    this.wear = new WearLine(joint);
    this.gear = joint.geared ? new GearSection(joint) : null;
    this.bearing = "known" in joint.clearance ? new ClearanceSection(joint) : null;
    this.past = new Past(joint);
    this.raw = new RawChannels(robot, joint);
    this.bar = new ViewBar(joint.name, () => [...this.plots.columns(), ...this.raw.columns]);
    this.drawn = 0;
    this.node = this.build(robot);
  }

  get panels() { return [...this.plots.all, ...(this.gear ? [this.gear.panel] : [])]; }

  build(robot) {
    const tabs = element("nav", { class: "tabs", "aria-label": "Joints" }, element("a", { href: "#/", class: "all" }, "‹ All joints"));
    tabs.hidden = robot.joints.size === 1;
    this.tabs = [...robot.joints.values()].map((joint) => {
      const tab = element("a", { href: `#/joint/${encodeURIComponent(joint.name)}` }, element("i"), joint.name);
      if (joint === this.joint) tab.setAttribute("aria-current", "page");
      tabs.append(tab);
      return [tab, joint];
    });
    const { plots } = this;
    return element("section", { class: "joint", "aria-label": `Joint ${this.joint.name}` },
      tabs,
      element("header", { class: "head" },
        element("div", { class: "title" }, element("h1", {}, this.joint.name), this.badges.node, this.since),
        element("div", { class: "health" }, this.explanation, this.reasons, this.change, this.todo,
          this.progress.node),
        this.figures.node, this.offer.node, this.line.node),
      this.changes.node,
      this.bar.node,
      element("div", { class: "torques" }, plots.residual.node, plots.torque.node, this.raw.node),
      element("div", { class: `grid pictures ${this.curves.length > 1 ? "three" : ""}` }, ...this.curves.map((panel) => panel.node), this.knowledge.node),
      element("h2", {}, "Parameters", element("small", {}, "estimate with its ±1 σ band")),
      plots.parameterGrid(),
      this.wear.node,
      ...(this.gear ? [this.gear.node] : []),
      ...(this.bearing ? [this.bearing.node] : []),
      element("h2", {}, "Events"),
      element("article", { class: "panel log" }, this.events.node),
      this.past.node,
      this.expertFigures());
  }

  // folded until somebody opens it; then it stays open
  expertFigures() {
    const { plots } = this, details = element("details", { class: "experts" }, element("summary", {}, "Figures for experts"),
      this.spectrum, this.experts.node, element("div", { class: "grid" }, plots.error.node, plots.alarm.node, plots.forgetting.node));
    details.open = JointView.expert;
    details.addEventListener("toggle", () => { JointView.expert = details.open; });
    return details;
  }

  words(robot, now) {
    const { joint, figures, experts } = this, { key, since, todo, lines } = joint.condition;
    this.tabs.forEach(([tab, other]) => mark(tab, "phase", other.condition.key ?? other.phase));
    this.badges.update(joint.condition);
    write(this.change, changeBeside(joint.condition));
    mark(this.node, "phase", key);
    write(this.explanation, phase(key)[1]);
    const before = joint.condition.before ? [`before: ${joint.condition.before}`] : []; // since when stands beside the badge
    const reasons = key === "stale" ? before : key === "transient" ? lines : key === "changed" ? [...lines, ...brief(joint.reasons)] : brief(joint.reasons, joint.condition.since);
    if (reasons.join() !== this.shownReasons) {
      this.shownReasons = reasons.join();
      this.reasons.replaceChildren(...reasons.map((reason) => element("li", {}, reason)));
    }
    write(this.since, since ? format.sinceAndFor(since, now) : "");
    write(this.todo, todo);
    this.line.update([joint], robot.events, now);
    this.progress.update(joint.phase === "starting" && key !== "stale", joint.state.progress);
    write(this.spectrum, separation(joint.state));
    write(figures.error.value, format.percent(joint.state.error));
    write(figures.residual.value, `${format.significant(joint.residualRms(5), 2)} ${joint.unit}`);
    writeLosses(figures.lost.value, figures.lost.more, joint.totals, now);
    write(experts.latency.value, format.duration(joint.latency));
    write(experts.samples.value, format.count(joint.totals.samples));
    write(experts.causes.value, format.count(joint.totals.lost && format.total(joint.totals.lost)));
    write(experts.causes.more, format.causes(joint.totals.lost));
    this.plots.words();
    this.raw.words();
    this.knowledge.update();
    this.offer.update();
    this.changes.update();
    this.wear.update();
    this.past.update();
    this.gear?.update();
    this.bearing?.update();
    const events = robot.events.filter((event) => event.joint === joint.name);
    this.events.update(events);
    this.panels.forEach(({ plot }) => { plot.events = events; });
  }

  draw(start, end) {
    this.plots.draw(start, end);
    this.raw.draw(start, end);
    if (this.gear && inView(this.gear.panel.plot.node)) this.gear.draw(start, end);
    if (performance.now() - this.drawn > CURVES) {
      this.drawn = performance.now();
      this.curves.filter((panel) => inView(panel.plot.node)).forEach((panel) => panel.draw(this.joint, start, end));
    }
  }

  destroy() {
    this.past.destroy();
    this.plots.destroy();
    this.raw.destroy();
    this.gear?.panel.plot.destroy();
  }
}
JointView.expert = false;
