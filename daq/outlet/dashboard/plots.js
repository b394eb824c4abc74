// Plots over the last seconds: uPlot with axes that stand still, and sparklines.

import { element } from "./elements.js";
import * as format from "./format.js";
import { shown } from "./time_window.js";
import { toneOf } from "./words.js";

export const FONT = '"Segoe UI", system-ui, Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';
const ROOM = 0.12; // of the range, left free above and below
const LOOSE = 0.4; // a range that is used less than this is tightened

const style = () => getComputedStyle(document.documentElement);
export const colour = (name) => style().getPropertyValue(`--${name}`).trim();
export const rem = () => parseFloat(style().fontSize);

// Whether an element is in view: what is not is not drawn, which is most of a long page.
const views = new WeakMap();
const watcher = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => views.set(target, isIntersecting)), { rootMargin: "25%" });
export const watch = (node) => watcher.observe(node);
export const inView = (node) => views.get(node) !== false;

// Limits that change only when they must, so that a plot does not pump.
export class CalmLimits {
  constructor(least = 0, floor = -Infinity, ceiling = Infinity) {
    Object.assign(this, { least, floor, ceiling, low: null, high: null });
  }

  cover(low, high) {
    if (low === null) return;
    const least = Math.max(this.least, 1e-9, 1e-6 * Math.abs(high));
    if (high - low < least && this.ceiling < Infinity) low = high - least;
    else if (high - low < least) { const middle = (low + high) / 2; low = middle - least / 2; high = middle + least / 2; }
    const span = high - low;
    if (this.low !== null && low >= this.low && high <= this.high && span > LOOSE * (this.high - this.low)) return;
    this.low = Math.max(this.floor, low - ROOM * span);
    this.high = Math.min(this.ceiling, high + ROOM * span);
  }
}

