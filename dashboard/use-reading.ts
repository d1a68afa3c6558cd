import { useEffect, useRef, useState } from 'preact/hooks';
import { CallFailure, failureOf, read } from './calls.ts';
import type { ShownFailure } from './documents.ts';
import { about, account, blocked } from './state.ts';

export interface Reading<T> {
  readonly document: T | null;
  readonly failure: ShownFailure | null;
  readonly isLoading: boolean;
  again(): void;
}

/**
 * Reads a document, and reads it again in turns while the page is looked at.
 *
 * @param key what the document depends on; another one reads at once
 * @param everyMs 0: only once
 * @param options.keeps whether the document of the last key is shown until the next one is read
 */
export function useReading<T>(
  readDocument: (signal: AbortSignal) => Promise<T>,
  key: string,
  everyMs = 0,
  { keeps = false }: { readonly keeps?: boolean } = {},
): Reading<T> {
  const [state, setState] = useState<Omit<Reading<T>, 'again'>>({
    document: null,
    failure: null,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef(readDocument);
  latest.current = readDocument;
  const lastKey = useRef(key);

  useEffect(() => {
    const stopping = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    if (lastKey.current !== key && !keeps) setState({ document: null, failure: null, isLoading: true });
    else setState((before) => ({ ...before, isLoading: true }));
    lastKey.current = key;
    async function once(): Promise<void> {
      try {
        if (!document.hidden) {
          const read = await latest.current(stopping.signal);
          if (stopping.signal.aborted) return;
          setState({ document: read, failure: null, isLoading: false });
        }
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (error instanceof CallFailure && error.httpStatus === 401) blocked.value = error.failure;
        setState((before) => ({ ...before, failure: failureOf(error), isLoading: false }));
      }
      if (everyMs > 0) timer = setTimeout(once, everyMs);
    }
    void once();
    return () => {
      stopping.abort();
      clearTimeout(timer);
    };
  }, [key, everyMs, turn]);

  return { ...state, again: () => setTurn((count) => count + 1) };
}

/** What a command says of the chosen account costs requests to the exchange, so it is asked no more often than this. */
const leastPauseMs = 3_000;

/** Reads what a command says of the chosen account, in turns. */
export function useAccountReading<T>(path: string): Reading<T> {
  const name = account.value;
  return useReading(
    (signal) => read<T>(path, { account: name }, signal),
    name,
    Math.max(leastPauseMs, about.value?.refreshMs ?? 0),
  );
}
