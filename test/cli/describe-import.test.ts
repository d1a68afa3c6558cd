import { describe, expect, test } from '@jest/globals';
import { describeImport } from '../../cli/show/describe-import.ts';
import { noProgress } from '../../lib/snapshots/snapshot-store.ts';

const importedAtMs = Date.UTC(2026, 5, 1, 0, 20);
const untilJuly = { fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 6, 1) };
const untilMay = { fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 4, 1) };

describe('an import, in words', () => {
  test('is incomplete until the first one has finished', () => {
    expect(describeImport(noProgress, 'main', untilMay)).toEqual([
      'No import of interest for account main is complete yet, so payments are missing. The relay imports while it runs, at the times of snapshots.interest in relay.config.ts.',
    ]);
  });

  test('that finished is complete, even without payments', () => {
    const progress = { ...noProgress, version: 1, importedAtMs };
    expect(describeImport(progress, 'main', untilMay)).toEqual([]);
  });

  test('is up to date for ranges that end before it began', () => {
    const progress = { ...noProgress, version: 5, importedAtMs, completeUntilMs: Date.UTC(2026, 1, 1) };
    expect(describeImport(progress, 'main', untilMay)).toEqual([]);
    expect(describeImport(progress, 'main', { fromMs: 0, untilMs: importedAtMs })).toEqual([]);
  });

  test('shows its time for ranges that end later', () => {
    const progress = { ...noProgress, version: 5, importedAtMs };
    expect(describeImport(progress, 'main', untilJuly)).toEqual([
      'Interest of account main was last imported at 2026-06-01 00:20 UTC: later payments may be missing.',
    ]);
  });

  test('without a recorded time is known to include its newest payment', () => {
    const progress = { ...noProgress, version: 5, completeUntilMs: Date.UTC(2026, 5, 2) };
    expect(describeImport(progress, 'main', untilMay)).toEqual([]);
    expect(describeImport(progress, 'main', untilJuly)).toEqual([
      'Interest of account main is known to be imported up to 2026-06-02 00:00 UTC: later payments may be missing.',
    ]);
  });

  test('that worked until the exchange refused the account reports both', () => {
    const refusal = { atMs: Date.UTC(2026, 5, 2), keyName: 'k', reason: 'HTTP 403' };
    const notes = describeImport({ ...noProgress, version: 6, importedAtMs, refusal }, 'main', untilJuly);
    expect(notes).toEqual([
      expect.stringMatching(/^The import for account main has been stopped since 2026-06-02 00:00 UTC/),
      expect.stringMatching(/^Interest of account main was last imported at 2026-06-01 00:20 UTC/),
    ]);
  });
});
