import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { issueOf, orderWith, refusalOf } from './reading.ts';

/** What alerts for other relays say; none of it is a field of this one. */
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
    ['position_size', /size of a position.*every order says its own size/],
    ['quantityType', /says what the size is counted in.*"quantity" in the base currency.*"quoteQuantity"/],
    ['stp', /self-trade prevention.*neither "stopLoss" nor "takeProfit"/],
    ['reduce_only', /without this field, the order may open or enlarge a position/],
    ['leverage', /setting of the exchange account/],
    ['dryRun', /removing this does not make the alert a test/],
    ['stop', /"stopPrice", where the order wakes up, or "stopLoss", which protects the position/],
    ['tp2', /one "takeProfit" and one "stopLoss", for all of its size/],
  ])('%s is told what it means', (field, hint) => {
    expect(hintFor(field)).toMatch(hint);
  });

  test.each([
    ['"action":"close"', /may open or enlarge a position/],
    ['"action":"short"', /names a position/],
    ['"orderType":"market"', /no market orders are placed/],
    ['"orderType":"trailing_stop"', /nothing follows the price/],
  ])('in a value is told what it means: %s', (member, hint) => {
    const text = `{"ticker":"ETHUSDT","id":"a","quantity":1,"stopPrice":1,"action":"buy",${member}}`;
    const [issue] = refusalOf(
      member.startsWith('"action"') ? text.replace('"action":"buy",', '') : text,
    ).issues;

    expect(issue?.hint).toMatch(hint);
  });

  test.each(['{"percent":2}', '{"price":90,"trailing":true}', '[90,80]'])(
    'as settings of a stop-loss is not asked for as a bare number: %s',
    (value) => {
      expect(issueOf(orderWith(`"stopLoss":${value}`)).hint).toMatch(
        /per cents, distances, trailing and several targets/,
      );
    },
  );
});

test('a proposal is one slip of the pen away, whatever was written', () => {
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
