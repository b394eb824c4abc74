// Building elements, and touching the document only when something changed.

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function write(node, text) { if (node.textContent !== text) node.textContent = text; }
export function mark(node, name, value) { if (node.dataset[name] !== value) node.dataset[name] = value; }
