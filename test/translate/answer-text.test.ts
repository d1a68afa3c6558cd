import { describe, expect, test } from '@jest/globals';
import { RelayError } from '../../lib/base/errors.ts';
import { parseJson } from '../../lib/signals/parse-json.ts';
import { answerText, explainText, type TextAnswer } from '../../lib/translate/answer-text.ts';
import { accountOn, bytesOf, context as usual } from '../signals/reading.ts';

const context = { ...usual, tickers: { BTCUSDT: 'BTC_USDT', ETHUSDT: 'ETH_USDT' } };

function answerTo(text: string): TextAnswer {
  const answer = explainText(text, context);
  if (answer === null) throw new Error(`expected an answer to ${text}`);
  return answer;
}

const start = 'text is never an order; the message of the same meaning is ';
const bought =
  '{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "0.001", "time": "{{timenow}}"}';

describe('a text is answered with the message of the same meaning:', () => {
  test.each([
    ['words', 'buy BTCUSDT 0.001'],
    ['words', 'BUY BTCUSDT @ market 0.001'],
    ['words', 'buy 0.001 BTC of BTC/USDT'.replace(' of', '')],
    ['a form', 'ticker=BTCUSDT&action=buy&quantity=0.001'],
    ['a list of names and values', 'key=abc;symbol=BTCUSDT;side=buy;qty=0.001;order_type=market'],
    ['a list of names and values', 'ticker: BTCUSDT\naction: BUY\nquantity: 0.001'],
    ['a comma-separated list', 'buy,BTCUSDT,0.001'],
  ])('%s, %j', (form, text) => {
    expect(answerTo(text)).toMatchObject({ form, hint: `${start}${bought}` });
  });

  test.each([
    [
      'buy limit BTCUSDT 0.01 @ 60000 sl 59000 tp 64000',
      '{"ticker": "BTCUSDT", "action": "buy", "orderType": "limit", "quantity": "0.01", "limitPrice": "60000", "stopLoss": "59000", "takeProfit": "64000", "time": "{{timenow}}"}',
    ],
    [
      'sell BTC/USDT 100 USDT',
      '{"ticker": "BTCUSDT", "action": "sell", "orderType": "market", "quoteQuantity": "100", "time": "{{timenow}}"}',
    ],
    ['flatten BTCUSDT', '{"ticker": "BTCUSDT", "action": "close", "time": "{{timenow}}"}'],
  ])('%j', (text, message) => {
    expect(answerTo(text).hint).toBe(`${start}${message}`);
  });

  test.each(['type=limit&', 'type=stop_limit&stopPrice=61000&'])(
    'price is the limit of a form that says %j',
    (kind) => {
      expect(
        explainText(`${kind}action=buy&ticker=BTCUSDT&qty=1&price=61500`, context)?.messages,
      ).toMatchObject([{ limitPrice: '61500' }]);
    },
  );

  test('a sell of so many per cent, on a spot market, is a share of the balance', () => {
    const onSpot = { ...context, account: accountOn('BTC_USDT', 'spot') };

    expect(explainText('sell 100% BTCUSDT', onSpot)?.messages).toMatchObject([
      { action: 'sell', quantityPercent: '100%' },
    ]);
  });

  test('and with what is not in it', () => {
    expect(answerTo('action=buy;ticker=BTCUSDT;qty=0.001;order_type=MARKET;tif=DAY').hint).toBe(
      `${start}${bought}; not in it: the end of the day, before which a market order is long filled`,
    );
    expect(answerTo('buy BTCUSDT 0.001 leverage 10').hint).toBe(
      `${start}${bought}; not in it: it is a setting of the exchange account: set it at the exchange`,
    );
    expect(answerTo('buy DOGEUSDT 5').hint).toMatch(
      /"ticker": "DOGEUSDT".*; add this line to the tickers in relay\.config\.ts: 'DOGEUSDT': 'DOGE_USDT',/,
    );
  });
});

