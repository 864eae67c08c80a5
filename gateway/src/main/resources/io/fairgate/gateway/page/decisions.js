import { byId, element, table, number, percent, time, ask } from './dom.js';

const FILTERS = ['tenant', 'reason', 'route'];

let actuator = '';
let decisions = [];
let shown = '';

export function startDecisions(path) {
  actuator = path;
  byId('lookup').addEventListener('submit', (event) => {
    event.preventDefault();
    explain(byId('decision-id').value.trim());
  });
  byId('filter').addEventListener('submit', (event) => event.preventDefault());
  byId('filter').addEventListener('input', showDecisions);
}

export async function refreshDecisions() {
  const { status, json } = await ask(`${actuator}/decisions`);
  if (status !== 200 || json === null) {
    byId('refusals').replaceChildren(element('p', { class: 'empty' }, `${actuator}/decisions is not exposed.`));
    return;
  }
  decisions = json;
  showDecisions();
}

function showDecisions() {
  const matching = decisions.filter((decision) => FILTERS.every((key) =>
    (decision[key] ?? '').includes(byId(`filter-${key}`).value.trim())));
  const ids = matching.map((decision) => decision.id).join();
  if (ids === shown && ids !== '') {
    return; // Nothing new: a reader's place stays.
  }
  shown = ids;
  const place = byId('refusals');
  if (matching.length === 0) {
    const text = decisions.length === 0 ? 'No request was refused.' : 'No refusal matches.';
    place.replaceChildren(element('p', { class: 'empty' }, text));
    return;
  }
  place.replaceChildren(table(`The latest ${number(matching.length)} refusals and failures`,
    ['decision', 'at', 'reason', 'tenant', 'route', 'pool', 'status', 'waited'],
    matching.map((decision) => [
      link(decision.id),
      new Date(decision.at).toLocaleTimeString(),
      decision.reason,
      decision.tenant ?? decision.claimed ?? '–',
      decision.route ?? '–',
      decision.pool ?? '–',
      String(decision.status),
      time(decision.waitedSeconds),
    ]), 6));
}

function link(id) {
  const button = element('button', { type: 'button', class: 'link' }, id);
  button.addEventListener('click', () => {
    byId('decision-id').value = id;
    explain(id);
    byId('explanation').scrollIntoView({ block: 'nearest' });
  });
  return button;
}

async function explain(id) {
  const place = byId('explanation');
  if (id === '') {
    place.replaceChildren();
    return;
  }
  try {
    const { status, json } = await ask(`${actuator}/decisions/${encodeURIComponent(id)}`);
    place.replaceChildren(status === 200 && json !== null ? explanation(json) : element('p', { class: 'empty' },
      `The gateway does not know the decision ${id}. It keeps the latest 4096, and each gateway only its own.`));
  } catch {
    place.replaceChildren(element('p', { class: 'mistake' }, 'The gateway does not answer.'));
  }
}

function explanation(decision) {
  const who = decision.tenant === null ? 'A request without a known tenant' : `A request of ${decision.tenant}`;
  const route = decision.route === null ? '' : ` on the route ${decision.route}`;
  const waited = decision.pool === null ? '' : decision.waitedSeconds === 0
    ? ` It did not wait in the pool ${decision.pool}.`
    : ` It had waited ${time(decision.waitedSeconds)} in the pool ${decision.pool}.`;
  const enforced = decision.enforced ? 'was refused' : 'would have been refused, but this is a dry run';
  const card = element('div', { class: 'card' },
    element('h3', {}, `${decision.status} ${decision.reason}`),
    element('p', {}, `${who}${route} ${enforced}, ${new Date(decision.at).toLocaleString()}.${waited}`),
    element('p', {}, `Path: ${decision.path}. Client: ${decision.client}.`));
  if (decision.quotas.length > 0) {
    card.append(element('p', {}, `Quotas that were used up: ${decision.quotas.join(', ')}.`));
  }
  if (decision.cause !== null) {
    card.append(element('p', {}, `Cause: ${decision.cause}`));
  }
  if (decision.meanwhile !== null) {
    card.append(...meanwhile(decision));
  } else if (decision.pool !== null) {
    card.append(element('p', { class: 'empty' }, 'The state of the pool at that time is not kept any more.'));
  }
  return card;
}

function meanwhile(decision) {
  const pool = decision.meanwhile;
  const tenant = pool.tenant === null ? '' : ` ${decision.tenant} had ${number(pool.tenant.inFlight)} in flight and`
    + ` ${number(pool.tenant.waiting)} waiting, with a share of ${number(pool.tenant.share, 1)} permits.`;
  const parts = [element('p', {},
    `At the end, ${number(pool.inFlight)} of ${number(pool.permits)} permits were in flight and ${number(pool.waiting)} requests waited.${tenant}`)];
  if (pool.holders.length > 0) {
    parts.push(table('The tenants that held the permits meanwhile', ['tenant', 'permit-seconds', 'part'],
      pool.holders.map((holder) => [holder.tenant, number(holder.permitSeconds, 1), percent(holder.part)])));
  }
  return parts;
}
