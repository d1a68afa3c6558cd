import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RelayError } from '../../lib/base/errors.ts';
import { type FieldName, otherNames } from '../../lib/signals/fields.ts';
import { checkedNames, plainNames } from '../../lib/signals/informing-fields.ts';
import { type Alert, parseAlert } from '../../lib/signals/parse-alert.ts';
import { secretNames } from '../../lib/signals/remove-secrets.ts';
import { runs } from '../support/runs.ts';
import { accountOn, bytesOf, context } from './reading.ts';

const seed = 20_261_122;
/** The names that only inform, plain. */
const informingNames = [...plainNames, ...checkedNames.keys(), ...secretNames, 'plot0', 'plot19'];
const grounds = ['spot', 'margin', 'futures'] as const;
const accounts = grounds.map((ground) => ({ ...accountOn('ETH_USDT', ground), allowUnguardedMarket: true }));

type Members = Readonly<Record<string, unknown>>;

/** The parsed alert; null when it is refused. */
function readOrRefuse(members: Members, ground = 1): Alert | null {
  const account = accounts[ground] ?? context.account;
  try {
    return parseAlert(bytesOf(JSON.stringify(members)), { ...context, account });
  } catch (error) {
    if (error instanceof RelayError && error.code === 'invalid_signal') return null;
    throw error;
  }
}

/** Values of every field, usual and unusual ones. */
const valuesOf: Readonly<Record<FieldName, readonly unknown[]>> = {
  ticker: ['ETHUSDT', 'BTCUSDT.P', 'DOGE'],
  action: [
    ...['buy', 'sell', 'enter_long', 'enter_short', 'exit_long', 'exit_short', 'cancel', 'cancel_all'],
    ...['close', 'exit', 'reverse', 'target', 'flat', 'protect', 'update_sl', 'breakeven'],
  ],
  orderType: ['market', 'limit', 'stop_limit', 'stop_market', 'stop', 'sl', 'trailing'],
  quantity: [1, '2.5', '5%', 0],
  quoteQuantity: [100, '7%'],
  quantityPercent: [5, '50%', 0.5],
  quantityType: ['base', 'quote', 'percent', 'percent_of_position', 'contracts', 'dollar_amount'],
  of: ['balance', 'position', 'equity'],
  stopPrice: [3000, '3001'],
  limitPrice: [3005, '3006'],
  maxSlippage: ['0.5%', 0.5],
  referencePrice: [3002, '3002.5'],
  stopLoss: [2900, '2%', { percent: 2 }, { amount: 3 }],
  takeProfit: [3200, '4%', { limitPrice: 3200 }],
  takeProfits: [
    [{ price: 3200, share: '50%' }],
    [
      { distance: '2%', share: '50%' },
      { percent: 4, share: '50%' },
    ],
    '4%',
  ],
  trailing: ['1.5%', 2],
  reduceOnly: [true, false, 'true', 2],
  postOnly: [true, false, 1],
  ioc: [true, false, 0],
  timeInForce: ['gtc', 'ioc', 'fok'],
  stp: ['no', 'cb', 'cancel_old'],
  positionSide: ['LONG', 'SHORT', 'BOTH'],
  prevMarketPosition: ['flat', 'long'],
  sentiment: ['long', 'short', 'flat'],
  target: ['0.5', -2, '-50%', 'flat', 0],
  targetQuote: [1000, '-500'],
  marketPositionSize: [0.5, '3'],
  positionSize: ['0.5', -2, 0],
  requirePosition: ['flat', 'long', 'short'],
  expectTrigger: ['above', 'below', 'breakout'],
  keepEntries: [true, 'yes'],
  scope: ['own', 'market'],
  time: ['2026-01-31T12:00:00Z', '2026-01-31T12:00:01Z'],
  maxLag: [30, 45],
  id: ['a', 'b'],
  signalId: ['c'],
  orderId: [5],
  clientOrderId: ['d'],
  strategy: ['s'],
  interval: ['15'],
  comment: ['hello'],
  extras: [{ a: 1 }],
};
const fieldNames = Object.keys(valuesOf) as FieldName[];
/** What an alert for an order usually has; few random alerts without it are valid. */
const usual: Members = {
  ticker: 'ETHUSDT',
  action: 'buy',
  quantity: 1,
  orderType: 'market',
  time: '2026-01-31T12:00:00Z',
};

const random = fc.oneof(
  {
    weight: 5,
    arbitrary: someOf(['action', 'orderType', 'stopPrice', 'limitPrice', 'stopLoss', 'takeProfit']),
  },
  {
    weight: 5,
    arbitrary: someOf(['action', 'quantity', 'quantityType', 'of', 'reduceOnly', 'sentiment', 'time']),
  },
  {
    weight: 5,
    arbitrary: someOf(['orderType', 'limitPrice', 'postOnly', 'ioc', 'timeInForce', 'stp', 'maxLag']),
  },
  {
    weight: 3,
    arbitrary: someOf(['action', 'stopLoss', 'takeProfit', 'takeProfits', 'trailing', 'positionSide']),
  },
  {
    weight: 5,
    arbitrary: someOf(['action', 'requirePosition', 'target', 'targetQuote', 'positionSize', 'stopLoss']),
  },
  { weight: 2, arbitrary: someOf(fieldNames) },
);
const alerts = random.map((members): Members => ({ ...usual, ...members }));

