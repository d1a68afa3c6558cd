import type { Decimal } from '../base/decimal.ts';

/** What each account held, what moving it cost, and what it earned, over time. Nothing in it is ever deleted. */
export interface SnapshotStore {
  readonly balances: BalanceStore;
  readonly fees: FeeStore;
  readonly interest: InterestStore;
}

/** A stretch of time: from the first millisecond on, up to but without the last. */
export interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Ticker → amount, never zero: a ticker left out holds nothing. */
export type Holdings = Readonly<Record<string, Decimal>>;

/** What an account held at one time of the schedule. */
export interface BalanceSnapshot {
  /** The time of the schedule it stands for. */
  readonly slotMs: number;
  /** When the exchange was asked: later than the slot when the run was late, or tried again. */
  readonly takenAtMs: number;
  readonly main: Holdings;
  /** Null where the dialect has none, or the exchange denied it. */
  readonly collateral: Holdings | null;
}

/** One snapshot for each account and slot; the first stays. */
export interface BalanceStore {
  /**
   * @returns `known` when the slot was taken before; nothing is changed then
   * @throws RelayError `store_unavailable`, as every method here does
   */
  write(account: string, snapshot: BalanceSnapshot): Promise<'stored' | 'known'>;
  /** The newest snapshot whose slot is at or before the time; null when there is none. Costs one read. */
  readAt(account: string, atMs: number): Promise<BalanceSnapshot | null>;
  /** Slots of the period, oldest first; read page by page, so that neither cost nor memory knows of the others. */
  list(account: string, period: Period): AsyncIterable<BalanceSnapshot>;
}

/** Zero stands for "none" throughout. */
export interface FeeTerms {
  readonly minFlex: Decimal;
  readonly maxFlex: Decimal;
  /** In per cent. */
  readonly percentFlex: Decimal;
  readonly fixed: Decimal;
  readonly minAmount: Decimal;
  readonly maxAmount: Decimal;
}

/** What moving a currency costs, in and out. */
export interface CurrencyFees {
  readonly canDeposit: boolean;
  readonly canWithdraw: boolean;
  readonly deposit: FeeTerms;
  readonly withdraw: FeeTerms;
}

/** What was seen of a currency at that time, when it was not what had been seen before. */
export interface FeeVersion {
  readonly ticker: string;
  readonly fromMs: number;
  /** Null: the exchange lists the currency no longer. */
  readonly fees: CurrencyFees | null;
}

/** A version, and how long it held. */
export interface FeeEpoch extends FeeVersion {
  /** Null: it holds still. */
  readonly untilMs: number | null;
}

/** What is written is a change; what stays as it is costs nothing. */
export interface FeeStore {
  /** The newest version of every ticker ever seen, those no longer listed included; in the order of tickers. */
  readCurrent(account: string): Promise<readonly FeeVersion[]>;
  /**
   * Adds a version, if the newest of its ticker is still the one the caller knows.
   *
   * @param known null when there is none
   * @returns whether it was added
   */
  append(account: string, known: FeeVersion | null, version: FeeVersion): Promise<boolean>;
  /**
   * Every version, by ticker and then by time.
   *
   * @param ticker absent: of every ticker
   */
  list(account: string, ticker?: string): AsyncIterable<FeeEpoch>;
}

/** The exchange gives payments no id. Those alike in every field are numbered, from 1. */
export interface InterestPayment {
  readonly planId: string;
  readonly investmentId: string;
  readonly ticker: string;
  readonly amount: Decimal;
  /** A whole second. */
  readonly paidAtMs: number;
  readonly nth: number;
}

/** How far the import of an account has come. */
export interface ImportProgress {
  /** How often it was written; 0 when never. */
  readonly version: number;
  /** When the last import that came to its end began; absent when none did, or when its time was not kept yet. */
  readonly importedAtMs?: number;
  /** Every payment up to this time is stored, but for the gaps; null when there was none yet. */
  readonly completeUntilMs: number | null;
  /** Where the exchange showed too little of its history: payments of these times may be missing. Oldest first. */
  readonly gaps: readonly Period[];
  /** Null when the exchange did not refuse the account, or somebody asked to try again. */
  readonly refusal: ImportRefusal | null;
}

/** The exchange said that the account may not see interest payments. */
export interface ImportRefusal {
  readonly atMs: number;
  /** Names the key that was refused, and does not tell it. */
  readonly keyName: string;
  /** In the exchange's words. */
  readonly reason: string;
}

export interface InterestStore {
  /** Stores payments; one that is there already stays one. */
  write(account: string, payments: readonly InterestPayment[]): Promise<void>;
  /** Payments of the period, oldest first; read page by page. Within a second the order is the store's own. */
  list(account: string, period: Period): AsyncIterable<InterestPayment>;
  readProgress(account: string): Promise<ImportProgress>;
  /**
   * Stores progress under the next version, if its own version is still the stored one.
   *
   * @returns whether it was stored
   */
  writeProgress(account: string, progress: ImportProgress): Promise<boolean>;
}

/** What is known before the first import. */
export const noProgress: ImportProgress = { version: 0, completeUntilMs: null, gaps: [], refusal: null };

/** Tells how long each version held, from versions by ticker and time. */
export async function* toEpochs(versions: AsyncIterable<FeeVersion>): AsyncGenerator<FeeEpoch> {
  let last: FeeVersion | null = null;
  for await (const version of versions) {
    const follows = last?.ticker === version.ticker;
    if (last !== null) yield { ...last, untilMs: follows ? version.fromMs : null };
    last = version;
  }
  if (last !== null) yield { ...last, untilMs: null };
}
