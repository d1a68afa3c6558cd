import { describe, expect, test } from '@jest/globals';
import { type Decimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { createRandom, type Random } from '../../lib/base/random.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import { isOrderEnd } from '../../lib/model/order.ts';
import { executeSignal } from '../../lib/relay/execute/execute-signal.ts';
import { pickOne } from '../simulation/dice.ts';
import { type Aftermath, openAftermath } from '../support/aftermath.ts';
import { runs } from '../support/runs.ts';

/**
 * A stop-loss or take-profit fires while a close or a reversal runs: with each of its requests, one after the other. A position
 * is never turned in silence, and nothing of the relay stays open in silence that could turn it later.
 */
interface Scene {
  readonly name: string;
  readonly action: object;
  readonly isLong: boolean;
  /** Of the exits from the price, in the direction of a loss; a near one fires within the bound of the close. */
  readonly stopLoss: string;
  readonly takeProfit: string | undefined;
  /** Of each entry. */
  readonly amounts: readonly string[];
  readonly restsBelow: boolean;
  readonly lagMs: number;
  readonly isFollowed: boolean;
  /** What the position is at most afterwards, on the other side. */
  readonly isReverse: boolean;
  readonly fires: 'stop' | 'target';
  readonly part: string | undefined;
}

function drawScene(random: Random, number: number): Scene {
  const isReverse = pickOne(random, [true, false]);
  const isLong = pickOne(random, [true, false]);
  const [near, far] = isLong ? ['49900', '48000'] : ['50100', '52000'];
  const close = pickOne(random, [
    { action: 'close' },
    { action: 'flat' },
    { action: 'close', maxSlippage: '0.06%' },
  ]);
  return {
    name: `scene ${number}`,
    action: isReverse ? { action: 'reverse' } : close,
    isReverse,
    isLong,
    stopLoss: pickOne(random, [near, far]),
    takeProfit: pickOne(random, [undefined, isLong ? '50200' : '49800']),
    amounts: pickOne(random, [['0.1'], ['0.1', '0.2'], ['0.9', '0.9']]),
    restsBelow: pickOne(random, [true, false]),
    lagMs: pickOne(random, [0, 0, 1500]),
    isFollowed: pickOne(random, [true, false]),
    fires: pickOne(random, ['stop', 'stop', 'target'] as const),
    part: pickOne(random, [undefined, undefined, '0.05']),
  };
}

const sides = (isLong: boolean) => (isLong ? 'buy' : 'sell');

async function send(relay: Aftermath, id: string, members: object): Promise<void> {
  await relay.receiveAll(JSON.stringify({ ticker: 'BTCUSDT', id, maxSlippage: '0.5%', ...members }));
  const isReverse = 'action' in members && members.action === 'reverse';
  for (const signalId of isReverse ? [`${id}:reduce`, id] : [id])
    await executeSignal(relay.services, { account: 'main', signalId, market: 'BTC_USDT' }).catch(
      () => undefined,
    );
}

async function heldAmount(relay: Aftermath): Promise<Decimal> {
  relay.paper.control.clearFaults();
  const client = await relay.services.exchangeFor('main');
  const { records } = await client.call(openPositions, { market: 'BTC_USDT' });
  return records[0]?.amount ?? zero;
}

interface Result {
  /** Requests of the close, so that another run can fire at one of them. */
  readonly requests: number;
  readonly held: Decimal;
  readonly alarms: readonly string[];
  readonly statuses: readonly string[];
  readonly openSides: readonly string[];
  readonly path: string | undefined;
}

/** @param at with which request of the close the exit fires; null: with none */
async function play(scene: Scene, at: number | null): Promise<Result> {
  let onRequest = (): void => undefined;
  const relay = await openAftermath('live', () => onRequest());
  try {
    const side = sides(scene.isLong);
    const { stopLoss, takeProfit, amounts } = scene;
    const exits = { stopLoss, ...(takeProfit === undefined ? {} : { takeProfit }) };
    for (const [index, quantity] of amounts.entries()) {
      await send(relay, `e${index}`, { action: side, orderType: 'market', quantity, ...exits });
      relay.setPrice('50000');
    }
    if (scene.restsBelow)
      await send(relay, 'r', {
        action: side,
        orderType: 'limit',
        limitPrice: scene.isLong ? '49950' : '50050',
        quantity: '0.1',
        maxSlippage: undefined,
      });
    if (scene.isFollowed) await relay.follow();
    relay.clock.advance(longestPositionLagMs + 1);
    const from = relay.asked.length;
    const firedAt =
      scene.fires === 'stop'
        ? parseDecimal(stopLoss).times(scene.isLong ? '0.9999' : '1.0001')
        : parseDecimal(takeProfit ?? '50000').times(scene.isLong ? '1.0001' : '0.9999');
    let path: string | undefined;
    onRequest = () => {
      if (at === null || relay.asked.length - from !== at + 1) return;
      path = relay.asked.at(-1);
      const amount = scene.part === undefined ? undefined : parseDecimal(scene.part);
      relay.paper.control.setPrice('BTC_USDT', firedAt, amount);
    };
    if (scene.lagMs > 0)
      relay.paper.control.addFault({
        fault: 'read_lag',
        endpoint: 'open-positions',
        delayMs: scene.lagMs,
        probability: 1,
      });
    await send(relay, 'c', scene.action);
    onRequest = () => undefined;
    const requests = relay.asked.length - from;
    const ids = scene.isReverse ? ['c:reduce', 'c'] : ['c'];
    const entries = await Promise.all(ids.map((id) => relay.entry(id)));
    const orders = relay.paper.control.state().orders.filter(({ status }) => !isOrderEnd(status));
    return {
      requests,
      held: await heldAmount(relay),
      alarms: relay.alarms.map(({ name }) => name),
      statuses: entries.map(({ status }) => status),
      openSides: orders.map((order) => order.side),
      path,
    };
  } finally {
    await relay.close();
  }
}

/** What is wrong and was not told; null: nothing. */
function findSilence(scene: Scene, { held, alarms, statuses, openSides }: Result): string | null {
  if (alarms.length > 0 || statuses.at(-1) === 'accepted') return null;
  const before = scene.isLong ? held : held.neg();
  // What fills of the entry that rests is closed and turned with the others.
  const resting = parseDecimal(scene.restsBelow ? '0.1' : '0');
  const opened = scene.amounts.reduce((sum, amount) => sum.plus(parseDecimal(amount)), resting);
  const isOver = statuses[0] === 'placed' || statuses[0] === 'satisfied';
  if (scene.isReverse ? before.neg().gt(opened) : before.lt(zero)) return `turned to ${held.toFixed()}`;
  if (before.gt(zero) && isOver) return `still ${held.toFixed()}, and the close is ${statuses[0] ?? ''}`;
  // The exits of what a reverse has opened are on the side of the first entries; it asks for none.
  if (isOver && openSides.length > 0) return `open: ${openSides.join(', ')}`;
  return null;
}

const seed = 20_261_204;

describe('A stop that fires during a close', () => {
  test('never turns a position in silence, whichever request it meets', async () => {
    const random = createRandom(seed);
    const silent: string[] = [];
    let fired = 0;
    for (let number = 1; number <= runs(60); number += 1) {
      const scene = drawScene(random, number);
      const { requests } = await play(scene, null);
      for (let at = 0; at < requests; at += 1) {
        const result = await play(scene, at);
        fired += result.path === undefined ? 0 : 1;
        const found = findSilence(scene, result);
        if (found !== null)
          silent.push(
            `${JSON.stringify(scene)} at request ${at} (${result.path ?? ''}): ${found} ${result.statuses.join(' ')}`,
          );
      }
    }
    expect(silent).toEqual([]);
    expect(fired).toBeGreaterThan(runs(300));
  });
});
