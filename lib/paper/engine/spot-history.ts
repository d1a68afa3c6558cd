import type { Balance, ExchangeState, TradingAccount } from './exchange-state.ts';

/** The spot balances of an account since a time. */
export interface SpotReading {
  readonly atMs: number;
  /** Ticker → balance. */
  readonly balances: ReadonlyMap<string, Readonly<Balance>>;
}

/** More than change within any lag of a list. */
const readingsKept = 200;

/** Keeps the spot balances of each account that a command has changed. */
export function recordSpotBalances({ accounts }: Pick<ExchangeState, 'accounts'>, atMs: number): void {
  for (const account of accounts.values()) {
    if (!hasChanged(account)) continue;
    const balances = new Map([...account.spot].map(([ticker, balance]) => [ticker, { ...balance }]));
    account.spotHistory.push({ atMs, balances });
    if (account.spotHistory.length > readingsKept) account.spotHistory.shift();
  }
}

function hasChanged({ spot, spotHistory }: TradingAccount): boolean {
  const last = spotHistory.at(-1)?.balances;
  if (last === undefined || last.size !== spot.size) return true;
  return [...spot].some(([ticker, { available, reserved }]) => {
    const before = last.get(ticker);
    return before?.available !== available || before.reserved !== reserved;
  });
}
