// The acquisition view: state, rates and errors of every driver, and the losses of each joint by cause.

import { element, mark, write } from "../elements.js";
import * as format from "../format.js";
import { EventLog } from "../page.js";
import { rate } from "../robot.js";
import { readable } from "../words.js";

const TRAFFIC = ["frames", "packets", "own_frames", "restamped", "busy_us"]; // a driver's counters that are no errors

// share of the bus's time that frames took
function load(history) {
  const busy = history.length && "busy_us" in history.at(-1)[1].counters ? rate(history, (found) => found.counters.busy_us) : null;
  return busy === null ? null : busy / 1e6;
}

// A table whose cells are only touched when they change; columns: [[title, hint], …], the first is the row's name.
class Table {
  constructor(label, columns, none, kind = "") {
    this.rows = new Map();
    this.width = columns.length;
    this.none = element("p", { class: "note" }, none);
    this.body = element("tbody");
    this.node = element("div", { class: `scroll ${kind}` }, element("table", { "aria-label": label },
      element("thead", {}, element("tr", {}, ...columns.map(([title, hint]) => element("th", { scope: "col", title: hint }, title)))), this.body), this.none);
  }

  // entries: [[key, state, [text …]], …]
  update(entries) {
    this.none.hidden = entries.length > 0;
    const keys = new Set(entries.map(([key]) => key));
    for (const [key, row] of this.rows) if (!keys.has(key)) { row.remove(); this.rows.delete(key); }
    for (const [key, state, cells] of entries) {
      let row = this.rows.get(key);
      if (!row) {
        row = element("tr", {}, element("th", { scope: "row" }), ...Array.from({ length: this.width - 1 }, () => element("td")));
        this.rows.set(key, row);
        this.body.append(row);
      }
      mark(row, "state", state);
      cells.forEach((cell, i) => write(row.children[i], cell));
    }
  }
}

export class AcquisitionView {
  constructor() {
    this.pace = 1;
    this.links = new Table("Drivers", [
      ["driver", "one process per bus or port"], ["state", ""], ["frames/s", "frames or packets read from the wire"],
      ["values/s", "readings that reached the core"], ["bus load", "share of its time that frames take, stuff bits not counted; where the configuration has the bit rate"],
      ["not decoded", "frames or packets, since the start, by cause"], ["lost", "readings lost between driver and core"], ["restarts", ""],
    ], "No driver has reported yet.", "states");
    this.joints = new Table("Joints", [
      ["joint", ""], ["samples/s", "rows that reached the estimator"], ["updates/s", ""], ["lost", "samples lost, late or unusable, by cause"],
      ["share", "of all samples"], ["frame to update", "from the arrival of the newest frame to this update"], ["skew", "configured delay of each channel, subtracted before samples are built"],
    ], "No joint yet.");
    this.processes = new Table("Processes", [["process", ""], ["state", ""],
      ["last sign of life", "and the silence after which it is ended and restarted"], ["restarts", ""], ["last cause", ""]], "No process has reported yet.", "states");
    this.recorder = element("p", { class: "recorder" });
    this.events = new EventLog(12, true);
    const part = (title, hint, ...nodes) => element("article", { class: "panel part" },
      element("header", {}, element("h3", {}, title)), element("p", { class: "caption" }, element("span", {}, hint)), ...nodes);
    this.node = element("section", { class: "acquisition", "aria-label": "Acquisition" },
      element("h1", {}, "Acquisition"),
      part("Buses and ports", "each driver drains everything that is there and decodes it at once; every loss is counted", this.links.node),
      part("Joints", "samples are built on the joint's own clock; missing samples are counted here by cause", this.joints.node),
      element("div", { class: "pair" },
        part("Processes", "restarted when they die, each for itself", this.processes.node, this.recorder),
        part("Latest events", "of every joint", this.events.node)));
  }

  words(robot) {
    this.links.update(Object.entries(robot.drivers).map(([name, driver]) => {
      const { history } = robot.links[name];
      const errors = Object.fromEntries(Object.entries(driver.counters).filter(([cause]) => !TRAFFIC.includes(cause)));
      const frames = TRAFFIC.find((counter) => counter in driver.counters);
      return [name, driver.up ? "good" : "bad", [
        name, driver.up ? "open" : driver.cause || "closed",
        format.perSecond(frames ? rate(history, (found) => found.counters[frames]) : null), format.perSecond(rate(history, (found) => found.readings)),
        format.percent(load(history)), format.causes(errors) || "0", format.count(driver.lost), format.count(driver.restarts),
      ]];
    }));
    this.joints.update([...robot.joints.values()].map((joint) => {
      const { totals, history } = joint;
      const lost = format.total(totals.lost), all = (totals.samples ?? 0) + lost;
      const skew = Object.entries(totals.skew ?? {}).map(([channel, delay]) => `${readable(channel)} ${format.duration(delay)}`).join(", ");
      const silent = joint.phase === "faulted";
      return [joint.name, silent ? "bad" : "good", [
        joint.name, format.perSecond(rate(history, (found) => found.samples)), format.perSecond(rate(history, (found) => found.updates)),
        format.causes(totals.lost) || "0", all ? format.percent(lost / all) : "–", format.duration(joint.latency), skew || "–",
      ]];
    }));
    this.processes.update(Object.entries(robot.processes).map(([name, process]) =>
      [name, process.up ? "good" : "bad", [name, process.up ? "running" : process.pid ? "hangs" : "stopped",
        `${(process.age ?? 0).toFixed(1)} s${process.deadline ? ` of ${process.deadline} s` : ""}`, format.count(process.restarts), process.cause || "–"]]));
    const { up, cause, file, bytes, lost } = robot.recorder;
    const losses = lost ? ` · ${format.count(lost)} blocks lost` : "";
    const kept = up === undefined ? "Nothing is recorded: the configuration has no [recorder]." : up ? `Recording into ${file}: ${format.bytes(bytes)}${losses}` : `Not recording: ${cause || "waiting for data"}${losses}`;
    mark(this.recorder, "state", up === false && cause ? "bad" : "good");
    write(this.recorder, kept);
    this.events.update(robot.events);
  }

  draw() {}

  destroy() {}
}
