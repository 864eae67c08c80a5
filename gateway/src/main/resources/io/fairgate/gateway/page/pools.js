import { byId, element, table, number, percent, time, colour } from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';
const cards = new Map();

/** Shows all pools; a card stays the same element, so that a reader's place and a scroll position stay. */
export function showPools(state) {
  const all = byId('all-pools');
  for (const [name, card] of cards) {
    if (!state.pools.some((pool) => pool.pool === name)) {
      card.remove();
      cards.delete(name);
    }
  }
  if (state.pools.length === 0) {
    all.replaceChildren(element('p', { class: 'empty' }, 'The policy has no pool.'));
  } else if (cards.size === 0) {
    all.replaceChildren();
  }
  for (const pool of state.pools) {
    let card = cards.get(pool.pool);
    if (card === undefined) {
      card = element('article', { class: 'card', 'aria-label': `Pool ${pool.pool}` });
      cards.set(pool.pool, card);
      all.append(card);
    }
    show(card, pool);
  }
}

function show(card, pool) {
  const before = card.querySelector('.scroll');
  const scrolled = before === null ? 0 : before.scrollLeft;
  const hadFocus = before !== null && document.activeElement === before;
  card.replaceChildren(...(pool.isLost ? lost(pool) : content(pool)));
  const after = card.querySelector('.scroll');
  if (after !== null) {
    after.scrollLeft = scrolled;
    if (hadFocus) {
      after.focus({ preventScroll: true });
    }
  }
}

function title(pool, state, text) {
  return element('div', { class: 'title' }, element('h3', {}, pool.pool), element('span', { class: `state ${state}` }, text));
}

function lost(pool) {
  return [title(pool, 'broken', 'Backend lost'), element('p', {}, 'The backend of this pool cannot be reached.')];
}

/** A pool with all permits in use is busy, not broken. */
function content(pool) {
  const isBusy = pool.waiting > 0;
  const state = isBusy ? 'Busy: requests wait' : pool.inFlight >= pool.permits ? 'All permits in use' : 'Free permits';
  return [
    title(pool, isBusy ? 'busy' : 'free', state),
    bar(pool),
    facts(pool),
    lines(pool),
    tenants(pool),
  ];
}

/** The permits in flight, by tenant. */
function bar(pool) {
  const holders = pool.tenants.filter((tenant) => tenant.inFlight > 0).sort((a, b) => b.inFlight - a.inFlight);
  const others = pool.inFlight - holders.reduce((sum, tenant) => sum + tenant.inFlight, 0);
  const size = Math.max(pool.permits, pool.inFlight);
  const parts = holders.map((tenant) => [tenant.tenant, tenant.inFlight]);
  if (others > 0) {
    parts.push(['others', others]);
  }
  const text = parts.map(([name, held]) => `${name} ${held}`).join(', ');
  const shown = element('div', {
    class: 'bar',
    role: 'img',
    'aria-label': `${pool.inFlight} of ${pool.permits} permits in flight${text === '' ? '' : ': ' + text}`,
  });
  for (const [name, held] of parts) {
    const part = element('span', { title: `${name}: ${held}` }, `${name} ${held}`);
    part.style.width = `${(100 * held) / size}%`;
    part.style.background = colour(name);
    shown.append(part);
  }
  return shown;
}

function facts(pool) {
  const all = [
    ['permits in flight', `${number(pool.inFlight)} of ${number(pool.permits)}`],
    ['requests waiting', number(pool.waiting)],
  ];
  const minute = pool.minute;
  if (minute !== null) {
    const refused = Object.entries(minute.refused).map(([reason, count]) => `${number(count)} ${reason}`);
    all.push(
      ['used in the last minute', pool.usedPart === null ? '' : percent(pool.usedPart)],
      ['requests in the last minute', number(minute.requests)],
      ['wait p50', time(minute.waitP50Seconds)],
      ['wait p99', time(minute.waitP99Seconds)],
      ['refused in the last minute', refused.length === 0 ? 'none' : refused.join(', ')],
    );
    if (minute.left > 0) {
      all.push(['left while waiting', number(minute.left)]);
    }
  }
  return element('dl', { class: 'facts' },
    ...all.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}

function lines(pool) {
  return element('div', { class: 'lines' },
    line('flow', 'permits in flight', pool.inFlightBefore, pool.permits),
    line('queue', 'requests waiting', pool.waitingBefore, 0));
}

/** The latest five minutes, from left to right. */
function line(kind, name, values, least) {
  const highest = Math.max(least, 1, ...values);
  const peak = values.length === 0 ? 0 : Math.max(...values);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 300 50');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('class', kind);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  const points = values.map((value, i) => `${300 - values.length + i},${49 - (48 * value) / highest}`);
  path.setAttribute('d', points.length < 2 ? '' : 'M' + points.join('L'));
  svg.append(path);
  return element('figure', {}, svg,
    element('figcaption', {}, `${name}, latest ${time(values.length)}: at most ${number(peak)}`));
}

function tenants(pool) {
  if (pool.tenants.length === 0) {
    return element('p', { class: 'empty' }, 'No tenant has asked for a permit in the last minute.');
  }
  const more = pool.otherTenants === 0 ? '' : ` ${number(pool.otherTenants)} more are on /actuator/pools.`;
  return table(`Tenants of ${pool.pool}, the worst off first.${more}`,
    ['tenant', 'share', 'used', 'in flight', 'waiting', 'oldest wait', 'behind', 'wait p50', 'wait p99', 'refused'],
    pool.tenants.map(row));
}

function row(tenant) {
  const swatch = element('span', { class: 'swatch', 'aria-hidden': 'true' });
  swatch.style.background = colour(tenant.tenant);
  const name = element('span', {}, swatch, tenant.group === null ? tenant.tenant : `${tenant.tenant} (${tenant.group})`);
  const minute = tenant.minute;
  return [
    name,
    tenant.share === 0 ? '–' : number(tenant.share, 1),
    tenant.usedPermits === null ? '–' : number(tenant.usedPermits, 1),
    number(tenant.inFlight),
    number(tenant.waiting),
    time(tenant.oldestWaitSeconds),
    lag(tenant),
    minute === null ? '–' : time(minute.waitP50Seconds),
    minute === null ? '–' : time(minute.waitP99Seconds),
    minute === null ? '–' : refusals(minute.refused),
  ];
}

/** Permit-time that the tenant is behind, and how long its share needs for that. */
function lag(tenant) {
  const lagging = tenant.lagPermitSeconds;
  if (Math.abs(lagging) < 0.05) {
    return '–';
  }
  const atItsShare = tenant.share > 0 ? `, about ${time(Math.abs(lagging) / tenant.share)}` : '';
  return lagging > 0
    ? element('span', { class: 'behind' }, `${number(lagging, 1)} permit-s${atItsShare}`)
    : `ahead ${number(-lagging, 1)} permit-s`;
}

function refusals(refused) {
  const all = Object.entries(refused);
  const sum = all.reduce((total, [, count]) => total + count, 0);
  return sum === 0 ? '0' : all.map(([reason, count]) => `${number(count)} ${reason}`).join(', ');
}
