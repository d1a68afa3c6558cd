import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import { tradeBalance } from '../../lib/exchange/endpoints/trade-balance.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { createTemplate } from '../../lib/signals/message-template.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { spotSettings } from '../support/spot-settings.ts';

/** The fee of a spot buy is taken from what it buys, so a sale of as much as was bought needs a little less. */
const [account] = Object.values(spotSettings.accounts);

let relay: Aftermath;
beforeEach(async () => {
  relay = await openAftermath('live', undefined, undefined, spotSettings);
  hold('0');
});
afterEach(() => relay.close());

function hold(btc: string): void {
  relay.paper.control.setFunds('main', 'spot', 'BTC', parseDecimal(btc));
}

async function available(): Promise<string> {
  const balances = await (await relay.services.exchangeFor('main')).call(tradeBalance, {});
  return formatDecimal(balances['BTC']?.available ?? parseDecimal('0'));
}

async function send(id: string, members: object): Promise<Entry> {
  return await relay.send(JSON.stringify({ ticker: 'BTCUSDT', id, ...members }));
}

const buy = { action: 'buy', orderType: 'market', quantity: '0.01' };
const sell = { ...buy, action: 'sell' };

const sendingOf = (entry: Entry) => entry.steps.find(({ status }) => status === 'sending');

describe('A spot sale of as much as was bought', () => {
  test.each([
    ['at market', { orderType: 'market' }],
    ['at a limit', { orderType: 'limit', limitPrice: '60000' }],
    ['at a stop-limit', { orderType: 'stop_limit', stopPrice: '45000', limitPrice: '44900' }],
    ['at a stop-market', { orderType: 'stop_market', stopPrice: '45000' }],
  ])('%s is cut to what the fee of the buy has left, and says so', async (_, kind) => {
    await send('buy', buy);
    const sold = await send('sell', { ...sell, ...kind });

    expect(sold.status).toBe('placed');
    expect(relay.paper.control.state().orders.at(-1)?.amount).toBe('0.00999');
    expect(await available()).toBe('0');
    const sending = sendingOf(sold);
    expect(sending?.note).toContain(
      'cut from 0.01 to 0.00999 BTC, which is all that is available: the rest is no more than the fee of what was bought',
    );
    expect(sending?.evidence).toMatchObject({
      sizedOn: { holding: { of: 'spot', currency: 'BTC', available: '0.00999' } },
      cutFrom: '0.01',
      amount: '0.00999',
    });
    expect(sending?.facts).toMatchObject({ amount: '0.00999' });
  });

  test('fills with the message that the command prints for the orders of a strategy', async () => {
    if (account === undefined) throw new Error('there is no account');
    const { message } = createTemplate('orders', account, 'live');
    const fill = (action: string, time: string) =>
      message
        .replace('{{ticker}}', 'BTCUSDT')
        .replace('{{strategy.order.action}}', action)
        .replace('{{strategy.order.contracts}}', '0.01')
        .replace('{{timenow}}', time);
    const bought = await relay.send(fill('buy', new Date(relay.clock.nowMs()).toISOString()));
    relay.clock.advance(1000);
    const sold = await relay.send(fill('sell', new Date(relay.clock.nowMs()).toISOString()));

    expect([bought.status, sold.status]).toEqual(['placed', 'placed']);
    expect(relay.paper.control.state().orders.map(({ status, filled }) => [status, filled])).toEqual([
      ['filled', '0.01'],
      ['filled', '0.00999'],
    ]);
    expect(relay.alarms).toEqual([]);
  });

  test('in the quote currency is cut in the same way', async () => {
    await send('buy', buy);
    const limit = { orderType: 'limit', limitPrice: '50000', quantity: undefined, quoteQuantity: '500' };
    relay.setPrice('49990');
    const sold = await send('sell', { ...sell, ...limit });

    expect(sold.status).toBe('placed');
    expect(relay.paper.control.state().orders.at(-1)?.amount).toBe('0.00999');
  });

  test.each([
    ['a part was sold before', ['buy 0.016', 'sell 0.008', 'sell 0.008'], '0.007984'],
    [
      'parts of several buys were sold before',
      ['buy 0.016', 'sell 0.01', 'buy 0.01', 'sell 0.012', 'sell 0.004'],
      '0.003974',
    ],
    [
      'all was sold once before',
      ['buy 0.016', 'sell 0.016', 'buy 0.004', 'sell 0.003', 'sell 0.001'],
      '0.000996',
    ],
  ])('is cut by the fees of all that it closes where %s', async (_, orders, amount) => {
    for (const [place, order] of orders.entries()) {
      const [action, quantity] = order.split(' ');
      const sent = await send(`order-${place}`, { ...buy, action, quantity });
      expect(sent.status).toBe('placed');
    }

    expect(relay.paper.control.state().orders.at(-1)?.amount).toBe(amount);
    expect(await available()).toBe('0');
  });

  test('by more than the fees since it was all sold last is refused', async () => {
    await send('first', { ...buy, quantity: '1' });
    await send('all', { ...sell, quantity: '1' });
    await send('second', buy);
    hold('0.0098');
    const sold = await send('sell', sell);

    expect(sold.status).toBe('rejected');
  });

  test('is not cut where more is held', async () => {
    hold('0.00001');
    await send('buy', buy);
    const sold = await send('sell', sell);

    expect(sold.status).toBe('placed');
    expect(sendingOf(sold)?.note).toBe('on its way to the exchange');
    expect(await available()).toBe('0');
  });
});

