import { byId, element, setAttribute, setText } from './dom.js';
import { colour, counts, number, percent, time } from './format.js';
import { quotas } from './quotas.js';
import { Rows } from './rows.js';

const SVG = 'http://www.w3.org/2000/svg';
const STATES = {
  lost: ['broken', 'Backend lost'],
  busy: ['busy', 'Busy: requests wait'],
  full: ['full', 'All permits in use'],
  free: ['free', 'Free permits'],
};
const WORST_FIRST = Object.keys(STATES);

const cards = new Map();
const overview = new Rows(['pool', 'state', 'in flight', 'permits', 'waiting', 'refused just now'], 2);

/** Shows all pools. */
export function showPools(pools) {
  const all = byId('all-pools');
  for (const [name, card] of cards) {
    if (!pools.some((pool) => pool.pool === name)) {
      card.view.remove();
      cards.delete(name);
    }
  }
  all.querySelector(':scope > .empty')?.remove();
  if (pools.length === 0) {
    all.append(element('p', { class: 'empty' }, 'The policy has no pool.'));
  }
  showOverview(all, pools);
  for (const pool of pools) {
    let card = cards.get(pool.pool);
    if (card === undefined) {
      card = new Card(pool.pool);
      cards.set(pool.pool, card);
      const next = pools.find((other) => other.pool > pool.pool && cards.has(other.pool));
      all.insertBefore(card.view, next === undefined ? null : cards.get(next.pool).view);
    }
    card.show(pool);
  }
}

function stateOf(pool) {
  return pool.isLost ? 'lost' : pool.waiting > 0 ? 'busy' : pool.inFlight >= pool.permits ? 'full' : 'free';
}

/** A line for each pool, when there are several: those that need a look first. */
function showOverview(all, pools) {
  if (pools.length < 2) {
    overview.view.remove();
    return;
  }
  if (overview.view.parentElement === null) {
    all.prepend(overview.view);
  }
  const order = [...pools].sort((a, b) => WORST_FIRST.indexOf(stateOf(a)) - WORST_FIRST.indexOf(stateOf(b)));
  overview.show('All pools, those where requests wait first', order.map((pool) => ({
    key: pool.pool,
    cells: [
      { text: pool.pool, press: () => cards.get(pool.pool)?.view.scrollIntoView() },
      STATES[stateOf(pool)][1],
      number(pool.inFlight),
      number(pool.permits),
      number(pool.waiting),
      pool.latest === null ? '–' : counts(pool.latest.refused, '0'),
    ],
  })));
}

/** One pool. Its elements stay the same, so that a reader's selection and focus stay. */
class Card {
  constructor(name) {
    this.state = element('span', { class: 'state' });
    this.bar = element('div', { class: 'bar', role: 'img' });
    this.facts = element('dl', { class: 'facts' });
    this.flow = new Line('flow', 'permits in flight');
    this.queue = new Line('queue', 'requests waiting');
    this.nobody = element('p', { class: 'empty' }, 'No tenant holds permits or waits.');
    this.tenants = new Rows(['tenant', 'share', 'used', 'in flight', 'waiting', 'oldest wait', 'behind', 'wait p50', 'wait p99', 'refused', 'quotas']);
    this.pressed = 0;
    this.quotas = element('div', { role: 'region', 'aria-label': 'Quotas of a tenant', 'aria-live': 'polite' });
    this.content = element('div', {}, this.bar, this.facts,
      element('div', { class: 'lines' }, this.flow.view, this.queue.view), this.nobody, this.tenants.view, this.quotas);
    this.lost = element('p', {}, 'The backend of this pool cannot be reached.');
    this.view = element('article', { class: 'card', 'aria-label': `Pool ${name}` },
      element('div', { class: 'title' }, element('h3', {}, name), this.state), this.lost, this.content);
  }

  /** A pool with all permits in use is busy, not broken. */
  show(pool) {
    const [kind, text] = STATES[stateOf(pool)];
    setText(this.state, text);
    this.state.className = `state ${kind}`;
    this.lost.hidden = !pool.isLost;
    this.content.hidden = pool.isLost;
    if (pool.isLost) {
      return;
    }
    this.showBar(pool);
    this.showFacts(pool);
    this.flow.show(pool.inFlightBefore, pool.permits);
    this.queue.show(pool.waitingBefore, 0);
    const span = pool.latest === null ? '' : ` "Used", waits and refusals are of the last ${time(pool.latest.seconds)}.`;
    const more = pool.otherTenants === 0 ? '' : ` ${number(pool.otherTenants)} more are not shown.`;
    this.tenants.show(`Tenants of ${pool.pool}, the worst off first.${span}${more}`, pool.tenants.map((tenant) => row(tenant, () => this.showQuotas(tenant.tenant))));
    this.nobody.hidden = !this.tenants.isEmpty;
    this.tenants.view.hidden = this.tenants.isEmpty;
  }

  /** What is left now of the quotas of a tenant. */
  async showQuotas(tenant) {
    const mine = ++this.pressed;
    const found = await quotas(tenant);
    if (mine === this.pressed) {
      this.quotas.replaceChildren(...found);
    }
  }

