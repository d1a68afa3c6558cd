import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { dialects } from '../../lib/exchange/dialect.ts';
import { parseShare, takeShare, takeShareOfFew } from '../support/share.ts';
import { parseRequest } from './arguments.ts';
import { type Hunt, huntsOf } from './mutants.ts';
import { parseSeeds } from './seeds.ts';
import { simulate } from './simulate.ts';
import { addTally, createTally, type Range, tallyRange } from './tally.ts';
import { runJobs } from './worker-pool.ts';

function rangeOf(fromSeed: number, toSeed: number): Range {
  return { fromSeed, toSeed, dialects, signals: 12, mutant: null, kind: null };
}

const byName = (a: Hunt, b: Hunt) => a.mutant.name.localeCompare(b.mutant.name);

test('in a few seeds of both dialects the relay breaks no invariant', async () => {
  const { findings, runs, orders } = await tallyRange(rangeOf(1, 8));

  expect(findings).toEqual([]);
  expect(runs).toBe(16);
  expect(orders).toBeGreaterThan(10);
});

test.each([
  // An exit that nothing has ever shown outlives its position, and fills later.
  [7001698, null],
  [7006084, null],
  // The order that it was made of rests, and fills on.
  [601, null],
  // An order that reduces the position by its size alone passes the rate of orders.
  [7000726, null],
  [7001629, null],
  // The list of positions shows one of five stop-losses of an entry, and no list the others.
  [2443, null],
  // Two entries of one moment have one stop-loss price, and no list shows the stop-loss of the older one.
  [2773, null],
  [9481, null],
  // An entry of unknown outcome has made an exit while another of its price is followed.
  [9427, null],
  // No list shows the order of a buy by hand on spot.
  [4480, null],
  // The list of positions shows what an entry has opened before any list shows its fills.
  [775, null],
  // A list that lags shows a position from before the one that a close has closed.
  [6361, null],
  // A clock that is ahead makes a buy seem younger than the sale that sells of it.
  [6730, null],
  // A take-profit that the list of positions alone shows fills in part.
  [5911, null],
  // The order that it was made of had filled in part, and its position was reduced before.
  [9073, null],
  // A lookup tells an order that filled minutes ago.
  [9263, null],
  // The owner has ended one of several stop-losses of one entry.
  [7001263, null],
  // What was opened after an alert had asked to protect a position outlives what that was about.
  [175, null],
  // Alerts protect both positions of hedge mode.
  [7004245, null],
  // A process stands still between its reading of a position and the end of its signal.
  [7005830, null],
  // A worker still sends the order before a cancel_all, whose message came twice.
  [7004191, null],
  // A close and a buy by hand in the same moment.
  [9100649, 'market'],
  // A balance that still shows what another strategy has just sold.
  [9101274, 'market'],
  // The clock is set back between two orders.
  [9102560, 'market'],
  // A stop-loss on spot sells after a sale that rested has sold its buy.
  [9100719, 'stop_market'],
  // A sale rests that was placed before its strategy bought more, and another strategy sells.
  [243, 'limit'],
  // A strategy has sold another buy beside its resting sale, and another strategy sells.
  [4923, null],
  [7006923, null],
  // A buy on spot fills on in the fall that fires its stop-loss.
  [234, null],
  // Stop-losses sell a part of a sale before it is planned, and another part before they are cancelled for it.
  [774, null],
  // In hedge mode LONG has take-profits and grows while SHORT is the larger one.
  [9190, null],
] as const)('in seed %i the relay breaks no invariant', async (seed, kind) => {
  const { findings } = await tallyRange({ ...rangeOf(seed, seed), dialects: ['live'], kind });

  expect(findings).toEqual([]);
});

test('an alarm that was raised before its order became durable is in time', async () => {
  const range = { ...rangeOf(9100408, 9100408), dialects: ['documented'], kind: 'stop_market' } as const;

  expect((await tallyRange(range)).findings).toEqual([]);
});

describe('a seed', () => {
  const { now } = Date;
  const { random } = Math;
  const { setTimeout, setInterval } = globalThis;

  function forbid(what: string) {
    return () => {
      throw new Error(`a simulation must not ask for ${what}`);
    };
  }

  beforeEach(() => {
    Date.now = forbid('the time');
    Math.random = forbid('chance');
    Object.assign(globalThis, { setInterval: forbid('a timer') });
  });

  afterEach(() => {
    Date.now = now;
    Math.random = random;
    Object.assign(globalThis, { setTimeout, setInterval });
  });

  test.each([
    { seed: 3, dialect: 'live' as const },
    { seed: 4, dialect: 'live' as const },
    { seed: 5, dialect: 'documented' as const },
    { seed: 6, dialect: 'documented' as const },
  ])('gives the same history each time, without real clock, timer or randomness: %o', async (options) => {
    // With nonces that must arrive in order, requests of one key wait for each other on a real timer.
    if (options.dialect === 'live') Object.assign(globalThis, { setTimeout: forbid('a timer') });

    const first = await simulate({ ...options, signals: 12 });
    const second = await simulate({ ...options, signals: 12 });

    expect(second.history.digest()).toBe(first.history.digest());
    expect(second.entries).toEqual(first.entries);
  });

  test('gives another history than its neighbour', async () => {
    const first = await simulate({ seed: 3, dialect: 'live', signals: 12 });
    const second = await simulate({ seed: 4, dialect: 'live', signals: 12 });

    expect(second.history.digest()).not.toBe(first.history.digest());
  });
});

