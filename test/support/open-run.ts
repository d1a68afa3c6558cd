import { openTestRun, type TestRun } from './test-run.ts';

let run: TestRun | null = null;

/** Before any test. */
export default async function openRun(): Promise<void> {
  run = await openTestRun();
}

export async function closeOpenRun(): Promise<void> {
  await run?.close();
}
