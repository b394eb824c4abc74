// The bar above plots: where their window of time stands, and what can be done with it.

import { csvOf, save } from "./csv.js";
import { element, mark, write } from "./elements.js";
import * as format from "./format.js";
import { shown } from "./time_window.js";

const COPIED = 2000; // ms for which the button says so

// what the keyboard does, everywhere
export const KEYS = [
  ["p", "pause all plots, or follow the newest values again"],
  ["+ −", "zoom in and out; with the pointer: draw a range, or Ctrl and the wheel"],
  ["Shift ← →", "pan into the past and back"],
  ["0", "follow the newest values: the last 60 s"],
  ["l", "copy a link that holds this view"],
  ["s", "save what is seen as CSV (a joint, the robot)"],
  ["← →", "the joint before, the next joint"],
  ["Esc", "all joints"],
  ["r, m, a", "whole robot, mechanism, acquisition"],
  ["?", "these keys"],
];

export async function copyLink(button = null) {
  const address = shown.live ? location.href.split("?")[0] : `${location.href.split("?")[0]}?${shown.query}`;
  try {
    await navigator.clipboard.writeText(address);
    if (button) { write(button, "Copied"); setTimeout(() => write(button, "Link"), COPIED); }
  } catch { prompt("The address of this view:", address); } // a page without TLS may not write to the clipboard
}

export function showKeys() {
  const close = element("button", { type: "button", class: "choice" }, "Close");
  const dialog = element("dialog", { "aria-label": "Keys", class: "keys" }, element("h2", {}, "Keys"),
    element("dl", {}, ...KEYS.flatMap(([key, text]) => [element("dt", {}, key), element("dd", {}, text)])), element("menu", {}, close));
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

const button = (text, title, act) => {
  const found = element("button", { type: "button", class: "choice", title }, text);
  found.addEventListener("click", act);
  return found;
};

export class ViewBar {
  // name: of the file that is saved; columns: () → [[title, times, values] …] of what the view shows; now: the newest instant
  constructor(name, columns) {
    this.columns = columns;
    this.name = name;
    this.end = 0;
    this.text = element("span", { class: "window" });
    this.pause = button("Pause", "p", () => shown.toggle(this.end));
    const link = button("Link", "copy a link that holds this view (l)", () => copyLink(link));
    this.node = element("div", { class: "viewbar", role: "toolbar", "aria-label": "Window of time" }, this.pause,
      button("−", "zoom out (−)", () => shown.zoom(false, this.end)), button("+", "zoom in (+), or draw a range in a plot", () => shown.zoom(true, this.end)),
      button("◀", "into the past (Shift ←)", () => shown.pan(-1, this.end)), button("▶", "forward (Shift →)", () => shown.pan(1, this.end)),
      this.text, link, button("CSV", "save what is seen (s)", () => this.save()));
  }

  // end: the newest instant; first: the oldest that is held, or null
  update(end, first) {
    this.end = end;
    const [from, to] = shown.edges(end);
    mark(this.node, "live", String(shown.live));
    write(this.pause, shown.live ? "Pause" : "Go live");
    const gone = !shown.live && first !== null && to < first;
    write(this.text, shown.live ? `last ${format.significant(to - from, 2)} s` : gone ? "No values of this time are held here; a recording may have them." : `${format.instant(from)} to ${format.instant(to)}`);
  }

  save() {
    const [from, to] = shown.edges(this.end);
    save(`${this.name}-${new Date(1000 * to).toISOString().slice(0, 19).replaceAll(":", "")}.csv`, csvOf(this.columns(), from, to));
  }
}
