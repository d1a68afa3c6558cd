import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { issueOf, orderWith, refusalOf } from './reading.ts';

/** Keys that alerts for other relays contain; none of them is a field of this relay. */
const foreignFields = [
  ...['position_size', 'market_position_size', 'prev_market_position_size', 'targetPosition', 'position'],
  ...['quantity_type', 'qty_type', 'amount_type', 'currency_type', 'currency', 'unit', 'size_type'],
  ...['quantity_percent', 'qty_pct', 'percent', 'risk_percent', 'risk', 'percentage', 'equity_percent'],
  ...[
    'size',
    'volume',
    'lots',
    'lot_size',
    'units',
    'contract',
    'usd_amount',
    'notional',
    'cost',
    'amountUsd',
  ],
  ...['sentiment', 'market_position', 'prev_market_position', 'direction', 'bias'],
  ...['reduce_only', 'close_only', 'close_position', 'close_all', 'exit', 'flatten', 'reverse'],
  ...['leverage', 'margin_mode', 'margin_type', 'isolated', 'hedge_mode'],
  ...[
    'trailing',
    'trailing_stop',
    'trail_price',
    'trail_offset',
    'trailing_delta',
    'callback_rate',
    'breakeven',
  ],
  ...['stp', 'stop', 'tp1', 'tp2', 'sl1', 'stop_loss_2', 'take_profit_1', 'targets', 'take_profits'],
  ...['stop_loss_percent', 'sl_percent', 'take_profit_pct', 'tp_pct', 'sl_type', 'stop_loss_ticks'],
  ...['entry_price', 'spot_price', 'mark_price', 'close', 'order_price', 'slippage'],
  ...['time_in_force', 'post_only', 'ioc', 'expiry', 'test', 'dry_run', 'paper_trading'],
  ...['account', 'exchange', 'bot_id', 'ticket', 'pyramiding', 'dca', 'cooldown', 'quantity%', 'amount$'],
];

const spellings: readonly ((words: string) => string)[] = [
  (words) => words,
  (words) => words.toUpperCase(),
  (words) => words.replaceAll('_', '-'),
  (words) => words.replaceAll('_', ' '),
  (words) => words.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
];

function hintFor(key: string): string {
  return issueOf(orderWith(`${JSON.stringify(key)}:1`)).hint;
}

describe('a word of other relays', () => {
  test.each(foreignFields)('%s is never taken for a field that looks like it', (field) => {
    for (const spell of spellings) expect(hintFor(spell(field))).not.toMatch(/did you mean/);
  });

  test.each([
    [
      'position_size',
      'it is the size of a position; here every order states its own size: "quantity" is in the base currency, "quoteQuantity" in the quote currency',
    ],
    [
      'quantityType',
      'it names the unit of the size; here "quantity" is in the base currency, "quoteQuantity" in the quote currency',
    ],
    [
      'size',
      'use the field for the unit of your size: "quantity" is in the base currency, "quoteQuantity" in the quote currency',
    ],
    [
      'stp',
      'it sets self-trade prevention, not "stopLoss" or "takeProfit"; this relay leaves it to the exchange',
    ],
    ['reduce_only', 'this relay cannot close a position: the order may open or enlarge one'],
    ['leverage', 'it is a setting of the exchange account: set it at the exchange'],
    [
      'dryRun',
      "the account's mode in relay.config.ts decides what is sent: this field would not make the alert a test",
    ],
    [
      'stop',
      '"stopPrice" is the trigger price of the order, "stopLoss" protects the position: use the one you mean',
    ],
    ['tp2', '"stopLoss" and "takeProfit" are fixed prices: one of each for the whole order'],
  ])('%s gets a hint that explains it', (field, hint) => {
    expect(hintFor(field)).toBe(hint);
  });

  test.each([
    ['action', 'close', 'this relay cannot close a position: the order may open or enlarge one'],
    [
      'action',
      'enter_short',
      'it names a position; here "buy" or "sell" places one order, whatever position you have',
    ],
    [
      'orderType',
      'Market',
      'this relay places no market orders; "stop_limit" and "limit" orders have a limit price, and may stay unfilled',
    ],
    ['orderType', 'trailing_stop', 'trailing is not supported; "stop_limit" waits for a fixed price'],
  ])('in the value of %s is told what it means: %s', (field, word, hint) => {
    const alert = { ticker: 'ETHUSDT', id: 'a', action: 'buy', quantity: 1, stopPrice: 1, [field]: word };
    const { issues } = refusalOf(JSON.stringify(alert));

    expect(issues.find(({ path }) => path === field)?.hint).toBe(hint);
  });

  test.each(['{"percent":2}', '{"price":90,"trailing":true}', '[90,80]'])(
    'as settings of a stop-loss gets the reason: %s',
    (value) => {
      expect(issueOf(orderWith(`"stopLoss":${value}`)).hint).toMatch(
        /per cents, distances, trailing or several targets/,
      );
    },
  );
});

test('a proposed key is one typing error away from the written one', () => {
  const known = ['quantity', 'stopLoss', 'takeProfit', 'positionSide', 'stopPrice', 'amount', 'action'];
  const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz');
  const misspelt = fc
    .tuple(fc.constantFrom(...known), fc.nat(), fc.array(letter, { maxLength: 4 }), fc.nat({ max: 4 }))
    .map(([word, at, letters, removed]) => {
      const place = at % word.length;
      return word.slice(0, place) + letters.join('') + word.slice(place + removed);
    })
    .filter((word) => word.length > 0);

  fc.assert(
    fc.property(misspelt, (word) => {
      const { issues } = refusalOf(`{"ticker":"ETHUSDT","id":"a","action":"x",${JSON.stringify(word)}:{}}`);
      const hint = issues.find(({ message }) => message.endsWith('is not a field of an alert'))?.hint ?? '';
      const [, proposed] = /^did you mean "(\w+)"\?$/.exec(hint) ?? [];
      if (proposed === undefined) return;
      const [written, meant] = [word.toLowerCase(), proposed.toLowerCase()];
      expect(Math.abs(written.length - meant.length)).toBeLessThanOrEqual(1);
      expect(sharedLetters(written, meant)).toBeGreaterThanOrEqual(
        Math.min(written.length, meant.length) - 2,
      );
    }),
  );
});

/** How many letters agree from both ends. */
function sharedLetters(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let front = 0;
  while (front < shorter && one[front] === other[front]) front += 1;
  let back = 0;
  while (back < shorter - front && one.at(-1 - back) === other.at(-1 - back)) back += 1;
  return front + back;
}