export function extent(...columns) {
  let low = Infinity, high = -Infinity;
  for (const column of columns) for (const value of column) {
    if (value === null) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? [null, null] : [low, high];
}

const FAR = 0.02; // of the window between the cursor and a row that it reads
const LEAST_FAR = 1; // s
const RARE = 0.005; // share of the values at either end that one spike may be
const SPIKE = 2.5; // times the range of all others, from which on the rare values may leave the plot

// The extent of all but a spike, and the largest value that is left out (null: none): one spike must not flatten the rest.
export function calmExtent(...columns) {
  const values = Float64Array.from(columns.flatMap((column) => column.filter((value) => value !== null))).sort();
  if (!values.length) return [null, null, null];
  const low = values[0], high = values.at(-1), rare = Math.max(1, Math.floor(RARE * values.length));
  const inner = [values[Math.min(rare, values.length - 1)], values[Math.max(0, values.length - 1 - rare)]];
  const range = inner[1] - inner[0];
  if (values.length < 20 || !(range > 0) || high - low <= SPIKE * range) return [low, high, null];
  const kept = [Math.max(low, inner[0] - range / 2), Math.min(high, inner[1] + range / 2)];
  return [...kept, high - kept[1] > kept[0] - low ? high : low];
}

// What a plot of measured and predicted must show: a joint that holds still must not look restless for its noise.
export function effortLimits(measured, predicted) {
  const [low, high, spike] = calmExtent(measured, predicted);
  if (low === null) return [null, null, null];
  const missing = Math.max(0, 0.3 * Math.max(Math.abs(low), Math.abs(high)) - (high - low));
  return [low - missing / 2, high + missing / 2, spike];
}

function sign(pen, tone, x, y, size) {
  pen.fillStyle = colour(tone);
  pen.beginPath();
  if (tone === "bad") { pen.moveTo(x - size, y); pen.lineTo(x + size, y); pen.lineTo(x, y + 1.7 * size); } // a triangle that points at its instant
  else if (tone === "warn") { pen.moveTo(x, y); pen.lineTo(x + size, y + size); pen.lineTo(x, y + 2 * size); pen.lineTo(x - size, y + size); }
  else if (tone === "busy") pen.rect(x - 0.8 * size, y, 1.6 * size, 1.6 * size);
  else pen.arc(x, y + size, 0.9 * size, 0, 2 * Math.PI);
  pen.fill();
}

// lines: [{label, colour, width, dash}]; band: [upper, lower] indices into lines, drawn as an area;
// levels: [[value, colour]], horizontal lines; zones: [[low, high, colour]], areas behind them; events: {timestamp, kind}
export class TimePlot {
  constructor({ label, lines, band = null, sync = null, least = 0, floor, ceiling, ticks = 4, onCursor = null }) {
    this.levels = [];
    this.zones = [];
    this.events = [];
    this.node = element("div", { class: "plot", role: "img", "aria-label": label });
    this.limits = new CalmLimits(least, floor, ceiling);
    this.options = { lines, band, sync, ticks, onCursor };
    this.start = 0;
    this.end = 1;
    this.resized = new ResizeObserver(() => this.resize());
    this.resized.observe(this.node);
    watch(this.node);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.node;
    if (!width || !height) return;
    if (this.plot) this.plot.setSize({ width, height });
    else {
      this.plot = new uPlot(this.build(width, height), this.data ?? [[], ...this.options.lines.map(() => [])], this.node);
      this.listen(this.plot.over);
    }
  }

  // a range is drawn with the pointer; Ctrl and the wheel zoom about the pointer, Shift and the wheel pan
  listen(over) {
    over.addEventListener("mousedown", () => { shown.grabbed = true; });
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      const turned = event.deltaY || event.deltaX, { left } = over.getBoundingClientRect();
      if (event.ctrlKey) shown.zoom(turned < 0, this.newest ?? this.end, this.plot.posToVal(event.clientX - left, "x"));
      else shown.pan(Math.sign(turned), this.newest ?? this.end);
    }, { passive: false });
  }

  select(plot) {
    const { left, width } = plot.select;
    if (width < 6) return;
    const [from, to] = [left, left + width].map((at) => plot.posToVal(at, "x"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    shown.show(from, to);
  }

  build(width, height) {
    const { lines, band, sync, ticks, onCursor } = this.options;
    const unit = rem();
    const axis = { stroke: colour("muted"), font: `${Math.round(0.73 * unit)}px ${FONT}`, ticks: { show: false } };
    const grid = { stroke: colour("grid"), width: 1 };
    return {
      width, height,
      legend: { show: false },
      cursor: {
        drag: { x: true, y: false, setScale: false }, y: false, points: { size: 6 }, bind: { dblclick: () => () => { shown.follow(); return null; } },
        sync: sync ? { key: sync, filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } } : undefined,
      },
      padding: [0.5 * unit, 1.1 * unit, 0, 0],
      scales: {
        x: { time: false, range: () => [this.start, this.end] },
        y: { range: () => (this.limits.low === null ? [0, 1] : [this.limits.low, this.limits.high]) },
      },
      axes: [
        { ...axis, grid, size: 1.8 * unit, gap: 0.5 * unit, splits: () => this.times(width < 26 * unit ? 3 : 6), values: (_, splits) => splits.map((at) => this.ago(at)) },
        { ...axis, grid, size: 4.2 * unit, gap: 0.3 * unit, space: (height - 2 * unit) / (2 * ticks), values: (_, splits) => (this.limits.low === null ? [] : numbers(splits)) },
      ],
      series: [{}, ...lines.map((line, i) => ({
        label: line.label,
        stroke: line.colour ? colour(line.colour) : undefined,
        width: band?.includes(i) ? 0 : (line.width * unit) / 15,
        dash: line.dash,
        points: { show: false },
        spanGaps: false,
      }))],
      bands: band ? [{ series: [band[0] + 1, band[1] + 1], fill: colour("band") }] : [],
      hooks: { drawClear: [(plot) => this.paint(plot)], draw: [(plot) => this.mark(plot)], setSelect: [(plot) => this.select(plot)], setCursor: onCursor ? [(plot) => onCursor(this.under(plot), plot.data)] : [] },
    };
  }

  // the row under the cursor; null where the nearest one is of another instant
  under(plot) {
    const { idx, left } = plot.cursor, far = Math.max(LEAST_FAR, FAR * (this.end - this.start));
    return idx === null || idx === undefined || Math.abs(plot.data[0][idx] - plot.posToVal(left, "x")) > far ? null : idx;
  }

  // start, end: Unix s at the edges; data: [times, line, line, …]; limits: what must be in view
  draw(start, end, data, [low, high]) {
    Object.assign(this, { start, end, data });
    this.limits.cover(low, high);
    this.plot?.setData(data);
  }

  paint(plot) {
    const pen = plot.ctx, { left, top, width, height } = plot.bbox;
    for (const [low, high, name] of this.zones) {
      const [y1, y2] = [high, low].map((value) => Math.min(top + height, Math.max(top, plot.valToPos(value, "y", true))));
      pen.fillStyle = colour(name);
      pen.fillRect(left, y1, width, y2 - y1);
    }
  }

  mark(plot) {
    const pen = plot.ctx, { left, top, width, height } = plot.bbox, size = 0.27 * rem() * devicePixelRatio;
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    pen.lineWidth = devicePixelRatio;
    for (const [value, name] of this.levels) {
      const y = Math.round(plot.valToPos(value, "y", true));
      pen.strokeStyle = colour(name);
      pen.setLineDash([2 * size, 1.5 * size]);
      pen.beginPath(); pen.moveTo(left, y); pen.lineTo(left + width, y); pen.stroke();
    }
    for (const event of this.events) {
      if (event.timestamp < this.start || event.timestamp > this.end) continue;
      const x = Math.round(plot.valToPos(event.timestamp, "x", true)), tone = toneOf(event.kind);
      pen.globalAlpha = 0.6;
      pen.strokeStyle = colour(tone);
      pen.setLineDash([size / 2, size / 2]);
      pen.beginPath(); pen.moveTo(x, top); pen.lineTo(x, top + height); pen.stroke();
      pen.globalAlpha = 1;
      sign(pen, tone, x, top, size);
    }
    pen.restore();
  }

  times(parts) {
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60].find((seconds) => seconds >= (this.end - this.start) / parts) ?? 60;
    const result = [], first = shown.live ? this.end : step * Math.floor(this.end / step);
    for (let at = first; at >= this.start - 1e-6; at -= step) result.unshift(at);
    return result;
  }

  // how long ago while the window follows, else the time of day
  ago(at) {
    const step = this.end - this.start < 4;
    if (!shown.live) return step ? format.instant(at) : format.clock(at + 1e-3);
    const seconds = this.end - at;
    return seconds < 0.05 ? "now" : `−${step ? seconds.toFixed(1) : Math.round(seconds)} s`;
  }

  destroy() {
    this.resized.disconnect();
    this.plot?.destroy();
  }
}

