import { byId, setText } from './dom.js';
import { number, time } from './format.js';
import { ask, isThere } from './endpoints.js';
import { Rows } from './rows.js';

/** As many rows as a table of tenants has. */
const MOST = 100;

const rows = new Rows(['lease', 'state', 'tenant', 'holder', 'permits', 'age', 'expires in', 'place'], 5);

export function startLeases() {
  byId('all-leases').append(rows.view);
}

/** The section is only there where leases are served. */
export async function refreshLeases() {
  const isServed = await isThere('leases');
  byId('leases-section').hidden = !isServed;
  byId('to-leases').hidden = !isServed;
  if (!isServed) {
    return;
  }
  const { json, wrong } = await ask(`leases?limit=${MOST}`);
  const isEmpty = wrong !== null || json.shown.length === 0;
  rows.view.hidden = isEmpty;
  setText(byId('no-leases'), wrong ?? `${number(json.open)} leases: ${number(json.holding)} hold permits, ${number(json.waiting)} wait.`
    + ' The command "leases --end ID" ends one that is stuck.');
  if (isEmpty) {
    return;
  }
  const { shown } = json;
  const more = json.matching - shown.length;
  rows.show(`Leases, the oldest first.${more > 0 ? ` ${number(more)} more are not shown.` : ''}`, shown.map((lease) => ({
    key: lease.id,
    cells: [
      lease.id,
      lease.state,
      lease.countedFor === null ? lease.tenant : `${lease.tenant} (counted for ${lease.countedFor})`,
      lease.holder === '' ? '–' : lease.holder,
      Object.entries(lease.permits).map(([pool, permits]) => `${pool} ${number(permits)}`).join(', '),
      time(lease.ageSeconds),
      time(lease.expiresInSeconds),
      lease.place === null ? '–' : number(lease.place),
    ],
  })));
}
