// Text is always set as text, never as HTML: names come from clients.

/** Makes an element: attributes, then children, which are elements or texts. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) {
      made.setAttribute(key, value);
    }
  }
  made.append(...children);
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

/** Leaves an element alone whose text stays: a reader may have selected it. */
export function setText(target, text) {
  if (target.textContent !== text) {
    target.textContent = text;
  }
}

export function setAttribute(target, name, value) {
  if (target.getAttribute(name) !== value) {
    target.setAttribute(name, value);
  }
}
