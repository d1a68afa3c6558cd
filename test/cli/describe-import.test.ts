import { describe, expect, test } from '@jest/globals';
import { describeImport } from '../../cli/describe-import.ts';
import { noProgress } from '../../lib/snapshots/snapshot-store.ts';

const importedAtMs = Date.UTC(2026, 5, 1, 0, 20);
const untilJuly = { fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 6, 1) };
const untilMay = { fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 4, 1) };

describe('an import, in words', () => {
  test('is unfinished before the first has ended', () => {
    expect(describeImport(noProgress, 'main', untilMay)).toEqual([
      'No import of interest for account main has come to its end yet, so payments are missing: the relay does it while it runs, at the times of snapshots.interest in relay.config.ts.',
    ]);
  });

  test('that ended is none of the unfinished, though nothing was paid yet', () => {
    const progress = { ...noProgress, version: 1, importedAtMs };
    expect(describeImport(progress, 'main', untilMay)).toEqual([]);
  });

  test('is up to date for ranges that end before it began', () => {
    const progress = { ...noProgress, version: 5, importedAtMs, completeUntilMs: Date.UTC(2026, 1, 1) };
    expect(describeImport(progress, 'main', untilMay)).toEqual([]);
    expect(describeImport(progress, 'main', { fromMs: 0, untilMs: importedAtMs })).toEqual([]);
  });

  test('tells when it was for ranges that end later', () => {
    const progress = { ...noProgress, version: 5, importedAtMs };
    expect(describeImport(progress, 'main', untilJuly)).toEqual([
      'Interest of account main was last imported at 2026-06-01 00:20 UTC: what was paid since may be missing.',
    ]);
  });

  test('whose time was not kept is known to reach its newest payment', () => {
    const progress = { ...noProgress, version: 5, completeUntilMs: Date.UTC(2026, 5, 2) };
    expect(describeImport(progress, 'main', untilMay)).toEqual([]);
    expect(describeImport(progress, 'main', untilJuly)).toEqual([
      'Interest of account main is known to be imported up to 2026-06-02 00:00 UTC: what was paid since may be missing.',
    ]);
  });

  test('that was good until the exchange refused the account tells both', () => {
    const refusal = { atMs: Date.UTC(2026, 5, 2), keyName: 'k', reason: 'HTTP 403' };
    const notes = describeImport({ ...noProgress, version: 6, importedAtMs, refusal }, 'main', untilJuly);
    expect(notes).toEqual([
      expect.stringMatching(/^Nothing is imported for account main since 2026-06-02 00:00 UTC/),
      expect.stringMatching(/^Interest of account main was last imported at 2026-06-01 00:20 UTC/),
    ]);
  });
});
