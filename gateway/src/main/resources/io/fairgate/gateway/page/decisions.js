import { byId, element, setText } from './dom.js';
import { moment, number, percent, time } from './format.js';
import { ask } from './endpoints.js';
import { Rows } from './rows.js';

const FILTERS = ['tenant', 'reason', 'route'];

const rows = new Rows(['decision', 'at', 'reason', 'tenant', 'route', 'pool', 'status', 'waited'], 6);
const none = element('p', { class: 'empty' });
let asked = 0;

export function startDecisions() {
  byId('refusals').append(none, rows.view);
  rows.view.hidden = true;
  byId('lookup').addEventListener('submit', (event) => {
    event.preventDefault();
    explain(byId('decision-id').value.trim());
  });
  byId('filter').addEventListener('submit', (event) => event.preventDefault());
  byId('filter').addEventListener('input', refreshDecisions);
}

/** The gateway filters all decisions that it keeps, and answers with the latest of them. */
export async function refreshDecisions() {
  const filter = new URLSearchParams();
  for (const key of FILTERS) {
    const text = byId(`filter-${key}`).value.trim();
    if (text !== '') {
      filter.set(key, text);
    }
  }
  const query = filter.toString();
  const { json, wrong } = await ask(query === '' ? 'decisions' : `decisions?${query}`);
  const isEmpty = wrong !== null || json.length === 0;
  none.hidden = !isEmpty;
  rows.view.hidden = isEmpty;
  if (isEmpty) {
    setText(none, wrong ?? (query === '' ? 'No request was refused.' : 'No refusal matches.'));
    return;
  }
  rows.show(`The latest ${number(json.length)} refusals and failures`, json.map((decision) => ({
    key: decision.id,
    cells: [
      { text: decision.id, press: () => press(decision.id) },
      moment(decision.at),
      decision.reason,
      decision.tenant ?? decision.claimed ?? '–',
      decision.route ?? '–',
      decision.pool ?? '–',
      String(decision.status),
      time(decision.waitedSeconds),
    ],
  })));
}

function press(id) {
  byId('decision-id').value = id;
  explain(id);
  byId('explanation').scrollIntoView({ block: 'nearest' });
}

async function explain(id) {
  const place = byId('explanation');
  const mine = ++asked;
  if (id === '') {
    place.replaceChildren();
    return;
  }
  place.replaceChildren(element('p', { class: 'empty' }, 'Asking…'));
  const { status, json, wrong } = await ask(`decisions/${encodeURIComponent(id)}`);
  // The endpoint itself may be missing: then its list is, too.
  const isUnknown = status === 404 && (await ask('decisions')).status === 200;
  if (mine !== asked) {
    return; // Another one was asked for meanwhile.
  }
  if (isUnknown) {
    place.replaceChildren(element('p', { class: 'empty' },
      `The gateway does not know the decision ${id}. It keeps the latest 4096, and each gateway only its own.`));
  } else {
    place.replaceChildren(wrong === null ? explanation(json) : element('p', { class: 'mistake' }, wrong));
  }
}

function explanation(decision) {
  const tenant = decision.tenant !== null ? `A request of ${decision.tenant}`
    : decision.claimed !== null ? `A request that named the tenant ${decision.claimed}` : 'A request without a tenant';
  const route = decision.route === null ? '' : ` on the route ${decision.route}`;
  const waited = decision.pool === null ? '' : decision.waitedSeconds === 0
    ? ` It did not wait in the pool ${decision.pool}.`
    : ` It had waited ${time(decision.waitedSeconds)} in the pool ${decision.pool}.`;
  const enforced = decision.enforced ? 'was refused' : 'would have been refused, but this is a dry run';
  const ended = decision.cause === null ? enforced : 'failed';
  const peer = decision.peer === null || decision.peer === decision.client ? '' : `, through ${decision.peer}`;
  const card = element('div', { class: 'card' },
    element('h3', {}, `${decision.status} ${decision.reason}`),
    element('p', {}, `${tenant}${route} ${ended}, ${moment(decision.at)}.${waited}`),
    element('p', {}, `Path: ${decision.path}. Client: ${decision.client}${peer}.`));
  if (decision.quotas.length > 0) {
    card.append(element('p', {}, `Quotas that were used up: ${decision.quotas.join(', ')}.`));
  }
  if (decision.why !== undefined) {
    card.append(element('p', {}, `The token is not valid: ${decision.why}.`));
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
  const known = decision.waitedSeconds > pool.seconds + 1 ? ` This is known of ${time(pool.seconds)} of the wait.` : '';
  const parts = [element('p', {},
    `At the end of the wait, ${number(pool.inFlight)} of ${number(pool.permits)} permits were in flight and ${number(pool.waiting)} requests`
      + ` waited.${tenant}${known}`)];
  if (pool.holders.length > 0) {
    const holders = new Rows(['tenant', 'permit-seconds', 'part']);
    holders.show('The tenants that held the permits meanwhile', pool.holders.map((holder) => (
      { key: holder.tenant, cells: [holder.tenant, number(holder.permitSeconds, 1), percent(holder.part)] })));
    parts.push(holders.view);
  }
  return parts;
}
