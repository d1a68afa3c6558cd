import { isDecimalText, parseDecimal, zero } from '../../lib/base/decimal.ts';
import { MarketName } from '../../lib/host/account-config.ts';
import type { RelayConfig } from '../../lib/host/config.ts';
import {
  type AccountMode,
  accountModes,
  type TradingGround,
  tradingGrounds,
} from '../../lib/model/account.ts';
import { type ChannelName, channelNames } from '../../lib/notices/notice-settings.ts';
import { createUsageFailure } from '../failure.ts';

/** What a new configuration is made from. */
export interface FirstWishes {
  readonly account: string;
  readonly mode: AccountMode;
  /** `global`, `eu` or a URL. */
  readonly exchange: string;
  readonly markets: readonly FirstMarket[];
  readonly channels: readonly ChannelName[];
}

/** A market, and the largest order in it; null: any. */
export interface FirstMarket {
  readonly name: string;
  readonly tradesOn: TradingGround;
  /** In the base currency. */
  readonly maxAmount: string | null;
  /** In the quote currency. */
  readonly maxNotional: string | null;
}

/**
 * Reads `BTC_USDT:margin:0.01:1000`: the market, where it trades, and the largest order in it. A perpetual needs no ground.
 *
 * @throws CommandFailure (usage)
 */
export function readMarket(text: string): FirstMarket {
  const [name = '', ground = '', maxAmount = '', maxNotional = '', ...more] = text.split(':');
  const tradesOn = name.endsWith('_PERP') && ground === '' ? 'futures' : ground;
  const known = tradingGrounds.find((one) => one === tradesOn);
  if (name === '' || known === undefined || more.length > 0)
    throw createUsageFailure(
      `"${text}" is no market with the account on which it trades`,
      `Write MARKET:TRADES_ON:LARGEST_AMOUNT:LARGEST_NOTIONAL, for example BTC_USDT:margin:0.01:1000. TRADES_ON is one of ${tradingGrounds.join(', ')}. Without the two sizes, an order may be of any size.`,
    );
  return {
    name: readMarketName(name),
    tradesOn: known,
    maxAmount: maxAmount === '' ? null : readLargest(maxAmount),
    maxNotional: maxNotional === '' ? null : readLargest(maxNotional),
  };
}

/** @throws CommandFailure (usage) */
export function readMarketName(text: string): string {
  if (MarketName.safeParse(text).success) return text;
  throw createUsageFailure(`"${text}" is no market`, 'Write it as the exchange does, for example BTC_USDT.');
}

/** @throws CommandFailure (usage) */
export function readTradingGround(text: string): TradingGround {
  return oneOf(text, tradingGrounds, 'account to trade on');
}

/** The largest amount of an order. @throws CommandFailure (usage) */
export function readLargest(text: string): string {
  if (isDecimalText(text) && parseDecimal(text).gt(zero)) return text;
  throw createUsageFailure(
    `"${text}" is no amount`,
    'Write a number above zero, with a point before decimals.',
  );
}

/** @throws CommandFailure (usage) */
export function readChannels(text: string): readonly ChannelName[] {
  return split(text).map((name) => oneOf(name, channelNames, 'channel'));
}

/** @throws CommandFailure (usage) */
export function readMode(text: string): AccountMode {
  return oneOf(text, accountModes, 'mode');
}

/** The parts of a list that is written with commas or spaces. */
export function split(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}

function oneOf<Name extends string>(text: string, names: readonly Name[], what: string): Name {
  const found = names.find((name) => name === text);
  if (found === undefined)
    throw createUsageFailure(`"${text}" is no ${what}`, `Name one of: ${names.join(', ')}.`);
  return found;
}

/** The configuration, with the limits that the shipped example has besides. */
export function createFirstConfig({ account, mode, exchange, markets, channels }: FirstWishes): RelayConfig {
  // The exchange takes no order with a price bound from its customers in the EU.
  const isEu = exchange === 'eu';
  return {
    exchange: { address: exchange, dialect: 'live' },
    tickers: Object.fromEntries(markets.map(({ name }) => [tickerOf(name), name])),
    maxLagSeconds: 60,
    accounts: {
      [account]: {
        mode,
        limitOffset: '0.1%',
        maxSlippage: isEu ? null : '0.5%',
        allowUnguardedMarket: isEu,
        markets: Object.fromEntries(
          markets.map(({ name, tradesOn, maxAmount, maxNotional }) => [
            name,
            { tradesOn, maxAmount, maxNotional },
          ]),
        ),
        maxOrdersPerMinute: 60,
        maxSignalsPerMinute: 120,
      },
    },
    notices: { channels: [...channels] },
  };
}

/** As TradingView writes it: `BTCUSDT`, and `BTCUSDT.P` for a perpetual. */
function tickerOf(market: string): string {
  const [base = market, quote = ''] = market.split('_');
  return quote === 'PERP' ? `${base}USDT.P` : `${base}${quote}`;
}