describe('a text whose meaning cannot be told is answered with what is missing:', () => {
  test.each([
    [
      'long BTCUSDT',
      /understood: "ticker": "BTCUSDT", "action": "enter_long".*missing: quantity: the order has no size/,
    ],
    ...['slow average', 'slippage', 'lots', 'EUR', 'stopLos=2%', 'redceOnly=true', 'limitprise=59000'].map(
      (rest): [string, RegExp] => [
        `buy BTCUSDT 1 ${rest}`,
        /of its \d words or values mean nothing to the relay, and could change the order/,
      ],
    ),
    ['buy 0.001', /missing: ticker: the alert names no ticker/],
    ['buy BTCUSDT 0.001 60000', /it has 2 numbers, and does not say which of them is the size/],
    ['buy BTCUSDT 0.001 @ 60000', /the number after "@", "at" or "price" may be a limit/],
    ['Buy signal BTCUSDT price=60000 qty=1', /the number after "@", "at" or "price" may be a limit/],
    ['action=buy&ticker=BTCUSDT&qty=1&price=60000', /the number after "@", "at" or "price" may be a limit/],
    ['sell 100% BTCUSDT', /the per cent of a sell may be a share of the balance.*, or of the position/],
    ['{{strategy.order.action}} {{ticker}} 100%', /the per cent of a sell may be a share of the balance/],
    ['buy BTCUSDT 0.001 stop 59000', /the number after "stop" may be a stop-loss/],
    ['do not buy BTCUSDT 0.001', /it has a condition or a negation/],
    ['buy or sell BTCUSDT 0.001', /it gives "action" twice/],
    ['buy BTCUSDT ETHUSDT 0.001', /it names 2 tickers/],
    [
      'action=buy;ticker=BTCUSDT;quantity=0.1;order_type=limit;limit_price=60000;tif=DAY',
      /the relay has no such "timeInForce"/,
    ],
    [
      'action=buy;ticker=BTCUSDT;quantity=0.1;order_type=market;sl=59000;tif=DAY',
      /the relay has no such "timeInForce"/,
    ],
    ['action=buy;ticker=BTCUSDT;quantity=0.1;tif=DAY', /the relay has no such "timeInForce"/],
  ])('%j', (text, missing) => {
    const answer = explainText(text, context);

    expect(answer?.messages).toEqual([]);
    expect(answer?.hint).toMatch(missing);
    expect(answer?.hint).not.toContain('{"ticker"');
  });
});

const cornix = 'BTC/USDT\nBuy 61000\nSell 63000\nStop 57000';

describe('what cannot be told is not said to be understood:', () => {
  test.each([
    [cornix, 'understood: "ticker": "BTCUSDT"; missing: it gives "action" twice; '],
    [
      'buy BTCUSDT 0.001 60000',
      'understood: "ticker": "BTCUSDT", "action": "buy"; missing: it has 2 numbers',
    ],
    ['buy or sell BTCUSDT 0.001', 'understood: "ticker": "BTCUSDT", "quantity": "0.001"; missing: '],
    [
      'BTC/USDT Buy 61000 Take Profit 63000 Stop 57000',
      'understood: "ticker": "BTCUSDT", "action": "buy", "takeProfit": "63000"; missing: ',
    ],
    [
      'buy BTCUSDT 61000 tp 63000 sl 57000',
      'understood: "ticker": "BTCUSDT", "action": "buy", "stopLoss": "57000", "takeProfit": "63000"; missing: its number without a name is as large as its prices: it may be the price of the entry and not the size',
    ],
  ])('%j', (text, understood) => {
    const answer = answerTo(text);

    expect(answer.messages).toEqual([]);
    expect(answer.hint).toContain(understood);
  });

  test('a size far from the prices of its exits is a size', () => {
    expect(explainText('buy BTCUSDT 0.5 tp 63000 sl 57000', context)?.messages).toMatchObject([
      { quantity: '0.5', stopLoss: '57000', takeProfit: '63000' },
    ]);
  });
});

describe('a text that asks for a series of orders is refused, and the refusal names it:', () => {
  test.each([
    ['dca', 'buy BTCUSDT 0.01 dca=3'],
    ['grid', 'side=buy&ticker=BTCUSDT&quantity=0.01&grid=5'],
    ['dca', 'side=buy&ticker=BTCUSDT&quantity=0.01&dca='],
    ['grid', 'BTCUSDT buy 0.01, grid: 59000-61000'],
    ['dca', 'buy BTCUSDT 0.01 DCA'],
    ['dca', 'buy BTCUSDT 0.01 dca 3'],
    ['dca', 'action=buy; ticker=BTCUSDT; qty=0.01; useDca=true'],
    ['grid', 'action=buy; ticker=BTCUSDT; qty=0.01; my_grid=4'],
    ['safety orders', 'action=buy; ticker=BTCUSDT; qty=0.01; safety_orders=4'],
    ['dca', 'buy BTCUSDT 0.01 dcaKey=3'],
    ['grid', 'buy BTCUSDT 0.01 gridToken=3'],
    ['dca', 'close BTCUSDT dca=3'],
    ['dca', 'order buy @ 0.01 filled on BTCUSDT. New strategy position is 0.01 dca=3'],
    ['grid', '60123456,closelong,BTCUSDT,grid='],
  ])('%s: %j', (name, text) => {
    const answer = answerTo(text);

    expect(answer.messages).toEqual([]);
    expect(answer.hint).toContain(`"${name}" asks for several orders: one signal is one order`);
    expect(answer.hint).not.toContain('{"ticker"');
  });

  test.each(['dca=0', 'grid=false', 'broadcast=0', 'comment=grid'])('but not by %s', (word) => {
    expect(answerTo(`ticker=BTCUSDT&action=buy&quantity=0.001&${word}`).hint).toContain(`${start}${bought}`);
  });
});

