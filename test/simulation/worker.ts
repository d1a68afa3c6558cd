import { parentPort } from 'node:worker_threads';
import { type Range, tallyRange } from './tally.ts';

/** What a worker is asked: a whole range, or a range up to its first finding. */
export interface Job {
  readonly range: Range;
  readonly endsAtFinding: boolean;
}

// Each job is answered by its tally before the next one is given.
parentPort?.on('message', async ({ range, endsAtFinding }: Job) => {
  parentPort?.postMessage(await tallyRange(range, ({ findings }) => endsAtFinding && findings.length > 0));
});
