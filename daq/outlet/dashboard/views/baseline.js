// "Set baseline": the only thing that the page can change, and only with the service's token.

import { element, write } from "../elements.js";

const WHERE = "api/baseline";
let token = ""; // kept only while the page is open

async function send(joint, given) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${given}` };
  const answer = await fetch(WHERE, { method: "POST", headers, body: JSON.stringify({ joint }) });
  if (!answer.ok) throw new Error((await answer.text()).trim());
}

function ask(joint) {
  const input = element("input", { type: "password", autocomplete: "off", spellcheck: "false", "aria-label": "Token" });
  const refusal = element("p", { class: "refusal", role: "alert" });
  const cancel = element("button", { type: "button", class: "choice" }, "Cancel");
  const set = element("button", { type: "button", class: "choice primary" }, "Set baseline");
  const dialog = element("dialog", { "aria-label": "Set baseline" },
    element("h2", {}, `Baseline of ${joint.name}`),
    element("p", {}, "From now on drift is measured against the values of this moment. The old baseline stays in its file."),
    element("p", {}, "Token, printed by the service when it started:"), input, refusal, element("menu", {}, cancel, set));
  input.value = token;
  const commit = async () => {
    set.disabled = true;
    write(refusal, "");
    try {
      await send(joint.name, input.value.trim());
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

export function baselineButton(joint) {
  const button = element("button", { type: "button", class: "choice" }, "Set baseline…");
  button.addEventListener("click", () => ask(joint));
  return button;
}
