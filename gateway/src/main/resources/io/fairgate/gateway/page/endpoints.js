const LONGEST = 30000;

/** The path of an endpoint, which is below that of the page. */
export function path(name) {
  const actuator = document.documentElement.dataset.actuator;
  return new URL([actuator, name].filter((part) => part !== '').join('/'), document.baseURI).href;
}

/**
 * Asks an endpoint. Returns its status and its JSON; `wrong` is a sentence that says what is wrong with the answer, or null.
 *
 * A status of `expected` is no mistake.
 */
export async function ask(name, { expected = [200], ...options } = {}) {
  try {
    const answer = await fetch(path(name), { signal: AbortSignal.timeout(LONGEST), ...options });
    const isJson = (answer.headers.get('Content-Type') ?? '').includes('json');
    const json = isJson ? await answer.json() : null;
    return { status: answer.status, json, wrong: expected.includes(answer.status) && isJson ? null : sentence(name, answer.status) };
  } catch {
    return { status: 0, json: null, wrong: 'The gateway does not answer.' };
  }
}

function sentence(name, status) {
  const endpoint = name.replace(/[/?].*/, '');
  return status === 404 ? `The endpoint ${endpoint} is not exposed.` : `The endpoint ${endpoint} has answered with status ${status}.`;
}

let links;

/** Whether an endpoint is there, by the list of all; asking one that is not there would be an error in the console. */
export async function isThere(name) {
  if (links === undefined) {
    const { json, wrong } = document.documentElement.dataset.actuator === '' ? { wrong: 'no list' } : await ask('');
    links = wrong === null ? json._links : null;
  }
  return links === null || name in links;
}

/** The policy file in force, or a sentence that says why there is none. */
export async function policyInForce() {
  const { json, status, wrong } = await ask('policy/text', { expected: [200, 404] });
  return { text: json?.text ?? null, wrong: status === 404 ? 'The policy in force is in no file.' : wrong };
}
