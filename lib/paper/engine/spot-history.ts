import type { Decimal } from '../../base/decimal.ts';

interface HeldFunds {
  readonly available: Decimal;
  readonly reserved: Decimal;
}

/** The spot balances of an account since a time. */
export interface SpotReading {
  readonly atMs: number;
  /** Ticker → balance. */
  readonly balances: ReadonlyMap<string, HeldFunds>;
}

/** The spot balances of an account as they are, and as they were. */
interface SpotAccount {
  readonly spot: ReadonlyMap<string, HeldFunds>;
  readonly spotHistory: SpotReading[];
}

/** More than change within any lag of a list. */
const readingsKept = 200;

/** Keeps the spot balances of each account that a command has changed. */
export function recordSpotBalances(accounts: ReadonlyMap<string, SpotAccount>, atMs: number): void {
  for (const account of accounts.values()) {
    if (!hasChanged(account)) continue;
    const balances = new Map([...account.spot].map(([ticker, balance]) => [ticker, { ...balance }]));
    account.spotHistory.push({ atMs, balances });
    if (account.spotHistory.length > readingsKept) account.spotHistory.shift();
  }
}

function hasChanged({ spot, spotHistory }: SpotAccount): boolean {
  const last = spotHistory.at(-1)?.balances;
  if (last === undefined || last.size !== spot.size) return true;
  return [...spot].some(([ticker, { available, reserved }]) => {
    const before = last.get(ticker);
    return before?.available !== available || before.reserved !== reserved;
  });
}
