// The page: connection, navigation, theme, and the clock that draws the view that is open.

import { AcquisitionView } from "./views/acquisition.js";
import { element, mark, write } from "./elements.js";
import { duration } from "./format.js";
import { JointView } from "./views/joint.js";
import { Overview } from "./views/overview.js";
import { Robot } from "./robot.js";
import { WholeView } from "./views/whole.js";
import { connect } from "./wire.js";
import { PHASES } from "./words.js";

const STALE = 1.5; // s without an update after which the page says so
const WORDS = 250; // ms between two readings of the numbers: faster cannot be read
const THEMES = { auto: "auto", light: "light", dark: "dark" };

const robot = new Robot();
const place = (id) => document.getElementById(id);
let view = null, connected = false, edition = null, drawn = 0, written = 0;

function remembered(key, fallback) {
  try { return localStorage.getItem(key) ?? fallback; } catch { return fallback; }
}
function remember(key, value) {
  try { localStorage.setItem(key, value); } catch { /* private browsing: the choice lasts as long as the page */ }
}

function show() {
  view?.destroy();
  const acquiring = location.hash === "#/acquisition", whole = location.hash === "#/robot" && robot.whole !== null;
  const only = robot.joints.size === 1 && !acquiring && !whole ? [...robot.joints.values()][0] : null; // nothing to compare it with
  const name = decodeURIComponent(location.hash.match(/^#\/joint\/(.+)$/)?.[1] ?? "");
  const joint = robot.joints.get(name) ?? only;
  view = null;
  if (robot.joints.size) view = joint ? new JointView(robot, joint) : whole ? new WholeView(robot) : acquiring ? new AcquisitionView() : new Overview(robot);
  place("to-joints").ariaCurrent = acquiring || whole ? null : "page";
  place("to-robot").hidden = robot.whole === null;
  place("to-robot").ariaCurrent = whole ? "page" : null;
  place("to-acquisition").ariaCurrent = acquiring ? "page" : null;
  view ??= { pace: 1, node: element("p", { class: "note" }, "Waiting for the service…"), words() {}, draw() {}, destroy() {} };
  place("view").replaceChildren(view.node);
  document.title = [joint?.name, robot.name, "jointwatch"].filter(Boolean).join(" · ");
  drawn = written = 0;
}

function receive(message) {
  if (message.edition && edition && message.edition !== edition) location.reload(); // the service was upgraded
  edition = message.edition ?? edition;
  const layout = robot.layout;
  const known = robot.joints;
  robot.absorb(message, performance.now());
  if (robot.layout !== layout || robot.joints !== known) show();
}

function header(local) {
  write(place("robot"), robot.name);
  const counts = Object.keys(PHASES).map((key) => [key, [...robot.joints.values()].filter((joint) => joint.condition.key === key).length]);
  const words = counts.filter(([, count]) => count).map(([key, count]) => `${count} ${PHASES[key][0].toLowerCase().replace("needs", count > 1 ? "need" : "needs")}`);
  write(place("summary"), robot.joints.size ? `${robot.joints.size} joint${robot.joints.size > 1 ? "s" : ""}: ${words.join(", ")}` : "");
  const age = robot.age(local);
  const state = !connected ? "lost" : age === null ? "waiting" : age > STALE ? "stale" : "live";
  const text = {
    lost: age === null ? "Connecting…" : `Reconnecting · stale for ${duration(age)}`,
    waiting: "Connected · no updates yet",
    stale: `Stale for ${duration(age)}`,
    live: "Live",
  }[state];
  mark(place("connection"), "state", state);
  write(place("connection").lastChild, text);
  mark(document.body, "stale", String(state !== "live"));
  return state;
}

function frame() {
  requestAnimationFrame(frame);
  const local = performance.now();
  if (local - written > WORDS) {
    written = local;
    const now = robot.clock(local);
    robot.judge(now);
    view.words(robot, now, header(local) !== "live");
  }
  if (local - drawn > 1000 / view.pace) {
    drawn = local;
    const end = robot.now(local);
    view.draw(end - Number(place("span").value), end);
  }
}

function dress(theme) {
  document.documentElement.dataset.theme = theme;
  write(place("theme"), `Theme: ${THEMES[theme]}`);
  remember("theme", theme);
  show(); // plots read their colours when they are built
}

place("theme").addEventListener("click", () => {
  const names = Object.keys(THEMES);
  dress(names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length]);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
place("span").value = remembered("span", "60");
if (!place("span").value) place("span").value = "60";
place("span").addEventListener("change", () => { remember("span", place("span").value); drawn = 0; });
addEventListener("hashchange", () => { show(); scrollTo(0, 0); });
addEventListener("keydown", (event) => {
  if (event.target.closest("select, input") || event.ctrlKey || event.altKey || event.metaKey) return;
  const names = [...robot.joints.keys()], at = names.indexOf(decodeURIComponent(location.hash.slice(8)));
  if (event.key === "Escape") location.hash = "#/";
  if (event.key === "a") location.hash = "#/acquisition";
  if (event.key === "r" && robot.whole) location.hash = "#/robot";
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step && at >= 0) location.hash = `#/joint/${encodeURIComponent(names[(at + step + names.length) % names.length])}`;
});

dress(THEMES[remembered("theme", "auto")] ? remembered("theme", "auto") : "auto");
connect(receive, (state) => { connected = state; });
requestAnimationFrame(frame);
