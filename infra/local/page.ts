import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describeError } from '../../lib/base/describe-error.ts';
import type { Log } from '../../lib/base/log.ts';

/** The operator's page beside a local relay. */
export interface RunningPage {
  readonly url: string;
  /** The same with its session token, which is for a terminal only. */
  readonly entryUrl: string;
  close(): Promise<void>;
}

export interface PageOptions {
  readonly port: number;
  /** Whether another free port will do when this one is taken. */
  readonly isAnyPortFine: boolean;
  /** The data folder of the relay. */
  readonly data: string;
  readonly log: Log;
}

/** What the thread tells; see `cli/dashboard/worker.ts`. */
type News =
  | { readonly kind: 'listening'; readonly url: string; readonly entryUrl: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** Named by its path: the machinery loads nothing of the tool. */
const workerUrl = new URL('../../cli/dashboard/worker.ts', import.meta.url);

/**
 * Starts the page in a thread of its own. A page that ends is told in the log, and the relay goes on.
 *
 * @throws Error with the system's code when the port is taken
 */
export async function startPage(options: PageOptions): Promise<RunningPage> {
  const { port, isAnyPortFine, data, log } = options;
  const worker = new Worker(workerUrl, { workerData: { port, data } });
  worker.on('error', (error) => {
    log.error('the page has failed and is not served any more; the relay is not concerned', {
      reason: describeError(error),
    });
  });
  const [news] = (await once(worker, 'message')) as [News];
  if (news.kind === 'listening') {
    const { url, entryUrl } = news;
    return { url, entryUrl, close: async () => void (await worker.terminate()) };
  }
  await worker.terminate();
  if (news.code === 'EADDRINUSE' && isAnyPortFine)
    return await startPage({ ...options, port: 0, isAnyPortFine: false });
  throw Object.assign(new Error(`the page cannot be served: ${news.message}`), { code: news.code, port });
}