  /** The permits in flight, by tenant. */
  showBar(pool) {
    const parts = pool.holders.map((holder) => [holder.tenant, holder.permits]);
    const others = pool.inFlight - parts.reduce((sum, [, held]) => sum + held, 0);
    if (others > 0) {
      parts.push(['others', others]);
    }
    const size = Math.max(pool.permits, pool.inFlight);
    while (this.bar.children.length > parts.length) {
      this.bar.lastElementChild.remove();
    }
    while (this.bar.children.length < parts.length) {
      this.bar.append(element('span'));
    }
    parts.forEach(([name, held], i) => {
      const part = this.bar.children[i];
      // A text in a narrow part would not be read.
      setText(part, held / size > 0.08 ? `${name} ${held}` : '');
      setAttribute(part, 'title', `${name}: ${held}`);
      part.style.width = `${(100 * held) / size}%`;
      part.style.background = colour(name);
    });
    const text = parts.map(([name, held]) => `${name} ${held}`).join(', ');
    setAttribute(this.bar, 'aria-label',
      `${pool.inFlight} of ${pool.permits} permits in flight${text === '' ? '' : ': ' + text}`);
  }

  showFacts(pool) {
    const facts = [
      ['permits in flight', `${number(pool.inFlight)} of ${number(pool.permits)}`],
      ['requests waiting', number(pool.waiting)],
    ];
    const latest = pool.latest;
    if (latest !== null) {
      const span = `in the last ${time(latest.seconds)}`;
      facts.push(
        [`used ${span}`, percent(latest.permits / pool.permits)],
        [`asked ${span}`, number(latest.requests)],
        ['wait p50', time(latest.waitP50Seconds)],
        ['wait p99', time(latest.waitP99Seconds)],
        [`refused ${span}`, counts(latest.refused, 'none')],
        [`left ${span}`, number(latest.left)],
      );
    }
    const upstream = pool.upstream;
    if (upstream !== null) {
      const span = `in the last ${time(upstream.seconds)}`;
      facts.push(
        [`hold, mean ${span}`, upstream.meanHoldSeconds === null ? '–' : time(upstream.meanHoldSeconds)],
        [`failed ${span}`, counts(upstream.failed, 'none')],
      );
    }
    if (latest !== null) {
      facts.push(
        ['fairness, last minute', pool.fairness === null ? '–' : number(pool.fairness, 2)],
      );
    }
    while (this.facts.children.length > facts.length) {
      this.facts.lastElementChild.remove();
    }
    while (this.facts.children.length < facts.length) {
      this.facts.append(element('div', {}, element('dt'), element('dd')));
    }
    facts.forEach(([name, value], i) => {
      setText(this.facts.children[i].firstElementChild, name);
      setText(this.facts.children[i].lastElementChild, value);
    });
  }
}

/** The latest five minutes, from left to right. */
class Line {
  constructor(kind, name) {
    this.name = name;
    const svg = document.createElementNS(SVG, 'svg');
    setAttribute(svg, 'viewBox', '0 0 300 50');
    setAttribute(svg, 'preserveAspectRatio', 'none');
    setAttribute(svg, 'class', kind);
    setAttribute(svg, 'aria-hidden', 'true');
    this.path = document.createElementNS(SVG, 'path');
    svg.append(this.path);
    this.caption = element('figcaption');
    this.view = element('figure', {}, svg, this.caption);
  }

  /** A value of -1 is a gap. */
  show(values, least) {
    const peak = Math.max(0, ...values);
    const highest = Math.max(least, 1, peak);
    let path = '';
    let command = 'M';
    values.forEach((value, i) => {
      path += value < 0 ? '' : `${command}${300 - values.length + i},${49 - (48 * value) / highest}`;
      command = value < 0 ? 'M' : 'L';
    });
    setAttribute(this.path, 'd', path);
    setText(this.caption, `${this.name}, latest ${time(values.length)}: at most ${number(peak)}`);
  }
}

function row(tenant, press) {
  const name = tenant.group === null ? tenant.tenant : `${tenant.tenant} (${tenant.group})`;
  const latest = tenant.latest;
  return {
    key: tenant.tenant,
    cells: [
      { text: name, mark: colour(tenant.tenant) },
      tenant.share === 0 ? '–' : number(tenant.share, 1),
      latest === null ? '–' : number(latest.permits, 1),
      number(tenant.inFlight),
      number(tenant.waiting),
      time(tenant.oldestWaitSeconds),
      lag(tenant),
      latest === null ? '–' : time(latest.waitP50Seconds),
      latest === null ? '–' : time(latest.waitP99Seconds),
      latest === null ? '–' : counts(latest.refused, '0'),
      { text: 'show', press },
    ],
  };
}

/** Permit-time that the tenant is behind, and how long its share needs for that. */
function lag(tenant) {
  const lagging = tenant.lagPermitSeconds;
  if (Math.abs(lagging) < 0.05) {
    return { text: '–', isMarked: false };
  }
  const atItsShare = tenant.share > 0 ? `, about ${time(Math.abs(lagging) / tenant.share)}` : '';
  return lagging > 0
    ? { text: `${number(lagging, 1)} permit-s${atItsShare}`, isMarked: true }
    : { text: `ahead ${number(-lagging, 1)} permit-s`, isMarked: false };
}
