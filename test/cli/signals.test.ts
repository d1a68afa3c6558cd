import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { acceptOne } from '../support/accept-one.ts';
import { runCli, runForFailure, runForJson, spawnCli } from './run-cli.ts';
import { buySignal, type StoredSignals, startMs, storeSignals } from './stored-signals.ts';

let stored: StoredSignals;

beforeAll(async () => {
  stored = await storeSignals();
});

afterAll(() => stored.remove());

const here = (...args: string[]) => [...args, '--data', stored.folder.path];

interface ListDocument {
  readonly signals: readonly {
    readonly account: string;
    readonly signalId: string;
    readonly status: string;
  }[];
}

async function listed(...args: string[]): Promise<readonly string[]> {
  const { signals } = (await runForJson(here('signals', ...args))) as ListDocument;
  return signals.map(({ account, signalId, status }) => `${account} ${signalId} ${status}`);
}

describe('signals', () => {
  test('are listed newest first, of every account', async () => {
    expect(await listed()).toEqual([
      'main cancel-4 accepted',
      'main cancel-3 accepted',
      'main cancel-2 accepted',
      'main cancel-1 accepted',
      'rehearsal demo-1 dry_run',
      'main demo-2@refused-ba9876543210 invalid',
      'main late-1@refused-0123456789ab invalid',
      'main refused-1 invalid',
      'main demo-2 denied',
      'main demo-1 placed',
    ]);
  });

  test('are filtered by status, count and account, beyond the first page if necessary', async () => {
    const [placed, two, rehearsal] = await Promise.all([
      listed('--status', 'placed'),
      listed('--limit', '2'),
      listed('--account', 'rehearsal', '--limit', '1'),
    ]);

    expect(placed).toEqual(['main demo-1 placed']);
    expect(two).toEqual(['main cancel-4 accepted', 'main cancel-3 accepted']);
    expect(rehearsal).toEqual(['rehearsal demo-1 dry_run']);
  });

  test('include those of an account that is no longer configured', async () => {
    const key = { account: 'retired', signalId: 'old-1' };
    const rest = { signal: buySignal, clientOrderId: 'tr-9', fingerprint: 'f', atMs: startMs - 1 };
    await acceptOne(stored.ledger, { ...key, ...rest });
    expect(await listed('--account', 'retired')).toEqual(['retired old-1 accepted']);
    expect(await listed('--account', 'retired', '--status', 'placed')).toEqual([]);
  });

  test('of an unknown account are refused with the known names', async () => {
    expect(await runForFailure(here('signals', '--account', 'rehersal'))).toMatchObject({
      exitCode: 2,
      code: 'usage',
      message: 'the configuration has no account "rehersal"',
      action: 'Name one of: main, rehearsal.',
    });
  });

  test('make a table with a short description of each', async () => {
    const { stdout, exitCode } = await runCli(here('signals', '--limit', '10'));

    expect(exitCode).toBe(0);
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(['time (UTC)', 'signal', 'account', 'market', 'what', 'status', 'order']);
    expect(rows).toContainEqual([
      '11-20 10:00:00',
      'demo-1',
      'main',
      'BTC_USDT',
      'buy 0.01 at 60500',
      'placed',
      '10000000001',
    ]);
    expect(rows.map((row) => row[4])).toEqual(
      expect.arrayContaining([
        'cancel all',
        'cancel signal demo-1',
        'cancel order tr-1',
        'cancel order 42',
        'buy for 500 USDT at 60500',
      ]),
    );
  });

  test('name the ticker of a refused alert, where it could be read', async () => {
    const { stdout } = await runCli(here('signals', '--status', 'invalid'));

    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows.filter((row) => row[5] === 'invalid').map((row) => row[3])).toEqual([
      'BTCUSDT',
      'SOLUSDT',
      '–',
    ]);
  });

  test('say so when none matches', async () => {
    const { stdout, exitCode } = await runCli(here('signals', '--status', 'unknown'));

    expect(exitCode).toBe(0);
    expect(stdout).toBe('No signal is unknown.\n');
  });
});