describe('a number in a unit of others is not taken for one of the relay:', () => {
  test.each([
    'buy BTCUSDT 100 dollars',
    'buy BTCUSDT 100 USD',
    'buy BTCUSDT 1 lot',
    'buy BTCUSDT 1 sl 50 pips',
    'buy BTCUSDT 1 sl 50pips',
    'buy BTCUSDT qty=1 sl=50pips',
    'buy BTCUSDT 1 tp 2 points',
  ])('%j', (text) => {
    const answer = answerTo(text);

    expect(answer.messages).toEqual([]);
    expect(answer.hint).toContain('a number is in a unit that the relay has not');
  });

  test.each(['sl 2 %', 'sl 2 percent', 'sl 2pct', 'sl=2 per cent'])(
    '%s is a distance in per cent',
    (exit) => {
      expect(explainText(`buy BTCUSDT 1 ${exit}`, context)?.messages).toMatchObject([{ stopLoss: '2%' }]);
    },
  );

  test('the base currency as a word of its own changes nothing', () => {
    expect(explainText('BTC: buy BTC now, BTCUSDT 0.5', context)?.messages).toMatchObject([
      { quantity: '0.5' },
    ]);
  });

  test('a blank before the sign of per cent makes no other size', () => {
    expect(explainText('buy BTCUSDT 5 %', context)?.messages).toMatchObject([{ quantityPercent: '5%' }]);
  });
});

describe('a text that asks for an exit which cannot be told is never answered with an order without it:', () => {
  test.each([
    'buy BTCUSDT 1 trailing stop',
    'buy BTCUSDT 1 trailing 2%',
    'buy BTCUSDT 1 stoploss',
    'buy BTCUSDT 1 sl two percent',
    'buy BTCUSDT 1 s/l at the low',
    'buy BTCUSDT 1 stop: 59000',
    'buy BTCUSDT 1 hard_stop 59000',
    'buy BTCUSDT 1 breakeven',
    'buy BTCUSDT 1 tp1 64000',
    'buy BTCUSDT 1 take profit at resistance',
    'buy BTCUSDT qty=1 trail=2%',
    'buy BTCUSDT qty=1 stop=59000',
    'ticker=BTCUSDT&action=buy&quantity=1&stop_loss_percent=2',
    'ticker=BTCUSDT&action=buy&quantity=1&take_profit_percent=2',
  ])('%j', (text) => {
    const answer = answerTo(text);

    expect(answer).toMatchObject({ messages: [] });
    expect(answer.hint).toContain(
      'it asks for an exit that cannot be told: give a fixed "stopLoss" or "takeProfit", a price or a distance such as "2%"; or "trailing", a per cent such as "1.5%"',
    );
  });

  test.each(['buy SLPUSDT 1', 'buy BTCUSDT qty=1 trail=false'])('%j asks for none', (text) => {
    expect(explainText(text, context)?.messages).toMatchObject([{ action: 'buy', quantity: '1' }]);
  });
});

describe('a text that is known by its form is named:', () => {
  test("TradingView's default text of a strategy, with placeholders instead of this one order", () => {
    expect(
      answerTo('MACD (12, 26): order sell @ 0.002 filled on BTCUSDT. New strategy position is -0.001'),
    ).toMatchObject({
      form: "TradingView's default text of a strategy alert",
      hint: expect.stringContaining(
        '{"ticker": "{{ticker}}", "action": "{{strategy.order.action}}", "orderType": "market", "quantity": "{{strategy.order.contracts}}", "time": "{{timenow}}", "comment": "{{strategy.order.id}}"}',
      ),
    });
  });

  test.each([
    ['BTCUSDT Crossing 64,000', "TradingView's default text of an alert"],
    ['BTCUSDT, 60 Crossing Up 64,000.00', "TradingView's default text of an alert"],
    ['60123456789,buy,EURUSD,risk=1,sl=50', 'a command for PineConnector'],
    ['e=binance s=BTCUSDT b=buy q=0.01', 'a command for Autoview'],
    ['MyKeys(BTCUSDT) { limit(side=buy, amount=1, offset=1%); }', 'a command for Alertatron'],
    ['key=abc; command=FLATTENEVERYTHING;', 'a command for CrossTrade'],
  ])('%j is %s', (text, form) => {
    expect(explainText(text, context)).toMatchObject({ form, messages: [] });
  });
});

