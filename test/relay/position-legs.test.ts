import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { market } from '../../lib/exchange/endpoints/market.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Plan } from '../../lib/relay/execute/action.ts';
import { withExitsCancelled } from '../../lib/relay/position/close-exits.ts';
import { resolveSignal } from '../../lib/relay/settle/resolve-signal.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { override } from '../support/override.ts';

let relay: Aftermath;

beforeEach(async () => {
  relay = await openAftermath();
});

afterEach(() => relay.close());

const alertWith = (members: object) => ({ ticker: 'BTCUSDT', maxSlippage: '0.5%', ...members });

async function receive(...alerts: readonly object[]): Promise<void> {
  for (const alert of alerts) await relay.receiveAll(JSON.stringify(alertWith(alert)));
}

/** An order that fills at once; afterwards every list has come through. */
async function buy(id: string, quantity: string): Promise<void> {
  await receive({ id, action: 'buy', orderType: 'market', quantity });
  await relay.execute(id);
  relay.clock.advance(longestPositionLagMs + 1);
}

/** Of an order at market with a bound on its price. */
const lostResponse = { fault: 'drop_after', endpoint: 'limit' } as const;

/** When the rest of such an order is told, what the exchange does to it, and the alarms. */
const whenTold = [
  ['at once', [], ['close_incomplete']],
  ['once its lost response was looked up', [lostResponse], ['outcome_unknown', 'close_incomplete']],
] as const;

async function heldAmount(): Promise<string> {
  const client = await relay.services.exchangeFor('main');
  const { records } = await client.call(openPositions, { market: 'BTC_USDT' });
  const [position] = records;
  return position === undefined ? '0' : formatDecimal(position.amount);
}

async function statusOf(signalId: string): Promise<string> {
  return (await relay.entry(signalId)).status;
}

function changeAccount(changes: Partial<Account>): void {
  const { settings } = relay.services;
  const { main } = settings.accounts;
  if (main === undefined) throw new Error('expected an account');
  Object.assign(relay.services, {
    settings: { ...settings, accounts: { ...settings.accounts, main: { ...main, ...changes } } },
  });
}

describe('a leg that was only rehearsed has reduced nothing for one that is sent, because the account is live by now', () => {
  test('in a target that turns the position', async () => {
    await buy('b', '0.2');
    await receive({ id: 't', target: '-0.3' });
    changeAccount({ mode: 'dry-run' });
    await relay.execute('t:reduce');
    changeAccount({ mode: 'live' });

    await relay.execute('t');

    expect([await statusOf('t:reduce'), await statusOf('t'), await heldAmount()]).toEqual([
      'dry_run',
      'denied',
      '0.2',
    ]);
  });

  test('in an order that presumes no position', async () => {
    await buy('b', '0.2');
    changeAccount({ mode: 'dry-run', onMismatch: 'resync' });
    await receive({ id: 'o', action: 'buy', orderType: 'market', quantity: '0.1', requirePosition: 'flat' });
    await relay.execute('o:reduce');
    changeAccount({ mode: 'live' });

    await relay.execute('o');

    expect([await statusOf('o:reduce'), await statusOf('o'), await heldAmount()]).toEqual([
      'dry_run',
      'denied',
      '0.2',
    ]);
  });
});

test.each(whenTold)(
  'a close of a position that is no whole number of steps any more tells what stays, %s',
  async (_, faults, alarms) => {
    await buy('b', '0.008345');
    const { markets } = relay.services;
    const find = async (name: string) => {
      const market = await markets.find(name);
      return market === null ? null : { ...market, amountStep: parseDecimal('0.001') };
    };
    Object.assign(relay.services, { markets: override(markets, { find }) });

    await receive({ id: 'c', action: 'close' });
    for (const fault of faults) relay.paper.control.addFault(fault);
    await relay.execute('c');
    await relay.reconcileFor(3);

    expect([await statusOf('c'), await heldAmount()]).toEqual(['placed', '0.000345']);
    expect(relay.alarms.map(({ name }) => name)).toEqual(alarms);
  },
);

test.each(whenTold)(
  'a market order that only reduces, and fills in part, tells what did not fill, %s',
  async (_, faults, alarms) => {
    await buy('b', '2');
    const reduceOnly = { action: 'sell', orderType: 'market', quantity: '2', reduceOnly: true };
    await receive({ id: 's', ...reduceOnly, maxSlippage: '0.05%' });
    for (const fault of faults) relay.paper.control.addFault(fault);
    await relay.execute('s');
    await relay.reconcileFor(3);

    expect(await statusOf('s')).toBe('placed');
    expect(relay.alarms.map(({ name }) => name)).toEqual(alarms);
  },
);

