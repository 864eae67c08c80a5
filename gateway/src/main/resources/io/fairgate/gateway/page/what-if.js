import { byId, element } from './dom.js';
import { number, percent, time } from './format.js';
import { ask, policyInForce } from './endpoints.js';
import { Rows } from './rows.js';

const HEADS = ['tenant', '', 'permits', 'permit-time', 'requests', 'refused', 'left', 'waiting', 'wait p50', 'wait p99'];

export function startWhatIf() {
  byId('candidate-file').addEventListener('change', async (event) => {
    const [file] = event.target.files;
    if (file !== undefined) {
      byId('candidate-policy').value = await file.text();
      event.target.value = ''; // The same file can be chosen again after a change.
    }
  });
  byId('candidate-in-force').addEventListener('click', async () => {
    const { text, wrong } = await policyInForce();
    if (text === null) {
      byId('prediction').replaceChildren(element('p', { class: 'empty' }, wrong));
    } else {
      byId('candidate-policy').value = text;
    }
  });
  byId('candidate').addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = byId('candidate').querySelector('button');
    button.disabled = true;
    try {
      await predict();
    } finally {
      button.disabled = false;
    }
  });
}

async function predict() {
  const place = byId('prediction');
  place.replaceChildren(element('p', { class: 'empty' }, 'The gateway replays…'));
  const seconds = Number.parseInt(byId('candidate-seconds').value, 10);
  const body = { policy: byId('candidate-policy').value };
  if (Number.isInteger(seconds)) {
    body.seconds = seconds;
  }
  const { json, wrong } = await ask('whatif', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(120000),
  });
  place.replaceChildren(...answer(json, wrong));
}

function answer(json, wrong) {
  if (Array.isArray(json?.mistakes)) {
    return json.mistakes.map((mistake) => element('p', { class: 'mistake' }, mistake));
  } else if (wrong !== null) {
    return [element('p', { class: 'mistake' }, wrong)];
  }
  return [
    ...json.pools.map(pool),
    ...sentences('Not replayed: ', json.notReplayed),
    ...sentences('Note: ', json.notes),
  ];
}

function sentences(before, all) {
  return all.map((sentence) => element('p', {}, `${before}${sentence}.`));
}

function pool(shown) {
  const rows = shown.tenants.flatMap((tenant) => [
    row(tenant.tenant, 'recorded', tenant.recorded),
    row(`clients: ${tenant.clients.replaceAll('-', ' ')}`, 'replayed', tenant.replayed),
    row('', 'candidate', tenant.candidate),
    ...(tenant.otherwise === null ? [] : [row('', 'or else', tenant.otherwise)]),
  ]).map((cells, key) => ({ key, cells }));
  const others = shown.otherTenants === 0 ? '' : ` ${number(shown.otherTenants)} other tenants are not shown.`;
  const table = new Rows(HEADS, 2);
  table.show(`Recorded, replayed under the policy in force, and under the candidate.${others}`, rows);
  return element('div', { class: 'card' },
    element('h3', {}, shown.pool),
    element('p', {}, `${number(shown.requests)} requests in ${time(shown.seconds)}; ${number(shown.permits)} permits, and`
      + ` ${number(shown.candidatePermits)} in the candidate. Trust the candidate's rows as far as the replayed ones agree with the recorded ones.`),
    ...sentences('Note: ', shown.notes),
    table.view);
}

function row(name, kind, use) {
  const refused = Object.values(use.refused).reduce((sum, count) => sum + count, 0);
  return [
    name,
    kind,
    number(use.permits, 1),
    percent(use.part),
    number(use.requests),
    number(refused),
    number(use.left),
    number(use.waiting),
    time(use.waitP50Seconds),
    time(use.waitP99Seconds),
  ];
}
