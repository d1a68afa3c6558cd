import { type Execution, type Fill, isOfSignal } from '../model/execution.ts';
import type { Entry, EntryKey } from './entry.ts';

/** Selects fills of an account by their time, oldest first. */
export interface FillQuery {
  readonly account: string;
  readonly fromMs: number;
  /** Fills at this time are not included. */
  readonly untilMs: number;
  /** The maximum number of fills. */
  readonly limit: number;
  /** `next` of the previous page. */
  readonly cursor?: string;
}

export interface FillPage {
  readonly fills: readonly Fill[];
  /** Null on the last page. */
  readonly next: string | null;
}

/**
 * What became of placed orders, and the other deals of the account: a part of the ledger that only those need who follow orders or report on them.
 */
export interface Executions {
  /**
   * Entries that are `placed` and whose orders are followed: open ones, and ended ones of which not everything is known.
   * The oldest first; at most `limit`. If there are more, it is not defined which ones are returned.
   *
   * @throws RelayError `store_unavailable`
   */
  followed(account: string, limit: number): Promise<readonly Entry[]>;
  /**
   * Stores what became of the orders of an entry, and their fills. A fill that is stored already stays as it is, unless it
   * was stored as a deal of no signal: then it becomes that of the signal. When the
   * signal's own order has ended, it no longer counts as open; when nothing is followed any more, `followed` no longer
   * lists the entry. An order that no longer counts as open stays so, whatever a list that lags says. Safe to repeat.
   *
   * @param execution its revision is one more than that of the entry that was read
   * @returns false when another process was faster; then the execution stays as that one wrote it
   * @throws RelayError `store_unavailable`
   */
  record(key: EntryKey, execution: Execution, fills: readonly Fill[]): Promise<boolean>;
  /**
   * Stores deals of no signal. One that is stored already stays as it is, whosever it is. Safe to repeat.
   *
   * @throws RelayError `store_unavailable`
   */
  recordOthers(fills: readonly Fill[]): Promise<void>;
  /**
   * One page, of fills of signals and of other deals; its cost grows with the page, not with the ledger.
   *
   * @throws RangeError when the cursor is not from this store
   */
  listFills(query: FillQuery): Promise<FillPage>;
  /** Fills from before this time may have expired; null: none expire. */
  keptFromMs(nowMs: number): number | null;
}

/** The most followed entries of an account that are read at once. One bound for all readers: what is followed counts, too. */
export const mostFollowed = 5000;

const fillsOfPage = 500;

/** The fills of an account, those of no signal among them, oldest first, one page at a time. @param untilMs not included */
export async function* listFills(
  executions: Pick<Executions, 'listFills'>,
  account: string,
  fromMs: number,
  untilMs: number,
): AsyncGenerator<Fill> {
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const query = { account, fromMs, untilMs, limit: fillsOfPage };
    const page = await executions.listFills(cursor === undefined ? query : { ...query, cursor });
    yield* page.fills;
    cursor = page.next;
  }
}

/** The same, without deals of no signal. */
export async function* listSignalFills(...range: Parameters<typeof listFills>): AsyncGenerator<Fill> {
  for await (const fill of listFills(...range)) if (isOfSignal(fill)) yield fill;
}

/** @throws RangeError for a cursor that is not from this store */
export function refuseCursor(cursor: string): never {
  throw new RangeError(`"${cursor.slice(0, 64)}" is not a cursor of these fills: start from the first page`);
}