test('an order that was cancelled after it had filled in part counts while the list may lag behind it', async () => {
  relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit' });
  await receive({
    id: 'b',
    action: 'buy',
    orderType: 'limit',
    limitPrice: '50025',
    quantity: '2',
    maxSlippage: undefined,
  });
  await relay.execute('b');
  const key = { account: 'main', signalId: 'b' };
  const { entry } = await resolveSignal(relay.services, key, { kind: 'cancel' }, 'operator', {});
  expect(entry.status).toBe('placed');
  const held = await heldAmount();
  expect(held).not.toBe('0');
  relay.paper.control.addFault({
    fault: 'read_lag',
    endpoint: 'open-positions',
    delayMs: 5_000,
    probability: 1,
  });

  await receive({ id: 't', target: held });
  await expect(relay.execute('t')).rejects.toMatchObject({ code: 'position_awaited' });
  relay.clock.advance(longestPositionLagMs);
  await relay.execute('t');

  expect([await statusOf('t:reduce'), await statusOf('t')]).toEqual(['satisfied', 'satisfied']);
  expect(await heldAmount()).toBe(held);
});

test('a cancellation withdraws the first leg of the order that it names, and no order of another alert with such an id', async () => {
  await receive(
    { id: 'o', action: 'buy', orderType: 'market', quantity: '0.1' },
    { id: 'o:reduce', action: 'buy', orderType: 'market', quantity: '0.2' },
    { id: 'c', action: 'cancel', signalId: 'o', maxSlippage: undefined },
  );

  await relay.execute('c');

  expect([await statusOf('o'), await statusOf('o:reduce'), await statusOf('c')]).toEqual([
    'cancelled',
    'placed',
    'cancelled',
  ]);
});

test('a part of a position that the exchange cuts to what is left closes it, so its stops go, too', async () => {
  await receive({ id: 'b', target: '0.2', stopLoss: '2%', takeProfit: '4%' });
  await relay.execute('b');
  relay.clock.advance(longestPositionLagMs + 1);
  const client = await relay.services.exchangeFor('main');
  const prepare: typeof client.prepare = (endpoint, params) => {
    const prepared = client.prepare(endpoint, params);
    if (endpoint.name !== 'limit') return prepared;
    const send: typeof prepared.send = async (options) => {
      const amount = parseDecimal('0.15');
      await client.call(market, { market: 'BTC_USDT', side: 'sell', amount, clientOrderId: 'by-hand' });
      return await prepared.send(options);
    };
    return { ...prepared, send };
  };
  Object.assign(relay.services, { exchangeFor: async () => override(client, { prepare }) });
  await receive({ id: 'c', action: 'close', quantity: '50%' });

  await relay.execute('c');

  const open = relay.paper.control.state().orders.filter(({ status }) => status === 'open');
  expect([await statusOf('c'), await heldAmount(), open]).toEqual(['placed', '0', []]);
});

test.each([
  [2.5, 2],
  [1.25, 1],
  [1, 1],
])(
  'a close that has %d timeouts keeps %d for its order; the cancellation of its stops gets the rest',
  async (given, kept) => {
    const { services, clock } = relay;
    const timeoutMs = services.exchangeTimeoutMs;
    const ends: (number | undefined)[] = [];
    const send = async ({ endByMs }: { readonly endByMs?: number }) => {
      ends.push(endByMs);
      return { status: 'not_sent', note: '', evidence: null } as const;
    };
    const plan: Plan = { verdict: 'ready', action: { isOrder: true, requests: [], send } };
    const position = { amount: parseDecimal('1'), side: null };
    const closed = {
      account: 'main',
      market: 'BTC_USDT',
      position,
      modifiedAtMs: null,
      attached: [],
      amount: position.amount,
    };

    const ready = withExitsCancelled(services, await services.exchangeFor('main'), closed, plan);
    if (ready.verdict !== 'ready') throw new Error('expected a plan');
    await ready.action.send({ timeoutMs, endByMs: clock.nowMs() + given * timeoutMs });

    expect(ends).toEqual([clock.nowMs() + kept * timeoutMs]);
  },
);

