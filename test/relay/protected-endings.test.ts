import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findDealsState, readDealsState } from '../../lib/account/account-deals.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import type { Account } from '../../lib/model/account.ts';
import { findAccount } from '../../lib/model/settings.ts';
import { formatProfit } from '../../lib/reports/format-profit.ts';
import { readEndings } from '../../lib/reports/read-endings.ts';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** How entries end whose stop-losses and take-profits the relay has placed, and how those end. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

/** `s1 stopped_out -204.9`, of every order, oldest first; who cancelled it. */
async function endings(held: string | null = null): Promise<readonly string[]> {
  const { ledger, executions, facts, clock } = relay.services;
  const { entries } = await ledger.list({ account: 'main', limit: 50, oldestFirst: true });
  const firstOf = async (account: string) => (await readDealsState(facts, account))?.first ?? null;
  const heldOf = async () => (held === null ? null : parseDecimal(held));
  const sources = { ledger, executions, firstOf, isSpot: () => false, heldOf };
  const told = await readEndings(sources, entries, clock.nowMs());
  return entries.flatMap(({ signalId }, index) => {
    const ending = told[index] ?? null;
    if (ending === null) return [];
    const { state, profit, cancelledBy, reason } = ending;
    const name = (id: string) => id.replace(/-[0-9a-z]+$/, '');
    const parts = [name(signalId), state];
    if (profit !== null) parts.push(formatProfit(profit));
    if (reason !== null) parts.push(`(${reason})`);
    if (cancelledBy !== undefined) parts.push(`by ${cancelledBy === null ? 'hand' : name(cancelledBy)}`);
    return [parts.join(' ')];
  });
}

const buy = {
  action: 'buy',
  orderType: 'market',
  quantity: '0.1',
  maxSlippage: '0.5%',
  stopLoss: '48000',
};
const parts = [
  { price: '51000', share: '50%' },
  { price: '52000', share: '50%' },
];

