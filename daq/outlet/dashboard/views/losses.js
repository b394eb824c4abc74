// How many samples were lost, and whether it still happens: rate and cause while it does, then when it ended, fading.

import { mark, write } from "../elements.js";
import * as format from "../format.js";

const RECENT = 10, FADED = 120; // s after the last loss: it is over; it is history

const told = (cause) => cause.replaceAll("_", " ");

// [total, words, state: none | now | over | past] of a joint's totals; now: Unix s
export function lossesOf(totals, now) {
  const total = format.total(totals.lost), losses = Object.entries(totals.losses ?? {}).sort(([, a], [, b]) => b.last - a.last);
  if (!total) return ["0", "", "none"];
  const going = losses.filter(([, { last, rate }]) => now - last < RECENT && rate > 0);
  if (going.length) return [format.count(total), going.map(([cause, { rate }]) => `${told(cause)} ${format.perSecond(rate)}/s`).join(", "), "now"];
  const [cause, last] = losses.length ? [losses[0][0], losses[0][1].last] : ["", 0];
  if (!last) return [format.count(total), format.causes(totals.lost), "past"];
  return [format.count(total), `${told(cause)}, last at ${format.clock(last)}`, now - last < FADED ? "over" : "past"];
}

export function tellLosses(number, words, totals, now) {
  const [total, text, state] = lossesOf(totals, now);
  write(number, total);
  write(words, text);
  mark(number.parentNode, "losing", state);
}
