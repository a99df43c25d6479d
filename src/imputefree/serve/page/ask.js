// Requests to this server: JSON or a file in, JSON out, errors in the words of the server.

const TOKEN_KEY = "imputefree token";

export class Refused extends Error {
  constructor(status, error) {
    super(sentence(error));
    this.status = status;
    this.field = error.field;
  }
}

export function sentence({ field, fact, rule, remedy }) {
  const parts = [fact, rule, remedy].filter(Boolean);
  const text = parts.map((part) => part.replace(/[.]?$/, ".")).join(" ");
  if (field && text.startsWith(field)) return text; // names keep their case
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function keepToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
}

export async function ask(path, body, signal) {
  const headers = {};
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  const file = body instanceof Blob;
  if (body !== undefined) headers["Content-Type"] = file ? "application/octet-stream" : "application/json";
  let response;
  try {
    response = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: typeof body === "string" || file ? body : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, {
      field: null, fact: "the server does not answer", rule: "", remedy: "Check that it is still running",
    });
  }
  let answer = null;
  try {
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  if (response.ok && answer) return answer;
  throw new Refused(response.status, answer?.error ?? {
    field: null, fact: `the server answered with status ${response.status}`, rule: "", remedy: "",
  });
}
