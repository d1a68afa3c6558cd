import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { issueOf, orderWith, refusalOf } from './reading.ts';

/** Keys that alerts for other relays contain; none of them is a field of this relay. */
const foreignFields = [
  ...['pos_size', 'targetPosition', 'position'],
  ...['amount_type', 'currency', 'unit', 'size_type', 'risk', 'percent', 'percentage', 'equity_percent'],
  ...['qty_pct', 'risk_percent', 'lots', 'lot_size', 'units', 'contract', 'usd_amount'],
  ...['notional', 'cost', 'direction', 'bias', 'strategy_info'],
  ...['close_only', 'close_position', 'close_all', 'exit', 'flatten', 'reverse'],
  ...['leverage', 'margin_mode', 'margin_type', 'isolated', 'hedge_mode'],
  ...['trailing', 'trailing_stop', 'trail_price', 'trail_offset', 'trailing_delta', 'trail_amount'],
  ...['callback_rate', 'breakeven', 'stop', 'trigger_price', 'trigger', 'tp1', 'tp2', 'sl1', 'stop_loss_2'],
  ...['take_profit_1', 'targets', 'take_profits', 'stop_loss_limit', 'stop_loss_stop'],
  ...['stop_loss_percent', 'sl_percent', 'take_profit_pct', 'tp_pct', 'sl_type', 'stop_loss_ticks'],
  ...['entry_price', 'spot_price', 'mark_price', 'alert_price', 'slippage'],
  ...['fok', 'gtd', 'expiry', 'timeToLive', 'test', 'dry_run', 'paper_trading', 'cancel', 'code', 'command'],
  ...['account', 'ticket', 'pyramiding', 'dca', 'cooldown'],
  ...['product', 'disclosed_quantity', 'iceberg', 'quantity%', 'amount$'],
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
      'targetPosition',
      'it is the size of a position; the position that you want is "target", or "marketPosition" with "marketPositionSize", or "positionSize": each in an alert without buy or sell',
    ],
    [
      'closePosition',
      'to close a position, write "action": "close", with "quantity": "50%" for a part of it; "exit_long" and "exit_short" close one of a known side',
    ],
    ['leverage', 'it is a setting of the exchange account: set it at the exchange'],
    [
      'investmentUnit',
      'it names the unit of the size; here "quantity" is in the base currency, "quoteQuantity" in the quote currency, "quantityPercent" a share of what the account holds',
    ],
    [
      'marketUnit',
      'it names the unit of the size; here "quantity" is in the base currency, "quoteQuantity" in the quote currency, "quantityPercent" a share of what the account holds',
    ],
    [
      'tgtCcy',
      'it names the unit of the size; here "quantity" is in the base currency, "quoteQuantity" in the quote currency, "quantityPercent" a share of what the account holds',
    ],
    [
      'amount_mode',
      'it names the unit of the size; here "quantity" is in the base currency, "quoteQuantity" in the quote currency, "quantityPercent" a share of what the account holds',
    ],
    [
      'sl_mode',
      '"stopLoss" and "takeProfit" take a price, or a distance from the entry price: "stopLoss": "2%"',
    ],
    [
      'stop_loss_unit',
      '"stopLoss" and "takeProfit" take a price, or a distance from the entry price: "stopLoss": "2%"',
    ],
    [
      'slippagePct',
      '"maxSlippage" is how far beyond the best price a market order may fill: "maxSlippage": "0.5%"',
    ],
    [
      'maxSlippagePercent',
      '"maxSlippage" is how far beyond the best price a market order may fill: "maxSlippage": "0.5%"',
    ],
    [
      'sz',
      'use the field for the unit of your size: "quantity" is in the base currency, "quoteQuantity" in the quote currency, "quantityPercent" a share of what the account holds',
    ],
    [
      'posSide',
      'in hedge mode "positionSide" is the position that the order belongs to: "LONG" or "SHORT"; otherwise remove it',
    ],
    ['orderLinkId', 'in an order "id" is your own name for the signal; every signal needs another one'],
    [
      'dryRun',
      "the account's mode in relay.config.ts decides what is sent: this field would not make the alert a test",
    ],
    [
      'stop',
      '"stopPrice" is the trigger price of the order, "stopLoss" protects the position: use the one you mean',
    ],
    [
      'trigger_price',
      'some relays mean the trigger price of the order by it: write that as "stopPrice"; others mean the last price: remove that',
    ],
    [
      'tp2',
      'several take-profits are a list: "takeProfits": [{"price": "2%", "share": "50%"}, {"price": "4%", "share": "50%"}]; a single one is "takeProfit": "4%"; there is one "stopLoss"',
    ],
    [
      'moveStopLoss',
      'when the stop-loss of the open position is to move, send "action": "protect" with the new "stopLoss": a price, "2%", or "entry" for break-even',
    ],
    [
      'dca',
      'one signal is one order: send one for each entry, with its own "quantity" and "limitPrice", and with a "stopLoss" that protects it',
    ],
    [
      'close_all',
      'one signal is about one market: write "action": "close" with the ticker of each market, in one array',
    ],
    [
      'trailAmount',
      'the exchange has no trailing orders; the relay moves the stop-loss itself: write how far behind the best price it stays, as a per cent: "trailing": "1.5%"',
    ],
    ['fok', 'the exchange has no fill-or-kill; "ioc": true fills at once what it can and cancels the rest'],
    [
      'goodTillDate',
      'orders stay open until they are filled or cancelled: send a "cancel" when an order is no longer wanted',
    ],
    [
      'sl_percent',
      '"stopLoss" and "takeProfit" take a price, or a distance from the entry price: "stopLoss": "2%"',
    ],
    [
      'slippage',
      '"maxSlippage" is how far beyond the best price a market order may fill: "maxSlippage": "0.5%"',
    ],
  ])('%s gets a hint that explains it', (field, hint) => {
    expect(hintFor(field)).toBe(hint);
  });

  const closing =
    'to close a position, write "action": "close", with "quantity": "50%" for a part of it; "exit_long" and "exit_short" close one of a known side';
  test.each([
    [
      'action',
      'close_all',
      'one signal is about one market: write "action": "close" with the ticker of each market, in one array',
    ],
    ['action', 'reduce', closing],
    ['action', 'add', 'write "buy" or "sell": every order states its own size'],
    [
      'action',
      'CANCELORDERS',
      'write "cancel" for one order, "cancel_all" for the open orders of the market',
    ],
    [
      'orderType',
      'trailing_stop',
      'the exchange has no trailing orders; the relay moves the stop-loss itself: write how far behind the best price it stays, as a per cent: "trailing": "1.5%"',
    ],
    [
      'orderType',
      'FOK',
      'the exchange has no fill-or-kill; "ioc": true fills at once what it can and cancels the rest',
    ],
    ['orderType', 'post-only', 'write "orderType": "limit" with "postOnly": true'],
    [
      'orderType',
      'bracket',
      'write the entry with "stopLoss" and "takeProfit": the exchange places them as a pair when it fills',
    ],
    ['quantityType', 'cash', 'write "quoteQuantity": it is an amount of the quote currency of the market'],
    [
      'quantityType',
      'percent_of_equity',
      '"quantityPercent" is a share of the free collateral, on a spot market of what is available: write it if you mean that; "target": "50%" is a position worth that share of the equity',
    ],
    [
      'quantityType',
      'risk_dollar_amount',
      'the relay calculates no size from a risk: let the script calculate "quantity"',
    ],
    [
      'amountPerTradeType',
      'percents',
      'it is a ratio from 0 to 1 in other relays: write "quantityPercent": "5%" instead of the size and its unit',
    ],
    [
      'timeInForce',
      'fok',
      'the exchange has no fill-or-kill; "ioc": true fills at once what it can and cancels the rest',
    ],
    [
      'tif',
      'DAY',
      'the exchange has no orders that expire: write "gtc", and send a "cancel" when the order is no longer wanted',
    ],
  ])('in the value of %s is told what it means: %s', (field, word, hint) => {
    const alert = { ticker: 'ETHUSDT', id: 'a', action: 'buy', quantity: 1, stopPrice: 1, [field]: word };
    const { issues } = refusalOf(JSON.stringify(alert));

    expect(issues.find(({ path }) => path === field)?.hint).toBe(hint);
  });

  test.each(['{"priceDeviation":0.02}', '{"amount":3}', '{}'])(
    'as settings of a stop-loss gets what to write: %s',
    (value) => {
      const { issues } = refusalOf(orderWith(`"stopLoss":${value}`));

      expect(issues.map(({ hint }) => hint)).toContain(
        'write a price, or a distance from the entry price: "stopLoss": "2%"',
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
