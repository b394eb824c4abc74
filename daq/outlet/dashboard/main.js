// The page: connection, navigation, theme, and the clock that draws the view that is open.

import { AcquisitionView } from "./views/acquisition.js";
import { connectionWords, ORDER } from "./condition.js";
import { element, mark, write } from "./elements.js";
import { JointView } from "./views/joint.js";
import { MechanismView } from "./views/mechanism.js";
import { Overview } from "./views/overview.js";
import { Robot } from "./robot.js";
import { WholeView } from "./views/whole.js";
import { shown } from "./time_window.js";
import { copyLink, showKeys } from "./view_bar.js";
import { connect } from "./wire.js";
import { counted } from "./words.js";

const STALE = 1.5; // s without an update after which the page says so
const WORDS = 250; // ms between two readings of the numbers: faster cannot be read
const THEMES = ["auto", "light", "dark"]; // auto: as the system has it
const DARK = matchMedia("(prefers-color-scheme: dark)");

const robot = new Robot();
const byId = (id) => document.getElementById(id);
let view = null, connected = false, edition = null, drawn = 0, written = 0, theme = "auto";

function remembered(key, fallback) {
  try { return localStorage.getItem(key) ?? fallback; } catch { return fallback; }
}
function remember(key, value) {
  try { localStorage.setItem(key, value); } catch { /* private browsing: the choice lasts as long as the page */ }
}

// the address without its window of time
const path = () => location.hash.split("?")[0];

function show() {
  view?.destroy();
  const acquiring = path() === "#/acquisition", whole = path() === "#/robot" && robot.whole !== null;
  const linked = path() === "#/mechanism" && robot.mechanism !== null;
  const only = robot.joints.size === 1 && !acquiring && !whole && !linked ? [...robot.joints.values()][0] : null; // nothing to compare it with
  const name = decodeURIComponent(path().match(/^#\/joint\/(.+)$/)?.[1] ?? "");
  const joint = robot.joints.get(name) ?? only;
  view = null;
  if (robot.joints.size) view = joint ? new JointView(robot, joint) : whole ? new WholeView(robot) : linked ? new MechanismView(robot) : acquiring ? new AcquisitionView() : new Overview(robot);
  byId("to-joints").ariaCurrent = acquiring || whole || linked ? null : "page";
  byId("to-robot").hidden = robot.whole === null;
  byId("to-robot").ariaCurrent = whole ? "page" : null;
  byId("to-mechanism").hidden = robot.mechanism === null;
  byId("to-mechanism").ariaCurrent = linked ? "page" : null;
  byId("to-acquisition").ariaCurrent = acquiring ? "page" : null;
  view ??= { pace: 1, node: element("p", { class: "note" }, "Waiting for the service…"), words() {}, draw() {}, destroy() {} };
  byId("view").replaceChildren(view.node);
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

// whether the service speaks, and updates come: lost, waiting, stale or live
function connection(local) {
  const age = robot.age(local);
  return !connected ? "lost" : age === null ? "waiting" : age > STALE ? "stale" : "live";
}

// after every joint is judged: the counts are those that the view below shows
function header(state) {
  write(byId("robot"), robot.name);
  const counts = [...ORDER, "stale"].map((key) => [key, [...robot.joints.values()].filter((joint) => joint.condition.key === key).length]);
  const words = counts.filter(([, count]) => count).map(([key, count]) => counted(key, count));
  write(byId("count"), robot.joints.size ? `${robot.joints.size} joint${robot.joints.size > 1 ? "s" : ""}` : "");
  write(byId("conditions"), words.length ? `: ${words.join(", ")}` : "");
  const shownState = connectionWords(state, robot.lastUpdate, [...robot.joints.values()]);
  mark(byId("connection"), "state", shownState.state);
  write(byId("connection").lastChild, shownState.text);
  mark(document.body, "stale", String(state !== "live"));
}

function frame() {
  requestAnimationFrame(frame);
  const local = performance.now();
  if (local - written > WORDS) {
    written = local;
    const now = robot.clock(local), state = connection(local), stale = state !== "live";
    robot.judge(now, stale && robot.lastUpdate !== null);
    header(state);
    view.words(robot, now, stale);
    view.bar?.update(robot.now(local), robot.oldest);
  }
  if (local - drawn > 1000 / view.pace && !shown.grabbed) {
    drawn = local;
    view.draw(...shown.edges(robot.now(local)));
  }
}

function applyTheme() {
  document.documentElement.dataset.theme = theme === "auto" ? (DARK.matches ? "dark" : "light") : theme;
  write(byId("theme"), `Theme: ${theme}`);
  show(); // plots read their colours when they are built
}

byId("theme").addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  remember("theme", theme);
  applyTheme();
});
DARK.addEventListener("change", applyTheme);
// the select shows the window where it is one of its choices
shown.changed = () => {
  drawn = written = 0;
  robot.keepLonger(!shown.live);
  const choice = byId("span");
  choice.value = shown.live ? String(shown.span) : "";
  mark(document.body, "paused", String(!shown.live));
  write(byId("pause"), shown.live ? "Pause" : "Go live");
  history.replaceState(null, "", `${path() || "#/"}${shown.query && `?${shown.query}`}`);
};
byId("span").addEventListener("change", () => { remember("span", byId("span").value); shown.follow(Number(byId("span").value)); });
byId("pause").addEventListener("click", () => shown.toggle(robot.now(performance.now())));
byId("help").addEventListener("click", showKeys);
addEventListener("mouseup", () => { shown.grabbed = false; });
addEventListener("hashchange", () => {
  const query = location.hash.split("?")[1];
  if (query) shown.read(query);
  else shown.changed(); // a window that stands is kept from view to view
  show();
  scrollTo(0, 0);
});

function press(key, shift) {
  const end = robot.now(performance.now());
  if (key === "p") return shown.toggle(end);
  if (key === "+" || key === "=") return shown.zoom(true, end);
  if (key === "-" || key === "−") return shown.zoom(false, end);
  if (key === "0") return shown.follow(60);
  if (key === "l") return copyLink();
  if (key === "s") return view.bar?.save();
  if (key === "?") return showKeys();
  if (key === "Escape") location.hash = "#/";
  if (key === "a") location.hash = "#/acquisition";
  if (key === "r" && robot.whole) location.hash = "#/robot";
  if (key === "m" && robot.mechanism) location.hash = "#/mechanism";
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step && shift) return shown.pan(step, end);
  const names = [...robot.joints.keys()], at = names.indexOf(decodeURIComponent(path().slice(8)));
  if (step && at >= 0) location.hash = `#/joint/${encodeURIComponent(names[(at + step + names.length) % names.length])}`;
  return undefined;
}
addEventListener("keydown", (event) => {
  if (event.target.closest("select, input, dialog[open]") || event.ctrlKey || event.altKey || event.metaKey) return;
  press(event.key, event.shiftKey);
});

const address = location.hash; // as it was opened
shown.follow(Number(remembered("span", "60")) || 60);
if (THEMES.includes(remembered("theme", theme))) theme = remembered("theme", theme);
applyTheme();
if (address.includes("?")) shown.read(address.split("?")[1]);
robot.want = connect(receive, (state) => { connected = state; });
requestAnimationFrame(frame);
