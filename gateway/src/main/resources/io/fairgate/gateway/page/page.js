import { byId, element, ask } from './dom.js';
import { showPools } from './pools.js';
import { startDecisions, refreshDecisions } from './decisions.js';
import { startWhatIf } from './what-if.js';

/** Events come each second; without one for so long, what is shown is old. */
const SILENCE = 5000;
const EVERY = 5000;

let latest = 0;
let actuator = null;

function connection(text, isBroken) {
  const status = byId('connection');
  if (status.textContent !== text) {
    status.textContent = text;
    status.className = isBroken ? 'state broken' : '';
  }
}

function listen() {
  const events = new EventSource('page/stream');
  events.onmessage = (event) => {
    const state = JSON.parse(event.data);
    latest = Date.now();
    connection('Live', false);
    byId('version').textContent = state.version;
    const isFirst = actuator === null;
    actuator = state.actuator;
    showPools(state);
    if (isFirst) {
      startDecisions(actuator);
      startWhatIf(actuator);
      refresh();
    }
  };
  events.onerror = () => {
    connection('The gateway does not answer. The numbers are old.', true);
    if (events.readyState === EventSource.CLOSED) {
      setTimeout(listen, 2000);
    }
  };
}

async function refresh() {
  if (actuator !== null && !document.hidden) {
    try {
      await Promise.all([refreshDecisions(), showPolicy()]);
    } catch {
      // The gateway does not answer; the stream says so.
    }
  }
}

async function showPolicy() {
  const { status, json } = await ask(`${actuator}/policy`);
  const place = byId('policy-report');
  if (status !== 200 || json === null) {
    place.replaceChildren(element('p', { class: 'empty' }, 'The policy is not in a file.'));
    return;
  }
  const result = { CHANGED: 'in force', UNCHANGED: 'in force', REFUSED: 'refused; the one before it stays in force' }[json.result];
  place.replaceChildren(
    element('p', {}, `${json.file}: ${result ?? json.result}, read at ${new Date(json.at).toLocaleString()}. In force: ${json.contents}.`),
    ...json.mistakes.map((mistake) => element('p', { class: 'mistake' }, mistake)),
    ...json.warnings.map((warning) => element('p', {}, warning)));
}

setInterval(() => {
  if (latest > 0 && Date.now() - latest > SILENCE) {
    connection('The gateway does not answer. The numbers are old.', true);
  }
}, 1000);
setInterval(refresh, EVERY);
listen();
