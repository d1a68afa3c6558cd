import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { readProjectFile } from '../support/project-files.ts';
import {
  allInAllOut,
  enterAtFixedPrice,
  enterByShare,
  enterWithExits,
  repeatOrders,
  type Strategy,
  waitForPrice,
} from '../support/strategies.ts';
import { openStrategyRun, type StrategyGround } from '../support/strategy-run.ts';

/** Each message that trades, as a strategy sends it twenty times: entries, parts closed, reversals, exits that fill. */
const margin: StrategyGround = { tradesOn: 'margin', market: 'BTC_USDT' };
const futures: StrategyGround = { tradesOn: 'futures', market: 'BTC_PERP' };
const spot: StrategyGround = { tradesOn: 'spot', market: 'BTC_USDT' };
const ether: StrategyGround = { tradesOn: 'margin', market: 'ETH_USDT' };
const solana: StrategyGround = { tradesOn: 'margin', market: 'SOL_USDT' };

const example = (name: string) => readProjectFile(`examples/${name}`);
const close = example('tradingview-close.json');

/** What of the position is compared after each alert. */
type Checked =
  /** Nothing but what it ends with: the strategy does not know its size. */
  | 'end'
  | 'position'
  /** Also that stop-losses and take-profits protect all of it. */
  | 'exits'
  /** That stop-losses protect all that is held on spot. */
  | 'stops';

interface Case {
  readonly grounds: readonly StrategyGround[];
  /** @param mayBeShort false on spot */
  readonly strategy: (message: string, mayBeShort: boolean) => Strategy;
  readonly checked: Checked;
}

const followed: Case = { grounds: [margin, futures], strategy: repeatOrders, checked: 'position' };
const repeated: Case = { ...followed, grounds: [margin, futures, spot] };
const waiting = (isBehind: boolean): Case => ({
  ...repeated,
  strategy: (message, mayBeShort) => waitForPrice(message, mayBeShort, { isBehind }),
});
const reduceBy = example('tradingview-orders.json');
const guarded = (mayBeShort: boolean, size: string | null): Case['strategy'] => {
  const amount = size === null ? null : parseDecimal(size);
  return (entry) =>
    enterWithExits({ entry, reduceBy, leave: close, mayBeShort, mayTurn: mayBeShort, amount });
};
/** There the relay itself places the stop-loss of what was bought. */
const onSpot: Case['strategy'] = (entry) =>
  enterWithExits({
    entry: entry.replace(/ *"takeProfit".*\n/, ''),
    reduceBy,
    leave: example('tradingview-long-only.json'),
    mayBeShort: false,
    mayTurn: false,
    amount: null,
    hasTarget: false,
  });

const cases: Readonly<Record<string, Case>> = {
  'tradingview-strategy.json': followed,
  'tradingview-orders.json': repeated,
  'tradingview-long-short.json': followed,
  'tradingview-indicator.json': {
    ...repeated,
    strategy: (message, mayBeShort) => repeatOrders(edited(message), mayBeShort),
  },
  'tradingview-limit.json': waiting(true),
  'tradingview-post-only.json': waiting(true),
  'tradingview-breakout.json': waiting(false),
  'tradingview-long-only.json': { grounds: [spot], strategy: allInAllOut, checked: 'end' },
  'tradingview-percent.json': {
    grounds: [margin, futures],
    strategy: (message) => enterByShare(message, close),
    checked: 'end',
  },
  'tradingview-entry-with-exits.json': {
    grounds: [margin, futures],
    strategy: guarded(true, null),
    checked: 'exits',
  },
  'first-alert.json': { grounds: [margin], strategy: guarded(false, '0.001'), checked: 'exits' },
  'buy-on-spot.json': {
    grounds: [spot],
    strategy: (entry) =>
      enterAtFixedPrice({ entry, through: '61000', leave: example('tradingview-long-only.json') }),
    checked: 'end',
  },
  'buy-stop-limit.json': {
    grounds: [margin],
    strategy: (entry) =>
      enterAtFixedPrice({
        entry,
        through: '60550',
        leave: close,
        exits: ['58900', '64100'],
        cancel: example('cancel-by-signal.json'),
      }),
    checked: 'end',
  },
  'cancel-then-buy.json': {
    grounds: [margin],
    strategy: (entry) => enterAtFixedPrice({ entry, through: '60850', leave: close }),
    checked: 'end',
  },
  'sell-stop-limit.json': {
    grounds: [ether],
    strategy: (entry) => enterAtFixedPrice({ entry, through: '2949', leave: close, leaveBy: 'buy' }),
    checked: 'end',
  },
  'quote-quantity.json': {
    grounds: [solana],
    strategy: (entry) => enterAtFixedPrice({ entry, through: '153.1', leave: close }),
    checked: 'end',
  },
};

/** Only strategies have an action and a size to fill in: an indicator's alert is edited, one for each order. */
function edited(message: string): string {
  return message
    .replace('EDIT: buy or sell', '{{strategy.order.action}}')
    .replace('EDIT: how much, in the base currency', '{{strategy.order.contracts}}')
    .replace('EDIT: a name for this alert', '{{strategy.order.id}}');
}

/** They end what others have opened, and are sent by the strategies of these. */
const leaving = ['cancel-by-signal.json', 'tradingview-close.json'];

test('Every example trades here', () => {
  expect([...Object.keys(cases), ...leaving].sort()).toEqual(
    readdirSync(new URL('../../examples/', import.meta.url)).sort(),
  );
});

const alerts = 20;
const seeds = [1];
const spotCase: Case = { grounds: [spot], strategy: onSpot, checked: 'stops' };
const entering = 'tradingview-entry-with-exits.json';
const runs = [...Object.entries(cases), [entering, spotCase] as const].flatMap(
  ([name, { grounds, ...rest }]) =>
    grounds.flatMap((ground) =>
      seeds.map((seed) => [name, ground.tradesOn, seed, { ground, ...rest }] as const),
    ),
);

describe('Twenty alerts of a strategy end with nothing open:', () => {
  test.each(runs)('%s on %s, seed %i', async (name, tradesOn, seed, { ground, strategy, checked }) => {
    const run = await openStrategyRun(ground, seed);
    try {
      const { step, finish } = strategy(example(name), tradesOn !== 'spot');
      while (run.sent < alerts) {
        await step(run);
        const { held, stops, targets } = await run.standing();
        const [wanted, size] = [run.wanted.toFixed(), run.wanted.abs().toFixed()];
        if (checked !== 'end' && tradesOn !== 'spot') expect([run.sent, held]).toEqual([run.sent, wanted]);
        if (checked === 'stops') expect([run.sent, stops]).toEqual([run.sent, held]);
        if (checked === 'exits') expect([run.sent, stops, targets]).toEqual([run.sent, size, size]);
      }
      await finish(run);
      await run.move('1');

      const { held, orders } = await run.standing();
      const least = tradesOn === 'spot' ? marketNamed(ground.market).amountStep : parseDecimal('0');
      expect([parseDecimal(held).abs().gt(least) ? held : 'flat', orders]).toEqual(['flat', []]);
      expect(run.alarmNames()).toEqual([]);
    } finally {
      await run.close();
    }
  });
});