describe('signal', () => {
  test('shows the whole entry and what its status means', async () => {
    expect(await runForJson(here('signal', 'demo-1', '--account', 'main'))).toEqual({
      ending: {
        state: 'unread',
        profit: null,
        quote: 'USDT',
        left: null,
        unvaluedFees: [],
        reason: null,
      },
      account: 'main',
      signalId: 'demo-1',
      status: 'placed',
      meaning: 'the exchange accepted the order',
      signal: buySignal,
      clientOrderId: 'tr-1',
      fingerprint: 'f1',
      createdAtMs: 1_795_168_800_000,
      updatedAtMs: 1_795_168_800_057,
      steps: [
        { status: 'accepted', atMs: 1_795_168_800_000, note: expect.any(String) },
        { status: 'sending', atMs: 1_795_168_800_012, note: 'on its way' },
        {
          status: 'placed',
          atMs: 1_795_168_800_057,
          note: 'held',
          evidence: { order: { orderId: 10_000_000_001 } },
        },
      ],
      orderId: 10_000_000_001,
      orderOpen: true,
      lookup: null,
      execution: null,
      waits: null,
      message: null,
      protects: [],
      refusals: [],
    });
  });

  test('shows the message as it was received, and what of it is missing', async () => {
    const key = { account: 'second', signalId: 'told-1' };
    const message = { text: '{"token": (removed),\n "a": "\u001b[31m"}', omittedBytes: 12 };
    const entry = { ...key, signal: buySignal, clientOrderId: 'tr-9', fingerprint: 'f9', atMs: startMs };
    await stored.ledger.accept([{ ...entry, message }], null);

    const { stdout } = await runCli(here('signal', 'told-1', '--account', 'second'));

    expect(stdout).toContain(
      '\nIts message, without secrets:\n  {"token": (removed),\n   "a": "\\u001b[31m"}\n  … 12 more bytes were not kept\n',
    );
    expect(await runForJson(here('signal', 'told-1', '--account', 'second'))).toMatchObject({ message });
  });

  test('shows each step in absolute time and since the first one', async () => {
    const { stdout } = await runCli(here('signal', 'demo-1', '--account', 'main'));

    expect(stdout).toMatch(/^status +placed\n +the exchange accepted the order$/m);
    expect(stdout).toMatch(/^asked +buy 0.01 of BTC_USDT, stop 60500, limit 60560, stop loss 59000$/m);
    expect(stdout).toMatch(/^fired +2026-11-20 09:59:58.500 UTC$/m);
    expect(stdout).toMatch(/^order +10000000001, open according to the ledger$/m);
    expect(stdout).toMatch(/^2026-11-20 10:00:00.000 UTC +\+0 ms {2}accepted$/m);
    expect(stdout).toMatch(/^2026-11-20 10:00:00.057 UTC +\+57 ms {2}placed$/m);
    expect(stdout).not.toContain('{');
  });

  test('prints no control characters, whoever wrote them', async () => {
    const { stdout } = await spawnCli(here('signal', 'demo-2'));

    expect(stdout).toContain('too much \\u001b[31m');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(
      /^asked +buy for 500 USDT of BTC_USDT, stop 60500, limit at the account's offset, /m,
    );
  });

  test('shows a refused alert, and a cancellation of each kind', async () => {
    const shown = await Promise.all(
      ['refused-1', 'cancel-1', 'cancel-3', 'cancel-4'].map((id) => runCli(here('signal', id))),
    );

    expect(shown.map(({ stdout }) => /^asked +(.*)$/m.exec(stdout)?.[1])).toEqual([
      'nothing: the alert was refused',
      'cancel order 42 of BTC_USDT',
      'cancel signal demo-1 of BTC_USDT',
      'cancel the open orders of BTC_USDT that this relay placed',
    ]);
  });

  test('finds a refused alert by the id it carried', async () => {
    const byId = await runForJson(here('signal', 'late-1'));
    const { stdout } = await runCli(here('signal', 'late-1'));

    expect(byId).toMatchObject({
      signalId: 'late-1@refused-0123456789ab',
      status: 'invalid',
      steps: [{ note: 'the alert was too late' }],
      refusals: [],
    });
    expect(stdout).toMatch(/^ticker +SOLUSDT$/m);
  });

  test('shows refused alerts with the same id below a signal', async () => {
    const document = await runForJson(here('signal', 'demo-2'));
    const { stdout } = await runCli(here('signal', 'demo-2'));

    expect(document).toMatchObject({
      signalId: 'demo-2',
      status: 'denied',
      refusals: [{ signalId: 'demo-2@refused-ba9876543210', status: 'invalid' }],
    });
    expect(stdout).toMatch(
      /^ +2026-11-20 10:00:02.200 UTC {2}stoplos: "stoplos" is not a field of an alert {2}\(demo-2@refused-ba9876543210\)$/m,
    );
  });

  test('asks for the account when two accounts have a signal with that id', async () => {
    expect(await runForFailure(here('signal', 'demo-1'))).toMatchObject({
      exitCode: 1,
      code: 'ambiguous_signal',
      action: 'Choose one, for example: --account main',
    });
  });

  test('names the searched accounts when no signal has that id', async () => {
    expect(await runForFailure(here('signal', 'nope'))).toMatchObject({
      exitCode: 1,
      code: 'unknown_signal',
      message: 'the ledger has no signal "nope" of main or rehearsal',
    });
  });
});

