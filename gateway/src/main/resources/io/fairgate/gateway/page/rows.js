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

  /**
   * Shows rows in this order: `{ key, cells }`, where a cell is a text, or `{ text, mark, press, isMarked }`.
   *
   * A row that is moved or removed loses a selection in it, and the focus. The row that a reader uses stays where it is: the others move
   * around it, and when it is not among these any more, it stays as the last one, without numbers, until the reader leaves it.
   */
  show(caption, rows) {
    setText(this.caption, caption);
    this.view.setAttribute('aria-label', caption);
    const used = this.used();
    const keys = new Set(rows.map((row) => row.key));
    let gone = null;
    for (const [key, row] of this.rows) {
      if (keys.has(key)) {
        continue;
      }
      if (row === used) {
        gone = row;
      } else {
        row.remove();
        this.rows.delete(key);
      }
    }
    const wanted = rows.map(({ key, cells }) => this.row(key, cells));
    if (gone !== null) {
      [...gone.children].slice(this.texts).forEach((cell) => setText(cell.lastElementChild, '–'));
      wanted.push(gone);
    }
    this.order(wanted, used);
  }

  get isEmpty() {
    return this.rows.size === 0;
  }

  /** The row with the selection, or the focus. */
  used() {
    const all = [...this.rows.values()];
    return all.find((row) => row.contains(getSelection().anchorNode)) ?? all.find((row) => row.contains(document.activeElement));
  }

  row(key, cells) {
    let row = this.rows.get(key);
    if (row === undefined) {
      row = element('tr', {}, ...cells.map((cell, i) => this.cell(cell, i)));
      this.rows.set(key, row);
    }
    cells.forEach((cell, i) => update(row.children[i], cell));
    return row;
  }

  order(wanted, used) {
    let place = this.body.firstElementChild;
    for (const row of wanted) {
      while (row === used && row !== place) {
        const other = place;
        place = other.nextElementSibling;
        this.body.append(other);
      }
      if (row === place) {
        place = place.nextElementSibling;
      } else {
        this.body.insertBefore(row, place);
      }
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
