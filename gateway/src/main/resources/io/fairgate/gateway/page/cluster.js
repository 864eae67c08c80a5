import { byId } from './dom.js';
import { number, time } from './format.js';
import { ask } from './endpoints.js';
import { Rows } from './rows.js';

const rows = new Rows(['pool', 'state', 'permits here', 'target', 'of the pool', 'gateways', 'last answer', 'round trip', 'epoch'], 2);

export function startCluster() {
  byId('all-slices').append(rows.view);
}

/** The section is only there where gateways share pools. */
export async function refreshCluster() {
  const { json, wrong } = await ask('cluster');
  const slices = wrong === null ? Object.entries(json) : [];
  byId('cluster-section').hidden = slices.length === 0;
  byId('to-cluster').hidden = slices.length === 0;
  rows.show('This gateway\'s part of each pool', slices.map(([pool, slice]) => ({
    key: pool,
    cells: [
      pool,
      { text: state(slice), isMarked: !slice.inForce || slice.outage },
      number(slice.permits),
      number(slice.target),
      slice.poolPermits === slice.policyPermits
        ? number(slice.poolPermits) : `${number(slice.poolPermits)} (here the policy has ${number(slice.policyPermits)})`,
      number(slice.gateways),
      `${time(slice.sinceAnswerSeconds)} ago`,
      time(slice.roundTripSeconds),
      number(slice.epoch),
    ],
  })));
}

function state(slice) {
  const failure = slice.failure === undefined ? '' : `: ${slice.failure}`;
  if (!slice.inForce) {
    return `No part, requests are refused${failure}`;
  }
  return slice.outage ? `Redis does not answer; the outage policy grants${failure}` : slice.recovering ? 'Redis is recovering' : 'In force';
}
