import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openSqlite, type SqliteFile } from '../../lib/base/sqlite.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteExecutions } from '../../lib/ledger/sqlite-executions.ts';
import type { Fill, OrderExecution } from '../../lib/model/execution.ts';
import type { Side } from '../../lib/model/order.ts';
import type { Signal } from '../../lib/model/signal.ts';
import { acceptOne } from '../support/accept-one.ts';
import { runCli, runForJson } from './run-cli.ts';
import { buySignal, type StoredSignals, startMs, storeSignals } from './stored-signals.ts';

let stored: StoredSignals;
let file: SqliteFile;

/** One order of a signal, and what was filled of it at which price; an amount of zero: nothing was. */
interface Filled extends Partial<OrderExecution> {
  readonly amount: string;
  readonly price: string;
}

let orderIds = 500;
let atMs = startMs + 10_000;

/** Stores a signal that was placed, what became of its orders, and their fills. Each takes a second. */
async function storePlaced(
  signalId: string,
  signal: Signal,
  side: Side,
  orders: readonly Filled[],
): Promise<void> {
  const key = { account: 'main', signalId };
  atMs += 1000;
  const { ledger } = stored;
  await acceptOne(
    ledger,
    { ...key, signal, clientOrderId: `tr-${signalId}`, fingerprint: signalId, atMs },
    null,
  );
  await ledger.start(key, { status: 'sending', atMs, note: 'on its way' }, null);
  const orderId = orderIds + 1;
  const evidence = { order: { orderId, status: 'open' } };
  const step = { status: 'placed', atMs, note: 'held', evidence } as const;
  await ledger.move(key, { from: 'sending', step, orderId, orderOpen: true });
  const executions: OrderExecution[] = [];
  const fills: Fill[] = [];
  for (const { amount, price, ...changes } of orders) {
    orderIds += 1;
    const notional = String(Number(amount) * Number(price));
    const order: OrderExecution = {
      role: 'order',
      orderId: orderIds,
      status: 'filled',
      endedAtMs: atMs,
      filled: amount,
      filledNotional: notional,
      fees: { USDT: '0.1' },
      ...changes,
    };
    executions.push(order);
    if (amount === '0') continue;
    const isExit = order.role !== 'order';
    fills.push({
      ...key,
      market: 'BTC_USDT',
      dealId: orderIds,
      atMs: atMs + orderIds,
      orderId: orderIds,
      role: order.role,
      side: isExit ? (side === 'buy' ? 'sell' : 'buy') : side,
      ...(signal.action === 'close' ? { onlyReduces: true } : {}),
      liquidity: 'taker',
      amount,
      price,
      notional,
      fee: '0.1',
      feeAsset: 'USDT',
    });
  }
  const execution = { revision: 1, readAtMs: atMs, orders: executions, isFollowed: false };
  expect(await createSqliteExecutions(file).record(key, execution, fills)).toBe(true);
}

const base = { ticker: 'BTCUSDT', market: 'BTC_USDT', timeMs: null, maxLagMs: null };
const close: Signal = { ...base, action: 'close' };
const nothing = { amount: '0', price: '0' };
const filled = { amount: '0.01', price: '50000' };

beforeAll(async () => {
  stored = await storeSignals();
  file = openSqlite(stored.folder.databasePath);
  await storePlaced('stopped', buySignal, 'buy', [
    filled,
    { amount: '0.01', price: '48810', role: 'stop_loss' },
  ]);
  await storePlaced('winner', buySignal, 'buy', [
    filled,
    { amount: '0.01', price: '52420', role: 'take_profit' },
  ]);
  await storePlaced('entered', buySignal, 'buy', [filled]);
  await storePlaced('leave', close, 'sell', [{ amount: '0.01', price: '50340' }]);
  await storePlaced('by-hand', buySignal, 'buy', [{ ...nothing, status: 'cancelled' }]);
  await storePlaced('rests', buySignal, 'buy', [{ ...nothing, status: 'open', endedAtMs: null }]);
  await storePlaced('lost', buySignal, 'buy', [{ ...nothing, status: 'gone', endedAtMs: null }]);
  atMs += 300_000;
  await storePlaced('by-alert', buySignal, 'buy', [{ ...nothing, status: 'cancelled' }]);
  const cancel = { account: 'main', signalId: 'withdraw' };
  const signal: Signal = { ...base, action: 'cancel', target: { by: 'signalId', signalId: 'by-alert' } };
  await acceptOne(stored.ledger, { ...cancel, signal, clientOrderId: null, fingerprint: 'w', atMs }, null);
  const evidence = { placedBy: 'by-alert' };
  await stored.ledger.start(cancel, { status: 'sending', atMs, note: 'on its way', evidence }, null);
  await stored.ledger.move(cancel, { from: 'sending', step: { status: 'cancelled', atMs, note: 'done' } });
  atMs += 300_000;
  await storePlaced('by-close', buySignal, 'buy', [{ ...nothing, status: 'cancelled' }]);
  const flatten = { account: 'main', signalId: 'flatten' };
  await acceptOne(
    stored.ledger,
    { ...flatten, signal: close, clientOrderId: null, fingerprint: 'f', atMs },
    null,
  );
  const facts = { placedBy: ['by-close'] };
  await stored.ledger.move(flatten, {
    from: 'accepted',
    step: { status: 'satisfied', atMs, note: 'flat', facts },
  });
  atMs += 300_000;
  await storePlaced('by-relay', buySignal, 'buy', [{ ...nothing, status: 'cancelled' }]);
  const moved = { account: 'main', signalId: 'trailed:stop-t3k9f2' };
  const stop: Signal = { ...base, action: 'protect', role: 'stop_loss', of: 'trailed' };
  await acceptOne(
    stored.ledger,
    { ...moved, signal: stop, clientOrderId: null, fingerprint: 'm', atMs },
    null,
  );
  const replaced = { replaced: [orderIds] };
  await stored.ledger.move(moved, {
    from: 'accepted',
    step: { status: 'satisfied', atMs, note: 'fits', facts: replaced },
  });
  await storePlaced('still-open', buySignal, 'buy', [filled]);
});

