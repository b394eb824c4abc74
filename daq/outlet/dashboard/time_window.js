// The window of time that all plots show: it follows the newest values, or it stands where a person has put it.

export const LEAST = 0.5, MOST = 120; // s, the shortest window and what the service keeps
const ZOOM = 0.5, PAN = 0.5; // of the window, a step

export class TimeWindow {
  constructor() {
    this.span = 60; // s, while it follows
    this.fixed = null; // [from, to] in Unix s while it stands
    this.grabbed = false; // a range is being drawn: nothing may move under the pointer
    this.changed = () => {};
  }

  get live() { return this.fixed === null; }

  // from and to, Unix s; end: the newest instant
  edges(end) { return this.fixed ?? [end - this.span, end]; }

  show(from, to) {
    const middle = (from + to) / 2, span = Math.min(MOST, Math.max(LEAST, to - from));
    this.fixed = [middle - span / 2, middle + span / 2];
    this.changed();
  }

  follow(span = this.span) {
    this.span = Math.min(MOST, Math.max(LEAST, span));
    this.fixed = null;
    this.changed();
  }

  toggle(end) { if (this.live) this.show(...this.edges(end)); else this.follow(); }

  // at: the instant that keeps its place; while the window follows, the newest one does
  zoom(nearer, end, at = null) {
    const factor = nearer ? ZOOM : 1 / ZOOM;
    if (this.live && at === null) { this.follow(this.span * factor); return; }
    const [from, to] = this.edges(end), span = Math.min(MOST, Math.max(LEAST, (to - from) * factor));
    const centre = at ?? (from + to) / 2, share = (centre - from) / (to - from);
    this.show(centre - share * span, centre + (1 - share) * span);
  }

  // direction: −1 into the past, +1; beyond the newest instant it follows again
  pan(direction, end) {
    const [from, to] = this.edges(end), step = direction * PAN * (to - from);
    if (to + step >= end) this.follow(to - from);
    else this.show(from + step, to + step);
  }

  // as an address holds it; empty while it follows
  get query() { return this.live ? "" : `from=${this.fixed[0].toFixed(3)}&to=${this.fixed[1].toFixed(3)}`; }

  read(query) {
    const found = new URLSearchParams(query), [from, to] = ["from", "to"].map((name) => Number(found.get(name)));
    if (from > 0 && to > from) this.show(from, to);
  }
}

export const shown = new TimeWindow();
