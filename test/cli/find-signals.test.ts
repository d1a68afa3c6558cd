import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mostLookedAt, readEntries } from '../../cli/read/read-entries.ts';
import { shortenId } from '../../cli/show/short-id.ts';
import type { EntryQuery } from '../../lib/ledger/ledger.ts';
import { acceptOne } from '../support/accept-one.ts';
import { override } from '../support/override.ts';
import { runCli, runForFailure, runForJson, spawnCli } from './run-cli.ts';
import { buySignal, type StoredSignals, startMs, storeSignals } from './stored-signals.ts';

const digits = '3f9a1c2d00000000000000000000000';
const ofArray = [`h-${digits}1-0`, `h-${digits}1-1`] as const;
const ethSignal = { ...buySignal, ticker: 'ETHUSDT', market: 'ETH_USDT', comment: 'Golden Cross' };

let stored: StoredSignals;
beforeAll(async () => {
  stored = await storeSignals();
  const rest = { account: 'main', signal: ethSignal, clientOrderId: 'tr-7', fingerprint: 'f7' };
  for (const [index, signalId] of ofArray.entries())
    await acceptOne(stored.ledger, { ...rest, signalId, atMs: startMs + 60_000 + index });
  await stored.ledger.refuse({
    account: 'main',
    signalId: `refused-${digits}2`,
    fingerprint: 'f8',
    step: { status: 'invalid', atMs: startMs + 61_000, note: 'the alert is not valid JSON: it ends' },
  });
});
afterAll(() => stored.remove());

const here = (...args: string[]) => [...args, '--data', stored.folder.path];

interface ListDocument {
  readonly signals: readonly { readonly signalId: string }[];
  readonly next: string | null;
}

async function listed(...args: string[]): Promise<readonly string[]> {
  const { signals } = (await runForJson(here('signals', ...args))) as ListDocument;
  return signals.map(({ signalId }) => signalId);
}

describe('signals are found', () => {
  test.each([
    [
      ['--market', 'ETH_USDT'],
      [ofArray[1], ofArray[0]],
    ],
    [
      ['--market', 'ethusdt'],
      [ofArray[1], ofArray[0]],
    ],
    // Of a refused alert only the ticker is kept.
    [['--market', 'SOL_USDT'], ['late-1@refused-0123456789ab']],
    [['--market', 'BTC_USDT', '--status', 'invalid'], ['demo-2@refused-ba9876543210']],
    [
      ['--text', 'golden cross'],
      [ofArray[1], ofArray[0]],
    ],
    [['--text', 'TOO LATE'], ['late-1@refused-0123456789ab']],
    [['--text', 'tr-2'], ['demo-2']],
    [['--text', '10000000001'], ['demo-1']],
    [
      ['--text', 'breakout', '--account', 'main', '--market', 'BTC_USDT'],
      ['demo-2', 'demo-1'],
    ],
    [
      ['--from', '2026-11-20T10:00:02Z', '--to', '2026-11-20T10:00:03Z'],
      ['demo-1', 'demo-2@refused-ba9876543210', 'late-1@refused-0123456789ab', 'refused-1'],
    ],
    [['--from', '2026-11-20', '--to', '2026-11-20', '--status', 'placed'], ['demo-1']],
    [['--to', '2026-11-19'], []],
    [['--from', '2026-11-21'], []],
  ] as const)('by %j', async (args, ids) => {
    expect(await listed(...args)).toEqual(ids);
  });

  test('page by page, each once, from the place that a list prints', async () => {
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const before: string[] = next === null ? [] : ['--before', next];
      const args = here('signals', '--market', 'BTC_USDT', '--limit', '2', ...before);
      const page = (await runForJson(args)) as ListDocument;
      seen.push(...page.signals.map(({ signalId }) => signalId));
      next = page.next;
    } while (next !== null);

    expect(seen).toEqual(await listed('--market', 'BTC_USDT', '--limit', '100'));
    expect(seen).toHaveLength(8);
  });

  test('and the list says how to continue', async () => {
    const { stdout } = await runCli(here('signals', '--limit', '3'));
    const [, next = ''] = /^For older ones, repeat the command with --before (\S+)$/m.exec(stdout) ?? [];

    expect(await listed('--limit', '1', '--before', next)).toEqual(['cancel-4']);
    expect((await runCli(here('signals', '--limit', '100'))).stdout).not.toContain('--before');
  });

  test.each([
    [['--before', 'x'], /is not a cursor of this ledger/],
    [['--from', '2026-11-20', '--to', '2026-11-19'], /the range begins at/],
    [['--from', '2026-02-30'], /must be a date or a time/],
  ])('not by %j', async (args, message) => {
    const failure = await runForFailure(here('signals', ...args));
    expect([failure.exitCode, failure.code]).toEqual([2, 'usage']);
    expect(failure.message).toMatch(message);
  });

  test('not at all, in words', async () => {
    const said = async (...args: string[]) => (await runCli(here('signals', ...args))).stdout;
    expect(await said('--market', 'DOGE_USDT', '--status', 'placed')).toBe(
      'No signals with status placed, market DOGE_USDT.\n',
    );
    expect(await said('--to', '2026-11-19')).toBe('No signals in that period.\n');
  });
});

