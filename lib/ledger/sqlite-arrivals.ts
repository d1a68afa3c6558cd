import { parseOwnJson } from '../base/json.ts';
import type { Entry, EntryKey } from './entry.ts';
import type { NewEntry } from './ledger.ts';
import { type BytesArrival, isFarAhead, mayBeResend } from './ledger-rules.ts';
import type { Statements } from './sqlite-entries.ts';

/** The alerts that only their arrival tells from the next one with the same bytes. To be called in a transaction. */
export class SqliteArrivals {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /**
   * The signals of an alert with the same bytes that came so shortly before that this one may be its resend.
   *
   * @param read one entry; null when there is none
   * @returns none when the alert is new
   */
  readEarlier(newEntries: readonly NewEntry[], read: (key: EntryKey) => Entry | null): readonly Entry[] {
    const [first] = newEntries;
    if (first?.isByArrival !== true) return [];
    const arrival = this.#find(first);
    if (arrival === null || !mayBeResend(arrival, first.atMs)) return [];
    if (isFarAhead(arrival, first.atMs)) this.#note(first, arrival.signalIds);
    const { account } = first;
    return arrival.signalIds.flatMap((signalId) => read({ account, signalId }) ?? []);
  }

  /** Notes the arrival of a new alert, if it is known by that. */
  note(newEntries: readonly NewEntry[]): void {
    const [first] = newEntries;
    if (first?.isByArrival === true)
      this.#note(
        first,
        newEntries.map(({ signalId }) => signalId),
      );
  }

  #find({ account, fingerprint }: NewEntry): BytesArrival | null {
    const row = this.#statements.findArrival.get(account, fingerprint);
    if (row === undefined) return null;
    return { atMs: Number(row['at_ms']), signalIds: parseOwnJson<string[]>(String(row['signal_ids'])) };
  }

  #note({ account, fingerprint, atMs }: NewEntry, signalIds: readonly string[]): void {
    this.#statements.noteArrival.run(account, fingerprint, atMs, JSON.stringify(signalIds));
  }
}