// Tick labels with just the decimals that tell neighbours apart.
export function numbers(splits) {
  const step = splits.length > 1 ? Math.abs(splits[1] - splits[0]) : 1;
  const decimals = Math.min(8, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const fine = splits.some((at) => Math.abs(at * 10 ** decimals - Math.round(at * 10 ** decimals)) > 1e-6) ? decimals + 1 : decimals;
  return splits.map((at) => at.toFixed(fine).replace("-", "−").replace(/^−(0(\.0+)?)$/, "$1"));
}

// A line the height of a text line, with its ±σ band.
export class Sparkline {
  constructor(label) {
    this.node = element("canvas", { class: "spark", role: "img", "aria-label": label });
    this.limits = new CalmLimits();
  }

  draw(start, end, times, values, deviations, stale) {
    const ratio = devicePixelRatio, width = this.node.clientWidth, height = this.node.clientHeight;
    if (!width) return;
    const wide = Math.round(width * ratio), high = Math.round(height * ratio);
    if (this.node.width !== wide || this.node.height !== high) Object.assign(this.node, { width: wide, height: high });
    const pen = this.node.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const sigma = deviations.at(-1) ?? 0;
    const [low, top] = extent(values);
    if (low === null) return;
    this.limits.cover(low - 1.5 * sigma, top + 1.5 * sigma);
    const x = (time) => ((time - start) / (end - start)) * (width - 3);
    const y = (value) => height - 1 - ((value - this.limits.low) / (this.limits.high - this.limits.low)) * (height - 2);
    const step = Math.max(1, Math.floor(times.length / width));
    const runs = [[]];
    for (let i = 0; i < times.length; i += step) {
      if (values[i] === null || times[i] < start) { if (runs.at(-1).length) runs.push([]); } else runs.at(-1).push(i);
    }
    pen.fillStyle = colour("band");
    pen.lineWidth = (1.4 * rem()) / 15;
    pen.strokeStyle = colour(stale ? "muted" : "estimate");
    for (const run of runs.filter((indices) => indices.length > 1)) {
      pen.beginPath();
      run.forEach((i) => pen.lineTo(x(times[i]), y(values[i] + deviations[i])));
      run.toReversed().forEach((i) => pen.lineTo(x(times[i]), y(values[i] - deviations[i])));
      pen.fill();
      pen.beginPath();
      run.forEach((i) => pen.lineTo(x(times[i]), y(values[i])));
      pen.stroke();
    }
  }
}
