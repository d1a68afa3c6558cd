import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { issuesOf, writeMessage } from '../../lib/translate/own-message.ts';
import { type Translation, translateMessage } from '../../lib/translate/translate-message.ts';
import { account, context as usual } from '../signals/reading.ts';
import { runs } from '../support/runs.ts';

const ground = { tradesOn: 'futures', sides: ['buy', 'sell'], maxAmount: null, maxNotional: null } as const;
const context = {
  ...usual,
  tickers: { BTCUSDT: 'BTC_PERP', EURUSD: 'EUR_PERP' },
  account: { ...account, markets: { BTC_PERP: ground, EUR_PERP: ground }, allowUnguardedMarket: true },
};
const time = '"time": "{{timenow}}"';

function translate(text: string): Translation {
  return translateMessage(text, context);
}

const tutorial = `{"passphrase": "abcdefgh", "time": "{{timenow}}", "exchange": "{{exchange}}", "ticker": "{{ticker}}",
  "bar": {"time": "{{time}}", "open": {{open}}, "close": {{close}}},
  "strategy": {"position_size": {{strategy.position_size}}, "order_action": "{{strategy.order.action}}",
    "order_contracts": {{strategy.order.contracts}}, "order_price": {{strategy.order.price}},
    "order_id": "{{strategy.order.id}}", "market_position": "{{strategy.market_position}}"}}`;

