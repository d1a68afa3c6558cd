import { describe, expect, test } from '@jest/globals';
import type { Account, TradingGround } from '../../lib/model/account.ts';
import { account, readAlert, refusalOf } from './reading.ts';

const limits = { sides: ['buy', 'sell'], maxAmount: null, maxNotional: null } as const;
const tradesOn: TradingGround = 'margin';
/** An account as it is shipped. */
const shipped: Account = { ...account, markets: { BTC_USDT: { ...limits, tradesOn } } };
const context = {
  tickers: { BTCUSDT: 'BTC_USDT', 'WHITEBIT:BTCUSDT': 'BTC_USDT', 'BTCUSDT.P': 'BTC_PERP' },
  account: shipped,
};
const time = '"time": "2026-01-31T12:00:00Z"';

/** What each message leads to, without its identity and what is only recorded. */
function meaningOf(text: string): readonly object[] {
  return readAlert(text, context).items.flatMap(({ signal, reduceLeg }) =>
    [reduceLeg ?? [], signal].flat().map((each) => {
      const apart = ['ticker', 'market', 'timeMs', 'maxLagMs', 'info', 'told'];
      return Object.fromEntries(Object.entries(each).filter(([name]) => !apart.includes(name)));
    }),
  );
}

const buy = { action: 'order', orderType: 'market', side: 'buy', size: { unit: 'base', quantity: '0.001' } };
const sell = { ...buy, side: 'sell' };
const closeLong = { action: 'close', only: 'long' };