describe('a command of another relay is answered with the message of the same meaning:', () => {
  const time = '"time": "{{timenow}}"';
  const inTheirUnit = '; "quantity" is in the unit of the exchange there, in the base currency here';

  test.each([
    [
      'Alertatron',
      'MyKeys(BTCUSDT) { market(side=buy, amount=0.01); } #bot',
      `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "0.01", ${time}}${inTheirUnit}`,
    ],
    [
      'Alertatron',
      'MyKeys(BTCUSDT) { cancel(which=all); market(position=0); }',
      `[{"ticker": "BTCUSDT", "action": "cancel_all", "scope": "market", ${time}}, {"ticker": "BTCUSDT", "action": "close", ${time}}]`,
    ],
    [
      'Autoview',
      'e=binance s=BTCUSDT b=long q=0.01 t=market',
      `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": "0.01", ${time}}${inTheirUnit}`,
    ],
    [
      'Autoview',
      's=BTCUSDT c=position b=short',
      `{"ticker": "BTCUSDT", "action": "exit_short", "orderType": "market", ${time}}`,
    ],
    [
      'CrossTrade',
      'key=hunter2; command=CLOSEPOSITION; account=sim101; instrument=BTCUSDT;',
      `{"ticker": "BTCUSDT", "action": "close", ${time}}`,
    ],
    [
      'CrossTrade',
      'key=hunter2; command=FLATTEN; account=sim101; instrument=BTCUSDT;',
      `[{"ticker": "BTCUSDT", "action": "close", ${time}}, {"ticker": "BTCUSDT", "action": "cancel_all", "scope": "market", ${time}}]`,
    ],
    [
      'CrossTrade',
      'key=hunter2; command=CANCELORDERS; account=sim101; instrument=DOGEUSDT;',
      `{"ticker": "DOGEUSDT", "action": "cancel_all", "scope": "market", ${time}}; add this line to the tickers in relay.config.ts: 'DOGEUSDT': 'DOGE_USDT', and DOGE_USDT to the markets of account main; then start or deploy the relay again`,
    ],
  ])('%s, %s', (product, text, message) => {
    expect(answerTo(text)).toMatchObject({
      form: `a command for ${product}`,
      hint: `${start}${message}`,
    });
  });
});

describe('a command that would be another order here is answered with what differs:', () => {
  test.each([
    [
      'MyKeys(BTCUSDT) { market(side=buy, amount=50%%); }',
      'another thing here: what the order is worth there, its margin here; with leverage it is that many times larger; ',
    ],
    ['s=BTCUSDT b=buy q=0.01', 'another thing here: a limit order at the current price there; '],
    [
      's=BTCUSDT b=buy q=0.01 t=market l=5',
      'another thing here: leverage is a setting of the account at the exchange; ',
    ],
    [
      'MyKeys(BTCUSDT) { hunter(side=buy, amount=1); }',
      'missing: what one of its commands does: orders here are market, limit and stop orders; ',
    ],
    [
      'key=x; command=CLOSEPOSITION; instrument=BTCUSDT; hunter=1;',
      'missing: a message without a value that could change the order and has no counterpart here; another thing here: the relay has nothing of that name; ',
    ],
    ['s=BTCUSDT b=buy q=0.01 fp=hunter2', 'missing: the relay has no such "limitPrice"; '],
    ['s=hunter2 b=buy q=0.01 t=market', 'missing: a "ticker": a symbol of a market; '],
    ['MyKeys(BTCUSDT) { }', 'missing: a command: there is none; '],
  ])('%s', (text, reasons) => {
    const { messages, hint } = answerTo(text);

    expect(messages).toEqual([]);
    expect(hint.slice(0, reasons.length)).toBe(reasons);
    expect(hint).toContain('relay translate');
    expect(hint).not.toContain('{"ticker"');
  });
});