/** Alerts that may ask for a position: the action and the size of the usual one may be missing. */
const positionTargets = fc
  .record({
    names: fc.subarray(
      [
        ...(['action', 'sentiment', 'target', 'targetQuote', 'marketPositionSize', 'positionSize'] as const),
        ...(['quantity', 'quoteQuantity', 'stopLoss', 'positionSide', 'maxSlippage', 'stp'] as const),
        ...(['takeProfits', 'trailing', 'keepEntries'] as const),
      ],
      { minLength: 1, maxLength: 4 },
    ),
    word: fc.constantFrom('sentiment', 'marketPosition'),
    random: fc.infiniteStream(fc.nat()),
  })
  .map(({ names, word, random }): Members => {
    const { ticker, time } = usual;
    const pick = (name: FieldName) => {
      const values = name === 'action' ? positionWords : valuesOf[name];
      return values[(random.next().value ?? 0) % values.length];
    };
    const members = names.map((name) => [name === 'sentiment' ? word : name, pick(name)] as const);
    return { ticker, time, ...Object.fromEntries(members) };
  });
const positionWords = ['close', 'reverse', 'target'];

/** Alerts that say something about the position. */
const positionAlerts = fc
  .record(
    {
      action: fc.constantFrom('buy', 'sell', 'enter_long', 'exit_long', 'exit_short'),
      quantityPercent: fc.constant('50%'),
      of: fc.constantFrom('balance', 'position'),
      reduceOnly: fc.boolean(),
      sentiment: fc.constantFrom('long', 'short', 'flat'),
      stopLoss: fc.constant('2%'),
    },
    { requiredKeys: [] },
  )
  .map(
    ({ quantityPercent, of, ...members }): Members =>
      quantityPercent === undefined
        ? { ...usual, ...members }
        : { ...usual, quantity: undefined, quantityPercent, of: of ?? 'position', ...members },
  );

function someOf(names: readonly FieldName[]): fc.Arbitrary<Members> {
  const entries = names.map((name) => [name, fc.constantFrom(...valuesOf[name])] as const);
  return fc.record(Object.fromEntries(entries), { requiredKeys: [] });
}

/** The values that say what an alert without the field means, too. */
function saysTheDefault(name: FieldName, members: Members): boolean {
  const value = members[name];
  switch (name) {
    case 'reduceOnly':
      return value === false || reducesAnyway(members);
    case 'postOnly':
    case 'ioc':
      return value === false || value === 0;
    case 'timeInForce':
      return value === 'gtc';
    case 'of':
      return value === 'balance' || members['quantityType'] === 'percent_of_position';
    case 'quantityType':
      return value !== 'quote' && (value !== 'percent_of_position' || members['of'] === 'position');
    case 'orderType':
      // Without a price, the account says that it is a market order; a limit price by its own name means a limit order.
      if (value === 'market') return true;
      if (value === 'limit') return true;
      // Position actions are carried out at market.
      if (/^(?:close|exit|reverse|target|flat)$/.test(String(members['action']))) return true;
      return members['stopPrice'] !== undefined && (value === 'stop_limit' || value === 'sl');
    case 'positionSide':
      // What one-way mode has anyway, where these actions are carried out.
      return value === 'BOTH' && /^(?:reverse|target|flat)/.test(String(members['action']));
    case 'prevMarketPosition':
      return true;
    case 'sentiment':
      // It is the position that the side opens, or the order reduces anyway, or a spot market has no positions.
      return true;
    default:
      return false;
  }
}

function reducesAnyway(members: Members): boolean {
  return (
    /^exit/.test(String(members['action'])) ||
    members['sentiment'] !== undefined ||
    members['of'] === 'position' ||
    members['quantityType'] === 'percent_of_position'
  );
}

/** What decides of an alert: all but what is only recorded. */
function withoutInfo(alert: Alert | null) {
  return alert?.items.map(({ signal, ...rest }) => ({ ...rest, signal: { ...signal, info: undefined } }));
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]/g, '');
}

/** Whether the alert asks for no position: then it is closed in full, whatever else it says. */
function isFlat(alert: Alert): boolean {
  return alert.items.some(({ signal }) => signal.action === 'target' && signal.target.unit === 'flat');
}

