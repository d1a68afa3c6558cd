import * as z from 'zod/mini';
import type { TrialAnswers } from '../account/rehearsed.ts';
import { isRecord } from '../base/json.ts';
import { defineEndpoint, type Endpoint, type ParamsOf } from '../exchange/endpoint.ts';
import { collateralBalance } from '../exchange/endpoints/collateral-balance.ts';
import { collateralSummary } from '../exchange/endpoints/collateral-summary.ts';
import { conditionalOrders } from '../exchange/endpoints/conditional-orders.ts';
import { endedOrder } from '../exchange/endpoints/ended-order.ts';
import { executedHistory } from '../exchange/endpoints/executed-history.ts';
import { openOrder } from '../exchange/endpoints/open-order.ts';
import { openPositions } from '../exchange/endpoints/open-positions.ts';
import { tradeBalance } from '../exchange/endpoints/trade-balance.ts';
import { ExchangeError, isHistoryNotFound } from '../exchange/errors.ts';
import type { Oddity } from '../exchange/listed.ts';
import { describeIssues } from '../exchange/response.ts';
import type { TradingGround } from '../model/account.ts';
import { knownFields } from './known-fields.ts';
import { stopAt } from './rehearsal-book.ts';
import type { Stage, TrialStep } from './stage.ts';

/** A list of the exchange, and the fields that its records are known to have. */
interface WatchedList {
  readonly endpoint: Endpoint;
  readonly params: object;
  readonly fields: readonly string[];
  readonly grounds: readonly TradingGround[];
}

const all: readonly TradingGround[] = ['spot', 'margin', 'futures'];
const collateral: readonly TradingGround[] = ['margin', 'futures'];

const lists: readonly WatchedList[] = [
  { endpoint: openOrder, params: { limit: 100 }, fields: knownFields.order, grounds: all },
  { endpoint: endedOrder, params: { limit: 100 }, fields: knownFields.endedOrder, grounds: all },
  { endpoint: executedHistory, params: { limit: 100 }, fields: knownFields.deal, grounds: all },
  { endpoint: tradeBalance, params: {}, fields: knownFields.spotBalance, grounds: all },
  { endpoint: conditionalOrders, params: { limit: 100 }, fields: knownFields.group, grounds: collateral },
  { endpoint: openPositions, params: {}, fields: knownFields.position, grounds: collateral },
  { endpoint: collateralBalance, params: {}, fields: knownFields.collateral, grounds: collateral },
  { endpoint: collateralSummary, params: {}, fields: knownFields.summary, grounds: collateral },
];

export const readLists: TrialStep = {
  name: '1',
  title: 'read every list once',
  async run(stage) {
    const words = new Set<string>();
    const fields = new Set<string>();
    const watched = lists.filter(({ grounds }) => grounds.includes(stage.ground));
    let records = 0;
    for (const list of watched) {
      const told = await readList(stage, list);
      if (told.unread !== null)
        return stopAt(`the list ${list.endpoint.name} cannot be read: ${told.unread}`);
      for (const word of told.words) words.add(`${list.endpoint.name} ${word}`);
      for (const field of told.fields) fields.add(`${list.endpoint.name} ${field}`);
      records += told.records;
    }
    return { passed: true, found: foundIn(watched.length, records, words, fields) };
  },
};

function foundIn(
  lists: number,
  records: number,
  words: ReadonlySet<string>,
  fields: ReadonlySet<string>,
): TrialAnswers {
  return { lists, records, unknownWords: [...words].join(', '), unknownFields: [...fields].join(', ') };
}

interface ToldByList {
  /** Why it cannot be read; null: it can. */
  readonly unread: string | null;
  readonly words: readonly string[];
  readonly fields: readonly string[];
  readonly records: number;
}

/** Reads a list as it comes, so that what the relay leaves out is seen, too. */
async function readList({ client, limits }: Stage, list: WatchedList): Promise<ToldByList> {
  const { endpoint, params } = list;
  const plain = defineEndpoint({ ...endpoint, result: z.unknown() });
  let content: unknown;
  try {
    content = await client.call(plain, params as ParamsOf<Endpoint>, limits);
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { unread: isHistoryNotFound(error) ? null : error.message, words: [], fields: [], records: 0 };
  }
  const read = z.safeParse(endpoint.result, content);
  const oddities = read.success ? odditiesIn(read.data) : [];
  const [hidden] = oddities.flatMap((oddity) => (oddity.kind === 'record' ? [oddity.issues] : []));
  const records = recordsIn(content);
  return {
    unread: read.success ? (hidden ?? null) : describeIssues(read.error.issues),
    words: oddities.flatMap((oddity) => (oddity.kind === 'word' ? [`${oddity.field}: ${oddity.word}`] : [])),
    fields: unknownFieldsIn(records, new Set(list.fields)),
    records: records.length,
  };
}

function odditiesIn(page: unknown): readonly Oddity[] {
  return ((Object(page) as { readonly oddities?: readonly Oddity[] }).oddities ?? []) as readonly Oddity[];
}

type RawRecord = Readonly<Record<string, unknown>>;

/** The records of a list, of the lists of all markets, of a page, by currency; or the one record that stands alone. */
function recordsIn(content: unknown): readonly RawRecord[] {
  if (Array.isArray(content)) return content.filter(isRecord);
  if (!isRecord(content)) return [];
  if (Array.isArray(content['records'])) return content['records'].filter(isRecord);
  const values = Object.values(content);
  const inside = values.flatMap((value) => (Array.isArray(value) ? value : [value])).filter(isRecord);
  return inside.length > 0 ? inside : values.length > 0 ? [content] : [];
}

function unknownFieldsIn(records: readonly RawRecord[], known: ReadonlySet<string>): readonly string[] {
  const names = records.flatMap((record) => [
    ...Object.keys(record),
    ...Object.values(record).flatMap((value) => (isRecord(value) ? Object.keys(value) : [])),
  ]);
  return [...new Set(names)].filter((name) => !known.has(name)).sort();
}