describe('a command for PineConnector', () => {
  test.each([
    ['closelong', 'exit_long'],
    ['CLOSESHORT', 'exit_short'],
  ])('%s says all, and becomes %s of the whole position', (command, action) => {
    const answer = answerTo(`60123456789,${command},BTCUSDT`);

    expect(answer).toEqual({
      form: 'a command for PineConnector',
      messages: [expect.objectContaining({ action })],
      notes: [],
      hint: `${start}{"ticker": "BTCUSDT", "action": "${action}", "orderType": "market", "time": "{{timenow}}"}`,
    });
  });

  test.each([
    [
      'buy,BTCUSDT,risk=1',
      'the size: "quantity" in the base currency; lots and risk depend on settings there',
    ],
    ['closelong,BTCUSDT,risk=1', 'the size: "quantity" in the base currency; lots and risk depend on'],
    ['closelong,hunter2', 'a "ticker": a symbol of a market'],
    ['closelongpct,BTCUSDT,risk=50', 'how much to close: "quantity", or "quantityPercent" with'],
    ['closeall,BTCUSDT', 'a market: write "action": "close" with the ticker of each market'],
    ['cancellong,BTCUSDT', 'which order to cancel: "cancel" names one by the "id" of its alert'],
    ['cancelshort,BTCUSDT', 'which order to cancel: "cancel" names one by the "id" of its alert'],
    ['newsltplong,BTCUSDT,sl=25,tp=50', '"stopLoss" as a price, or as a distance such as "2%"'],
    ['newsltpshort,BTCUSDT,sl_pct=2', '"stopLoss" as a price, or as a distance such as "2%"'],
    ['eaoff,eaoff', 'an order: no alert pauses the relay; `npx relay pause`'],
  ])('%s is answered with what is missing', (command, reason) => {
    const { messages, hint } = answerTo(`60123456789,${command}`);

    expect(messages).toEqual([]);
    expect(hint.startsWith(`missing: ${reason}`)).toBe(true);
    expect(hint).toContain('relay translate');
    expect(hint).not.toMatch(/60123456789|hunter2/);
    expect(/lots/.test(hint)).toBe(/risk=1$/.test(command));
  });
});

test.each(['hello world', '', '{"ticker": "BTCUSDT",}', '\'{"ticker":1}\'', '{{ticker}', 'x'.repeat(3_000)])(
  'nothing is added to the refusal of %j',
  (text) => {
    expect(explainText(text, context)).toBeNull();
  },
);

describe('the refusal', () => {
  function refusalOf(text: string): unknown {
    try {
      return parseJson(bytesOf(text));
    } catch (error) {
      return answerText(error, bytesOf(text), context);
    }
  }

  test('stays invalid_json, with one issue', () => {
    const refusal = refusalOf('buy BTCUSDT 0.001');

    expect(refusal).toBeInstanceOf(RelayError);
    expect(refusal).toMatchObject({
      code: 'invalid_json',
      message: 'the alert is not valid JSON: it is words',
      issues: [{ path: '', message: 'this is words, not JSON', hint: `${start}${bought}` }],
    });
  });

  test('repeats no word that the relay does not know, in no field', () => {
    const secret = 'hunter2Secret';
    const texts = [
      `buy BTCUSDT 0.001 ${secret}`,
      `action=buy;ticker=BTCUSDT;quantity=${secret}`,
      `action=${secret};ticker=BTCUSDT`,
      `ticker=${secret}&action=buy&quantity=1`,
      `passphrase: ${secret}\nticker: BTCUSDT\naction: buy`,
      `buy BTCUSDT reduceOnly=${secret} timeInForce=hunter-secret comment=${secret}`,
      `6012345678901,buy,BTCUSDT,risk=1,secret=${secret}`,
      `${secret}(BTCUSDT) { market(side=buy, amount=1); ${secret}(side=${secret}); }`,
      `MyKeys(${secret}) { market(side=buy, amount=1, hunter=${secret}); }`,
      `key=${secret}; command=CLOSEPOSITION; instrument=BTCUSDT; comment=hunter; strategy=hunter; ${secret}=1;`,
      `key=x; command=REVERSE; instrument=BTCUSDT; comment=hunter;`,
      `s=BTCUSDT b=buy q=1 t=market a=${secret} fp=${secret} comment=hunter`,
    ];

    expect(texts.map((text) => JSON.stringify(refusalOf(text))).join()).not.toMatch(/hunter|6012345678901/);
  });
});
