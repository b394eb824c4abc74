// The strip above all joints: the worst in large letters, every joint as a chip, and what happened on one time line.

import { label, listed, trouble, worstFirst } from "../condition.js";
import { BaselineOffer } from "./baseline.js";
import { CurvePlot, frictionCaption } from "./curves.js";
import { cutName, element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { Badges, changeBeside } from "../page.js";
import { TimeLine } from "./timeline.js";

const HEADLINES = 3;
const NAMED = 3; // joints in one headline
const MANY = 28; // joints from which on a chip has one line
const FEW = 8; // joints whose chips stand in one row

// Which joint, how bad, since when, what to do; for a drift the friction curve compared with its baseline.
class Headline {
  constructor() {
    this.name = element("a", { class: "which" });
    this.badges = new Badges();
    this.what = element("p", { class: "what" });
    this.change = element("p", { class: "change" });
    this.since = element("span", { class: "since" });
    this.todo = element("p", { class: "todo" });
    this.plot = new CurvePlot("Friction now, and at the baseline");
    this.axes = element("span");
    this.reference = element("span", { class: "key baseline" }, "baseline");
    this.picture = element("figure", { class: "picture" }, this.plot.node,
      element("figcaption", {}, this.axes, element("span", { class: "key estimate" }, "now"), this.reference));
    this.node = element("article", { class: "headline" },
      element("div", { class: "words" }, element("header", {}, this.name, this.badges.node, this.since), this.what, this.change, this.todo), this.picture);
  }

  // joints: of one group; all: how many joints there are
  show(joints, now, all) {
    const joint = this.joint = joints?.[0];
    this.node.hidden = !joint;
    mark(this.node, "headline", joint?.name ?? "");
    if (!joint) return;
    const { key, state, lines, todo, before } = joint.condition, changed = joints.filter((one) => one.condition.change);
    const since = Math.min(...joints.map((one) => one.condition.since ?? Infinity));
    mark(this.node, "phase", key);
    write(this.name, named(joints, all));
    this.name.setAttribute("href", `#/joint/${encodeURIComponent(joint.name)}`);
    this.badges.update({ state, change: changed[0]?.condition.change });
    // since when a joint is silent is in the banner above
    write(this.what, key === "stale" ? `before: ${before}` : lines.join("; "));
    write(this.change, changed.map((one) => (joints.length > 1 ? `${one.name}: ` : "") + changeBeside(one.condition)).join("; "));
    write(this.since, Number.isFinite(since) && key !== "stale" ? format.sinceAndFor(since, now) : "");
    write(this.todo, todo);
    write(this.axes, frictionCaption(joint));
    write(this.reference, joint.drift.reference === "start" ? "at its start" : "baseline");
    mark(this.node, "group", String(joints.length > 1));
    mark(this.node, "curve", String(changed.length > 0 && key !== "faulted" && Boolean(joint.laws.friction && joint.laws.friction_baseline)));
  }

  draw() {
    if (this.joint && this.node.dataset.curve === "true") this.plot.draw([], [], 0, this.joint.laws.friction, this.joint.laws.friction_baseline);
  }
}

function named(joints, all) {
  if (joints.length === all && all > 1) return `All ${all} joints`;
  const names = joints.map((joint) => joint.name);
  return listed(names.length > NAMED + 1 ? [...names.slice(0, NAMED), `${names.length - NAMED} more`] : names);
}

// Joints in groups that have one headline: those that are faulted for the same reasons share it.
function grouped(joints) {
  const groups = new Map();
  for (const joint of joints) {
    const { key, todo } = joint.condition;
    const codes = joint.reasons.map(({ code, parameter }) => `${code} ${parameter ?? ""}`);
    const alike = key === "faulted" || (key === "stale" && joint.condition.was === "faulted");
    const cause = alike ? `${key} ${todo} ${codes.join()}` : joint.name;
    groups.set(cause, [...(groups.get(cause) ?? []), joint]);
  }
  return [...groups.values()];
}

class Chip {
  constructor(joint, many) {
    this.joint = joint;
    this.many = many; // one line each
    this.short = element("span", { class: "short" });
    this.change = element("span", { class: "more", hidden: "" });
    this.sign = element("i", { class: "sign" });
    this.node = element("a", { class: "chip", href: `#/joint/${encodeURIComponent(joint.name)}`, "data-chip": joint.name }, this.sign, cutName("b", {}, joint.name), this.short, this.change);
  }

  words() {
    const { key, word, short, change } = this.joint.condition, beside = change && key !== "changed" ? change.short : "";
    mark(this.node, "phase", key);
    const whole = label(key, short) + short;
    write(this.short, this.many ? short : whole);
    write(this.change, beside && `◆ ${this.many ? "" : change.rounded}`);
    this.change.hidden = !beside;
    this.node.title = `${this.joint.name}: ${word}${whole && `, ${whole}`}${beside && `, changed: ${beside}`}`;
  }
}

// the joints of a sentence: by name where they are few
const which = (joints) => (joints.length > NAMED ? `${joints.length} are` : `${listed(joints.map((joint) => joint.name))} ${joints.length > 1 ? "are" : "is"}`);

// The headline where no joint is in trouble: [phase, what, what to do].
function summary(joints, stale, lastUpdate) {
  if (stale && lastUpdate === null) return ["waiting", "No update has come yet", "The core is starting, which takes a minute or two where it compiles. If this lasts, the service's log says why."];
  if (stale) return ["stale", `No data since ${format.clock(lastUpdate)}`, "Is the service running, and this screen's network up? What stands below is the last that was known."];
  const having = (key) => joints.filter((joint) => joint.condition.key === key), counts = (key) => having(key).length;
  const others = ["doubtful", "starting", "unsure", "learning", "held", "waiting"].map((key) => [having(key), { doubtful: "in doubt", starting: "starting up", unsure: "in need of other motion", learning: "still learning", held: "standing still", waiting: "without data yet" }[key]]).filter(([found]) => found.length);
  if (!others.length) return ["normal", joints.length > 1 ? `All ${joints.length} joints are normal` : "Normal", "Nothing to do."];
  const all = others[0][0].length === joints.length && joints.length > 1;
  const names = all ? [`All ${joints.length} joints are ${others[0][1]}`] : others.map(([found, text]) => `${which(found)} ${text}`);
  const todo = counts("waiting") ? "Is every drive on? Acquisition shows what comes." : counts("starting") || counts("unsure") || counts("learning") ? all ? "Let the robot move: every joint, both directions, slow and fast." : "Let what is not normal move: both directions, slow and fast." : counts("doubtful") ? "Each joint's reasons say what to do." : "Nothing to do.";
  return [others[0][1] === "standing still" ? "held" : counts("waiting") ? "waiting" : counts("doubtful") ? "doubtful" : "starting", `${names.join(", ")}${counts("normal") ? `, ${counts("normal")} normal` : ""}`, todo];
}

// since when they are as the summary says, the longest of them; of what is silent for how long
function since(joints, key, lastUpdate, now) {
  if (lastUpdate !== null) return `for ${format.duration(Math.max(1, now - lastUpdate))}`;
  const known = joints.filter(({ condition }) => key === "starting" ? condition.key !== "normal" : condition.key === key).map(({ condition }) => condition.since);
  return known.length && known.every((one) => one) ? format.sinceAndFor(Math.min(...known), now) : "";
}

export class StatusStrip {
  constructor(joints, writable) {
    this.joints = joints;
    this.offer = new BaselineOffer(joints, writable);
    this.headlines = Array.from({ length: Math.min(HEADLINES, joints.length) }, () => new Headline());
    this.calm = element("p", { class: "what" });
    this.calmTodo = element("p", { class: "todo" });
    this.calmSince = element("span", { class: "since" });
    this.all = element("article", { class: "headline all" }, element("div", { class: "words" }, element("header", {}, this.calm, this.calmSince), this.calmTodo));
    this.chips = new Map(joints.map((joint) => [joint, new Chip(joint, joints.length > MANY)]));
    this.list = element("nav", { class: "chips", "aria-label": "Every joint, the worst first" }, ...[...this.chips.values()].map((chip) => chip.node));
    this.line = new TimeLine();
    this.node = element("section", { class: "status", role: "status", "aria-label": "What needs a look" },
      element("div", { class: "headlines" }, this.all, ...this.headlines.map((one) => one.node)), this.list, this.offer.node, this.line.node);
    mark(this.node, "many", String(joints.length > MANY));
    mark(this.node, "few", String(joints.length <= FEW));
    this.list.style.setProperty("--chips", joints.length);
  }

  words(robot, now, stale) {
    const sorted = worstFirst(this.joints), troubled = sorted.filter(trouble);
    this.chips.forEach((chip) => chip.words());
    const order = sorted.map((joint) => `${joint.name} ${joint.condition.key}`).join();
    if (order !== this.order) {
      this.order = order;
      this.list.replaceChildren(...sorted.map((joint) => this.chips.get(joint).node));
    }
    const shown = grouped(troubled).slice(0, HEADLINES);
    this.headlines.forEach((one, i) => one.show(shown[i], now, this.joints.length));
    this.all.hidden = shown.length > 0 && !stale;
    if (!this.all.hidden) {
      const [key, text, todo] = summary(this.joints, stale, robot.lastUpdate);
      mark(this.all, "phase", key);
      write(this.calm, text);
      write(this.calmSince, since(this.joints, key, stale ? robot.lastUpdate : null, now));
      write(this.calmTodo, todo);
    }
    this.offer.update();
    this.line.update(sorted, robot.events, now);
  }

  draw() { this.headlines.forEach((one) => one.draw()); }
}