test.each([
  ['of an amount', { target: '0.5' }],
  ['of what it is worth', { targetQuote: '25000' }],
  ['of the equity', { target: '2%' }],
])(
  'a target %s whose first leg filled in part does not count as reached, and is an alarm',
  async (_, target) => {
    await buy('b', '2');
    await receive({ id: 't', ...target, maxSlippage: '0.05%' });

    await relay.execute('t');

    expect([await statusOf('t:reduce'), await statusOf('t')]).toEqual(['placed', 'denied']);
    expect(relay.alarms[0]).toMatchObject({ signalId: 't:reduce', name: 'close_incomplete' });
    expect((await relay.entry('t')).steps.at(-1)?.evidence).toMatchObject({ rule: 'position_not_reduced' });
  },
);

test('the first leg of a target that filled in part is an alarm, also when its response is lost', async () => {
  await buy('b', '2');
  await receive({ id: 't', target: '0.5', maxSlippage: '0.05%' });
  relay.paper.control.addFault(lostResponse);
  await relay.execute('t:reduce');
  await relay.reconcileFor(3);

  expect(await statusOf('t:reduce')).toBe('placed');
  expect(relay.alarms.map(({ signalId, name }) => [signalId, name])).toEqual([
    ['t:reduce', 'outcome_unknown'],
    ['t:reduce', 'close_incomplete'],
  ]);
});

test('a target whose first leg filled in part says how far it is', async () => {
  await buy('b', '2');
  await receive({ id: 't', target: '0.5', maxSlippage: '0.05%' });

  await relay.execute('t');

  expect((await relay.entry('t')).steps.at(-1)?.note).toBe(
    `the position of BTC_USDT was to be reduced to long 0.5, and is long ${await heldAmount()}: the order that reduced it did not fill in full`,
  );
});

test.each([
  ['0.005', '280'],
  ['0.001', '30'],
])(
  'a target of a value that is less than a step below the held %s counts as reached',
  async (target, value) => {
    await receive({ id: 'before', ticker: 'BTCUSDT.P', target });
    await relay.runLine('BTC_PERP');
    relay.clock.advance(longestPositionLagMs + 1);

    await receive({ id: 't', ticker: 'BTCUSDT.P', targetQuote: value });
    await relay.runLine('BTC_PERP');

    expect([await statusOf('t:reduce'), await statusOf('t')]).toEqual(['satisfied', 'satisfied']);
    const [order, ...others] = relay.paper.control.state().orders;
    expect([order?.filled, others]).toEqual([target, []]);
  },
);

describe('the stops of an earlier position', () => {
  test('are not waited for once a close has ended them', async () => {
    await receive({ id: 'long', action: 'buy', orderType: 'market', quantity: '0.1', stopLoss: '2%' });
    await relay.execute('long');
    relay.clock.advance(longestPositionLagMs + 1);
    await receive({ id: 'out', action: 'close' });
    await relay.execute('out');
    relay.clock.advance(longestPositionLagMs + 1);
    await buy('again', '0.1');
    const beforeMs = relay.clock.nowMs();

    await receive({ id: 'out-again', action: 'close' });
    await relay.execute('out-again');

    expect(await statusOf('out-again')).toBe('placed');
    expect(relay.clock.nowMs()).toBe(beforeMs);
    expect(relay.alarms).toEqual([]);
  });

  test('are not said to be left when the response to a reduction was lost', async () => {
    await buy('long', '0.3');
    relay.paper.control.addFault({ fault: 'drop_after', endpoint: 'limit', probability: 1 });
    await receive({ id: 't', target: '0.2' });
    await relay.execute('t:reduce');
    relay.paper.control.clearFaults();
    relay.clock.advance(longestPositionLagMs + 1);

    await relay.reconcileFor(3);

    expect([await statusOf('t:reduce'), await heldAmount()]).toEqual(['placed', '0.2']);
    expect(relay.alarms.map(({ name }) => name)).not.toContain('orders_left_open');
  });
});

test('the stop of the leg that opened is cancelled after a close, although the leg before it has just ended all exits', async () => {
  await buy('long', '0.1');
  await receive({ id: 't', target: '-0.1', stopLoss: '2%' });
  await relay.execute('t:reduce');
  relay.clock.advance(longestPositionLagMs + 1);
  await relay.execute('t');
  relay.clock.advance(longestPositionLagMs + 1);
  relay.paper.control.addFault({
    fault: 'read_lag',
    endpoint: 'open-order',
    delayMs: 30_000,
    probability: 1,
  });
  relay.paper.control.addFault({
    fault: 'read_lag',
    endpoint: 'conditional-orders',
    delayMs: 30_000,
    probability: 1,
  });

  await receive({ id: 'flat', target: 'flat' });
  await relay.execute('flat');
  await relay.goOn(60);

  const open = relay.paper.control.state().orders.filter(({ status }) => status === 'open');
  expect([open, await heldAmount()]).toEqual([[], '0']);
});
