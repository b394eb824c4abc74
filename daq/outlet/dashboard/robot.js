// What the page knows of the robot: every joint's traces and state, kept up by snapshots and ticks of the same shape.

import { judge } from "./condition.js";

const KEPT = 125; // s of every trace
const KEPT_LONGER = 900; // s, while a person looks at a window that does not follow
const BREAK = { estimates: 1.5, residuals: 0.5, points: 1e9, alarms: 1.5, gears: 3.5, whole: 0.5, channels: 0.3 }; // s without a row after which the line is interrupted
const EVENTS = 200;
const RATE_OVER = 6; // s

export class Trace {
  static kept = KEPT;

  constructor(columns, gap) {
    this.columns = Array.from({ length: columns }, () => []);
    this.gap = gap;
  }

  get length() { return this.columns[0].length; }

  // rows: ArrayBuffer of float32, row by row; their time (first column) is relative to base
  append(rows, base) {
    const values = new Float32Array(rows);
    const count = this.columns.length;
    for (let at = 0; at + count <= values.length; at += count) {
      const time = base + values[at];
      const last = this.columns[0].at(-1);
      if (last !== undefined && time - last > this.gap) this.columns.forEach((column, i) => column.push(i ? null : (time + last) / 2));
      this.columns[0].push(time);
      for (let i = 1; i < count; i++) this.columns[i].push(Number.isFinite(values[at + i]) ? values[at + i] : null);
    }
    const first = this.columns[0].at(-1) - 1.2 * Trace.kept;
    if (this.columns[0][0] < first) {
      const cut = this.from(first + 0.2 * Trace.kept);
      this.columns.forEach((column) => column.splice(0, cut));
    }
  }

  // index of the last row before this time
  from(time) {
    const times = this.columns[0];
    let low = 0, high = times.length;
    while (low < high) { const mid = (low + high) >> 1; if (times[mid] < time) low = mid + 1; else high = mid; }
    return Math.max(0, low - 1);
  }

  // the columns (by index) between these times, with one row more at either side
  between(start, end, ...wanted) {
    const first = this.from(start), last = this.from(end) + 2;
    return [0, ...wanted].map((i) => this.columns[i].slice(first, last));
  }

  last(column) { return this.columns[column]?.at(-1) ?? null; }
}

class Joint {
  constructor(name) {
    this.name = name;
    this.unit = "";
    this.names = [];
    this.units = [];
    this.meanings = [];
    this.state = {};
    this.totals = {};
    this.estimates = new Trace(3, BREAK.estimates);
    this.residuals = new Trace(3, BREAK.residuals);
    this.points = new Trace(5, BREAK.points); // time, velocity, friction torque, twist, spring torque
    this.alarms = new Trace(2, BREAK.alarms); // time, CUSUM over its limit
    this.gears = new Trace(3, BREAK.gears); // time, lost motion, its deviation
    this.gear = {}; // the newest of lost_motion/<joint>; empty before the first
    this.clearance = {}; // the newest of clearance/<joint>; empty where none is watched
    this.channels = null; // {names, units, trace} of the raw channels while this page wants them
    this.laws = {}; // name → [[abscissa …], [torque …]]
    this.drift = {}; // since, drifted, cause, baseline, percent, z, reference; empty while there is nothing to compare with
    this.wear = {}; // what the history says of its dry friction, see the schema of wear/<joint>; empty: not judged
    this.changes = []; // records of what has changed, the oldest first; see the schema of change/<joint>
    this.excitation = [];
    this.usual = NaN; // standard deviation of the residual at the start
    this.elastic = this.geared = false;
    this.history = []; // [Unix s, totals]: for rates
    this.condition = { rank: 9, word: "", short: "", size: 0, lines: [], todo: "", since: null }; // see condition.js
    this.own = null; // the last condition of the joint itself, not one that its core's silence has made
    this.seen = null; // Unix s since which the page has seen it in this condition
  }

