import { describe, expect, test } from '@jest/globals';
import type { LogFacts } from '../../lib/base/log.ts';
import { createSchedule } from '../../lib/host/schedule.ts';

function createRecorder() {
  const lines: { readonly level: string; readonly facts: LogFacts }[] = [];
  const writer = (level: string) => (_: string, facts: LogFacts) => void lines.push({ level, facts });
  return { lines, log: { info: writer('info'), warn: writer('warn'), error: writer('error') } };
}

describe('a scheduled handler', () => {
  test('runs whatever the event, and logs one line for each run', async () => {
    const { lines, log } = createRecorder();
    let runs = 0;
    const handler = createSchedule('tidy-up', log, async () => {
      runs += 1;
    });
    await handler({});
    await handler(null);
    expect(runs).toBe(2);
    expect(lines).toEqual(Array(2).fill({ level: 'info', facts: { schedule: 'tidy-up' } }));
  });

  test('that fails throws to its caller too', async () => {
    const { lines, log } = createRecorder();
    const handler = createSchedule('tidy-up', log, async () => {
      throw new RangeError('no room');
    });
    await expect(handler({})).rejects.toThrow('no room');
    expect(lines).toEqual([
      { level: 'error', facts: { schedule: 'tidy-up', reason: 'RangeError: no room' } },
    ]);
  });
});
