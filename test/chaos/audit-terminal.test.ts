import { expect, test } from '@jest/globals';
import { checkTerminal } from './audit-terminal.ts';
import type { Evidence } from './evidence.ts';

const raisedAtMs = Date.parse('2026-11-24T08:31:45.120Z');
const alarm = JSON.stringify({
  message: 'm',
  timestamp: new Date(raisedAtMs).toISOString(),
  account: 'main',
  alarm: true,
});

test.each([
  ['ended between its two writes', raisedAtMs + 50, 0],
  ['lived on', raisedAtMs + 5_000, 1],
])('an alarm that only the journal has, of a process that %s at %i: %i found', (_, endedAtMs, found) => {
  const evidence = {
    writings: [{ place: 'journal', kind: 'log', text: alarm }],
    notices: { shown: [], endedAtMs: [endedAtMs], fullDisks: [] },
  } as unknown as Evidence;

  expect(checkTerminal(evidence)).toHaveLength(found);
});
