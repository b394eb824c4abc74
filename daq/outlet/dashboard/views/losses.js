// How many samples were lost, and whether it still happens: rate and cause while it does, then when it ended, fading.

import { mark, write } from "../elements.js";
import * as format from "../format.js";
import { readable } from "../words.js";

const RECENT = 10; // s since the last loss, within which it still happens
const FADED = 120; // s since the last loss, after which its sign fades

// [total, words, state: none | now | over | past] of a joint's totals; now: Unix s
export function lossesOf(totals, now) {
  const total = format.total(totals.lost), losses = Object.entries(totals.losses ?? {}).sort(([, a], [, b]) => b.last - a.last);
  if (!total) return ["0", "", "none"];
  const going = losses.filter(([, { last, rate }]) => now - last < RECENT && rate > 0);
  if (going.length) return [format.count(total), going.map(([cause, { rate }]) => `${readable(cause)} ${format.perSecond(rate)}/s`).join(", "), "now"];
  const [cause, last] = losses.length ? [losses[0][0], losses[0][1].last] : ["", 0];
  if (!last) return [format.count(total), format.causes(totals.lost), "past"];
  return [format.count(total), `${readable(cause)}, last at ${format.clock(last)}`, now - last < FADED ? "over" : "past"];
}

export function writeLosses(number, words, totals, now) {
  const [total, text, state] = lossesOf(totals, now);
  write(number, total);
  write(words, text);
  mark(number.parentNode, "losing", state);
}