describe('pause and resume', () => {
  test('stop and start one account, with the reason given', async () => {
    const document = await runForJson(here('pause', 'main', '--reason', 'news at noon'));
    const paused = await stored.ledger.readPause('main');
    const { stdout: table } = await runCli(here('signals'));
    const resumed = await runForJson(here('resume', 'main'));

    const target = { kind: 'local', data: stored.folder.path };
    expect(document).toEqual({
      target,
      paused: [{ account: 'main', sinceMs: paused?.sinceMs, reason: 'news at noon', kind: 'entries' }],
    });
    expect(paused?.reason).toBe('news at noon');
    expect(paused?.sinceMs).toBeGreaterThan(startMs);
    expect(table).toMatch(/^account main is paused since .* UTC: news at noon\n\ntime/);
    expect(resumed).toEqual({ target, resumed: [{ account: 'main', pause: paused }] });
    expect(await stored.ledger.readPause('main')).toBeNull();
  });

  test('stop and start every account when none is named', async () => {
    const paused = await runCli(here('pause'));
    const reasons = [await stored.ledger.readPause('main'), await stored.ledger.readPause('rehearsal')];
    const resumed = await runCli(here('resume'));
    const again = await runCli(here('resume'));

    expect(reasons.map((pause) => pause?.reason)).toEqual([
      'paused by the operator',
      'paused by the operator',
    ]);
    const head = `paper relay in ${stored.folder.path}\n`;
    expect(paused.stdout).toBe(
      [
        `${head}main is paused from the next signal on: paused by the operator`,
        'rehearsal is paused from the next signal on: paused by the operator',
        'No further order opens or enlarges a position. Orders that close or reduce one, and cancellations, are still sent.',
        'An order that rests at the exchange may still fill: `npx relay orders` lists it, `npx relay cancel` ends it.\n',
      ].join('\n'),
    );
    expect(resumed.stdout).toMatch(
      /^paper relay in .*\nmain trades again; .*\nrehearsal trades again; .*\n$/,
    );
    expect(again.stdout).toBe(`${head}main was not paused\nrehearsal was not paused\n`);
    expect(await stored.ledger.readPause('rehearsal')).toBeNull();
  });

  test('stop everything when that is asked for', async () => {
    const { stdout } = await runCli(here('pause', 'main', '--everything'));

    expect(stdout).toContain('orders that close or reduce a position are denied, too');
    expect(await stored.ledger.readPause('main')).toMatchObject({ kind: 'everything' });
  });

  test('say that a pause by the loss of the day comes back', async () => {
    const reason = 'maxDailyLoss: the account has lost 20 USDT';
    await stored.ledger.writePause('main', { sinceMs: startMs, reason, kind: 'daily_loss' });

    const { stdout } = await runCli(here('resume', 'main'));

    expect(stdout).toContain(`${reason}. It is paused again today, unless the loss is smaller`);
  });
});