/** Messages as people send them, with the placeholders filled in. */
describe('a message as it is sent is taken with its meaning:', () => {
  test.each<[string, string, readonly object[]]>([
    ['plain', `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, ${time}}`, [buy]],
    ['plain, lower case', `{"symbol": "btcusdt", "side": "BUY", "qty": "0.001", ${time}}`, [buy]],
    ['plain, with a slash', `{"pair": "BTC/USDT", "side": "sell", "amount": 0.001, ${time}}`, [sell]],
    ['plain, size', `{"ticker": "BTCUSDT", "action": "buy", "size": "0.001", ${time}}`, [buy]],
    [
      'strategy with every placeholder',
      '{"ticker": "BTCUSDT", "exchange": "BINANCE", "interval": "15", "action": "buy", "contracts": "0.001", "order_price": "60000", "order_id": "Long", "order_comment": "", "alert_message": "go", "market_position": "long", "market_position_size": "0.001", "prev_market_position": "flat", "prev_market_position_size": "0", "open": "59990", "high": "60010", "low": "59980", "close": "60000", "volume": "12.5", "time": "2026-01-31T12:00:00Z", "timenow": "2026-01-31T12:00:01Z"}',
      [{ ...buy, interval: '15' }],
    ],
    [
      'TradersPost, entry',
      `{"ticker": "BTCUSDT", "action": "buy", "sentiment": "bullish", "quantity": "0.001", ${time}}`,
      [buy],
    ],
    [
      'TradersPost, the template for strategies',
      `{"ticker": "BTCUSDT", "action": "buy", "sentiment": "long", "quantity": "0.001", "price": "60000", "interval": "5", ${time}}`,
      [{ ...buy, referencePrice: '60000', interval: '5' }],
    ],
    [
      'TradersPost, market with last price',
      `{"ticker": "BTCUSDT", "action": "buy", "orderType": "market", "quantity": 0.001, "price": "60000.5", ${time}}`,
      [{ ...buy, referencePrice: '60000.5' }],
    ],
    [
      'TradersPost, brackets in per cent',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopLoss": {"type": "stop", "percent": 2}, "takeProfit": {"percent": 4}, ${time}}`,
      [{ ...buy, stopLoss: '2%', takeProfit: '4%' }],
    ],
    [
      'TradersPost, brackets as prices',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopLoss": {"type": "stop_limit", "stopPrice": 59000}, "takeProfit": {"limitPrice": 64000}, ${time}}`,
      [{ ...buy, stopLoss: '59000', takeProfit: '64000' }],
    ],
    [
      'TradersPost, dollars',
      `{"ticker": "BTCUSDT", "action": "buy", "quantityType": "dollar_amount", "quantity": 500, ${time}}`,
      [{ ...buy, size: { unit: 'quote', quoteQuantity: '500' } }],
    ],
    [
      'TradersPost, exit',
      `{"ticker": "BTCUSDT", "action": "exit", "sentiment": "flat", ${time}}`,
      [{ action: 'close' }],
    ],
    [
      'TradersPost, limit',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "limitPrice": 60000, ${time}}`,
      [{ ...buy, orderType: 'limit', limitPrice: '60000' }],
    ],
    [
      '3Commas, entry',
      '{"secret": "eyJhbGciOi", "max_lag": "300", "timestamp": "2026-01-31T12:00:00Z", "trigger_price": "60000", "tv_exchange": "BINANCE", "tv_instrument": "BTCUSDT", "action": "buy", "bot_uuid": "6f0c9a1e", "strategy_info": {"market_position": "long", "market_position_size": "0.001", "prev_market_position": "flat", "prev_market_position_size": "0"}, "order": {"amount": "0.001", "currency_type": "base"}}',
      [buy],
    ],
    [
      '3Commas, exit',
      '{"secret": "eyJhbGciOi", "max_lag": "300", "timestamp": "2026-01-31T12:00:00Z", "trigger_price": "60000", "tv_exchange": "BINANCE", "tv_instrument": "BTCUSDT", "action": "exit_long", "bot_uuid": "6f0c9a1e"}',
      [closeLong],
    ],
    [
      'WunderTrading-like',
      `{"ticker": "BTCUSDT", "action": "enter_long", "orderType": "market", "amountPerTradeType": "quote", "amountPerTrade": 100, ${time}}`,
      [{ ...buy, size: { unit: 'quote', quoteQuantity: '100' } }],
    ],
    ['close of one side', `{"ticker": "BTCUSDT", "action": "close_long", ${time}}`, [closeLong]],
    [
      'flatten',
      `{"ticker": "BTCUSDT", "action": "flatten", ${time}}`,
      [{ action: 'target', leg: 'reduce', target: { unit: 'flat' } }],
    ],
    [
      'sell that goes flat',
      `{"ticker": "BTCUSDT", "action": "sell", "market_position": "flat", ${time}}`,
      [closeLong],
    ],
    [
      'Alertatron-like',
      `{"symbol": "BTCUSDT", "side": "buy", "type": "market", "amount": 0.001, ${time}}`,
      [buy],
    ],
    [
      'OpenAlgo, order',
      `{"apikey": "0123456789abcdef", "strategy": "Trend", "exchange": "NSE", "symbol": "BTCUSDT", "action": "BUY", "product": "MIS", "pricetype": "MARKET", "quantity": "0.001", "price": "0", "trigger_price": "0", "disclosed_quantity": "0", ${time}}`,
      [{ ...buy, strategy: 'Trend' }],
    ],
    [
      'ccxt, limit',
      `{"symbol": "BTC/USDT", "type": "limit", "side": "buy", "amount": 0.001, "price": 60000, ${time}}`,
      [{ ...buy, orderType: 'limit', limitPrice: '60000' }],
    ],
    [
      'the template of the tutorials',
      '{"passphrase": "somelongstring123", "time": "2026-01-31T12:00:00Z", "exchange": "BINANCE", "ticker": "BTCUSDT", "bar": {"time": "2026-01-31T11:00:00Z", "open": 59990, "high": 60010, "low": 59980, "close": 60000, "volume": 12.5}, "strategy": {"position_size": 0.001, "order_action": "buy", "order_contracts": 0.001, "order_price": 60000, "order_id": "Long", "market_position": "long", "market_position_size": 0.001, "prev_market_position": "flat", "prev_market_position_size": 0}}',
      [buy],
    ],
    [
      'dollars by name',
      `{"ticker": "BTCUSDT", "action": "buy", "usd": 100, ${time}}`,
      [{ ...buy, size: { unit: 'quote', quoteQuantity: '100' } }],
    ],
    [
      'a breakout',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopPrice": "61000", "timeframe": "1h", ${time}}`,
      [{ ...buy, orderType: 'stop_limit', stopPrice: '61000', limitPrice: null, interval: '1h' }],
    ],
    [
      'another placeholder that was not filled, where it only informs',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "close": "{{close}}", "plot_0": "", "comment": "x", ${time}}`,
      [{ ...buy, comment: 'x' }],
    ],
  ])('%s', (_, text, meaning) => {
    expect(meaningOf(text)).toEqual(meaning);
  });
});

describe('a message that could mean something else is refused, and the first hint says what to write:', () => {
  test.each<[string, string, string, RegExp]>([
    [
      'TradersPost, a price of an unknown kind',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "price": "60000", ${time}}`,
      'price',
      /^add "orderType": "market" if it is the last price, or "orderType": "limit"/,
    ],
    [
      'TradersPost, trailing by an amount',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopLoss": {"type": "trailing_stop", "trailAmount": 200}, ${time}}`,
      'stopLoss.trailAmount',
      /how far behind the best price it stays, as a per cent: "trailing": "1.5%"$/,
    ],
    [
      'TradersPost, a share of the equity',
      `{"ticker": "BTCUSDT", "action": "buy", "quantityType": "percent_of_equity", "quantity": 5, ${time}}`,
      'quantityType',
      /^"quantityPercent" is a share of the free collateral/,
    ],
    [
      'several targets',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopLoss": "2%", "takeProfit": [{"price": 62000}, {"price": 64000}], ${time}}`,
      'takeProfit',
      /^write the list as "takeProfits", each with its share/,
    ],
    [
      'Cornix-like targets',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopLoss": "2%", "targets": [62000, 64000], ${time}}`,
      'targets',
      /^several take-profits are a list: "takeProfits": /,
    ],
    [
      'a moved stop',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopLoss": "2%", "moveStopLoss": true, ${time}}`,
      'moveStopLoss',
      /^when the stop-loss of the open position is to move, send "action": "protect"/,
    ],
    [
      'break-even',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopLoss": "2%", "breakeven": {"trigger": 1}, ${time}}`,
      'breakeven',
      /^when the stop-loss of the open position is to move, send "action": "protect"/,
    ],
    [
      'DCA',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "dca": {"orders": 3, "quantity": 1}, ${time}}`,
      'dca',
      /^one signal is one order: send one for each entry/,
    ],
    [
      'a grid',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "gridLevels": 10, ${time}}`,
      'gridLevels',
      /^one signal is one order/,
    ],
    [
      'close of everything',
      `{"ticker": "BTCUSDT", "action": "close_all", ${time}}`,
      'action',
      /^one signal is about one market/,
    ],
    [
      'ccxt, params',
      `{"symbol": "BTC/USDT", "type": "market", "side": "sell", "amount": 0.001, "params": {"reduceOnly": true}, ${time}}`,
      'params',
      /^write beside the other fields: "reduceOnly": true$/,
    ],
    [
      'ticker of another exchange',
      `{"ticker": "BINANCE:BTCUSDT", "action": "buy", "quantity": 0.001, ${time}}`,
      'ticker',
      /^add this line to the tickers in relay.config.ts: 'BINANCE:BTCUSDT': 'BTC_USDT',/,
    ],
    [
      '3Commas, the quote currency first',
      `{"message_type": "bot", "bot_id": 123, "email_token": "abc", "delay_seconds": 0, "pair": "USDT_BTC", "action": "close_at_market_price", ${time}}`,
      'pair',
      /^add this line to the tickers in relay.config.ts: 'USDT_BTC': 'BTC_USDT',/,
    ],
    [
      'no size',
      `{"ticker": "BTCUSDT", "action": "buy", "volume": "0.5", ${time}}`,
      'quantity',
      /^add "quantity": /,
    ],
    [
      'OpenAlgo, smart order',
      `{"apikey": "x", "strategy": "Trend", "symbol": "BTCUSDT", "action": "BUY", "pricetype": "MARKET", "quantity": "0.001", "position_size": "5", ${time}}`,
      'position_size',
      /^remove it; or remove "action"/,
    ],
    [
      'leverage',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "leverage": 5, ${time}}`,
      'leverage',
      /^it is a setting of the exchange account/,
    ],
    [
      'a misspelt stop-loss',
      `{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.001, "stopLos": "2%", ${time}}`,
      'stopLos',
      /^did you mean "stopLoss"\?$/,
    ],
  ])('%s', (_, text, path, hint) => {
    const { issues } = refusalOf(text, context);

    expect(issues[0]).toMatchObject({ path, hint: expect.stringMatching(hint) });
  });
});
