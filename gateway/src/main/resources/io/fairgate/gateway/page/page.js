import { byId, element, setText } from './dom.js';
import { moment } from './format.js';
import { ask, policyInForce } from './endpoints.js';
import { showPools } from './pools.js';
import { startDecisions, refreshDecisions } from './decisions.js';
import { startWhatIf } from './what-if.js';
import { startLeases, refreshLeases } from './leases.js';
import { startCluster, refreshCluster } from './cluster.js';

/** Events come each second; without one for so long, what is shown is old. */
const SILENCE = 5000;
const EVERY = 5000;
const AGAIN = 2000;

let events = null;
let latest = 0;
let isRefreshing = false;

function connection(text, isBroken) {
  const status = byId('connection');
  setText(status, text);
  status.className = isBroken ? 'state broken' : '';
}

/** A page that is hidden takes no stream: a browser has few connections to one gateway. */
function listen() {
  if (events !== null) {
    events.close();
    events = null;
  }
  if (document.hidden) {
    return;
  }
  const mine = new EventSource('page/stream');
  events = mine;
  mine.onmessage = (event) => {
    const state = JSON.parse(event.data);
    latest = Date.now();
    connection(state.isStopping ? 'Live; the gateway is stopping, and serves what it has' : 'Live', false);
    setText(byId('at'), moment(state.at));
    showPools(state.pools);
  };
  mine.onerror = () => {
    explainSilence();
    if (mine.readyState === EventSource.CLOSED && mine === events) {
      setTimeout(listen, AGAIN);
    }
  };
}

async function explainSilence() {
  let isThere = false;
  try {
    isThere = (await fetch('page/icon.svg', { cache: 'no-store' })).ok;
  } catch {
    // It does not answer.
  }
  if (Date.now() - latest > AGAIN) {
    connection(isThere
      ? 'The gateway sends no numbers: as many pages are open as it allows. What is shown is old.'
      : 'The gateway does not answer. What is shown is old.', true);
  }
}

async function refresh() {
  if (document.hidden || isRefreshing) {
    return;
  }
  isRefreshing = true;
  try {
    await Promise.all([refreshDecisions(), refreshLeases(), refreshCluster(), showPolicy()]);
  } finally {
    isRefreshing = false;
  }
}

/** The file is read when it is shown, and again when another one is in force. */
async function showPolicyFile() {
  if (byId('policy-file').open) {
    const { text, wrong } = await policyInForce();
    setText(byId('policy-text'), text ?? wrong);
  }
}

async function showPolicy() {
  const { json, wrong } = await ask('policy');
  const place = byId('policy-report');
  const texts = wrong !== null ? [['empty', wrong]] : [
    ['', `${json.file}: ${json.result === 'REFUSED' ? 'refused; the one before it stays in force' : 'in force'},`
      + ` read ${moment(json.at)}. In force since ${moment(json.since)}: ${json.contents}.`],
    ...(json.sha256 === '' ? [] : [['', `SHA-256 of the file in force: ${json.sha256}`]]),
    ...json.mistakes.map((mistake) => ['mistake', mistake]),
    ...json.warnings.map((warning) => ['', warning]),
  ];
  const text = JSON.stringify(texts);
  if (place.dataset.shown !== text) {
    place.dataset.shown = text;
    place.replaceChildren(...texts.map(([kind, sentence]) => element('p', { class: kind }, sentence)));
    await showPolicyFile();
  }
}

setInterval(() => {
  if (!document.hidden && latest > 0 && Date.now() - latest > SILENCE) {
    explainSilence();
  }
}, 1000);
setInterval(refresh, EVERY);
document.addEventListener('visibilitychange', () => {
  listen();
  refresh();
});
byId('policy-file').addEventListener('toggle', showPolicyFile);
startDecisions();
startWhatIf();
startLeases();
startCluster();
listen();
refresh();
