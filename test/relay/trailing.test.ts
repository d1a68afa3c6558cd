import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** A stop-loss that the relay moves behind the best price. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

const buy = { action: 'buy', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%', trailing: '2%' };

/** The open orders at each of these prices, each for six seconds. */
async function through(prices: readonly string[]): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const price of prices) {
    relay.setPrice(price);
    await relay.goOn(6);
    seen.push((await relay.open()).join(' | '));
  }
  return seen;
}

describe('The stop-loss of an entry that trails by 2 %', () => {
  test('is held by the exchange from the fill on, and stays while the price does', async () => {
    await relay.say(buy);
    await relay.goOn(60);

    expect(await relay.open()).toEqual(['sell 0.1 stop 49000']);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('moves up with the price, and never down', async () => {
    await relay.say(buy);
    await relay.goOn(30);

    expect(await through(['50500', '51000', '50200', '51000', '52000', '51500'])).toEqual([
      'sell 0.1 stop 49490, reduces',
      'sell 0.1 stop 49980, reduces',
      'sell 0.1 stop 49980, reduces',
      'sell 0.1 stop 49980, reduces',
      'sell 0.1 stop 50960, reduces',
      'sell 0.1 stop 50960, reduces',
    ]);
    relay.setPrice('50900');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('moves only when the best price has gone a tenth of the distance further', async () => {
    await relay.say(buy);
    await relay.goOn(30);

    expect(await through(['50099', '50099.9', '50100', '50199', '50201'])).toEqual([
      'sell 0.1 stop 49000',
      'sell 0.1 stop 49000',
      'sell 0.1 stop 49098, reduces',
      'sell 0.1 stop 49098, reduces',
      'sell 0.1 stop 49196.98, reduces',
    ]);
  });

  test('stays where it was while nothing of the entry is left for a time', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    relay.setPrice('52000');
    await relay.goOn(6);
    await relay.say({ ...buy, quantity: '0.05', trailing: undefined, stopLoss: '48000' });
    await relay.byHand('sell', '0.1');
    await relay.goOn(30);
    expect(await relay.open()).toEqual(['sell 0.05 stop 48000']);

    relay.setPrice('51500');
    await relay.byHand('buy', '0.1');
    await relay.goOn(30);
    expect(await relay.open()).toEqual(['sell 0.05 stop 48000', 'sell 0.1 stop 50960, reduces']);
  });

  test('stands before the old one goes', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    relay.asked.length = 0;
    relay.setPrice('51000');
    await relay.goOn(6);

    const acts = relay.asked.filter((path) => /\/order\//.test(path) && !/history/.test(path));
    expect(acts).toEqual(['/api/v4/order/collateral/stop-limit', '/api/v4/order/cancel']);
  });

  test('begins at the stop-loss that stands beside it, until it is further', async () => {
    await relay.say({ ...buy, stopLoss: '49500' });
    await relay.goOn(30);

    expect(await through(['50300', '50400', '51000'])).toEqual([
      'sell 0.1 stop 49500',
      'sell 0.1 stop 49500',
      'sell 0.1 stop 49980, reduces',
    ]);
  });

  test('keeps the take-profit of the entry when it moves', async () => {
    await relay.say({ ...buy, takeProfit: '53000' });
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.1 at 53000, reduces', 'sell 0.1 stop 49980, reduces']);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('is for what is left when one half is closed', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.goOn(6);
    await relay.say({ action: 'close', quantity: '50%', maxSlippage: '0.5%' });
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.05 stop 49980, reduces']);
    relay.setPrice('52000');
    await relay.goOn(6);
    expect(await relay.open()).toEqual(['sell 0.05 stop 50960, reduces']);
  });

  test('is not placed again when the owner cancels it, however far the price goes', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.goOn(6);
    await relay.cancelByHand('sell 0.1 stop 49980, reduces');
    await relay.goOn(30);
    relay.setPrice('53000');
    await relay.goOn(90);

    expect(await relay.open()).toEqual([]);
    expect(relay.alarmNames()).toContain('position_unprotected');
  });

  test('is told with the price that it has reached when the owner cancels it', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await through(['51000', '50200']);
    await relay.cancelByHand('sell 0.1 stop 49980, reduces');
    await relay.goOn(90);

    expect(relay.alarms).toMatchObject([{ name: 'position_unprotected', stopPrice: '49980' }]);
    expect(relay.alarms[0]).toMatchObject({ whatToDo: expect.stringContaining('"stopPrice":"49980"') });
  });

  test('is told so, too, where a protect asked for it after the entry', async () => {
    await relay.say({ ...buy, trailing: undefined, stopLoss: '48000' });
    await relay.goOn(30);
    await relay.say({ action: 'protect', trailing: '2%' });
    await through(['51000', '50200']);
    await relay.cancelByHand('sell 0.1 stop 49980, reduces');
    await relay.goOn(90);

    expect(relay.alarms).toMatchObject([{ name: 'position_unprotected', stopPrice: '49980' }]);
  });
});

test('A short position is trailed from above', async () => {
  await relay.say({ ...buy, action: 'sell' });
  await relay.goOn(30);

  expect(await through(['49500', '49000', '49800'])).toEqual([
    'buy 0.1 stop 50490, reduces',
    'buy 0.1 stop 49980, reduces',
    'buy 0.1 stop 49980, reduces',
  ]);
  relay.setPrice('50100');
  await relay.goOn(30);
  expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
});

describe('A protect that trails by 1 %', () => {
  const entry = { ...buy, trailing: undefined, stopLoss: '48000', takeProfit: '53000' };
  beforeEach(async () => {
    await relay.say(entry);
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.say({ action: 'protect', trailing: '1%' });
  });

  test('stands at once at its distance from the last price', async () => {
    expect(await relay.open()).toEqual(['sell 0.1 at 53000, reduces', 'sell 0.1 stop 50490, reduces']);
  });

  test('follows the price from there', async () => {
    expect(await through(['51400', '51000', '52000'])).toEqual([
      'sell 0.1 at 53000, reduces | sell 0.1 stop 50886, reduces',
      'sell 0.1 at 53000, reduces | sell 0.1 stop 50886, reduces',
      'sell 0.1 at 53000, reduces | sell 0.1 stop 51480, reduces',
    ]);
    relay.setPrice('51400');
    await relay.goOn(30);
    expect([await relay.held(), await relay.open()]).toEqual(['flat', []]);
    expect(relay.alarmNames()).toEqual([]);
  });

  test('does not move back after a reading that shows no position', async () => {
    await relay.goOn(30);
    relay.setPrice('52000');
    await relay.goOn(6);
    const lag = { fault: 'read_lag', endpoint: 'open-positions', delayMs: 600_000, probability: 1 } as const;
    relay.paper.control.addFault(lag);
    await relay.goOn(3);
    relay.paper.control.clearFaults();
    relay.setPrice('51600');
    await relay.goOn(30);

    expect(await relay.open()).toContain('sell 0.1 stop 51480, reduces');
  });

  test('ends with a fixed stop-loss that takes its place', async () => {
    await relay.goOn(6);
    await relay.say({ action: 'protect', stopLoss: 'entry' });
    relay.setPrice('52500');
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.1 at 53000, reduces', 'sell 0.1 stop 50000, reduces']);
  });

  test('says nothing about the next position', async () => {
    await relay.goOn(30);
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    await relay.goOn(30);
    relay.setPrice('50000');
    await relay.say({ ...entry, stopLoss: '47000' });
    await relay.goOn(60);
    relay.setPrice('51500');
    await relay.goOn(30);

    expect(await relay.open()).toEqual(['sell 0.1 at 53000', 'sell 0.1 stop 47000']);
  });
});

test('The prices of all markets are asked for once a reading', async () => {
  await relay.say(buy);
  await relay.receiveAll(JSON.stringify({ ...buy, ticker: 'ETHUSDT', id: 'of-ether', quantity: '1' }));
  await executeSignal(relay.services, { account: 'main', signalId: 'of-ether', market: 'ETH_USDT' });
  await relay.goOn(30);
  const before = relay.asked.length;
  await relay.goOn(3);

  const asked = relay.asked.slice(before);
  expect(asked.filter((path) => path === '/api/v4/public/ticker')).toHaveLength(1);
});

describe('A protect that trails by 5 %, after the stop-loss was moved to break-even,', () => {
  beforeEach(async () => {
    await relay.say({ ...buy, trailing: undefined, stopLoss: '48000' });
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.say({ action: 'protect', stopLoss: 'entry' });
    await relay.goOn(30);
    expect(await relay.open()).toEqual(['sell 0.1 stop 50000, reduces']);
  });

  test('leaves the stop-loss there until the price is further', async () => {
    const { steps } = await relay.say({ action: 'protect', trailing: '5%' });
    expect(steps.at(-1)?.note).toContain('stop-loss at 50000, which follows 5% behind the best price');

    expect(await through(['51000', '52000', '54000'])).toEqual([
      'sell 0.1 stop 50000, reduces',
      'sell 0.1 stop 50000, reduces',
      'sell 0.1 stop 51300, reduces',
    ]);
  });

  test('ends with a stop-loss that does not trail, and says so', async () => {
    await relay.say({ action: 'protect', trailing: '1%' });
    await relay.goOn(12);
    const { steps } = await relay.say({ action: 'protect', stopLoss: '50500' });

    expect(steps.at(-1)?.note).toContain('stop-loss at 50500, and it does not follow the price any more');
    expect(await through(['53000'])).toEqual(['sell 0.1 stop 50500, reduces']);
  });
});

test('A protect that trails does not begin at a stop-loss that the owner has ended', async () => {
  await relay.say({ ...buy, trailing: undefined, stopLoss: '49800' });
  await relay.goOn(30);
  await relay.cancelByHand('sell 0.1 stop 49800');
  await relay.goOn(60);
  await relay.say({ action: 'protect', trailing: '5%' });
  await relay.goOn(30);

  expect(await relay.open()).toEqual(['sell 0.1 stop 47500, reduces']);
});

test('A protect of a short position that trails begins at the nearest stop-loss above the price', async () => {
  await relay.say({ ...buy, action: 'sell', trailing: undefined, stopLoss: '51000' });
  await relay.goOn(30);
  await relay.say({ action: 'protect', trailing: '5%' });
  await relay.goOn(30);

  expect(await relay.open()).toEqual(['buy 0.1 stop 51000, reduces']);
});
