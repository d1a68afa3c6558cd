import { isRecord } from '../../base/json.ts';

/** How a list differs from what the relay knows of lists. */
export const oddLists = [
  'unknown_word',
  'unknown_field',
  'unreadable_record',
  'odd_group',
  'doubled_deals',
  'unsigned_short',
] as const;
export type OddList = (typeof oddLists)[number];

type Fields = Readonly<Record<string, unknown>>;
type Change = (records: readonly unknown[]) => readonly unknown[];

/** A word that stands in no document. */
export const oddWord = 'UNDOCUMENTED';
/** A field that stands in no document. */
const oddField = 'undocumented';
/** A role of a fill that stands in no document. */
const oddRole = 9;
/** How far the second id of a deal lies above its first one. */
const secondIdDistance = 1_000_000_000_000;

const changes: Readonly<Record<OddList, Change>> = {
  unknown_word: (records) => records.map(changeWords),
  unknown_field: (records) =>
    records.map((record) => (isRecord(record) ? { ...record, [oddField]: 1 } : record)),
  unreadable_record: ([first, ...others]) => (isRecord(first) ? [withoutIds(first), ...others] : []),
  odd_group: (records) => [{ id: 1, type: 'undocumented', legs: [] }, ...records],
  doubled_deals: (records) =>
    records.flatMap((deal) =>
      isRecord(deal) ? [deal, { ...deal, id: Number(deal['id']) + secondIdDistance }] : [deal],
    ),
  unsigned_short: (records) => records.map(withoutSign),
};

/**
 * Changes the body of a list; any other body stays as it is.
 *
 * - `unknown_word`: every status, role and liquidation state is a word that stands in no document.
 * - `unknown_field`: every record has a field that stands in no document.
 * - `unreadable_record`: the first record, of each market if there are several, has no id.
 * - `odd_group`: there is a record of another kind, which is neither a pair nor an order with planned exits.
 * - `doubled_deals`: every fill is listed a second time, under another id.
 * - `unsigned_short`: a short position has an amount above zero.
 */
export function changeList(kind: OddList, body: unknown): unknown {
  const change = changes[kind];
  if (Array.isArray(body)) return change(body);
  if (!isRecord(body) || 'errors' in body) return body;
  const { records, total } = body;
  if (!Array.isArray(records))
    return Object.fromEntries(
      Object.entries(body).map(([market, list]) => [market, Array.isArray(list) ? change(list) : list]),
    );
  const changed = change(records);
  const added = changed.length - records.length;
  return { ...body, records: changed, ...(typeof total === 'number' ? { total: total + added } : {}) };
}

function changeWords(record: unknown): unknown {
  if (!isRecord(record)) return record;
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => {
      if (name === 'status' || name === 'liquidationState') return [name, oddWord];
      return [name, name === 'role' ? oddRole : changeWords(value)];
    }),
  );
}

function withoutSign(record: unknown): unknown {
  if (!isRecord(record)) return record;
  return { ...record, amount: String(record['amount']).replace('-', '') };
}

const idNames: ReadonlySet<string> = new Set(['id', 'orderId', 'order_id', 'positionId']);

function withoutIds(record: Fields): Fields {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !idNames.has(name)));
}
