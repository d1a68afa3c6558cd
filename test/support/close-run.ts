import { closeOpenRun } from './open-run.ts';

/** After all tests, passed or failed. */
export default async function closeRun(): Promise<void> {
  await closeOpenRun();
}
