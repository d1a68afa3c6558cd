import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseRehearsed, rehearsedFactOf } from '../../lib/account/rehearsed.ts';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { limit } from '../../lib/exchange/endpoints/limit.ts';
import { market } from '../../lib/exchange/endpoints/market.ts';
import type { TradingGround } from '../../lib/model/account.ts';
import type { ExitSettingsChange } from '../../lib/paper/engine/exit-settings.ts';
import type { FaultRequest } from '../../lib/paper/faults/faults.ts';
import { readNotes } from '../../lib/rehearsal/rehearsal-book.ts';
import { openRehearsalWorld, type RehearsalWorld } from '../support/rehearsal-world.ts';

let world: RehearsalWorld;

beforeEach(async () => {
  world = await openRehearsalWorld();
});
afterEach(() => world.close());

const foundIn = async (step: '1' | '2' | '3' | '4' | '5' | '6', ground: TradingGround = 'margin') =>
  parseRehearsed(await world.facts.read('main', rehearsedFactOf(ground)))[step]?.found;
const always = (fault: FaultRequest['fault'], endpoint: string, delayMs?: number) =>
  world.paper.control.addFault({
    fault,
    endpoint,
    probability: 1,
    ...(delayMs === undefined ? {} : { delayMs }),
  });

describe('a rehearsal', () => {
  test.each([
    ['BTC_USDT', 'margin'],
    ['BTC_PERP', 'futures'],
    ['DBTC_DUSDT', 'spot'],
  ] as const)('in %s passes all steps on %s, and leaves nothing', async (market, ground) => {
    const result = await world.run({ market, ground });

    expect(result).toMatchObject({ left: null, declined: null });
    expect(result.tried.map(({ step, outcome }) => `${step} ${outcome.passed}`)).toEqual(
      ['1', '2', '3', '4', '5', '6'].map((step) => `${step} true`),
    );
    expect(world.left()).toEqual([]);
    expect((await readNotes(world.facts, 'main', ground)).sent).toEqual([]);
  });

  test('passes all steps in hedge mode, too', async () => {
    world.paper.control.setHedgeMode('main', true);

    const { left, tried } = await world.run({ market: 'BTC_PERP', ground: 'futures' });

    expect(left).toBeNull();
    expect(tried.filter(({ outcome }) => !outcome.passed)).toEqual([]);
    expect(tried).toHaveLength(6);
    expect(await foundIn('6', 'futures')).toMatchObject({ exits: 'made', shortSign: 'by its side' });
    expect(world.left()).toEqual([]);
  });

  test('keeps what it found out', async () => {
    await world.run();

    expect(await foundIn('1')).toMatchObject({ lists: 8, unknownWords: '', unknownFields: '' });
    expect(await foundIn('2')).toMatchObject({
      sameId: 'refused with code 36',
      cancelledInHistory: true,
      listedAfterMs: 0,
    });
    expect(await foundIn('3')).toEqual({ ioc: 'taken', endsAs: 'cancelled' });
    expect(await foundIn('4')).toEqual({ trigger: 'by_price' });
    expect(await foundIn('5')).toEqual({
      exits: 'in the answer, as oto',
      listedIn: 'conditional-orders, orders',
      listedAfterMs: 0,
    });
    expect(await foundIn('6')).toMatchObject({
      exits: 'made',
      exitsAfterMs: 0,
      exitOrders: 2,
      exitsListedIn: 'orders, conditional-orders',
      stopId: 10_000_000_010,
      stopType: 'stop_limit',
      stopReduceOnly: false,
      targetId: 10_000_000_011,
      targetType: 'limit',
      attachedToPosition: false,
      shortSign: 'negative',
    });
  });

  test('on spot finds in which currency the fee is taken, and that a stop-loss stands', async () => {
    await world.run({ market: 'DBTC_DUSDT', ground: 'spot' });

    expect(await foundIn('5', 'spot')).toEqual({ exits: 'not on spot' });
    expect(await foundIn('6', 'spot')).toEqual({ dealAfterMs: 0, feeIn: 'DBTC', stop: 'taken' });
  });

  test('fills nothing in the first five steps', async () => {
    await world.run({ to: '5' });

    expect(world.paper.control.state().orders.filter(({ filled }) => filled !== '0')).toEqual([]);
  });

  test('sends each order once: each has a client order id of its own', async () => {
    await world.run({ from: '3' });

    const named = world.paper.control.state().orders.filter(({ clientOrderId }) => clientOrderId !== '');
    expect(named.every(({ clientOrderId }) => /^rehearse-[2-6]-[0-9a-z]+-\d+$/.test(clientOrderId))).toBe(
      true,
    );
    expect(new Set(named.map(({ clientOrderId }) => clientOrderId)).size).toBe(named.length);
  });

  test('ends before a step that the owner does not want', async () => {
    const result = await world.run({ confirm: (step) => step !== '3' });

    expect(result).toMatchObject({ declined: '3', left: null });
    expect(result.tried.map(({ step }) => step)).toEqual(['1', '2']);
  });
});