describe('a message is translated:', () => {
  test.each<[product: string, theirs: string, ours: readonly string[]]>([
    [
      'TradersPost',
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.01, "signalPrice": "{{close}}", "stopLoss": {"type": "stop", "percent": 2}, "takeProfit": {"limitPrice": 64000}}',
      [
        `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "0.01", "stopLoss": "2%", "takeProfit": "64000", "referencePrice": "{{close}}", ${time}}`,
      ],
    ],
    [
      'TradersPost',
      '{"ticker": "{{ticker}}", "action": "sell", "quantityType": "percent_of_position", "quantity": 50}',
      [
        `{"ticker": "{{ticker}}", "action": "sell", "orderType": "market", "quantityPercent": "50%", "of": "position", ${time}}`,
      ],
    ],
    [
      'a message in the usual names',
      '{"ticker": "BTCUSDT", "action": "exit"}',
      [`{"ticker": "BTCUSDT", "action": "close", ${time}}`],
    ],
    [
      '3Commas',
      '{"secret": "s3cr3t-value", "max_lag": "300", "timestamp": "{{timenow}}", "trigger_price": "{{close}}", "tv_exchange": "{{exchange}}", "tv_instrument": "{{ticker}}", "action": "{{strategy.order.action}}", "bot_uuid": "b0-u1", "strategy_info": {"market_position": "long"}, "order": {"amount": "{{strategy.order.contracts}}", "currency_type": "base"}}',
      [
        `{"ticker": "{{ticker}}", "action": "{{strategy.order.action}}", "orderType": "market", "quantity": "{{strategy.order.contracts}}", "maxLag": "300", "referencePrice": "{{close}}", "sentiment": "long", ${time}}`,
      ],
    ],
    [
      '3Commas',
      '{"tv_instrument": "BTCUSDT", "action": "exit_long", "order": {"amount": "100", "currency_type": "position_percent", "order_type": "market"}}',
      [
        `{"ticker": "BTCUSDT", "action": "exit_long", "orderType": "market", "quantityPercent": "100%", "of": "position", ${time}}`,
      ],
    ],
    [
      '3Commas',
      '{"message_type": "bot", "bot_id": 123, "email_token": "abc-def", "delay_seconds": 0, "pair": "USDT_BTC", "action": "close_at_market_price"}',
      [`{"ticker": "BTCUSDT", "action": "close", ${time}}`],
    ],
    [
      'WunderTrading',
      '{"code": "ENTER-LONG_BINANCE_BTCUSDT_bot_5m_9f8e7d", "orderType": "market", "amountPerTradeType": "percents", "amountPerTrade": 0.05, "stopLoss": {"priceDeviation": 0.025}, "leverage": 5}',
      [
        `{"ticker": "BTCUSDT", "action": "enter_long", "orderType": "market", "quantityPercent": "5%", "stopLoss": "2.5%", ${time}}`,
      ],
    ],
    [
      'WunderTrading',
      '{"code": "EXIT-SHORT_BINANCE_BTCUSDT_bot", "reduceOnly": true}',
      [`{"ticker": "BTCUSDT", "action": "exit_short", "orderType": "market", "reduceOnly": "true", ${time}}`],
    ],
    [
      'OpenAlgo',
      '{"apikey": "k3y-of-mine", "strategy": "Trend", "exchange": "NSE", "symbol": "BTCUSDT", "action": "BUY", "product": "MIS", "pricetype": "SL", "quantity": "0.01", "price": "61050", "trigger_price": "61000", "disclosed_quantity": "0"}',
      [
        `{"ticker": "BTCUSDT", "action": "buy", "orderType": "stop_limit", "quantity": "0.01", "stopPrice": "61000", "limitPrice": "61050", ${time}, "strategy": "Trend"}`,
      ],
    ],
    [
      "the tutorials' template",
      tutorial,
      [
        `{"ticker": "{{ticker}}", "action": "{{strategy.order.action}}", "orderType": "market", "quantity": "{{strategy.order.contracts}}", "referencePrice": "{{strategy.order.price}}", ${time}, "comment": "{{strategy.order.id}}"}`,
      ],
    ],
    [
      'CrossTrade',
      'key=my-key; command=PLACE; account=sim101; instrument=BTCUSDT; action=BUY; qty=1; order_type=MARKET; tif=DAY; flatten_first=true; stop_loss=59000;',
      [
        `{"ticker": "BTCUSDT", "action": "close", ${time}}`,
        `{"ticker": "BTCUSDT", "action": "cancel_all", "scope": "market", ${time}}`,
        `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "1", "stopLoss": "59000", ${time}}`,
      ],
    ],
    [
      'Alertatron',
      'MyKeys(BTCUSDT) { cancel(which=all); market(side=buy, amount=50%%); stopOrder(side=sell, amount=100%p, offset=@59000); } #bot',
      [
        `{"ticker": "BTCUSDT", "action": "cancel_all", "scope": "market", ${time}}`,
        `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantityPercent": "50%", ${time}}`,
        `{"ticker": "BTCUSDT", "action": "sell", "orderType": "stop_market", "quantityPercent": "100%", "of": "position", "stopPrice": "59000", "reduceOnly": "true", ${time}}`,
      ],
    ],
    [
      'Alertatron',
      'MyKeys(BTCUSDT) { stopMarket(side=buy, amount=1, offset=@61000, reduceOnly=false); stopOrder(side=sell, amount=1, offset=@59000, limitOffset=@58900); stopLimit(side=sell, amount=1, offset=@59000, limitOffset=@58900, reduceOnly=true); }',
      [
        `{"ticker": "BTCUSDT", "action": "buy", "orderType": "stop_market", "quantity": "1", "stopPrice": "61000", ${time}}`,
        `{"ticker": "BTCUSDT", "action": "sell", "orderType": "stop_limit", "quantity": "1", "stopPrice": "59000", "limitPrice": "58900", "reduceOnly": "true", ${time}}`,
        `{"ticker": "BTCUSDT", "action": "sell", "orderType": "stop_limit", "quantity": "1", "stopPrice": "59000", "limitPrice": "58900", "reduceOnly": "true", ${time}}`,
      ],
    ],
    [
      'Alertatron',
      'MyKeys(BTCUSDT) { limit(side=sell, amount=0.01, offset=@64000, postOnly=true); market(position=0); }',
      [
        `{"ticker": "BTCUSDT", "action": "sell", "orderType": "limit", "quantity": "0.01", "limitPrice": "64000", "postOnly": "true", ${time}}`,
        `{"ticker": "BTCUSDT", "action": "close", ${time}}`,
      ],
    ],
    [
      'PineConnector',
      '60123456789,closelong,EURUSD',
      [`{"ticker": "EURUSD", "action": "exit_long", "orderType": "market", ${time}}`],
    ],
    [
      'Autoview',
      'e=binance s=BTCUSDT b=buy q=0.01 t=market sl=-2% tp=4% l=5',
      [
        `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "0.01", "stopLoss": "2%", "takeProfit": "4%", ${time}}`,
      ],
    ],
    [
      'Autoview',
      's=BTCUSDT c=order | s=BTCUSDT c=position b=short | s=BTCUSDT b=long q=0.01 fp=60000',
      [
        `{"ticker": "BTCUSDT", "action": "cancel_all", "scope": "market", ${time}}`,
        `{"ticker": "BTCUSDT", "action": "exit_short", "orderType": "market", ${time}}`,
        `{"ticker": "BTCUSDT", "action": "buy", "orderType": "limit", "quantity": "0.01", "limitPrice": "60000", ${time}}`,
      ],
    ],
    [
      "TradingView's default text of a strategy alert",
      'MACD (12, 26): order buy @ 1 filled on BTCUSDT. New strategy position is 1',
      [
        `{"ticker": "{{ticker}}", "action": "{{strategy.order.action}}", "orderType": "market", "quantity": "{{strategy.order.contracts}}", ${time}, "comment": "{{strategy.order.id}}"}`,
      ],
    ],
    [
      'WunderTrading',
      'EXIT-ALL_BINANCE_BTC-USDT_MYBOT_5M_abcd',
      [`{"ticker": "BTCUSDT", "action": "close", ${time}}`],
    ],
    [
      'a message in the usual names',
      '{"ticker": "{{ticker}}", "action": "{{strategy.order.action}}", "prev_position": "{{strategy.prev_market_position}}", "quantity": "{{strategy.order.contracts}}", "pointer": "h1dd3n", "cancel": false, "delay": 0}',
      [
        `{"ticker": "{{ticker}}", "action": "{{strategy.order.action}}", "orderType": "market", "quantity": "{{strategy.order.contracts}}", ${time}}`,
      ],
    ],
    [
      'a message in the usual names',
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 1, "takeProfit": [{"price": 62000}]}',
      [
        `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "1", "takeProfit": "62000", ${time}}`,
      ],
    ],
    [
      'WunderTrading',
      '{"code": "ENTER-LONG_BINANCE_BTCUSDT_bot", "amountPerTradeType": "quote", "amountPerTrade": 100, "takeProfits": [{"priceDeviation": 0.01, "portfolio": 1}]}',
      [
        `{"ticker": "BTCUSDT", "action": "enter_long", "orderType": "market", "quoteQuantity": "100", "takeProfit": "1%", ${time}}`,
      ],
    ],
    [
      'WunderTrading',
      '{"code": "ENTER-LONG_BINANCE_BTCUSDT_bot", "amountPerTradeType": "quote", "amountPerTrade": 100, "takeProfits": [{"priceDeviation": 0.01, "portfolio": 0.5}, {"priceDeviation": 0.02, "portfolio": 0.5}]}',
      [
        `{"ticker": "BTCUSDT", "action": "enter_long", "orderType": "market", "quoteQuantity": "100", "takeProfits": [{"price": "1%", "share": "50%"}, {"price": "2%", "share": "50%"}], ${time}}`,
      ],
    ],
    [
      'TradersPost',
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 1, "stopLoss": {"type": "trailing_stop", "trailPercent": 2}}',
      [
        `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "1", "trailing": "2%", ${time}}`,
      ],
    ],
    [
      'PineConnector',
      '60123456789,newsltplong,BTCUSDT,sl_price=59000,tp_price=64000',
      [`{"ticker": "BTCUSDT", "action": "protect", "stopLoss": "59000", "takeProfit": "64000", ${time}}`],
    ],
    [
      'a message in the usual names',
      '{"ticker": "BTCUSDT", "action": "move_sl_to_breakeven", "mood": 0}',
      [`{"ticker": "BTCUSDT", "action": "protect", "stopLoss": "entry", ${time}}`],
    ],
    [
      'OKX',
      '{"id": "{{strategy.order.id}}", "action": "{{strategy.order.action}}", "marketPosition": "{{strategy.market_position}}", "prevMarketPosition": "{{strategy.prev_market_position}}", "marketPositionSize": "{{strategy.market_position_size}}", "instrument": "{{ticker}}", "signalToken": "h1dd3n", "timestamp": "{{timenow}}", "maxLag": "60", "investmentType": "base", "amount": "{{strategy.order.contracts}}"}',
      [
        `{"ticker": "{{ticker}}", "action": "{{strategy.order.action}}", "orderType": "market", "quantity": "{{strategy.order.contracts}}", "sentiment": "{{strategy.market_position}}", "maxLag": "60", ${time}, "comment": "{{strategy.order.id}}"}`,
      ],
    ],
    [
      'OKX',
      '{"action": "EXIT_LONG", "instrument": "BTC-USDT-SWAP", "signalToken": "h1dd3n", "orderType": "market", "orderPriceOffset": "", "investmentType": "percentage_position", "amount": "100"}',
      [
        `{"ticker": "BTCUSDT.P", "action": "exit_long", "orderType": "market", "quantityPercent": "100%", "of": "position", ${time}}`,
      ],
    ],
    [
      'words',
      'buy BTCUSDT 0.001',
      [`{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "0.001", ${time}}`],
    ],
  ])('%s, %s', (product, theirs, ours) => {
    const { product: found, messages, missing } = translate(theirs);

    expect({ found, missing, messages: messages.map(writeMessage) }).toEqual({
      found: product,
      missing: [],
      messages: ours,
    });
  });
});

