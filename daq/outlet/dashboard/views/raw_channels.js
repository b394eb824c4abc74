// The raw channels of a joint, on demand: the service sends them only while this part is open.

import { element, write } from "../elements.js";
import * as format from "../format.js";
import { Panel } from "../panel.js";
import { calmExtent, inView } from "../plots.js";

export class RawChannels {
  constructor(robot, joint) {
    Object.assign(this, { robot, joint, panels: [], known: "" });
    this.note = element("p", { class: "note" }, "Waiting for the first samples…");
    this.grid = element("div", { class: "grid" });
    this.node = element("details", { class: "raw" }, element("summary", {}, "Raw channels", element("small", {}, "as the joint's samples have them, 200 a second")), this.note, this.grid);
    this.node.open = RawChannels.open; // from joint to joint, and when the service has come back
    this.node.addEventListener("toggle", () => {
      if (!this.node.isConnected) return; // another view has taken its place
      RawChannels.open = this.node.open;
      robot.want(this.node.open ? joint.name : null);
    });
  }

  // [[title, times, values] …]
  get columns() {
    const { channels } = this.joint;
    return this.node.open && channels ? channels.names.map((name, i) => [`raw ${name} [${channels.units[i]}]`, channels.trace.columns[0], channels.trace.columns[1 + i]]) : [];
  }

  words() {
    const { channels } = this.joint;
    if (!this.node.open || !channels) return;
    if (channels.names.join() !== this.known) {
      this.known = channels.names.join();
      this.destroyPanels();
      this.panels = channels.names.map((name, i) => new Panel(name, channels.units[i], {
        ticks: 3, unit: channels.units[i], lines: [{ label: name, colour: "estimate", width: 1.2 }],
        read: (idx, data) => `${format.significant(data[1][idx], 5)} ${channels.units[i]}`,
      }, [element("span", { class: "value" }), element("span", { class: "unit" }, channels.units[i])]));
      this.grid.replaceChildren(...this.panels.map(({ node }) => node));
      this.grid.style.setProperty("--columns", Math.min(3, this.panels.length));
      this.note.hidden = true;
    }
    this.panels.forEach((panel, i) => write(panel.live.firstChild, format.significant(channels.trace.last(1 + i), 4)));
  }

  draw(start, end) {
    const { channels } = this.joint;
    if (!this.node.open || !channels) return;
    this.panels.forEach((panel, i) => {
      if (!inView(panel.plot.node)) return;
      const data = channels.trace.between(start, end, 1 + i);
      panel.draw(start, end, data, calmExtent(data[1]));
    });
  }

  destroyPanels() { this.panels.forEach(({ plot }) => plot.destroy()); }

  destroy() {
    if (this.node.open) this.robot.want(null);
    this.destroyPanels();
  }
}
RawChannels.open = false;
