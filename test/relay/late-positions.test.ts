import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type KeptRelay, openKeptRelay } from '../support/kept-relay.ts';

/** Lists of the exchange that are later than any the relay reckons with, while its own orders have told what they did. */
let relay: KeptRelay;
beforeEach(async () => {
  relay = await openKeptRelay();
});
afterEach(() => relay.close());

function lag(seconds: number, endpoint?: string): void {
  relay.paper.control.addFault({
    fault: 'read_lag',
    delayMs: seconds * 1000,
    probability: 1,
    ...(endpoint === undefined ? {} : { endpoint }),
  });
}

/** What waits for the list is delivered again. */
async function goOn(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 3) await relay.goOn(3).catch(isWaiting);
}

function isWaiting(error: unknown): void {
  if (!String(error).includes('waits for the position')) throw error;
}

async function heldAtLast(): Promise<string> {
  relay.paper.control.clearFaults();
  return await relay.held();
}

const market = { orderType: 'market', maxSlippage: '1%' };
const buy = { action: 'buy', quantity: '0.2', ...market };

describe('While the list of positions is twelve seconds late, and all other lists are current', () => {
  test.each([
    ['close', {}, 'flat'],
    ['close', { quantity: '50%' }, '0.1'],
    ['flat', {}, 'flat'],
    ['target', { target: '0.05' }, '0.05'],
    ['target', { target: '-0.1' }, '-0.1'],
    ['reverse', { quantity: '0.1' }, '-0.1'],
  ])('%s %j right after a buy does what it says', async (action, members, held) => {
    lag(12, 'open-positions');
    await relay.say({ ...buy, stopLoss: '2%' });
    await relay.goOn(3);
    await relay.say({ action, ...market, ...members }).catch(isWaiting);
    await goOn(60);

    expect(await heldAtLast()).toBe(held);
  });

  test.each([
    ['close', {}, 'flat'],
    ['flat', {}, 'flat'],
    ['reverse', { quantity: '0.1' }, '-0.1'],
  ])('%s %j closes all of two buys, of which the list shows one', async (action, members, held) => {
    lag(12, 'open-positions');
    await relay.say(buy);
    await relay.goOn(15);
    await relay.say({ ...buy, quantity: '0.3' });
    await relay.goOn(9);
    await relay.say({ action, ...market, ...members }).catch(isWaiting);
    await goOn(60);

    expect(await heldAtLast()).toBe(held);
  });

  test('the stop-loss of a buy stays', async () => {
    lag(12, 'open-positions');
    await relay.say({ ...buy, stopLoss: '2%' });
    for (let seconds = 0; seconds < 30; seconds += 3) {
      await relay.goOn(3);
      expect(await relay.open()).toHaveLength(1);
    }
  });

  test('what was closed by hand since is not waited for', async () => {
    await relay.say(buy);
    await relay.byHand('sell', '0.2');
    relay.clock.advance(12_000);
    const saidAtMs = relay.clock.nowMs();

    expect((await relay.say({ action: 'close', ...market })).status).toBe('satisfied');
    expect(relay.clock.nowMs()).toBe(saidAtMs);
  });
});

describe('A resting buy has just filled, and neither the list of positions nor that of deals shows it yet', () => {
  beforeEach(async () => {
    await relay.say({ action: 'buy', orderType: 'limit', limitPrice: '49900', quantity: '0.2' });
    await goOn(30);
  });

  test.each([
    ['target', { target: '0.3' }, '0.3'],
    ['target', { target: '0.1' }, '0.1'],
    ['target', { target: '-0.1' }, '-0.1'],
    ['reverse', { quantity: '0.1' }, '-0.1'],
    ['close', { quantity: '50%' }, '0.1'],
    ['close', {}, 'flat'],
    ['close', { keepEntries: true }, 'flat'],
  ])('%s %j is sized on what it filled', async (action, members, held) => {
    for (const list of ['open-positions', 'executed-history', 'ended-order']) lag(8, list);
    relay.setPrice('49800');
    await relay.say({ action, ...market, ...members }).catch(isWaiting);
    await goOn(60);

    expect(await heldAtLast()).toBe(held);
  });

  test.each([
    ['target', { target: '0.3' }, '0.3'],
    ['target', { target: '0.1' }, '0.1'],
    ['close', { quantity: '50%' }, '0.05'],
  ])('%s %j is sized on the part that it filled', async (action, members, held) => {
    for (const list of ['open-positions', 'executed-history']) lag(8, list);
    relay.fill('49900', '0.1');
    await relay.say({ action, ...market, ...members }).catch(isWaiting);
    await goOn(60);

    expect(await heldAtLast()).toBe(held);
  });
});

test('A target right after a take-profit that no list shows yet restores the position', async () => {
  await relay.say({ ...buy, takeProfit: '51000' });
  await goOn(30);
  for (const list of ['open-positions', 'executed-history', 'ended-order']) lag(3, list);
  relay.setPrice('51100');
  await relay.say({ action: 'target', ...market, target: '0.2' }).catch(isWaiting);
  await goOn(60);

  expect(await heldAtLast()).toBe('0.2');
});

test('What an owner has cancelled by hand holds a target up for ten seconds at most', async () => {
  await relay.say({ action: 'buy', orderType: 'limit', limitPrice: '49900', quantity: '0.2' });
  await goOn(30);
  await relay.cancelByHand('buy 0.2 at 49900');
  lag(600, 'ended-order');
  const saidAtMs = relay.clock.nowMs();
  let status = '';
  for (let tries = 0; tries < 10 && status !== 'placed'; tries += 1) {
    const said = tries === 0 ? relay.say({ action: 'target', ...market, target: '0.1' }) : relay.goOn(3);
    await said.catch(isWaiting);
    status = (await relay.entry('s2')).status;
  }

  expect(status).toBe('placed');
  expect(relay.clock.nowMs() - saidAtMs).toBeLessThan(15_000);
  expect(await heldAtLast()).toBe('0.1');
});