describe('An entry', () => {
  test('that was closed by hand takes nothing of what later orders made', async () => {
    const unprotected = { ...buy, stopLoss: undefined };
    await relay.say(unprotected);
    await relay.goOn(12);
    await relay.byHand('sell', '0.1');
    await relay.goOn(12);
    for (const price of ['50500', '49500']) {
      relay.setPrice('50000');
      await relay.say(unprotected);
      await relay.goOn(12);
      relay.setPrice(price);
      await relay.say({ action: 'close', maxSlippage: '0.5%' });
      await relay.goOn(12);
    }

    expect(await endings()).toEqual([
      's1 closed -10.00',
      's2 closed +39.95',
      's3 reduced +39.95',
      's4 closed -59.95',
      's5 reduced -59.95',
    ]);
  });

  test('is open, when the owner has closed what the account held at first', async () => {
    await relay.byHand('buy', '0.1');
    const account = findAccount(relay.services.settings, 'main') as Account;
    const client = await relay.services.exchangeFor('main');
    await findDealsState(relay.services, account, { client, options: {} });
    await relay.goOn(30);
    await relay.say(buy);
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(30);

    expect(await endings('0.1')).toEqual(['s1 open']);
  });

  test('takes nothing of later orders, when it was closed before anybody had read the account', async () => {
    const unprotected = { ...buy, stopLoss: undefined };
    await relay.say(unprotected);
    await relay.goOn(12);
    await relay.services.facts.write('main', 'deals', null);
    await relay.byHand('sell', '0.1');
    relay.clock.advance(60_000);
    const account = findAccount(relay.services.settings, 'main') as Account;
    const client = await relay.services.exchangeFor('main');
    await findDealsState(relay.services, account, { client, options: {} });
    await relay.say(unprotected);
    await relay.goOn(12);
    relay.setPrice('50500');
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    await relay.goOn(12);

    expect((await endings()).slice(1)).toEqual(['s2 closed +39.95', 's3 reduced +39.95']);
  });

  test('is uncertain, when the owner has closed what nobody had read, and more stands than the fills tell', async () => {
    await relay.byHand('buy', '0.1');
    await relay.goOn(30);
    relay.paper.control.addFault({ fault: 'error_before', endpoint: 'executed-history', probability: 1 });
    await relay.say(buy);
    relay.paper.control.clearFaults();
    await relay.goOn(30);
    await relay.byHand('sell', '0.1');
    await relay.goOn(30);

    expect(await endings('0.1')).toEqual(['s1 uncertain']);
  });

  test('that a moved stop-loss closed was stopped out', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await relay.say({ action: 'protect', stopLoss: '49000' });
    await relay.goOn(30);
    relay.setPrice('48900');
    await relay.goOn(30);

    expect(await endings()).toEqual(['s1 stopped_out -119.89', 's2:stop reduced -119.89']);
  });

  test('that another order closed was not stopped out by the stop-loss that filled after it', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    relay.setPrice('50500');
    await relay.say({ action: 'sell', orderType: 'market', quantity: '0.1', maxSlippage: '0.5%' });
    relay.setPrice('47900');
    await relay.goOn(30);

    expect(await relay.held()).toBe('-0.1');
    expect(await endings()).toEqual(['s1 closed +39.95', 's2 reduced +39.95']);
  });

  test('that several take-profits closed has reached its target', async () => {
    await relay.say({ ...buy, takeProfits: parts });
    await relay.goOn(30);
    relay.setPrice('52500');
    await relay.goOn(30);

    expect(await endings()).toEqual([
      's1 target +139.85',
      's1:target1 reduced +44.95',
      's1:target2 reduced +94.90',
    ]);
  });

  test('that a take-profit and then a stop-loss closed was closed', async () => {
    await relay.say({ ...buy, takeProfits: parts });
    await relay.goOn(30);
    relay.setPrice('51000');
    await relay.goOn(30);
    relay.setPrice('47900');
    await relay.goOn(30);

    expect(await endings()).toEqual([
      's1 closed -64.95',
      's1:target1 reduced +44.95',
      's1:target2 cancelled (AUTO_CANCELED_REDUCE_ONLY)',
      's1:stop reduced -109.90',
    ]);
  });

  test('keeps its own stop-loss apart from that of another entry', async () => {
    await relay.say({ ...buy, takeProfits: parts });
    await relay.say({ ...buy, stopLoss: '46000' });
    await relay.goOn(30);
    await relay.say({ action: 'close', quantity: '75%', maxSlippage: '0.5%' });
    await relay.goOn(30);
    relay.setPrice('45900');
    await relay.goOn(30);

    expect((await endings()).filter((line) => /^s[123] /.test(line))).toEqual([
      's1 closed -10.00',
      's2 closed -214.80',
      's3 reduced -15.00',
    ]);
  });
});

describe('An order that protects', () => {
  test('was cancelled by the one that took its place, and by the exchange when the position was closed', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await relay.say({ action: 'protect', stopLoss: '49000' });
    await relay.goOn(30);
    await relay.say({ action: 'protect', stopLoss: '49500' });
    await relay.goOn(30);
    await relay.say({ action: 'close', maxSlippage: '0.5%' });
    await relay.goOn(30);

    expect(await endings()).toEqual([
      's1 closed -10.00',
      's2:stop cancelled by s3:stop',
      's3:stop cancelled (AUTO_CANCELED_REDUCE_ONLY)',
      's4 reduced -10.00',
    ]);
  });

  test('was cancelled by hand when the owner did it', async () => {
    await relay.say(buy);
    await relay.goOn(30);
    await relay.say({ action: 'protect', stopLoss: '49000' });
    await relay.goOn(30);
    await relay.cancelByHand('sell 0.1 stop 49000, reduces');
    await relay.goOn(30);

    expect(await endings()).toEqual(['s1 open', 's2:stop cancelled by hand']);
  });
});