describe('an answer that is known', () => {
  test.each<[string, ExitSettingsChange, object]>([
    ['no exits', { madeAt: 'never' }, { exits: 'none' }],
    ['exits with each fill', { madeAt: 'first_fill' }, { exits: 'made' }],
    ['exits that only reduce', { reduceOnly: true }, { stopReduceOnly: true, targetReduceOnly: true }],
    ['a stop-loss at market', { stopKind: 'market' }, { stopType: 'stop_market' }],
    ['exits that the position shows', { showsAttached: true }, { attachedToPosition: true }],
    [
      'exits that the list of open orders leaves out',
      { showsAttached: true, listsExits: false },
      { exits: 'made', exitsListedIn: 'conditional-orders', attachedToPosition: true },
    ],
  ])('is kept of the last step: %s', async (_, exits, found) => {
    world.paper.control.setExits(exits);

    const result = await world.run({ from: '6' });

    expect(result.tried).toMatchObject([{ outcome: { passed: true } }]);
    expect(await foundIn('6')).toMatchObject(found);
    expect(world.left()).toEqual([]);
  });

  test('is that the exchange takes no "immediate or cancel": the last step then goes at market', async () => {
    always('refuse_ioc', 'limit');

    const { tried } = await world.run({ from: '3' });

    expect(tried.map(({ outcome }) => outcome.passed)).toEqual([true, true, true, true]);
    expect(await foundIn('3')).toMatchObject({ ioc: 'refused' });
    expect(world.left()).toEqual([]);
  });

  test('is that the side of a stop decides which way it waits', async () => {
    world.paper.control.setExits({ stopsWaitBy: 'side' });

    await world.run({ from: '4', to: '4' });

    expect(await foundIn('4')).toEqual({ trigger: 'by_side' });
    expect(world.left()).toEqual([]);
  });

  test('is that cancelled orders stand in no history, as for partners', async () => {
    world.paper.control.listCancelled('main', false);

    const { left, tried } = await world.run({ from: '2', to: '4' });

    expect({ left, passed: tried.map(({ outcome }) => outcome.passed) }).toEqual({
      left: null,
      passed: [true, true, true],
    });
    expect(await foundIn('2')).toMatchObject({ cancelledInHistory: false });
  });

  test('is how far the lists lag', async () => {
    always('read_lag', 'open-order', 2_000);

    await world.run({ from: '2', to: '2' });

    expect(await foundIn('2')).toMatchObject({ listedAfterMs: 2_000 });
  });

  test('is that the list of open orders has the exits later than that of pairs', async () => {
    always('read_lag', 'open-order', 2_000);

    const { left, tried } = await world.run({ from: '6' });

    expect([left, tried[0]?.outcome.passed]).toEqual([null, true]);
    expect(await foundIn('6')).toMatchObject({
      exits: 'made',
      exitsAfterMs: 2_000,
      exitsListedIn: 'orders, conditional-orders',
    });
  });

  test('is a word and a field that nobody has documented', async () => {
    await world.run({ from: '2', to: '2' });
    always('unknown_word', 'ended-order');

    await world.run({ from: '1', to: '1' });
    expect(await foundIn('1')).toMatchObject({ unknownWords: 'ended-order status: UNDOCUMENTED' });

    world.paper.control.clearFaults();
    always('unknown_field', 'ended-order');
    await world.run({ from: '1', to: '1' });
    expect(await foundIn('1')).toMatchObject({ unknownWords: '', unknownFields: 'ended-order undocumented' });
  });
});