test('a text search stops after a limit, and says where to continue', async () => {
  const asked: EntryQuery[] = [];
  const endless = override(stored.ledger, {
    list: async (query) => {
      asked.push(query);
      const { entries } = await stored.ledger.list({ limit: 5 });
      return { entries, cursors: entries.map(() => 'x'), next: `page-${asked.length}` };
    },
  });

  const listing = await readEntries(endless, { matches: () => false }, { limit: 20 });

  expect(listing).toEqual({ entries: [], next: `page-${mostLookedAt / 100}`, isCut: true });
  expect(asked).toHaveLength(mostLookedAt / 100);
  expect(asked.every(({ limit }) => limit === 100)).toBe(true);
});

describe('times in tables', () => {
  const newYork = { timeZone: 'America/New_York' };

  test('are in the time zone of the terminal, and so are --from and --to', async () => {
    const shown = await runCli(here('signals', '--status', 'placed'), '', newYork);
    const inRange = await runCli(here('signals', '--from', '2026-11-20T05:00:04'), '', newYork);
    const sameInUtc = await runCli(here('signals', '--from', '2026-11-20T10:00:04Z'), '', newYork);
    const outside = await runCli(here('signals', '--to', '2026-11-20T04:59:59'), '', newYork);
    const detail = await runCli(here('signal', 'demo-1', '--account', 'main'), '', newYork);

    expect(shown.stdout).toMatch(/^time \(-05:00\) +signal/);
    expect(shown.stdout).toMatch(/^11-20 05:00:00 +demo-1/m);
    expect(inRange.stdout).toContain('cancel-1');
    expect(inRange.stdout).not.toContain('demo-2');
    expect(sameInUtc.stdout).toBe(inRange.stdout);
    expect(outside.stdout).toBe('No signals in that period.\n');
    expect(detail.stdout).toMatch(/^2026-11-20 05:00:00.057 -05:00 +\+57 ms {2}placed$/m);
  });

  test('stay in UTC for programs', async () => {
    const { stdout } = await runCli(here('signals', '--status', 'placed', '--json'), '', newYork);
    expect(JSON.parse(stdout).signals[0].createdAtMs).toBe(startMs);
  });

  test('follow the time zone and the width of the process', async () => {
    const { stdout } = await spawnCli(here('signals'), { TZ: 'Asia/Kolkata', COLUMNS: '80' });

    expect(stdout).toMatch(/^time \(\+05:30\)/);
    expect(stdout).toMatch(/^11-20 15:30:00 +BTC_USDT +buy 0\.01 at 60500 +placed\n {4}demo-1 /m);
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });
});

describe('the reason of a signal that did not succeed', () => {
  test('is shown below it', async () => {
    const { stdout } = await runCli(here('signals'));
    const lines = stdout.split('\n');
    const below = (id: string) => lines[lines.findIndex((line) => line.split(/ {2,}/)[1] === id) + 1];

    expect(below('late-1')).toBe('    the alert was too late');
    expect(below('refused-1')).toBe('    the alert is not valid JSON: it ends');
    // Of the two with that id the refused alert came later.
    expect(below('demo-2')).toBe('    stoplos: "stoplos" is not a field of an alert');
    expect(lines).toContain('    too much \\u001b[31m');
  });
});

