import type { ShownFailure } from './documents.ts';

/** A call that the relay refused, or that did not reach it. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';
  readonly failure: ShownFailure;
  readonly httpStatus: number;

  constructor(failure: ShownFailure, httpStatus: number) {
    super(failure.message);
    this.failure = failure;
    this.httpStatus = httpStatus;
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Reads a document of the relay. @throws CallFailure */
export function read<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' || value === false ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(given).toString();
  return call<T>(`${path}${search === '' ? '' : `?${search}`}`, {
    method: 'GET',
    ...(signal ? { signal } : {}),
  });
}

/** Asks the relay to do something, or to judge a text. @throws CallFailure */
export function send<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return call<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function call<T>(path: string, request: RequestInit): Promise<T> {
  const response = await fetch(path, { ...request, credentials: 'same-origin' }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new CallFailure(unreachable, 0);
  });
  const document: unknown = await response.json().catch(() => null);
  if (response.ok) return document as T;
  const { error = unreachable } = Object(document) as { readonly error?: ShownFailure };
  throw new CallFailure(error, response.status);
}

const unreachable: ShownFailure = {
  code: 'unreachable',
  message: 'the relay does not answer: it was stopped, or the tunnel to it is closed',
  action: 'Start it again, and open the new URL that it prints.',
  issues: [],
};

/** What to show of anything that was thrown. */
export function failureOf(error: unknown): ShownFailure {
  if (error instanceof CallFailure) return error.failure;
  return { code: 'page', message: String(error), action: 'Reload the page.', issues: [] };
}
