import { parentPort } from 'node:worker_threads';
import { type Range, tallyRange } from './tally.ts';

/** The job of a worker thread: a whole range, or a range up to its first finding. */
export interface Job {
  readonly range: Range;
  readonly endsAtFinding: boolean;
}

// The tally of each job is posted before the next job arrives.
parentPort?.on('message', async ({ range, endsAtFinding }: Job) => {
  parentPort?.postMessage(await tallyRange(range, ({ findings }) => endsAtFinding && findings.length > 0));
});