describe('a wrong answer', () => {
  test.each<[string, '1' | '2' | '3' | '4' | '5' | '6', () => unknown, RegExp]>([
    ['a list that cannot be read', '1', () => always('garbage', 'open-order'), /the list open-order cannot/],
    ['an order that no list shows', '2', () => always('read_lag', 'open-order', 86_400_000), /does not show/],
    [
      'a second order with the same client order id',
      '2',
      () => world.paper.control.setExits({ takesUsedIds: true }),
      /took a second order/,
    ],
    ['a post-only order that is refused', '2', () => always('refuse', 'limit'), /post-only limit order/],
    [
      'another refusal of "immediate or cancel"',
      '3',
      () => always('refuse', 'limit'),
      /"immediate or cancel"/,
    ],
    [
      'an "immediate or cancel" order whose response is lost',
      '3',
      () => always('drop_after', 'limit'),
      /"immediate/,
    ],
    [
      'a stop whose response is about another order',
      '4',
      () => always('contradict', 'stop-limit'),
      /another order/,
    ],
    ['an order with exits that is refused', '5', () => always('refuse', 'limit'), /with a stop-loss/],
    ['an entry whose response is lost', '6', () => always('drop_after', 'limit'), /the long entry/],
    [
      'a short position that is listed as a long one',
      '6',
      () => always('unsigned_short', 'open-positions'),
      /amount above zero, like a long one/,
    ],
    [
      'exits that only the list of pairs has',
      '6',
      () => world.paper.control.setExits({ listsExits: false }),
      /only conditional-orders lists the stop-loss/,
    ],
    [
      'exits with a client order id',
      '6',
      () => world.alterBodies((body) => body.replaceAll('"clientOrderId":""', '"clientOrderId":"exit"')),
      /carry the client order id "exit"/,
    ],
  ])('stops there and leaves nothing: %s', async (_, step, play, reason) => {
    play();

    const result = await world.run({ from: step });

    expect(result.left).toBeNull();
    expect(result.tried).toEqual([
      { step, outcome: { passed: false, reason: expect.stringMatching(reason) } },
    ]);
    expect(world.left()).toEqual([]);
    const notes = await readNotes(world.facts, 'main', 'margin');
    expect(notes).toMatchObject({ sent: [], stopped: { step } });
    expect(notes.rehearsed[step]).toBeUndefined();
  });

  test.each([
    ['a list of pairs that is refused', 'never', 'refuse', ['conditional-orders']],
    ['an exit that cannot be read', 'end', 'unreadable_record', ['conditional-orders', 'open-order']],
  ] as const)('is %s: nobody knows then how many there are', async (_, madeAt, fault, lists) => {
    world.paper.control.setExits({ madeAt });
    for (const list of lists) always(fault, list);

    const { tried } = await world.run({ from: '6' });

    expect(tried).toMatchObject([{ step: '6', outcome: { passed: false } }]);
    expect(await foundIn('6')).toBeUndefined();
    expect(world.left()).toEqual([]);
  });

  test.each([
    ['a position', () => buyByHand(), /there is a position in BTC_USDT/],
    ['an open order', () => bidByHand(), /orders are open in BTC_USDT/],
    ['a pair that cannot be read', () => hidePair(), /orders are open in BTC_USDT/],
  ])('is %s that is there already: nothing is sent', async (_, open, reason) => {
    await open();
    const before = world.left();
    const { acceptedCreates } = world.paper.control.state();

    const { tried, left } = await world.run({ from: '6' });

    expect(left).toBeNull();
    expect(tried).toMatchObject([{ outcome: { passed: false, reason: expect.stringMatching(reason) } }]);
    expect(world.left()).toEqual(before);
    expect(world.paper.control.state().acceptedCreates).toBe(acceptedCreates);
  });

  const byHand = {
    market: 'BTC_USDT',
    side: 'buy',
    amount: parseDecimal('0.01'),
    clientOrderId: '',
  } as const;
  const buyByHand = () => world.owner.call(market, byHand);
  const hidePair = () => world.alterBodies((body) => body.replace('"records":[]', '"records":[{}]'));
  const bidByHand = () => world.owner.call(limit, { ...byHand, price: parseDecimal('40000') });
});
