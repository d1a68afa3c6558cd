import type { Status } from '../lib/model/outcome.ts';

/** What the page and its server say to each other. Decimals are text, times are milliseconds. */

export interface ShownIssue {
  readonly path: string;
  readonly message: string;
  readonly hint: string;
}

export interface ShownFailure {
  readonly code: string;
  readonly message: string;
  /** What to do. */
  readonly action: string;
  readonly issues: readonly ShownIssue[];
}

export interface AccountAbout {
  readonly name: string;
  readonly mode: 'live' | 'paper' | 'dry-run';
  /** Whether an order of this account moves no real money: a message may be tried with it. */
  readonly isSafe: boolean;
  /** Whether its market orders must say themselves how far they may fill. */
  readonly needsSlippage: boolean;
  readonly markets: readonly MarketAbout[];
}

export interface MarketAbout {
  readonly market: string;
  readonly tradesOn: 'spot' | 'margin' | 'futures';
  /** What alerts call it; none: no alert can name it. */
  readonly tickers: readonly string[];
}

export interface About {
  /** For example `local relay in .relay`. */
  readonly relay: string;
  readonly version: string;
  readonly isReadOnly: boolean;
  readonly exchange: string;
  readonly isPaper: boolean;
  readonly accounts: readonly AccountAbout[];
  /** The accounts that trade live while nobody is told of anything. */
  readonly untold: readonly string[];
  /** How often what is shown is read again. */
  readonly refreshMs: number;
}

export interface SignalRow {
  readonly account: string;
  readonly signalId: string;
  readonly status: Status;
  readonly atMs: number;
  /** Of the entry: grows with every change. */
  readonly updatedAtMs: number;
  readonly market: string;
  readonly side: 'buy' | 'sell' | null;
  readonly what: string;
  readonly strategy: string | null;
  /** For example `0.001 at 50010`; null when nothing is known of fills. */
  readonly filled: string | null;
  /** How its order ended, in a few words. */
  readonly result: string | null;
  /** Why it did not become what the alert asked for. */
  readonly reason: string | null;
  readonly orderId: number | null;
  /** From its arrival to its outcome; null until it has one. */
  readonly tookMs: number | null;
}

export interface PauseShown {
  readonly account: string;
  readonly sinceMs: number;
  readonly reason: string;
  readonly kind: 'everything' | 'entries' | 'daily_loss';
}

export interface SignalList {
  readonly rows: readonly SignalRow[];
  /** Where the next page begins; null: there is none. */
  readonly next: string | null;
  /** Whether the search looked at as many signals as it may, before it found enough. */
  readonly isCut: boolean;
}

/** What is shown above every view. */
export interface Attention {
  readonly pauses: readonly PauseShown[];
  /** The signals whose outcome is unknown. */
  readonly unknown: readonly SignalRow[];
}

/** The order that a signal would become now, or why there would be none. */
export interface OrderPreview {
  /** One sentence on the signal. */
  readonly says: string;
  readonly market: string;
  /**
   * `ready`: it would be sent as `requests` show; `refused`: and the exchange would refuse it; `denied`: the relay would not
   * send it; `later`: it is worked out when it is due. `note` says why.
   */
  readonly verdict: 'ready' | 'refused' | 'denied' | 'later';
  readonly note: string;
  /** The requests to the exchange, without key and signature. */
  readonly requests: readonly unknown[];
  readonly sizedOn: unknown;
}

/** What the relay says of a message. */
export interface MessageCheck {
  /** The message with sample values in place of placeholders. */
  readonly filled: string;
  readonly issues: readonly ShownIssue[];
  readonly previews: readonly OrderPreview[];
}

/** A signal that never became an order, and the new one that would be sent in its place. */
export interface AgainOffer {
  /** Why it cannot be sent again; null: it can. */
  readonly refusal: string | null;
  /** The alert of the new signal. */
  readonly message: string | null;
  readonly newId: string | null;
  readonly check: MessageCheck | null;
}

export interface CheckShown {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** What to do; null when there is nothing to do. */
  readonly advice: string | null;
}

export interface AlarmShown {
  readonly atMs: number;
  readonly name: string;
  readonly message: string;
}

export interface AccountHealth {
  readonly account: string;
  readonly pause: PauseShown | null;
  /** When the relay's own watch last read the positions; null: never, or nothing was open. */
  readonly positionsReadAtMs: number | null;
  /** The newest snapshot of balances; null: none. */
  readonly snapshotAtMs: number | null;
}

export interface ChannelShown {
  readonly name: string;
  /** Whether it is stored how it is reached. */
  readonly isReached: boolean;
  /** When it told something last; null: never. */
  readonly sentAtMs: number | null;
  /** How many changes it has not told; null: not known. */
  readonly waiting: number | null;
  /** How many requests in a row have failed, and why the last one did. */
  readonly failures: number;
  readonly failure: string | null;
  /** When the next request goes out; null: at once. */
  readonly retryAtMs: number | null;
}

export interface NoticesShown {
  /** Empty: nobody is told. */
  readonly channels: readonly ChannelShown[];
  /** Who is told of alarms without a channel, in words; null: nobody. */
  readonly toldBesides: string | null;
}

export interface HealthDocument {
  readonly atMs: number;
  readonly checks: readonly CheckShown[];
  readonly accounts: readonly AccountHealth[];
  readonly notices: NoticesShown;
  /** Newest first; null: they are not kept where the page can read them. */
  readonly alarms: readonly AlarmShown[] | null;
}

/** What was held at one time. */
export interface HeldRow {
  readonly atMs: number;
  /** Ticker → amount; null: it could not be read then. */
  readonly held: Readonly<Record<string, string>> | null;
  /** In the quote currency, at the prices of now. */
  readonly worth: string | null;
}

export interface ShownFill {
  readonly dealId: number;
  readonly atMs: number;
  readonly side: 'buy' | 'sell';
  readonly text: string;
  /** Empty for a deal of no signal. */
  readonly signalId: string;
}

export interface BalancesShown {
  readonly account: string;
  readonly tickers: readonly string[];
  readonly rows: readonly HeldRow[];
  readonly quote: string;
  /** Without a price in the quote currency, so not part of what it is worth. */
  readonly unpriced: readonly string[];
  /** The latest ones of the period, oldest first. */
  readonly fills: readonly ShownFill[];
}

export interface ShownCandle {
  /** The beginning, in seconds. */
  readonly time: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
}

export interface ShownMark {
  readonly atMs: number;
  readonly kind: 'signal' | 'fill';
  readonly side: 'buy' | 'sell' | null;
  readonly text: string;
  readonly price: string | null;
  readonly signalId: string;
  readonly account: string;
}

/** A price that stands now: an order, a stop-loss, a take-profit or the entry of a position. */
export interface ShownLevel {
  readonly kind: 'order' | 'stop' | 'target' | 'position';
  readonly price: string;
  readonly text: string;
}

export interface PriceDocument {
  readonly market: string;
  readonly interval: string;
  readonly candles: readonly ShownCandle[];
  readonly marks: readonly ShownMark[];
  readonly levels: readonly ShownLevel[];
  /** What could not be read. */
  readonly missing: readonly string[];
}