const severalTargets =
  'each of the take-profits with its share: "takeProfits": [{"price": "2%", "share": "50%"}, {"price": "4%", "share": "50%"}]';

describe('what cannot be told is missing, and nothing is to be pasted:', () => {
  test.each([
    [
      '60123456789,buy,EURUSD,risk=1',
      'the size: "quantity" in the base currency; lots and risk depend on settings there',
    ],
    ['60123456789,sell,EURUSD,vol_lots=1,sl=50', '"stopLoss" as a price, or as a distance such as "2%"'],
    ['s=BTCUSDT b=buy q=0.01 t=market sl=50', '"stopLoss" as a price, or as a distance such as "2%"'],
    ['s=BTCUSDT b=buy q=0.01 p=-1%', 'the price of the order: "limitPrice"'],
    [
      's=BTCUSDT b=buy q=0.01 t=market ts=2%',
      'how far behind the best price the stop-loss stays, as a per cent: "trailing": "1.5%"',
    ],
    ['MyKeys(BTCUSDT) { limit(side=buy, amount=1, offset=100); }', 'the "limitPrice": a price'],
    [
      'MyKeys(BTCUSDT) { stopOrder(side=sell, amount=1, offset=@59000, limitOffset=10); }',
      'the "limitPrice": a price',
    ],
    ['MyKeys(BTCUSDT) { stopLimit(side=sell, amount=1, offset=@59000); }', 'the "limitPrice": a price'],
    [
      'MyKeys(BTCUSDT) { stopOrder(side=buy, amount=1, offset=@61000, reduceOnly=maybe); }',
      'whether the order only reduces: "reduceOnly"',
    ],
    [
      'MyKeys(BTCUSDT) { market(side=buy, amount=1); trailingStop(side=sell, amount=1, offset=1%); }',
      'what "trailingStop" does: orders here are market, limit and stop orders',
    ],
    [
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 1, "stopLoss": {"type": "trailing_stop", "trailAmount": 200}}',
      'how far behind the best price the stop-loss stays, as a per cent: "trailing": "1.5%"',
    ],
    [
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 1, "dca": {"orders": 3}}',
      'each order as an alert of its own: DCA and grids do not exist here',
    ],
    [
      '{"ticker": "BTCUSDT", "action": "buy", "quantityType": "risk_percent", "quantity": 1}',
      'a size: "quantity" in the base currency, "quoteQuantity" in the quote currency, or "quantityPercent", a share of what is free',
    ],
    [
      '{"ticker": "BTCUSDT", "action": "buy", "quantityType": "percent_of_equity", "quantity": 10}',
      'a size: "quantity" in the base currency, "quoteQuantity" in the quote currency, or "quantityPercent", a share of what is free',
    ],
    [
      'ENTER-LONG_Binance_BTC-USDT_MYBOT_5M_abcd',
      'the size, which is a setting of the bot there: "quantity" in the base currency, "quoteQuantity" in the quote currency, or "quantityPercent"',
    ],
    [
      '{"message_type": "bot", "bot_id": 123, "email_token": "abc-def", "delay_seconds": 0, "pair": "USDT_BTC"}',
      'an "action": without one, the bot there starts a deal; here "buy", or "sell" for a short bot, with a size, which is a setting of the bot',
    ],
    [
      '{"code": "ENTER-LONG_mybot", "amountPerTradeType": "quote", "amountPerTrade": 100}',
      'the "ticker": there it is a setting of the bot; "{{ticker}}" is that of the chart',
    ],
    [
      '{"ticker": "BTCUSDT", "action": "buy", "side": "sell", "quantity": 1}',
      'one "action": the message gives two',
    ],
    ['hello world', 'an action and a ticker: the text names neither'],
    [
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 1, "stopLoss": 59000, "takeProfit": [{"price": 62000, "percent": 50}, {"price": 64000, "percent": 50}]}',
      severalTargets,
    ],
    [
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 1, "takeProfits": [{"price": 62000, "percent": 50, "share": "50%"}, {"price": 64000, "share": "50%"}]}',
      severalTargets,
    ],
    [
      '{"tv_instrument": "BTCUSDT", "action": "enter_long", "order": {"amount": 1}, "stop_loss": {"enabled": false, "trigger_price_percent": 1}}',
      'a message without the stop-loss that is off',
    ],
    [
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 1, "takeProfits": [{"share": 100}]}',
      '"takeProfit" as a price, or as a distance such as "2%"',
    ],
  ])('%s', (theirs, missing) => {
    const translation = translate(theirs);

    expect(translation.messages).toEqual([]);
    expect(translation.missing).toContain(missing);
  });
});

