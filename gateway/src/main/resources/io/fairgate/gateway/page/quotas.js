import { element } from './dom.js';
import { moment, number, percent, time } from './format.js';
import { ask } from './endpoints.js';
import { Rows } from './rows.js';

/** What is left of the quotas of one tenant, as elements. */
export async function quotas(tenant) {
  const { status, json, wrong } = await ask(`quotas/${encodeURIComponent(tenant)}`);
  if (status === 404 || !Array.isArray(json)) {
    return [element('p', { class: 'empty' }, `The gateway knows no quotas of ${tenant}.`)];
  } else if (wrong !== null) {
    return [element('p', { class: 'mistake' }, wrong)];
  } else if (json.length === 0) {
    return [element('p', {}, `${tenant} has no quota.`)];
  }
  const rows = new Rows(['quota', 'kind', 'limit', 'left', 'part left', 'nothing used in'], 2);
  rows.show(`The quotas of ${tenant}, at ${moment(new Date())}`, json.map((quota) => ({
    key: quota.quota,
    cells: [
      quota.quota,
      quota.enforced ? quota.kind : `${quota.kind}, dry run`,
      number(quota.limit),
      { text: number(quota.remaining), isMarked: quota.remaining <= 0 },
      percent(Math.max(0, quota.remaining) / quota.most),
      quota.untilFullSeconds === undefined ? 'never' : time(quota.untilFullSeconds),
    ],
  })));
  return [rows.view];
}