  get phase() { return this.state.phase ?? "waiting"; }
  // s from the newest frame to its update; null where no frame comes: then it is how long none came
  get latency() { return ["faulted", "waiting"].includes(this.phase) ? null : this.state.latency ?? null; }
  // of one parameter: relative change, z, whether it is beyond its limits; null without a baseline
  drifted(name) {
    const { percent, z, drifted } = this.drift;
    return percent?.[name] === undefined ? null : { change: percent[name] / 100, z: z[name], beyond: drifted.includes(name) };
  }

  // records that are not acknowledged
  get open() { return this.changes.filter(({ acknowledged }) => !acknowledged); }

  get valid() { return this.state.health?.status === "valid"; }

  // no reading of it comes, though the service runs
  get silent() { return this.reasons.some(({ code }) => code === "no_data"); }

  get reasons() { return this.state.health?.reasons ?? []; }

  appendChannels({ names, units, rows }, base) {
    if (this.channels?.names.join() !== names.join()) this.channels = { names, units, trace: new Trace(1 + names.length, BREAK.channels) };
    this.channels.trace.append(rows, base);
  }

  valueColumn(index) { return 3 + index; }
  deviationColumn(index) { return 3 + this.names.length + index; }

  // rms of measured − predicted over the newest seconds
  residualRms(seconds) {
    const [, measured, predicted] = this.residuals.between((this.residuals.last(0) ?? 0) - seconds, Infinity, 1, 2);
    let sum = 0, count = 0;
    measured.forEach((value, i) => {
      if (value !== null && predicted[i] !== null) { sum += (value - predicted[i]) ** 2; count++; }
    });
    return count ? Math.sqrt(sum / count) : null;
  }
}

// the totals of the last RATE_OVER seconds, with the instants at which they were counted
function remember(history, counted, totals) {
  if (history.length && history.at(-1)[0] > counted) history.length = 0;
  if (!history.length || counted > history.at(-1)[0]) history.push([counted, totals]);
  while (history.length > 2 && counted - history[0][0] > RATE_OVER) history.shift();
}

// rows of (abscissa, torque) as two columns
function columns(rows) {
  const values = new Float32Array(rows);
  return [0, 1].map((i) => Array.from(values.filter((_, at) => at % 2 === i)));
}

export const rate = (history, read) => {
  const [first, last] = [history[0], history.at(-1)];
  const seconds = last ? last[0] - first[0] : 0;
  return seconds < 0.9 ? null : Math.max(0, (read(last[1]) ?? 0) - (read(first[1]) ?? 0)) / seconds;
};

export class Robot {
  constructor() {
    this.name = "";
    this.whole = null; // {state, trace}: of the whole robot's model, where there is one; see whole.js
    this.mechanism = null; // {state, trace}: of a mechanism with loops, where there is one; see mechanism.js
    this.joints = new Map();
    this.events = [];
    this.processes = {};
    this.drivers = {};
    this.recorder = {}; // empty when nothing is recorded
    this.links = {}; // driver → {history}
    this.want = () => {}; // asks the service for the raw channels of a joint, or of none (null)
    this.layout = 0; // changes when joints or parameters do: views are then built anew
    this.newest = null; // Unix s that the newest update speaks of
    this.lastUpdate = null; // when the service received the newest update, Unix s by its own clock; null before the first
    this.offset = null; // s from the local clock to the updates' time
    this.serviceClock = null; // [Unix s by the service's own clock, local ms at which it came]
  }