describe('no field of an alert is dropped in silence:', () => {
  test('without any of its fields, a target that is not flat is refused or means something else', () => {
    let compared = 0;
    fc.assert(
      fc.property(positionTargets, (members) => {
        const alert = readOrRefuse(members);
        if (alert === null || isFlat(alert)) return;
        for (const name of Object.keys(members)) {
          const { [name]: value, ...others } = members;
          // A word that agrees with the sign, and the side that one-way mode has anyway, say nothing new.
          const isAgreeing =
            /^(?:sentiment|marketPosition|action)$/.test(name) && readOrRefuse(others) !== null;
          // An alert that states a position is a target without that word, too.
          if (value === undefined || isAgreeing || value === 'BOTH') continue;
          compared += 1;
          expect([name, readOrRefuse(others)]).not.toEqual([name, alert]);
        }
      }),
      { seed, numRuns: runs(10_000) },
    );

    expect(compared).toBeGreaterThan(runs(1_500));
  });

  test('without any of its fields, an accepted alert is refused or means something else', () => {
    let compared = 0;
    fc.assert(
      fc.property(alerts, fc.nat({ max: 2 }), (members, ground) => {
        const alert = readOrRefuse(members, ground);
        if (alert === null || isFlat(alert)) return;
        for (const name of Object.keys(members) as FieldName[]) {
          if (saysTheDefault(name, members)) continue;
          const { [name]: _, ...others } = members;
          compared += 1;
          expect([name, readOrRefuse(others, ground)]).not.toEqual([name, alert]);
        }
      }),
      { seed, numRuns: runs(10_000) },
    );

    // Otherwise the comparison above would have had nothing to compare.
    expect(compared).toBeGreaterThan(runs(1_500));
  });

  test('a key that is no name of a field refuses the alert', () => {
    const names = new Set(
      Object.entries(otherNames)
        .flat(2)
        .concat(informingNames)
        .map((name) => name.toLowerCase().replaceAll('_', '')),
    );
    const near = fc
      .tuple(
        fc.constantFrom(...names),
        fc.nat(),
        fc.constantFrom('', 's', 'x', '2', '.', '%', '\u00e9', '\u0000'),
      )
      .map(
        ([name, at, insert]) =>
          name.slice(0, at % (name.length + 1)) + insert + name.slice((at % name.length) + 1),
      );
    const keys = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), near);

    fc.assert(
      fc.property(keys, (key) => {
        if (names.has(plain(key)) || /^plot\d\d?$/.test(plain(key))) return;
        expect(readOrRefuse({ ...usual, [key]: 'x' })).toBeNull();
      }),
      { seed, numRuns: runs(3_000) },
    );
  });

  test('of two spellings of one field, neither is taken', () => {
    const spelled = fc.constantFrom(...fieldNames).chain((name) => {
      const names = [name, ...otherNames[name]];
      const spelling = fc
        .tuple(fc.constantFrom(...names), fc.constantFrom('', '_', '-', ' '), fc.boolean())
        .map(([text, separator, upper]) => {
          const spread = text.replaceAll(/(?=[A-Z])/g, separator);
          return upper ? spread.toUpperCase() : spread;
        });
      return fc.tuple(fc.constant(name), spelling, spelling);
    });

    fc.assert(
      fc.property(spelled, ([name, one, other]) => {
        const { [name]: usualValue, ...further } = usual;
        // An amount per trade must name its unit.
        // Beside a market order `price` is the last price.
        const limit = { ...further, orderType: 'limit' };
        const others =
          name === 'limitPrice'
            ? limit
            : name === 'quantity'
              ? { ...further, quantityType: 'base' }
              : further;
        const value = usualValue ?? valuesOf[name][0];
        const alert = readOrRefuse({ ...others, [name]: value });

        expect(withoutInfo(readOrRefuse({ ...others, [one]: value }))).toEqual(withoutInfo(alert));
        // Beside `timenow` another time only informs.
        const isTimenow = [one, other].some((text) => /^time.?now$/i.test(text));
        if (plain(one) !== plain(other) && isTimenow) return;
        if (one !== other) expect(readOrRefuse({ ...others, [one]: value, [other]: value })).toBeNull();
      }),
      { seed, numRuns: runs(1_500) },
    );
  });

  test('an order that is said to leave or reduce a position never opens one on the collateral account', () => {
    let reducing = 0;
    fc.assert(
      fc.property(positionAlerts, (members) => {
        const signal = readOrRefuse(members)?.items[0]?.signal;
        if (signal?.action !== 'order') return;
        const opened = signal.side === 'buy' ? 'long' : 'short';
        const sentiment = members['sentiment'] ?? opened;
        const mustReduce =
          /^exit/.test(String(members['action'])) ||
          (signal.size.unit === 'percent' && signal.size.of === 'position') ||
          sentiment !== opened;
        if (!mustReduce) return;
        reducing += 1;
        expect(signal).toMatchObject({ reduceOnly: true });
        expect([signal.stopLoss, signal.takeProfit]).toEqual([undefined, undefined]);
      }),
      { seed, numRuns: runs(4_000) },
    );

    expect(reducing).toBeGreaterThan(runs(100));
  });
});
