import type { Account } from './account.ts';

/** The owner's settings, read once from the configuration. */
export interface Settings {
  /** Ticker as alerts write it → the exchange's market. */
  readonly tickers: Readonly<Record<string, string>>;
  /** The highest age of an alert that sets no `maxLag` itself. */
  readonly defaultMaxLagMs: number;
  /** While an outcome stays unknown, the alarm is repeated at this interval. */
  readonly unknownAlarmAfterMs: number;
  readonly accounts: Readonly<Record<string, Account>>;
}

/** Every market that a signal may name. */
export function tradedMarkets({ tickers, accounts }: Settings): ReadonlySet<string> {
  const allowed = Object.values(accounts).flatMap(({ markets }) => Object.keys(markets));
  return new Set([...Object.values(tickers), ...allowed]);
}

/** The account of that name; null when there is none. */
export function findAccount(settings: Settings, name: string): Account | null {
  return Object.hasOwn(settings.accounts, name) ? (settings.accounts[name] ?? null) : null;
}