test('a number that may be a price is not told as a size', () => {
  const { words } = translate('BTC/USDT\nBuy 61000\nSell 63000\nStop 57000');

  expect(words).toEqual([
    { theirs: 'BTC/USDT', ours: { ticker: 'BTCUSDT' }, note: '' },
    { theirs: 'Buy', ours: {}, note: 'its meaning cannot be told' },
    { theirs: '61000', ours: {}, note: 'its meaning cannot be told' },
    { theirs: 'Sell', ours: {}, note: 'its meaning cannot be told' },
    { theirs: '…', ours: {}, note: 'not understood, and not shown' },
    { theirs: '…', ours: {}, note: 'not understood, and not shown' },
  ]);
});

test('each word is told, with what is lost and without what is secret', () => {
  expect(
    translate(
      '{"ticker": "BTCUSDT", "action": "buy", "quantity": 1, "leverage": 5, "password": "hunter2", "mood": "odd words"}',
    ).words,
  ).toEqual([
    { theirs: 'ticker: BTCUSDT', ours: { ticker: 'BTCUSDT' }, note: '' },
    {
      theirs: 'action: buy',
      ours: { action: 'buy' },
      note: 'one order; there, open orders are cancelled and an opposite position is closed first',
    },
    { theirs: 'quantity: 1', ours: { quantity: '1' }, note: 'in the base currency' },
    { theirs: 'leverage: 5', ours: {}, note: 'LOST: leverage is a setting of the account at the exchange' },
    { theirs: 'password (removed)', ours: {}, note: 'the token in the webhook URL is the only secret here' },
    { theirs: 'mood: …', ours: {}, note: 'LOST: the relay has nothing of that name' },
  ]);
});

