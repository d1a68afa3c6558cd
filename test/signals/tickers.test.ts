import { describe, expect, test } from '@jest/globals';
import { accountOn, issueOf, orderText, readSignal, refusalOf } from './reading.ts';

describe('the ticker', () => {
  test.each([
    ['BTCUSD', 'BTC_USDT'],
    ['BTCUSD.P', 'BTC_PERP'],
    ['ETHUSD', 'ETH_USD'],
    ['BTCEUR', 'BTC_EUR'],
  ])('%s, which is not mapped, gets a market that the account trades where it can: %s', (ticker, market) => {
    const account = { ...accountOn('BTC_USDT', 'margin'), name: 'second' };
    const added = market === 'BTC_USDT' ? '' : ` and ${market} to the markets of account second;`;

    expect(
      refusalOf(`{${orderText.replace('BTCUSDT.P', ticker)}}`, { account, tickers: {} }).issues[0]?.hint,
    ).toBe(
      `add this line to the tickers in relay.config.ts: '${ticker}': '${market}',${added} then start or deploy the relay again`,
    );
  });

  test.each([
    ['DOGEUSDT.P', 'DOGE_PERP'],
    ['DOGE-USDT-SWAP', 'DOGE_PERP'],
    ['DOGEUSDT', 'DOGE_USDT'],
    ['WHITEBIT:BTCUSDT', 'BTC_USDT'],
    ['BTCUSD', 'BTC_USD'],
    ['ETHBTC', 'ETH_BTC'],
    ['dogeusdt', 'DOGE_USDT'],
    ['DOGE/USDT', 'DOGE_USDT'],
    ['doge-usdt', 'DOGE_USDT'],
    ['DOGE_PERP', 'DOGE_PERP'],
    ['USDT_BTC', 'BTC_USDT'],
    ['DUSDT_DBTC', 'DBTC_DUSDT'],
    ['BTC_ETH', 'BTC_ETH'],
    ['BINANCE:ETHUSDT', 'ETH_USDT'],
    ['BINANCE:BTCUSDT.P', 'BTC_PERP'],
  ])('%s, which is not mapped, is refused with the line to add', (ticker, market) => {
    expect(issueOf(`{${orderText.replace('BTCUSDT.P', ticker)}}`)).toEqual({
      path: 'ticker',
      message: `"${ticker}" is not mapped to a market`,
      hint: `add this line to the tickers in relay.config.ts: '${ticker}': '${market}', and ${market} to the markets of account main; then start or deploy the relay again`,
    });
  });

  test.each(['BTC-USDT-240628', 'ES1!', 'USDT', 'constructor'])('%s says nothing of its market', (ticker) => {
    expect(issueOf(`{${orderText.replace('BTCUSDT.P', ticker)}}`).hint).toBe(
      `add this line to the tickers in relay.config.ts: '${ticker}': '<market>', with the exchange's name of the market, and that market to the markets of account main; then start or deploy the relay again`,
    );
  });

  test.each(['ETHUSDT', 'ethusdt', 'ETH/USDT', 'ETH-USDT', 'ETH_USDT', 'eth_usdt'])(
    '%s is a spelling of a listed ticker or of its market',
    (ticker) => {
      expect(readSignal(`{${orderText.replace('BTCUSDT.P', ticker)}}`)).toMatchObject({
        ticker,
        market: 'ETH_USDT',
      });
    },
  );

  test('of which two listed spellings have different markets is refused', () => {
    const tickers = { SOLUSDT: 'SOL_USDT', 'SOL-USDT': 'SOL_PERP' };

    expect(refusalOf(`{${orderText.replace('BTCUSDT.P', 'SOL/USDT')}}`, { tickers }).paths).toEqual([
      'ticker',
    ]);
    expect(readSignal(`{${orderText.replace('BTCUSDT.P', 'SOL-USDT')}}`, { tickers })).toMatchObject({
      market: 'SOL_PERP',
    });
  });

  test('has no blanks, and no prefix that is not listed', () => {
    expect(refusalOf(`{${orderText.replace('BTCUSDT.P', 'X:BTCUSDT.P')}}`).paths).toEqual(['ticker']);
    expect(refusalOf(`{${orderText.replace('BTCUSDT.P', ' BTCUSDT.P')}}`).paths).toEqual(['ticker']);
  });

  test.each(['', "X'); drop", 'x'.repeat(65)])(
    '%j is never proposed as a line of the configuration',
    (ticker) => {
      expect(issueOf(`{${orderText.replace('BTCUSDT.P', ticker)}}`).hint).toBe(
        'write the ticker as TradingView shows it, for example "BTCUSDT.P"',
      );
    },
  );

  test('that is an unfilled placeholder gets a hint of its own', () => {
    expect(issueOf(`{${orderText.replace('BTCUSDT.P', '{{tikker}}')}}`).hint).toMatch(
      /^TradingView did not fill/,
    );
  });

  test('must be there', () => {
    expect(issueOf(`{${orderText.replace('"ticker":"BTCUSDT.P",', '')}}`)).toEqual({
      path: 'ticker',
      message: 'the alert names no ticker',
      hint: 'add "ticker": "{{ticker}}"',
    });
  });
});
