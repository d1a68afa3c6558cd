import type { Decimal } from '../base/decimal.ts';

/**
 * The balances, transfer fees and interest payments of each account over time. Nothing in it is ever deleted.
 *
 * @see DECISIONS 55
 */
export interface SnapshotStore {
  readonly balances: BalanceStore;
  readonly fees: FeeStore;
  readonly interest: InterestStore;
}

/** A period: `fromMs` is included, `untilMs` is not. */
export interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Ticker → amount, never zero: a missing ticker means zero. */
export type Holdings = Readonly<Record<string, Decimal>>;

/** The balances of an account at one scheduled time. */
export interface BalanceSnapshot {
  /** The scheduled time. */
  readonly slotMs: number;
  /** When the balances were requested: later than the slot when the run was late or a retry. */
  readonly takenAtMs: number;
  readonly main: Holdings;
  /** Null when the dialect has none or the exchange denied access. */
  readonly collateral: Holdings | null;
}

/** One snapshot for each account and slot: the first one written. */
export interface BalanceStore {
  /**
   * @returns `known` when the slot has a snapshot already; nothing changes then
   * @throws RelayError `store_unavailable`, as every method here does
   */
  write(account: string, snapshot: BalanceSnapshot): Promise<'stored' | 'known'>;
  /** The newest snapshot whose slot is at or before the time; null when there is none. Costs one read. */
  readAt(account: string, atMs: number): Promise<BalanceSnapshot | null>;
  /**
   * The snapshots of the period, oldest first, read page by
   * page: cost and memory do not grow with other snapshots.
   */
  list(account: string, period: Period): AsyncIterable<BalanceSnapshot>;
}

/** Zero means "none" in every field. */
export interface FeeTerms {
  readonly minFlex: Decimal;
  readonly maxFlex: Decimal;
  /** In percent. */
  readonly percentFlex: Decimal;
  readonly fixed: Decimal;
  readonly minAmount: Decimal;
  readonly maxAmount: Decimal;
}

/** The transfer fees of a currency: for deposits and for withdrawals. */
export interface CurrencyFees {
  readonly canDeposit: boolean;
  readonly canWithdraw: boolean;
  readonly deposit: FeeTerms;
  readonly withdraw: FeeTerms;
}

/** The transfer fees of a currency from a time on; each version differs from the one before. */
export interface FeeVersion {
  readonly ticker: string;
  readonly fromMs: number;
  /** Null: the exchange no longer lists the currency. */
  readonly fees: CurrencyFees | null;
}

/** A version and the end of its validity. */
export interface FeeEpoch extends FeeVersion {
  /** Null: the version is the current one. */
  readonly untilMs: number | null;
}

/** Stores changes only; unchanged fees cost no write. */
export interface FeeStore {
  /** The newest version of every ticker ever seen, including those no longer listed, sorted by ticker. */
  readCurrent(account: string): Promise<readonly FeeVersion[]>;
  /**
   * Adds a version if the stored newest version of its ticker is still `known`.
   *
   * @param known null when there is none
   * @returns whether it was added
   */
  append(account: string, known: FeeVersion | null, version: FeeVersion): Promise<boolean>;
  /**
   * Every version, sorted by ticker and then by time.
   *
   * @param ticker absent: of every ticker
   */
  list(account: string, ticker?: string): AsyncIterable<FeeEpoch>;
}

/** The exchange gives payments no id, so payments that are equal in every field are numbered from 1. */
export interface InterestPayment {
  readonly planId: string;
  readonly investmentId: string;
  readonly ticker: string;
  readonly amount: Decimal;
  /** A whole second. */
  readonly paidAtMs: number;
  readonly nth: number;
}

/** The progress of an account's import. */
export interface ImportProgress {
  /** How often it was written; 0 when never. */
  readonly version: number;
  /** When the last complete import began; absent when there was none, or when an older release ran it. */
  readonly importedAtMs?: number;
  /** Every payment up to this time is stored, except in the gaps; null when there was none yet. */
  readonly completeUntilMs: number | null;
  /** Periods that the exchange did not show completely: payments in them may be missing. Oldest first. */
  readonly gaps: readonly Period[];
  /** Null when the exchange did not refuse the account, or the operator asked for a retry. */
  readonly refusal: ImportRefusal | null;
}

/** The exchange denied the account access to interest payments. */
export interface ImportRefusal {
  readonly atMs: number;
  /** A name for the refused key that does not reveal it. */
  readonly keyName: string;
  /** The exchange's message. */
  readonly reason: string;
}

export interface InterestStore {
  /** Stores payments; a payment that is stored already is not stored twice. */
  write(account: string, payments: readonly InterestPayment[]): Promise<void>;
  /**
   * The payments of the period, oldest first, read page by page.
   * Within a second, stores order them differently.
   */
  list(account: string, period: Period): AsyncIterable<InterestPayment>;
  readProgress(account: string): Promise<ImportProgress>;
  /**
   * Stores the progress as the next version, if the stored version is still `progress.version`.
   *
   * @returns whether it was stored
   */
  writeProgress(account: string, progress: ImportProgress): Promise<boolean>;
}

/** The progress before the first import. */
export const noProgress: ImportProgress = { version: 0, completeUntilMs: null, gaps: [], refusal: null };

/** Adds the end of validity to versions that are sorted by ticker and time. */
export async function* toEpochs(versions: AsyncIterable<FeeVersion>): AsyncGenerator<FeeEpoch> {
  let last: FeeVersion | null = null;
  for await (const version of versions) {
    const follows = last?.ticker === version.ticker;
    if (last !== null) yield { ...last, untilMs: follows ? version.fromMs : null };
    last = version;
  }
  if (last !== null) yield { ...last, untilMs: null };
}
