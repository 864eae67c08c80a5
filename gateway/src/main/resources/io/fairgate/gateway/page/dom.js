// Small helpers. Text is always set as text, never as HTML: names come from clients.

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

/**
 * A table with its own scroll bar. Each row is a list of cells; a cell is a text or an element, and the first one names the row. The first
 * columns, as many as `texts`, are texts, and the others are numbers.
 */
export function table(caption, heads, rows, texts = 1) {
  const kind = (i) => ({ class: i < texts ? 'text' : null });
  const head = element('tr', {}, ...heads.map((text, i) => element('th', { scope: 'col', ...kind(i) }, text)));
  const body = rows.map((cells) => element('tr', {}, ...cells.map((cell, i) =>
    i === 0 ? element('th', { scope: 'row' }, cell) : element('td', kind(i), cell))));
  return element('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': caption },
    element('table', {}, element('caption', {}, caption), element('thead', {}, head), element('tbody', {}, ...body)));
}

export function number(value, digits = 0) {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function percent(part) {
  return number(100 * part, 1) + ' %';
}

/** A time with the unit that fits. */
export function time(seconds) {
  if (seconds === 0) {
    return '0';
  }
  return seconds < 1 ? number(1000 * seconds) + ' ms' : seconds < 100 ? number(seconds, 1) + ' s' : number(seconds / 60, 1) + ' min';
}

/** A colour for each name, light enough for dark text on it. */
export function colour(name) {
  let hash = 7;
  for (const char of name) {
    hash = (hash * 31 + char.codePointAt(0)) % 3600;
  }
  return `hsl(${(hash * 137) % 360} 62% 72%)`;
}

/** The answer of an endpoint as JSON, with its status; a text of what went wrong where it has none. */
export async function ask(url, options) {
  const answer = await fetch(url, options);
  const text = await answer.text();
  let json = null;
  try {
    json = text === '' ? null : JSON.parse(text);
  } catch {
    // Some proxy has answered.
  }
  return { status: answer.status, json };
}
