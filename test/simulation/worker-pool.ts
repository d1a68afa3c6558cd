import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Tally } from './tally.ts';
import type { Job } from './worker.ts';

/**
 * Runs the jobs on as many threads as there are cores.
 *
 * @returns the tallies in the order of the jobs
 */
export async function runJobs(jobs: readonly Job[]): Promise<readonly Tally[]> {
  const tallies: Tally[] = [];
  const waiting = jobs.entries();

  async function work(): Promise<void> {
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    for (const [place, job] of waiting) {
      worker.postMessage(job);
      [tallies[place]] = (await once(worker, 'message')) as [Tally];
    }
    await worker.terminate();
  }

  const threads = Math.min(availableParallelism(), jobs.length);
  await Promise.all(Array.from({ length: threads }, work));
  return tallies;
}
