import { computed, signal } from '@preact/signals';
import { CallFailure, failureOf, read } from './calls.ts';
import type { About, ShownFailure } from './documents.ts';

/** What the relay says of itself; null until it was read. */
export const about = signal<About | null>(null);
/** Why nothing can be shown; null: all is well. */
export const blocked = signal<ShownFailure | null>(null);
/** Grows with everything that is done here: what is shown of it is then read again. */
export const doneCount = signal(0);
/** Told to screen readers, and shown for a while. */
export const told = signal('');

/** Where the page is: the path and what stands behind `?`. */
export const place = signal(currentPlace());

export interface PagePlace {
  readonly path: string;
  readonly query: URLSearchParams;
}

function currentPlace(): PagePlace {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

addEventListener('popstate', () => {
  place.value = currentPlace();
});

/** Goes to another view, as a link does. */
export function go(address: string): void {
  history.pushState(null, '', address);
  place.value = currentPlace();
  scrollTo(0, 0);
}

/** Keeps the filters of a view in the address bar, without a step of its own in the history. */
export function keep(values: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  const search = query.toString();
  history.replaceState(null, '', `${location.pathname}${search === '' ? '' : `?${search}`}`);
  place.value = currentPlace();
}

/** The account that the views show: of the address, or the first one. */
export const account = computed(
  () => place.value.query.get('account') ?? about.value?.accounts[0]?.name ?? '',
);

export function tell(text: string): void {
  told.value = text;
}

/** Hands the token of the address in, once, and reads what the relay says of itself. */
export async function begin(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  try {
    if (token !== null) {
      // Before anything else: the token must not stay in the address.
      history.replaceState(null, '', location.pathname + location.search);
      await enter(token);
    }
    about.value = await read<About>('/api/about');
    blocked.value = null;
  } catch (error) {
    blocked.value = failureOf(error);
  }
}

async function enter(token: string): Promise<void> {
  const response = await fetch('/api/enter', { method: 'POST', body: JSON.stringify({ token }) });
  // Read also when nothing stands in it: a body that is left unread breaks the connection.
  const { error } = (await response.json()) as { readonly error: ShownFailure };
  if (response.ok) return;
  throw new CallFailure(error, response.status);
}
