// What the page can change, and only with the service's token: set a baseline, acknowledge what has changed.

import { element, write } from "../elements.js";

let token = ""; // kept only while the page is open

async function send(where, joint, given) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${given}` };
  const answer = await fetch(where, { method: "POST", headers, body: JSON.stringify({ joint }) });
  if (!answer.ok) throw new Error((await answer.text()).trim());
}

// where: the address of the request; words: title, what happens, label of the button
function ask(joint, where, [title, text, label]) {
  const input = element("input", { type: "password", autocomplete: "off", spellcheck: "false", "aria-label": "Token" });
  const refusal = element("p", { class: "refusal", role: "alert" });
  const cancel = element("button", { type: "button", class: "choice" }, "Cancel");
  const set = element("button", { type: "button", class: "choice primary" }, label);
  const dialog = element("dialog", { "aria-label": label },
    element("h2", {}, title),
    element("p", {}, text),
    element("p", {}, "Token, printed by the service when it started:"), input, refusal, element("menu", {}, cancel, set));
  input.value = token;
  const commit = async () => {
    set.disabled = true;
    write(refusal, "");
    try {
      await send(where, joint.name, input.value.trim());
      token = input.value.trim();
      dialog.close();
    } catch (error) { write(refusal, error.message || "The service does not answer."); }
    set.disabled = false;
  };
  cancel.addEventListener("click", () => dialog.close());
  set.addEventListener("click", commit);
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") commit(); });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  input.focus();
}

function askingButton(label, ...asked) {
  const button = element("button", { type: "button", class: "choice" }, `${label}…`);
  button.addEventListener("click", () => ask(...asked));
  return button;
}

const SETTING = "From now on drift is measured against the values of this moment. The old baseline stays in its file.";

export const baselineButton = (joint) => askingButton("Set baseline", joint, "api/baseline", [`Baseline of ${joint.name}`, SETTING, "Set baseline"]);

// Offers a baseline as soon as joints are valid that have none: until then drift is measured against the start only.
// It would settle what has changed, so nothing is offered before that is acknowledged.
export class BaselineOffer {
  constructor(joints, writable) {
    this.joints = joints;
    const all = joints.length > 1;
    this.text = element("span");
    this.button = writable ? askingButton(all ? "Set all baselines" : "Set baseline", all ? { name: null } : joints[0], "api/baseline",
      [all ? `Baselines of all ${joints.length} joints` : `Baseline of ${joints[0].name}`, SETTING, all ? "Set all baselines" : "Set baseline"]) : element("span");
    this.button.classList.add("primary");
    this.node = element("p", { class: "offer", hidden: "" }, this.text, this.button);
  }

  update() {
    const without = this.joints.filter((joint) => joint.valid && !joint.condition.change && (!joint.drift.since || joint.drift.reference === "start") && joint.condition.key !== "stale");
    this.node.hidden = without.length < this.joints.length; // offered for all of them at once
    const what = this.joints.length > 1 ? "The values of all joints are valid" : "Its values are valid";
    if (!this.node.hidden) write(this.text, `${what}, and no baseline is set. Set one once the robot is warm: drift is measured against it.`);
  }
}

export const acknowledgeButton = (joint) => askingButton("Acknowledge", joint, "api/changes", [`What has changed of ${joint.name}`,
  "You have seen it. Without a baseline, changes are measured against the values of this moment from now on.", "Acknowledge"]);
