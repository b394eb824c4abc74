// Building elements, and touching the document only when something changed.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// A name that is cut within, where there is no room for it: names of one robot differ at their ends.
export function cutName(kind, attributes, name) {
  const end = name.search(/[\s_.-][^\s_.-]+$/);
  return element(kind, { ...attributes, class: "cut" }, element("span", {}, end > 0 ? name.slice(0, end) : name), element("span", {}, end > 0 ? name.slice(end) : ""));
}

export function write(node, text) { if (node.textContent !== text) node.textContent = text; }
export function mark(node, name, value) { if (node.dataset[name] !== value) node.dataset[name] = value; }