test('a ticker that is not mapped is no fault of the message: the line for the configuration is told', () => {
  const { messages, advice } = translate('{"ticker": "DOGEUSDT", "action": "buy", "quantity": 5}');

  expect(messages).toHaveLength(1);
  expect(advice).toEqual([
    "add this line to the tickers in relay.config.ts: 'DOGEUSDT': 'DOGE_USDT', and DOGE_USDT to the markets of account main; then start or deploy the relay again",
  ]);
});

describe('any message', () => {
  const seed = 20_261_124;
  const secret = fc.string({
    unit: fc.constantFrom(...'ABCDEFGHkmnpqrstuvwxyz23456789'),
    minLength: 20,
    maxLength: 32,
  });
  const name = fc.constantFrom(
    'ticker',
    'action',
    'side',
    'quantity',
    'quantityType',
    'orderType',
    'price',
    'stopLoss',
    'takeProfit',
    'sentiment',
    'code',
    'pricetype',
    'tv_instrument',
    'order',
    'strategy',
    'amountPerTrade',
    'leverage',
    'trailPercent',
    'x',
    'extras',
  );
  const value: fc.Arbitrary<unknown> = fc.oneof(
    fc.constantFrom(
      'BTCUSDT',
      'buy',
      'sell',
      'exit',
      'market',
      'limit',
      'long',
      'flat',
      '{{ticker}}',
      '{{close}}',
    ),
    fc.constantFrom('ENTER-LONG_BTCUSDT', 'percents', 0.5, 1, '2%', true, null),
    fc.record({ percent: fc.constantFrom(1, 2), order_action: fc.constantFrom('buy', 'sell') }),
    fc.string({ maxLength: 12 }),
  );

  test('of JSON never fails, gives only what the relay takes, and shows no secret', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(name, value), { maxLength: 8 }),
        fc.constantFrom('secret', 'passphrase', 'apikey', 'bot_uuid', 'token', 'key'),
        secret,
        (members, secretName, hidden) => {
          const text = JSON.stringify({ ...Object.fromEntries(members), [secretName]: hidden });
          const translation = translate(text);

          expect(JSON.stringify(translation)).not.toContain(hidden);
          expect(translation.messages.length + translation.missing.length).toBeGreaterThan(0);
          if (translation.messages.length > 0)
            expect(
              issuesOf(translation.messages, context).filter(({ path }) => !path.endsWith('ticker')),
            ).toEqual([]);
        },
      ),
      { seed, numRuns: runs(1_500) },
    );
  });

  test('of text likewise', () => {
    const shapes: readonly ((hidden: string, junk: string) => string)[] = [
      (hidden, junk) => `6012345678901,buy,EURUSD,secret=${hidden},${junk}`,
      (hidden, junk) => `key=${hidden}; command=PLACE; instrument=BTCUSDT; action=BUY; qty=1; ${junk};`,
      (hidden, junk) => `${hidden}(BTCUSDT) { market(side=buy, amount=${junk}); }`,
      (hidden, junk) => `a=${hidden} s=BTCUSDT b=buy q=1 ${junk}`,
      (hidden, junk) => `passphrase: ${hidden}\nbuy BTCUSDT 1 ${junk}`,
      (hidden, junk) => `${hidden} ${junk}`,
    ];
    fc.assert(
      fc.property(fc.constantFrom(...shapes), secret, fc.string({ maxLength: 30 }), (shape, hidden, junk) => {
        const translation = translate(shape(hidden, junk));

        expect(JSON.stringify(translation)).not.toContain(hidden);
        if (translation.messages.length > 0)
          expect(
            issuesOf(translation.messages, context).filter(({ path }) => !path.endsWith('ticker')),
          ).toEqual([]);
      }),
      { seed, numRuns: runs(1_500) },
    );
  });
});

test.each([
  '{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopLos": "2%"}',
  '{"ticker": "BTCUSDT", "action": "sell", "quantity": 0.001, "redceOnly": true}',
  '{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "limitprise": 59000}',
  '{"ticker": "BTCUSDT", "action": "buy", "quantity": 1, "quantitty": 0.001}',
  '{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "close_position": true}',
  '{"tv_instrument": "BTCUSDT", "action": "buy", "order": {"amount": "0.01", "currency_type": "base", "stop_loss": {"price": 1}}}',
  'key=x; command=PLACE; account=sim; instrument=BTCUSDT; action=BUY; qty=1; order_type=MARKET; tif=GTC; stop_los=59000;',
])('a name that nothing knows keeps a message from being translated: %s', (text) => {
  expect(translate(text)).toMatchObject({ messages: [], missing: [expect.anything()] });
});