afterAll(() => {
  file.close();
  stored.remove();
});

function here(...args: readonly string[]): readonly string[] {
  return [...args, '--data', stored.folder.path];
}

describe('signals', () => {
  test.each([
    ['stopped', 'stopped out -12.10'],
    ['winner', 'target +24.00'],
    ['entered', 'closed +3.20'],
    ['leave', 'reduced +3.20'],
    ['by-hand', 'cancelled by hand'],
    ['by-alert', 'cancelled by alert'],
    ['by-close', 'cancelled by alert'],
    ['by-relay', 'cancelled by relay'],
    ['rests', 'waiting'],
    ['lost', 'ended, unknown how'],
    ['still-open', 'open'],
  ])('says how the order of "%s" ended: %s', async (signalId, words) => {
    const { stdout } = await runCli(here('signals', '--account', 'main'));
    const narrow = await runCli(here('signals', '--account', 'main'), '', { width: 80 });

    const line = stdout.split('\n').find((one) => one.split(/ +/)[2] === signalId);
    expect(line).toMatch(new RegExp(` placed .* ${words.replace('+', String.raw`\+`)} +\\d+$`));
    const lines = narrow.stdout.split('\n');
    const second = lines.findIndex((one) => one.startsWith(`    ${signalId} `));
    expect(lines[second - 1]).toMatch(new RegExp(` ${words.replace('+', String.raw`\+`)}$`));
  });

  test('takes two lines a signal at 80 columns, its reason included', async () => {
    const { stdout } = await runCli(here('signals', '--limit', '100'), '', { width: 80 });
    const { signals } = (await runForJson(here('signals', '--limit', '100'))) as {
      signals: readonly object[];
    };

    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(3 + 2 * signals.length);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('keeps one line a signal in a pipe', async () => {
    const { stdout } = await runCli(here('signals', '--status', 'placed'));

    expect(stdout).toMatch(
      /^.* stopped +main +BTC_USDT .* placed +0\.01 at 50000 +stopped out -12\.10 +501$/m,
    );
  });

  test('has the ending in its document', async () => {
    const document = await runForJson(here('signals', '--text', 'stopped'));

    expect(document).toMatchObject({
      signals: [{ signalId: 'stopped', ending: { state: 'stopped_out', profit: '-12.1', quote: 'USDT' } }],
    });
  });
});

describe('signal', () => {
  test.each([
    ['stopped', 'stopped out: -12.10 USDT after fees'],
    ['winner', 'closed at its target: +24.00 USDT after fees'],
    ['leave', 'closed what other signals had opened: +3.20 USDT after fees'],
    ['by-alert', 'cancelled by signal withdraw'],
    ['by-close', 'cancelled by signal flatten'],
    ['by-relay', 'cancelled by the relay itself, with signal trailed:stop-t3k9f2'],
    ['by-hand', 'cancelled by hand'],
    ['lost', 'not open, and no list says how it ended'],
  ])('says of "%s": %s', async (signalId, sentence) => {
    const { stdout } = await runCli(here('signal', signalId, '--account', 'main'));

    expect(stdout.split('\n')).toContainEqual(expect.stringMatching(/^result /));
    expect(stdout).toContain(`  ${sentence}\n`);
  });

  test('concludes nothing from a position that was read before the newest fill of its market', async () => {
    const facts = createSqliteAccountFacts(file);
    atMs += 60_000;
    await storePlaced('younger', buySignal, 'buy', [{ amount: '0.01', price: '50000' }]);
    await facts.write('main', 'positions', { readAtMs: atMs - 1000, positions: [] });

    expect(await runForJson(here('signal', 'still-open'))).toMatchObject({ ending: { state: 'open' } });
  });

  test.each(['BTC_USDT', null])('concludes nothing while a position is hidden: %s', async (market) => {
    const facts = createSqliteAccountFacts(file);
    const reading = { readAtMs: atMs + 60_000, positions: [], hidden: [market], wholeAtMs: atMs };
    await facts.write('main', 'positions', reading);

    expect(await runForJson(here('signal', 'still-open'))).toMatchObject({ ending: { state: 'open' } });
  });

  test('does not guess when the position is gone and no fill closed it', async () => {
    const facts = createSqliteAccountFacts(file);
    await facts.write('main', 'positions', { readAtMs: atMs + 60_000, positions: [] });

    expect(await runForJson(here('signal', 'still-open'))).toMatchObject({
      ending: { state: 'closed_elsewhere', profit: null, left: null },
    });
  });
});
