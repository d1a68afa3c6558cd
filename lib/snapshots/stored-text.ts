import { parseDecimal } from '../base/decimal.ts';
import { parseOwnJson } from '../base/json.ts';
import type { CurrencyFees, FeeTerms, Holdings, ImportProgress } from './snapshot-store.ts';

/** The JSON text that both stores keep. Amounts stay exact, because decimals serialise as text. */
export function formatStored(value: Holdings | CurrencyFees | Omit<ImportProgress, 'version'>): string {
  return JSON.stringify(value);
}

export function parseHoldings(text: string): Holdings {
  const amounts = Object.entries(parseOwnJson<Record<string, string>>(text));
  return Object.fromEntries(amounts.map(([ticker, amount]) => [ticker, parseDecimal(amount)]));
}

type StoredTerms = Readonly<Record<keyof FeeTerms, string>>;
type StoredFees = Readonly<Record<'deposit' | 'withdraw', StoredTerms>> &
  Pick<CurrencyFees, 'canDeposit' | 'canWithdraw'>;

export function parseCurrencyFees(text: string): CurrencyFees {
  const { deposit, withdraw, ...flags } = parseOwnJson<StoredFees>(text);
  return { ...flags, deposit: parseTerms(deposit), withdraw: parseTerms(withdraw) };
}

function parseTerms(terms: StoredTerms): FeeTerms {
  return {
    minFlex: parseDecimal(terms.minFlex),
    maxFlex: parseDecimal(terms.maxFlex),
    percentFlex: parseDecimal(terms.percentFlex),
    fixed: parseDecimal(terms.fixed),
    minAmount: parseDecimal(terms.minAmount),
    maxAmount: parseDecimal(terms.maxAmount),
  };
}

export function parseProgress(text: string, version: number): ImportProgress {
  return { ...parseOwnJson<Omit<ImportProgress, 'version'>>(text), version };
}