describe('A spot sale of more than is there', () => {
  test('by more than the fee is sent as asked, and the exchange refuses it', async () => {
    hold('0.009989');
    const sold = await send('sell', sell);

    expect(sold.status).toBe('rejected');
    expect(sendingOf(sold)?.evidence).toMatchObject({ amount: '0.01' });
    expect(await available()).toBe('0.009989');
  });

  test('is cut to whole steps of the amount', async () => {
    hold('0.0099909');
    const sold = await send('sell', sell);

    expect(sold.status).toBe('placed');
    expect(relay.paper.control.state().orders.at(-1)?.amount).toBe('0.00999');
  });

  test('is denied where what is there is below the minimum', async () => {
    hold('0.00000999');
    const sold = await send('sell', { ...sell, quantity: '0.00001' });

    expect(sold).toMatchObject({ status: 'denied', steps: [{}, { evidence: { rule: 'min_amount' } }] });
  });

  test('is sent as asked when the balance cannot be read, and says so', async () => {
    hold('0.01');
    relay.paper.control.addFault({ endpoint: 'trade-balance', fault: 'error_before', probability: 1 });
    const sold = await send('sell', sell);

    expect(sold.status).toBe('placed');
    expect(sendingOf(sold)?.note).toContain('the spot balance could not be read, so the amount is as asked');
    relay.paper.control.clearFaults();
    expect(await available()).toBe('0');
  });
});

test('A spot buy reads no balance', async () => {
  await send('buy', buy);

  expect(relay.asked).not.toContain('/api/v4/trade-account/balance');
});

test('A spot sale that fills in part says so, also when its response is lost', async () => {
  hold('2');
  const lost = { fault: 'drop_after', endpoint: 'spot-limit' } as const;
  const sale = { ticker: 'BTCUSDT', id: 'sell', ...sell, quantity: '2', maxSlippage: '0.06%' };
  await relay.send(JSON.stringify(sale), lost);
  await relay.reconcileFor(3);

  const sold = await relay.entry('sell');
  expect(sold.steps.map(({ status }) => status)).toEqual(['accepted', 'sending', 'unknown', 'placed']);
  expect(relay.alarms.map(({ name }) => name)).toEqual(['outcome_unknown', 'close_incomplete']);
  expect(sold.steps.at(-1)?.note).toContain('a sale on spot filled only in part');
});

test('A spot sale that fills in part says how to sell the rest, where nothing can be closed', async () => {
  hold('2');

  const sold = await send('sell', { ...sell, quantity: '2', maxSlippage: '0.06%' });

  const rest = formatDecimal(parseDecimal('2').minus(relay.paper.control.state().orders[0]?.filled ?? '2'));
  expect([sold.status, relay.alarms.map(({ name }) => name)]).toEqual(['placed', ['close_incomplete']]);
  expect(sold.steps.at(-1)?.note).toContain(
    `a sale on spot filled only in part, and nothing tries the rest again: ${rest} of it did not fill; send another sale, with "quantity": "${rest}"`,
  );
  relay.setPrice('50000');
  const again = await send('again', { ...sell, quantity: rest });
  expect([again.status, await available()]).toEqual(['placed', '0']);
});
