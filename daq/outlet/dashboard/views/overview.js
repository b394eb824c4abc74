// All joints at a glance: one card each, and one for the service itself.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { worstFirst, trouble } from "../condition.js";
import { Badges, changeBeside, EventLog, Quantity } from "../page.js";
import { effortLimits, inView, Sparkline, TimePlot, watch } from "../plots.js";
import { writeLosses } from "./losses.js";
import { StatusStrip } from "./status.js";
import { WholeBanner } from "./whole.js";
import { effort, readable } from "../words.js";

const SHOWN = 6; // parameters on a card; the rest stand on the joint's own page

class Card {
  constructor(joint) {
    this.joint = joint;
    this.badges = new Badges();
    this.meaning = element("p", { class: "meaning" });
    this.change = element("p", { class: "change" });
    this.progress = element("div", { class: "progress" }, element("i"));
    this.rows = joint.names.slice(0, joint.names.length > SHOWN + 1 ? SHOWN : SHOWN + 1).map((name, i) => ({ spark: new Sparkline(`${readable(name)}, last seconds`), quantity: new Quantity(joint.units[i]) }));
    const table = element("div", { class: "parameters" });
    this.rows.forEach(({ spark, quantity }, i) => table.append(
      element("span", { class: "name", title: joint.meanings[i], "data-unit": joint.units[i] }, readable(joint.names[i])), spark.node, ...quantity.nodes));
    const more = joint.names.length - this.rows.length;
    if (more) table.append(element("span", { class: "more" }, `and ${more} more`));
    this.plot = new TimePlot({
      label: `Measured and predicted ${effort(joint.unit).toLowerCase()} of ${joint.name}`, ticks: 3,
      lines: [{ label: "measured", colour: "measured", width: 4 }, { label: "predicted", colour: "predicted", width: 1.2 }],
    });
    this.error = element("b");
    this.residual = element("b");
    this.lost = element("b");
    this.losing = element("small");
    this.node = element("article", { class: "card", "data-joint": joint.name },
      element("header", {}, element("h2", {}, element("a", { href: `#/joint/${encodeURIComponent(joint.name)}` }, joint.name)), this.badges.node),
      element("div", {}, this.meaning, this.change, this.progress), table,
      element("p", { class: "caption" }, element("span", {}, `${effort(joint.unit)}, ${joint.unit}`),
        element("span", { class: "key measured" }, "measured"), element("span", { class: "key predicted" }, "predicted")),
      this.plot.node,
      element("footer", {},
        element("span", { title: "rms of the prediction error, relative to what is measured" }, "error ", this.error),
        element("span", { title: "rms of measured − predicted over the last 5 s" }, "residual ", this.residual),
        element("span", { class: "lost", title: "samples lost, late or unusable since the start" }, "lost ", this.lost, " ", this.losing)));
    watch(this.node);
  }

  words(now) {
    const { joint } = this, { key, lines, since, before } = joint.condition;
    this.badges.update(joint.condition);
    mark(this.node, "phase", key);
    const lasting = since ? `for ${format.duration(Math.max(1, now - since))}` : "";
    const shown = key === "stale" ? [before && `before: ${before}`] : key === "starting" || !lines.length ? [lasting, ...lines] : lines;
    write(this.meaning, shown.filter(Boolean).join("; "));
    write(this.change, changeBeside(joint.condition));
    mark(this.progress, "on", String(key === "starting"));
    this.progress.firstChild.style.width = `${joint.state.progress ?? 0}%`;
    this.rows.forEach(({ quantity }, i) => quantity.update(joint.estimates.last(joint.valueColumn(i)), joint.estimates.last(joint.deviationColumn(i))));
    write(this.error, format.percent(joint.state.error));
    write(this.residual, `${format.significant(joint.residualRms(5), 2)} ${joint.unit}`);
    writeLosses(this.lost, this.losing, joint.totals, now);
  }

  draw(start, end) {
    if (!inView(this.node)) return;
    const { joint } = this;
    const idle = joint.phase === "faulted" || joint.phase === "waiting";
    this.rows.forEach(({ spark }, i) => spark.draw(start, end, ...joint.estimates.between(start, end, joint.valueColumn(i), joint.deviationColumn(i)), idle));
    const data = joint.residuals.between(start, end, 1, 2);
    this.plot.draw(start, end, data, effortLimits(data[1], data[2]));
  }
}

class ServiceCard {
  constructor() {
    this.list = element("div", { class: "links" });
    this.events = new EventLog(5, true);
    this.node = element("article", { class: "card service" },
      element("header", {}, element("h2", {}, "Service")),
      element("p", { class: "meaning" }, "Drivers read the buses, the core identifies, the outlet shows and publishes. Every loss is counted."),
      this.list, element("p", { class: "caption" }, element("span", {}, "Latest events")), this.events.node);
  }

  words(robot) {
    const lines = Object.entries(robot.processes).map(([name, process]) => {
      const driver = robot.drivers[name];
      const up = process.up && (driver ? driver.up : true);
      const parts = [up ? "running" : process.up ? "no link" : process.pid ? "hangs" : "stopped"];
      if (process.restarts) parts.push(`${process.restarts} restart${process.restarts > 1 ? "s" : ""}`);
      if (driver) parts.push(`${format.count(driver.readings)} readings`, `${format.count(driver.lost)} lost`);
      if (!up && (driver?.cause || process.cause)) parts.push(driver?.cause || process.cause);
      return [name, up, parts.join(" · ")];
    });
    const key = JSON.stringify(lines);
    if (key !== this.key) {
      this.list.replaceChildren(...lines.map(([name, up, text]) =>
        element("div", { "data-up": up }, element("i"), element("b", {}, name), element("span", {}, text))));
    }
    this.key = key;
    this.events.update(robot.events);
  }
}

export class Overview {
  constructor(robot) {
    this.strip = new StatusStrip([...robot.joints.values()], robot.writable);
    this.cards = [...robot.joints.values()].map((joint) => new Card(joint));
    this.service = new ServiceCard();
    this.whole = new WholeBanner();
    this.pace = 8; // drawings a second
    this.node = element("section", { class: "overview", "aria-label": "All joints" },
      this.strip.node, this.whole.node,
      element("div", { class: "cards" }, ...this.cards.map((card) => card.node), this.service.node));
  }

  words(robot, now, stale) {
    this.strip.words(robot, now, stale);
    this.cards.forEach((card) => card.words(now));
    this.service.words(robot);
    this.whole.words(robot, now, stale);
    // those that want a look come first, the others keep their places
    const troubled = worstFirst(robot.joints.values()).filter(trouble);
    this.cards.forEach((card, i) => { card.node.style.order = trouble(card.joint) ? troubled.indexOf(card.joint) - troubled.length : i; });
    this.service.node.style.order = this.cards.length;
  }

  draw(start, end) {
    this.strip.draw();
    this.cards.forEach((card) => card.draw(start, end));
  }

  destroy() { this.cards.forEach((card) => card.plot.destroy()); }
}
