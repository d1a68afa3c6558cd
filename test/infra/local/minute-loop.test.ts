import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type MinuteLoop, startMinuteLoop } from '../../../infra/local/minute-loop.ts';

/** A scheduled function whose runs end when the test says so. */
function createHandler() {
  const runs: { end(): void; fail(): void }[] = [];
  const handler = () =>
    new Promise<void>((resolve, reject) => {
      runs.push({ end: resolve, fail: () => reject(new Error('the ledger could not be read')) });
    });
  return { runs, handler };
}

describe('the minute loop of a local run', () => {
  let loop: MinuteLoop;
  let runs: ReturnType<typeof createHandler>['runs'];

  beforeEach(() => {
    jest.useFakeTimers();
    const handling = createHandler();
    runs = handling.runs;
    loop = startMinuteLoop(handling.handler);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  async function endRun(index: number): Promise<void> {
    runs[index]?.end();
    await jest.advanceTimersByTimeAsync(0);
  }

  test('runs at once, and again every minute', async () => {
    expect(runs).toHaveLength(1);
    await endRun(0);

    await jest.advanceTimersByTimeAsync(59_999);
    expect(runs).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(runs).toHaveLength(2);
  });

  test('starts no run while another is in progress', async () => {
    await jest.advanceTimersByTimeAsync(150_000);
    expect(runs).toHaveLength(1);
    await endRun(0);

    await jest.advanceTimersByTimeAsync(30_000);
    expect(runs).toHaveLength(2);
  });

  test('continues after a failed run', async () => {
    runs[0]?.fail();

    await jest.advanceTimersByTimeAsync(60_000);

    expect(runs).toHaveLength(2);
  });

  test('lets a caller wait for the current run, or start one', async () => {
    let isDone = false;
    const joined = loop.run().then(() => {
      isDone = true;
    });
    expect([runs.length, isDone]).toEqual([1, false]);
    await endRun(0);
    await joined;

    void loop.run();

    expect(runs).toHaveLength(2);
  });

  test('stops when the current run has ended, and starts no other', async () => {
    let isStopped = false;
    const stopped = loop.stop().then(() => {
      isStopped = true;
    });
    await jest.advanceTimersByTimeAsync(0);
    expect(isStopped).toBe(false);
    await endRun(0);
    await stopped;

    await jest.advanceTimersByTimeAsync(600_000);

    expect(runs).toHaveLength(1);
  });
});
