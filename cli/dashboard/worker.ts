import { parentPort, workerData } from 'node:worker_threads';
import type { SessionOptions } from '../session/open-session.ts';
import { type PageContents, startPageServer } from './page-server.ts';

/**
 * Serves the page in a thread of its own, beside a relay: whatever the page reads or builds never keeps an order waiting, and
 * a lock of the database that the relay holds never waits for the page. What the thread needs for more than listening is
 * loaded when somebody opens the page.
 */

export interface PageWorkerData extends SessionOptions {
  readonly port: number;
}

/** What the thread tells the relay once it listens, or that its port is taken. */
export type PageWorkerNews =
  | { readonly kind: 'listening'; readonly url: string; readonly entryUrl: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

const { port, ...options } = workerData as PageWorkerData;

let loading: Promise<PageContents> | null = null;

async function load(): Promise<PageContents> {
  const { createContents } = await import('./start-dashboard.ts');
  const { createProgram } = await import('../program.ts');
  const { openSession } = await import('../session/open-session.ts');
  const { openProcessTerminal } = await import('../show/terminal.ts');
  const session = await openSession(options, openProcessTerminal());
  return createContents({ session, createProgram, isReadOnly: false });
}

/** A failure, such as a configuration that was broken meanwhile, is told by the next request again. */
function loaded(): Promise<PageContents> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

function tell(news: PageWorkerNews): void {
  parentPort?.postMessage(news);
}

try {
  const { url, entryUrl } = await startPageServer({
    port,
    contents: {
      asset: async (path) => (await loaded()).asset(path),
      answer: async (call) => (await loaded()).answer(call),
    },
  });
  tell({ kind: 'listening', url, entryUrl });
} catch (error) {
  const { code = '', message = '' } = Object(error) as { readonly code?: string; readonly message?: string };
  tell({ kind: 'failed', code, message });
}
