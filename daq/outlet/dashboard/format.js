// Numbers as a careful person writes them: digits follow the standard deviation, a true minus, a unit.

const NOTHING = "–";
const EXPONENT = { 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹", "-": "⁻" };

const signed = (text) => text.replace("-", "−");
const power = (exponent) => ` ·10${[...String(exponent)].map((digit) => EXPONENT[digit]).join("")}`;

// A formatter that remembers its digits, so that a σ around a power of ten does not make the number jump.
export function quantity() {
  let digits = null, exponent = 0;
  return (value, deviation) => {
    if (value === null || value === undefined) return [NOTHING, "", ""];
    if (!(deviation > 0)) return [signed(value.toPrecision(4)), "", ""];
    const size = Math.max(Math.abs(value), deviation);
    const small = size < 0.1 && deviation < (exponent ? 1.2e-4 : 0.9e-4); // more than five decimals are not read
    const wanted = size >= 1e6 || small ? 3 * Math.floor(Math.log10(size) / 3) : 0;
    if (wanted !== exponent) { exponent = wanted; digits = null; }
    const scale = 10 ** -exponent;
    const place = Math.log10(deviation * scale);
    // two significant digits of σ
    if (digits === null || place < 1 - digits - 0.15 || place > 2 - digits + 0.15) digits = Math.min(9, Math.max(0, 1 - Math.floor(place)));
    return [signed((value * scale).toFixed(digits)), (deviation * scale).toFixed(digits), exponent ? power(exponent) : ""];
  };
}

export const percent = (ratio) => {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return NOTHING;
  const value = 100 * ratio;
  if (value > 0 && value < 0.005) return "<\u00a00.01\u00a0%"; // a figure and its unit stay on one line
  return `${value.toFixed(value < 9.95 ? 2 : value < 99.5 ? 1 : 0)}\u00a0%`;
};

// a relative change: "+3.21 %", "+32.1 %"; decimals: of ten per cent and more
export const change = (ratio, decimals = 1) => {
  const text = Number.isFinite(ratio) ? (100 * ratio).toFixed(Math.abs(ratio) < 0.0995 ? 2 : decimals) : NOTHING;
  return text === NOTHING ? text : `${signed(Number(text) > 0 ? `+${text}` : text.replace(/^-(0\.0+)$/, "$1"))}\u00a0%`;
};

// by how much a record says that something has changed, relative; what is told in per cent has changed by so many; NaN: not told
export const ratio = ({ percent: told, unit, from, to }) => (Number.isFinite(told) ? told : unit === "%" ? to - from : NaN) / 100;

// how far from the baseline; a baseline that may be zero has no percentage
export const drift = ({ change: share, z }, decimals = 1) => (Number.isFinite(share) || !Number.isFinite(z) ? change(share, decimals) : `z ${signed(z.toFixed(1))}`);

export const perSecond = (rate) => (rate === null ? NOTHING : rate < 9.95 ? rate.toFixed(1) : count(Math.round(rate)));

export const forgetting = (lambda) => (Number.isFinite(lambda) ? lambda.toFixed(5) : NOTHING);

export const significant = (value, digits = 3) => {
  if (value === null || !Number.isFinite(value)) return NOTHING;
  if (value === 0) return "0";
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return decimals > 8 ? signed(value.toExponential(digits - 1)) : signed(value.toFixed(Math.min(decimals, 8)));
};

export const count = (value) => (value === undefined ? NOTHING : String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f"));

export const duration = (seconds) => {
  if (seconds === null || !Number.isFinite(seconds)) return NOTHING;
  if (seconds < 1e-3) return `${(1e6 * seconds).toFixed(0)} µs`;
  if (seconds < 1) return `${(1e3 * seconds).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 2 * 86400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} days`;
};

// "2 776.7 h"
export const hours = (seconds) => {
  const [whole, tenth] = (seconds / 3600).toFixed(1).split(".");
  return `${count(whole)}.${tenth} h`;
};

// condition number of a regressor: how much better its best known direction is than its worst
export const condition = (value) => {
  if (value === undefined) return NOTHING;
  if (value === null || !(value < 1e7)) return "> 10⁷";
  return value < 9.95 ? value.toFixed(1) : count(Math.round(value));
};

// "22:10:03.2", local time
export const instant = (timestamp) => {
  const tenths = Math.floor(10 * timestamp + 1e-3); // the clock cuts off, too
  return `${clock(Math.floor(tenths / 10))}.${tenths % 10}`;
};

// "1.80 s window, 22:10:03.2–05.0": what an event speaks of, in local time; the end says only what is not as at the beginning
export const span = (from, to) => {
  const [first, last] = [instant(from), instant(to)];
  const seconds = to - from;
  return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s window, ${first}–${first.slice(0, 6) === last.slice(0, 6) ? last.slice(6) : last}`;
};

export const clock = (timestamp) => new Date(1000 * timestamp).toLocaleTimeString("en-GB");

export const date = (timestamp) => new Date(1000 * timestamp).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });

// "22:10:03", or of another day "15 Sept 2026"; now: Unix s
export const when = (timestamp, now = Date.now() / 1000) => (date(timestamp) === date(now) ? clock(timestamp) : date(timestamp));

// "since 22:10:03, 12 s"
export const sinceAndFor = (since, now) => `since ${when(since, now)}, ${duration(Math.max(1, now - since))}`;

export const bytes = (size) => (size < 1e6 ? `${(size / 1e3).toFixed(0)} kB` : size < 1e9 ? `${(size / 1e6).toFixed(1)} MB` : `${(size / 1e9).toFixed(2)} GB`);

export const total = (lost) => Object.values(lost ?? {}).reduce((sum, value) => sum + value, 0);

export const causes = (lost) =>
  Object.entries(lost ?? {}).filter(([, value]) => value).map(([cause, value]) => `${cause.replaceAll("_", " ")} ${count(value)}`).join(", ");
