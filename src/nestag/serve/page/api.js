// Requests to the server; every failure is an Error whose message can be shown.

let token = "";

export function useToken(value) {
  token = value;
}

export class NeedsToken extends Error {}

export async function get(path) {
  return answered(await sent(path, {}));
}

export async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return answered(await sent(path, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

async function sent(path, options) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    return await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server cannot be reached. Is it running?");
  }
}

async function answered(response) {
  let body;
  try {
    body = await response.json();
  } catch {
    throw new Error(`The server answered ${response.status} without an explanation.`);
  }
  if (response.ok) return body;
  const message = body.error || `The server answered ${response.status}.`;
  throw response.status === 401 ? new NeedsToken(message) : new Error(message);
}
