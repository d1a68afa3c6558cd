import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { tellExecutions } from '../../../infra/local/tell-executions.ts';
import type { Executions } from '../../../lib/ledger/executions.ts';
import type { Execution } from '../../../lib/model/execution.ts';
import { buyAlert } from '../../support/alerts.ts';
import { openWorld, type World } from '../../support/world.ts';

let world: World;

beforeEach(async () => {
  world = await openWorld({ dialect: 'live' });
  world.setPrice('BTC_USDT', '50000');
});

afterEach(() => world.close());

async function placeEntry(changes: Record<string, unknown> = {}): Promise<void> {
  await world.post(buyAlert(changes));
  await world.settled('buy-1');
  await world.follow();
}

async function moveTo(price: string, volume?: string): Promise<void> {
  world.setPrice('BTC_USDT', price, volume);
  await world.follow();
}

/** What the terminal shows of the orders after they were placed. */
function told(): readonly string[] {
  const texts = world.logged
    .filter(({ facts }) => facts['signalId'] === 'buy-1')
    .map(({ message }) => message);
  return texts.slice(texts.indexOf('signal placed') + 1);
}

const entered = [
  'filled 0.01 BTC_USDT at 50150 (buy), fee 0.5015 USDT',
  'stop-loss of BTC_USDT at 49000 stands',
  'take-profit of BTC_USDT at 52000 stands',
];

describe('a local run tells', () => {
  test('the fill of an entry, its exits, and what the stop-loss cost', async () => {
    await placeEntry();
    await moveTo('50150');
    expect(told()).toEqual(entered);

    await moveTo('48990');

    expect(told().slice(3)).toEqual([
      'stopped out -12.59 USDT: 0.01 BTC_USDT at 48990 (sell), fee 0.4899 USDT',
    ]);
  });

  test('what the take-profit made', async () => {
    await placeEntry();
    await moveTo('50150');
    await moveTo('52000');

    expect(told()).toEqual([
      ...entered,
      'target reached +17.48 USDT: 0.01 BTC_USDT at 52000 (sell), fee 0.52 USDT',
    ]);
  });

  test('each part of an order that fills in parts, once', async () => {
    await placeEntry({ stopLoss: undefined, takeProfit: undefined });
    await moveTo('50150', '0.004');
    await moveTo('50150', '0.006');
    await world.follow();

    expect(told()).toEqual([
      'filled in part: 0.004 BTC_USDT at 50150 (buy), fee 0.2006 USDT',
      'filled 0.006 BTC_USDT at 50200 (buy), fee 0.3012 USDT',
    ]);
  });

  test('an order that was cancelled', async () => {
    await placeEntry();
    await world.post(JSON.stringify({ id: 'cancel-1', ticker: 'BTCUSDT', action: 'cancel_all' }));
    await world.settled('cancel-1');
    await world.follow();

    expect(told()).toEqual(['order of BTC_USDT cancelled, 0 filled']);
  });
});

test('an entry that cannot be read keeps no fill from being stored', async () => {
  const recorded: unknown[] = [];
  const executions = {
    record: async (...given: unknown[]) => recorded.push(given) > 0,
  } as unknown as Executions;
  const read = async () => {
    throw new Error('the disk is slow');
  };
  const silence = () => undefined;
  const log = { info: silence, warn: silence, error: silence };
  const execution = { orders: [] } as unknown as Execution;

  const told = tellExecutions(executions, { ledger: { read }, log });

  expect(await told.record({ account: 'main', signalId: 'buy-1' }, execution, [])).toBe(true);
  expect(recorded).toHaveLength(1);
});