describe('a short id', () => {
  test('tells the legs of a target apart', async () => {
    const whole = `h-9b1d44f0${'0'.repeat(24)}`;
    const rest = { account: 'rehearsal', signal: ethSignal, fingerprint: 'f9', atMs: startMs - 60_000 };
    for (const [index, signalId] of [`${whole}:reduce`, whole].entries())
      await acceptOne(stored.ledger, { ...rest, signalId, clientOrderId: `tr-leg-${index}` });

    expect([whole, `${whole}:reduce`].map(shortenId)).toEqual(['h-9b1d44f0', 'h-9b1d44f0:reduce']);
    for (const signalId of [whole, `${whole}:reduce`])
      expect(await runForJson(here('signal', shortenId(signalId)))).toMatchObject({ signalId });
  });

  test('names the signals that protect the fill of another one', async () => {
    const entry = `h-7c1d44f0${'1'.repeat(24)}`;
    const own = [`${entry}:stop-tp05vq`, `${entry}:target-tp05vq`];
    const rest = { account: 'rehearsal', signal: ethSignal, fingerprint: 'f8', atMs: startMs - 60_000 };
    for (const [index, signalId] of own.entries())
      await acceptOne(stored.ledger, { ...rest, signalId, clientOrderId: `tr-guard-${index}` });

    expect(own.map(shortenId)).toEqual(['h-7c1d44f0:stop-tp05vq', 'h-7c1d44f0:target-tp05vq']);
    for (const signalId of own)
      expect(await runForJson(here('signal', shortenId(signalId)))).toMatchObject({ signalId });
  });

  test('is what lists show', async () => {
    const { stdout } = await runCli(here('signals', '--limit', '3'));
    expect(stdout.split('\n').flatMap((line) => /^\d\S+ \S+ +(\S+)/.exec(line)?.[1] ?? [])).toEqual([
      'refused-3f9a1c2d',
      'h-3f9a1c2d-1',
      'h-3f9a1c2d-0',
    ]);
    expect(shortenId('a-strategy-with-a-name-that-never-ends')).toBe('a-strategy-with-a-name-…');
  });

  test.each([
    ['h-3f9a1c2d-1', ofArray[1]],
    ['refused-3f9a1c2d', `refused-${digits}2`],
    ['cancel-4', 'cancel-4'],
    ['late', 'late-1@refused-0123456789ab'],
    ['late…', 'late-1@refused-0123456789ab'],
  ])('%s leads to %s', async (typed, signalId) => {
    expect(await runForJson(here('signal', typed, '--account', 'main'))).toMatchObject({ signalId });
  });

  test('of fewer than four characters is not accepted', async () => {
    expect(await runForFailure(here('signal', 'lat'))).toMatchObject({ code: 'unknown_signal' });
  });

  test('is not accepted if several ids begin with it', async () => {
    expect(await runForFailure(here('signal', 'h-3f9a'))).toMatchObject({
      code: 'ambiguous_signal',
      message: `the ids of several signals begin with "h-3f9a": ${ofArray.join(', ')}`,
      action: 'Type more of the id.',
    });
  });

  test('is enough to resolve a signal', async () => {
    const document = await runForJson(here('resolve', 'demo-2', '--account', 'main'));
    const short = await runForJson(here('resolve', 'cancel-4'.slice(0, 8), '--account', 'main')).catch(
      String,
    );
    expect(document).toMatchObject({ result: 'was_settled', entry: { signalId: 'demo-2' } });
    expect(short).toContain('signal \\"cancel-4\\" is accepted');
  });
});

describe('one signal', () => {
  test('is described; the evidence of its steps is shown only with --verbose', async () => {
    const words = await runCli(here('signal', 'demo-1', '--account', 'main'));
    const all = await runCli(here('signal', 'demo-1', '--account', 'main', '--verbose'));

    expect(words.stdout).not.toContain('{');
    expect(words.stdout).not.toContain('SHA-256');
    expect(words.stdout).toMatch(/^--verbose shows the evidence of each step\.$/m);
    expect(all.stdout).toContain('{ order: { orderId: 10000000001 } }');
    expect(all.stdout).toMatch(/^alert SHA-256 +f1$/m);
  });

  test('that was refused shows what to change', async () => {
    const issue = { path: 'stoplos', message: 'no such field', hint: 'did you mean stopLoss?' };
    await stored.ledger.refuse({
      account: 'main',
      signalId: 'typo@refused-000000000000',
      fingerprint: 'f9',
      step: {
        status: 'invalid',
        atMs: startMs,
        note: 'the alert was refused: stoplos: no such field',
        evidence: { code: 'invalid_signal', issues: [issue] },
      },
    });

    const { stdout } = await runCli(here('signal', 'typo'));

    expect(stdout).toMatch(
      /^ {4}the alert was refused: stoplos: no such field\n {6}stoplos: did you mean stopLoss\?$/m,
    );
  });

  test('fits the screen, and its words stay whole', async () => {
    const { stdout } = await runCli(here('signal', 'demo-2'), '', { width: 60 });

    expect(stdout).toMatch(/^ +executable when it was due; nothing was$/m);
    expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(60);
  });
});