describe('the command', () => {
  test.each([
    [['--seeds', '9..1'], /"9\.\.1" names no seeds/],
    [['--seeds', 'some'], /"some" names no seeds/],
    [['--signals', '0'], /"0" is not a number of signals/],
    [['--signals', '100'], /"100" is not a number of signals from 1 to 99/],
    [['--dialect', 'klingon'], /"klingon" is not a dialect/],
    [['--mutant', 'no-such'], /there is no mutant "no-such"; there are .*resend-on-timeout/],
    [
      ['--kind', 'oco'],
      /"oco" is not a kind of order; it must be one of stop_limit, limit, market, stop_market/,
    ],
    [['--sedes', '1'], /--sedes/],
  ])('refuses %j', (args, complaint) => {
    expect(() => parseRequest(args, 0)).toThrow(complaint);
  });

  test('runs each seed in both dialects by default', () => {
    expect(parseRequest(['--seeds', '7..8', '--signals', '5'], 0)).toEqual({
      kind: 'seeds',
      range: {
        fromSeed: 7,
        toSeed: 8,
        dialects: ['documented', 'live'],
        signals: 5,
        mutant: null,
        kind: null,
      },
    });
    expect(parseRequest(['--dialect', 'live', '--mutant', 'no-sweep'], 0)).toMatchObject({
      range: { fromSeed: 1, toSeed: 1000, dialects: ['live'], mutant: 'no-sweep' },
    });
    expect(parseRequest(['--kind', 'limit'], 0)).toMatchObject({ range: { kind: 'limit' } });
    expect(parseRequest(['--kind', 'limit', '--mutants'], 0)).toMatchObject({ orderKind: 'limit' });
  });

  test('puts each mutant into one share, whatever their number is', () => {
    const all = huntsOf('limit', 12);
    const shares = ['1/4', '2/4', '3/4', '4/4'].map((text) => takeShare(all, parseShare(text)));
    expect(shares.flat().toSorted(byName)).toEqual(all.toSorted(byName));
    expect(Math.min(...shares.map(({ length }) => length))).toBeGreaterThan(all.length / 4 - 1);
    expect(parseRequest(['--mutants', '--share', '3/4'], 0)).toMatchObject({ share: { part: 3, parts: 4 } });
    for (const text of ['0/4', '5/4', '1', '1/0', '1/4x'])
      expect(() => parseRequest(['--mutants', '--share', text], 0)).toThrow(/is not a share/);
  });

  test('keeps an item in its share when the list grows', () => {
    const share = parseShare('6/12');
    for (const length of [1, 3, 5, 12, 30]) {
      const all = Array.from({ length }, (_, place) => place);
      expect(takeShare(all, share)).toEqual(all.filter((place) => place % 12 === 5));
    }
  });

  test('leaves no share without an item, where there are fewer items than shares', () => {
    const shares = ['1/5', '2/5', '3/5', '4/5', '5/5'].map((text) =>
      takeShareOfFew(['a', 'b'], parseShare(text)),
    );
    expect(shares).toEqual([['a'], ['b'], ['a'], ['b'], ['a']]);
    expect(takeShareOfFew([], parseShare('2/5'))).toEqual([]);
  });

  test('counts the same however the seeds are split', async () => {
    const whole = await tallyRange(rangeOf(1, 3));
    const parts = await runJobs([
      { range: rangeOf(1, 1), endsAtFinding: false },
      { range: rangeOf(2, 3), endsAtFinding: false },
    ]);

    const total = createTally();
    for (const part of parts) addTally(total, part);
    expect(total).toEqual(whole);
  });

  test.each([
    ['1..1000', { fromSeed: 1, toSeed: 1000 }],
    ['4711', { fromSeed: 4711, toSeed: 4711 }],
    // 2026-01-05 is day 20 458 since 1970.
    ['rotating:300', { fromSeed: 6_137_400, toSeed: 6_137_699 }],
  ])('reads the seeds %s', (text, range) => {
    expect(parseSeeds(text, Date.UTC(2026, 0, 5, 12))).toEqual(range);
  });
});