  absorb(message, local) {
    if (message.snapshot) this.begin(message);
    this.serviceClock = [message.now, local];
    for (const [name, update] of Object.entries(message.joints)) {
      const joint = this.joints.get(name);
      if (!joint) continue;
      joint.state = update.state;
      joint.totals = update.totals;
      joint.estimates.append(update.estimates, message.base);
      joint.residuals.append(update.residuals, message.base);
      joint.points.append(update.points, message.base);
      joint.alarms.append(update.alarms, message.base);
      joint.gears.append(update.gears, message.base);
      if (update.channels) joint.appendChannels(update.channels, message.base);
      if (update.laws) {
        joint.laws = Object.fromEntries(Object.entries(update.laws).map(([law, rows]) => [law, columns(rows)]));
        joint.drift = update.drift;
        joint.changes = update.changes ?? [];
        joint.wear = update.wear ?? {};
        joint.gear = update.gear;
        joint.clearance = update.clearance ?? {};
        joint.excitation = update.excitation;
        joint.usual = update.usual;
      }
      remember(joint.history, message.counted, update.totals);
      this.noteUpdate(update.state, message.now, local);
    }
    if (this.whole && message.whole.state) {
      this.whole.state = message.whole.state;
      this.whole.trace.append(message.whole.rows, message.base);
    }
    if (this.mechanism && message.mechanism?.state) {
      this.mechanism.state = message.mechanism.state;
      this.mechanism.trace.append(message.mechanism.rows, message.base);
    }
    this.events = this.events.concat(message.events).slice(-EVENTS);
    this.recorder = message.recorder;
    this.processes = message.processes;
    this.drivers = message.drivers;
    for (const [name, driver] of Object.entries(this.drivers)) {
      this.links[name] ??= { history: [] };
      remember(this.links[name].history, message.counted, driver);
    }
  }

  begin(message) {
    this.name = message.robot;
    this.writable = message.writable;
    this.events = [];
    this.newest = null;
    const whole = Object.keys(message.whole.state?.joints ?? {}).length;
    this.whole = whole ? { state: message.whole.state, trace: new Trace(3 + whole, BREAK.whole) } : null;
    const drives = Object.keys(message.mechanism?.state?.drives ?? {});
    this.mechanism = drives.length ? { state: message.mechanism.state, trace: new Trace(1 + drives.length, BREAK.whole) } : null;
    const shape = JSON.stringify(Object.entries(message.joints).map(([name, { names, units, unit, elastic, geared, clearance = {} }]) => [name, names, units, unit, elastic, geared, "known" in clearance]).concat([[message.writable, Object.keys(message.whole.state?.joints ?? {}), drives]]));
    if (shape !== this.shape) this.layout++;
    this.shape = shape;
    this.joints = new Map(Object.entries(message.joints).map(([name, update]) => {
      const joint = new Joint(name);
      Object.assign(joint, { unit: update.unit, names: update.names, units: update.units, meanings: update.meanings, elastic: update.elastic, geared: update.geared });
      joint.estimates = new Trace(3 + 2 * update.names.length, BREAK.estimates);
      joint.clearance = update.clearance ?? {};
      return [name, joint];
    }));
  }

  noteUpdate(state, now, local) {
    if (state.received === undefined) return;
    // by the service's own clock: messages that waited, and are read all at once, are as old as they say
    if (this.lastUpdate === null || state.received > this.lastUpdate || this.lastUpdate > now) this.lastUpdate = state.received;
    if (this.newest !== null && state.timestamp <= this.newest) return;
    this.newest = state.timestamp;
    const offset = state.timestamp - local / 1000;
    // follow slowly, so that jitter of the network does not shake the plots
    this.offset = this.offset === null || Math.abs(offset - this.offset) > 1 ? offset : this.offset + 0.05 * (offset - this.offset);
  }

  // the service's clock now, also while no update comes: times of events are of this clock
  clock(local) { return this.serviceClock === null ? Date.now() / 1000 : this.serviceClock[0] + (local - this.serviceClock[1]) / 1000; }

  // the right edge of every plot: it stops shortly after the last update, so that the last moments stay in view
  now(local) {
    if (this.newest === null) return Date.now() / 1000;
    return Math.min(local / 1000 + this.offset, this.newest + 1.5);
  }

  // every joint's condition at this time (Unix s); stale: no update comes
  judge(now, stale) {
    for (const joint of this.joints.values()) joint.condition = judge(joint, this.events, now, stale ? this.lastUpdate : null);
  }

  // Unix s of the oldest torque that is held; null where there is none
  get oldest() {
    const found = [...this.joints.values()].map((joint) => joint.residuals.columns[0][0]).filter((time) => time !== undefined);
    return found.length ? Math.min(...found) : null;
  }

  // keep more of the past while a person looks at it
  keepLonger(on) { Trace.kept = on ? KEPT_LONGER : KEPT; }

  // s since the newest update
  age(local) { return this.lastUpdate === null ? null : Math.max(0, this.clock(local) - this.lastUpdate); }
}
