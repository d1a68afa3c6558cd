import * as z from 'zod/mini';
import { describeIssues } from './response.ts';

/**
 * Something in a list that the relay does not understand. `market` is null where the record does not say it.
 */
export type Oddity =
  /** A word that no document has told. It is kept as it is, and its record is read. */
  | { readonly kind: 'word'; readonly market: string | null; readonly field: string; readonly word: string }
  /** A record that cannot be read, and is left out. */
  | { readonly kind: 'record'; readonly market: string | null; readonly issues: string };

/** One page of a list of the exchange, read record by record. */
export interface ListPage<Item> {
  readonly records: readonly Item[];
  /** How many records the page had, those included that are left out. */
  readonly count: number;
  readonly oddities: readonly Oddity[];
}

/** The markets of the records that a list leaves out; null for a record that does not say its market. */
export type HiddenMarkets = readonly (string | null)[];

export function hiddenIn(oddities: readonly Oddity[]): HiddenMarkets {
  return [...new Set(oddities.flatMap(({ kind, market }) => (kind === 'record' ? [market] : [])))];
}

/**
 * Whether a list may have a record that it does not show: then the absence of a record proves nothing.
 *
 * @param market null: of any market
 */
export function mayHide(hidden: HiddenMarkets, market: string | null): boolean {
  return hidden.some((other) => other === null || market === null || other === market);
}

/** Whether every record of a list, or of its market, was read. */
export function isWholePage(
  { oddities }: Pick<ListPage<unknown>, 'oddities'>,
  market: string | null = null,
): boolean {
  return !mayHide(hiddenIn(oddities), market);
}

/** A word of the exchange in a field of a record. */
export interface FoundWord {
  readonly field: string;
  readonly word: string;
}

/** How the records of a list are read. */
export interface RecordReader<Item> {
  readonly record: z.ZodMiniType<Item>;
  /** The words of a record that the relay does not know. */
  readonly unknownWords: (item: NoInfer<Item>) => readonly FoundWord[];
}

/** Reads each record by itself. @param market of all records; null: each says its own */
export function readRecords<Item>(
  { record: schema, unknownWords }: RecordReader<Item>,
  records: readonly unknown[],
  market: string | null,
): ListPage<Item> {
  const read: Item[] = [];
  const oddities: Oddity[] = [];
  for (const record of records) {
    const of = market ?? marketIn(record);
    const parsed = z.safeParse(schema, record);
    if (!parsed.success) {
      oddities.push({ kind: 'record', market: of, issues: describeIssues(parsed.error.issues) });
      continue;
    }
    read.push(parsed.data);
    for (const found of unknownWords(parsed.data)) oddities.push({ kind: 'word', market: of, ...found });
  }
  return { records: read, count: records.length, oddities };
}

/** A list whose records say their markets themselves. */
export function listOf<Item>(reader: RecordReader<Item>) {
  return z.pipe(
    z.array(z.unknown()),
    z.transform((records): ListPage<Item> => readRecords(reader, records, null)),
  );
}

/** Lists by market, as one list. An empty list of pairs may come as an empty array. */
export function listByMarket<Item extends object>(reader: RecordReader<Item>) {
  return z.pipe(
    z.union([z.record(z.string(), z.unknown()), z.array(z.never())]),
    z.transform((lists): ListPage<Item & { readonly market: string }> => joinMarkets(reader, lists)),
  );
}

/** @param lists market → its records */
export function joinMarkets<Item extends object>(
  reader: RecordReader<Item>,
  lists: object,
): ListPage<Item & { readonly market: string }> {
  const pages = Object.entries(lists).map(([market, records]: [string, unknown]) => {
    const { records: read, ...page } = Array.isArray(records)
      ? readRecords(reader, records, market)
      : unreadableMarket(market);
    return { ...page, records: read.map((record) => ({ ...record, market })) };
  });
  return {
    records: pages.flatMap(({ records }) => records),
    count: pages.reduce((sum, { count }) => sum + count, 0),
    oddities: pages.flatMap(({ oddities }) => oddities),
  };
}

function unreadableMarket(market: string): ListPage<never> {
  return { records: [], count: 1, oddities: [{ kind: 'record', market, issues: 'must be a list' }] };
}

/** The market that a record names, itself or in one of its orders; null: it names none. */
function marketIn(record: unknown): string | null {
  if (typeof record !== 'object' || record === null) return null;
  const inside = Object.values(record).filter((value) => typeof value === 'object' && value !== null);
  for (const each of [record, ...inside] as readonly { readonly market?: unknown }[])
    if (typeof each.market === 'string') return each.market;
  return null;
}

const longestWord = 64;

/**
 * A word of the exchange, whatever it is. What is no text is written as JSON: the record is read in any case. It is
 * stored and shown, so its length is bounded.
 */
export const WordField = z.pipe(
  z.optional(z.unknown()),
  z.transform((value) => cutWord(typeof value === 'string' ? value : String(JSON.stringify(value)))),
);

export function cutWord(word: string): string {
  return word.replaceAll(/\p{Cc}+/gu, ' ').slice(0, longestWord);
}
