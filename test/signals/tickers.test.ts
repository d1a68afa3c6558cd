import { describe, expect, test } from '@jest/globals';
import { issueOf, orderText, refusalOf } from './reading.ts';

describe('the ticker', () => {
  test.each([
    ['DOGEUSDT.P', 'DOGE_PERP'],
    ['DOGEUSDT', 'DOGE_USDT'],
    ['WHITEBIT:BTCUSDT', 'BTC_USDT'],
    ['BTCUSD', 'BTC_USD'],
    ['ETHBTC', 'ETH_BTC'],
    ['BTC_PERP', 'BTC_PERP'],
    ['ES1!', '<market>'],
    ['USDT', '<market>'],
    ['constructor', '<market>'],
  ])('%s, which is not mapped, is refused with the line to add', (ticker, market) => {
    expect(issueOf(`{${orderText.replace('BTCUSDT.P', ticker)}}`)).toEqual({
      path: 'ticker',
      message: `"${ticker}" is not mapped to a market`,
      hint: `add this line to the tickers in relay.config.ts: '${ticker}': '${market}',`,
    });
  });

  test('is looked up exactly', () => {
    expect(refusalOf(`{${orderText.replace('BTCUSDT.P', 'btcusdt.p')}}`).paths).toEqual(['ticker']);
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
