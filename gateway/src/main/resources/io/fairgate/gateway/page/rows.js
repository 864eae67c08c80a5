import { element, setText } from './dom.js';

/**
 * A table whose rows are updated in place, so that a reader's selection and focus stay.
 *
 * The first columns, as many as `texts`, are texts, and the others are numbers. The first cell names the row.
 */
export class Rows {
  constructor(heads, texts = 1) {
    this.texts = texts;
    this.caption = element('caption');
    this.body = element('tbody');
    const head = element('tr', {}, ...heads.map((text, i) => element('th', { scope: 'col', class: this.kind(i) }, text)));
    this.view = element('div', { class: 'scroll', tabindex: 0, role: 'group' },
      element('table', {}, this.caption, element('thead', {}, head), this.body));
    this.rows = new Map();
  }

  kind(column) {
    return column < this.texts ? 'text' : null;
  }

  /** Shows rows in this order: `{ key, cells }`, where a cell is a text, or `{ text, mark, press, isMarked }`. */
  show(caption, rows) {
    setText(this.caption, caption);
    this.view.setAttribute('aria-label', caption);
    const keys = new Set(rows.map((row) => row.key));
    for (const [key, row] of this.rows) {
      if (!keys.has(key)) {
        row.remove();
        this.rows.delete(key);
      }
    }
    let place = this.body.firstElementChild;
    for (const { key, cells } of rows) {
      let row = this.rows.get(key);
      if (row === undefined) {
        row = element('tr', {}, ...cells.map((cell, i) => this.cell(cell, i)));
        this.rows.set(key, row);
      }
      if (row === place) {
        place = place.nextElementSibling;
      } else {
        this.body.insertBefore(row, place);
      }
      cells.forEach((cell, i) => update(row.children[i], cell));
    }
  }

  cell(cell, column) {
    const content = [];
    if (cell.mark !== undefined) {
      const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.background = cell.mark;
      content.push(swatch);
    }
    const text = cell.press === undefined ? element('span') : element('button', { type: 'button', class: 'link' });
    if (cell.press !== undefined) {
      text.addEventListener('click', cell.press);
    }
    content.push(text);
    return column === 0
      ? element('th', { scope: 'row' }, ...content)
      : element('td', { class: this.kind(column) }, ...content);
  }
}

function update(shown, cell) {
  const text = shown.lastElementChild;
  setText(text, typeof cell === 'string' ? cell : cell.text);
  text.classList.toggle('behind', cell.isMarked === true);
}
