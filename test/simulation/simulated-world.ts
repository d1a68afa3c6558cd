import type { SqliteFile } from '../../lib/base/sqlite.ts';
import type { Dialect } from '../../lib/exchange/dialect.ts';
import { parseConfig, type RelayConfig } from '../../lib/host/config.ts';
import type { ContestedFacts } from '../../lib/ledger/account-facts.ts';
import type { Executions } from '../../lib/ledger/executions.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import type { MarketCopies } from '../../lib/ledger/market-copies.ts';
import type { Account } from '../../lib/model/account.ts';
import type { Settings } from '../../lib/model/settings.ts';
import type { SimulatedExchange } from './exchange.ts';
import type { Outages } from './faults.ts';
import type { Mutation } from './mutation.ts';
import type { Stage } from './process.ts';
import type { SecretContents } from './secrets.ts';

/** A transaction that is not on the disk yet. */
export interface LocalFlush {
  /** Puts it on the disk; null while there is none. */
  run: (() => void) | null;
}

/** The parts of a simulated world that persist while processes come and go. */
export interface SimulatedWorld {
  readonly stage: Stage;
  readonly dialect: Dialect;
  readonly settings: Settings;
  readonly databasePath: string;
  /** Every operation of it waits for the open transaction of a local relay, as another process waits for its lock. */
  readonly file: SqliteFile;
  /** The open transaction of a local relay. */
  readonly localFlush: LocalFlush;
  /** The stores without injected faults. */
  readonly ledger: Ledger;
  readonly executions: Executions;
  readonly facts: ContestedFacts;
  readonly copies: MarketCopies;
  readonly exchange: SimulatedExchange;
  readonly outages: Outages;
  readonly secrets: SecretContents;
  readonly mutation: Mutation;
}

/** Never reached: every request ends in the simulated network. */
export const exchangeAddress = 'https://exchange.simulation';

const config = {
  exchange: { address: exchangeAddress, dialect: 'live' },
  tickers: {
    BTCUSDT: 'BTC_USDT',
    'BTCUSDT.P': 'BTC_PERP',
    ETHUSDT: 'ETH_USDT',
    SOLUSDT: 'SOL_USDT',
    XRPUSDT: 'XRP_USDT',
  },
  maxLagSeconds: 60,
  accounts: {
    main: {
      mode: 'live',
      limitOffset: '0.1%',
      maxSlippage: '0.5%',
      allowUnguardedMarket: true,
      // The limits of an order lie among the large amounts of its market, so that some exceed them.
      markets: {
        BTC_USDT: { tradesOn: 'margin', maxNotional: '90050', maxPosition: '1.6' },
        BTC_PERP: { tradesOn: 'futures', maxAmount: '1.504', maxPosition: '1.7' },
        ETH_USDT: { tradesOn: 'margin' },
        XRP_USDT: { tradesOn: 'margin' },
      },
      maxDailyLoss: '90',
    },
    second: {
      mode: 'live',
      allowUnguardedMarket: true,
      markets: {
        BTC_USDT: { tradesOn: 'margin', maxAmount: '2' },
        SOL_USDT: { tradesOn: 'spot', maxNotional: '90500' },
      },
      maxOrdersPerMinute: 3,
      maxSignalsPerMinute: 4,
      maxOpenNotional: '150000',
      // Closed for one minute: the runs begin at midnight.
      tradingWindows: [{ from: '00:02', until: '00:01' }],
    },
    rehearsal: { mode: 'dry-run', markets: { BTC_USDT: { tradesOn: 'margin', sides: ['buy'] } } },
  },
} satisfies RelayConfig;

export const { settings } = parseConfig(config);

/** The written API lists neither positions nor fills, so a relay that speaks it has no limits but trading windows. */
export function settingsIn(dialect: Dialect): Settings {
  return dialect === 'live' ? settings : { ...settings, accounts: mapValues(settings.accounts, withoutRisk) };
}

/**
 * Without limits of risk and trading windows: where every order is of one kind, few would be left of the orders that reveal
 * a defect.
 */
export function withoutLimitsOfRisk(usual: Settings): Settings {
  const accounts = mapValues(usual.accounts, (account) => {
    const { limits: _, ...rest } = withoutRisk(account);
    return rest;
  });
  return { ...usual, accounts };
}

function withoutRisk({ limits, markets, ...account }: Account): Account {
  return {
    ...account,
    ...(limits === undefined
      ? {}
      : { limits: { ...limits, maxOpenNotional: null, maxDailyLoss: null, coolDownMs: null } }),
    markets: mapValues(markets, (market) => ({ ...market, maxPosition: null })),
  };
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** How long one request to the exchange may take, retries included; as in production. */
export const exchangeTimeoutMs = 10_000;
