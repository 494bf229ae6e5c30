// Requests to the server. Every failure is an Error whose message can be shown.

const UNREACHED = "The server does not answer. Is it running?";
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

// Return HTML from the server as an element. The content security policy does not let scripts turn text into HTML, but
// a browser parses a document that it receives; no script in such a document runs.
export function postForHtml(path, body, signal) {
  const request = new XMLHttpRequest();
  request.open("POST", path);
  request.responseType = "document";
  request.setRequestHeader("Content-Type", "application/json");
  if (token) request.setRequestHeader("Authorization", `Bearer ${token}`);
  signal.addEventListener("abort", () => request.abort());
  return new Promise((resolve, reject) => {
    request.onload = () => {
      if (request.status === 200) resolve(document.adoptNode(request.response.body.firstElementChild));
      else reject(new Error(`The server answered ${request.status} to the request for a drawing.`));
    };
    request.onerror = () => reject(new Error(UNREACHED));
    request.onabort = () => reject(new DOMException("", "AbortError"));
    request.send(JSON.stringify(body));
  });
}

async function sent(path, options) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    return await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(UNREACHED);
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
