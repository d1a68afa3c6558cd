import { isUnfilled } from '../../lib/account/trust-reading.ts';
import { zero } from '../../lib/base/decimal.ts';
import { longestPositionLagMs } from '../../lib/exchange/lag.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { mostFollowed } from '../../lib/ledger/executions.ts';
import { clockToleranceMs, listEntries, mostBelieved } from '../../lib/ledger/ledger.ts';
import { listRecords, type OrderRecord } from '../../lib/ledger/order-record.ts';
import type { Account } from '../../lib/model/account.ts';
import type { PositionSide } from '../../lib/model/order.ts';
import { mayOpen } from '../../lib/signals/may-open.ts';
import type { Session } from './session.ts';

/** A signal that has opened a position or may still open one. */
export interface Opening {
  readonly market: string;
  /** The side that it names, which it must in hedge mode alone. */
  readonly positionSide: PositionSide;
  /**
   * Whether it waits, is being sent, has an unknown outcome, or may have filled so lately that the list of positions need not
   * show it. False for an order that rests and of which no fill is known.
   */
  readonly isUnseen: boolean;
}

/** An order that was answered lately was stored within this time. */
const longestSearchMs = 15 * 60_000;

/**
 * The signals of these markets that a reading of the positions may have missed. To be called after that reading, so that what
 * was sent meanwhile is found, too.
 *
 * @param readAtMs when the positions were about to be read
 */
export async function listOpenings(
  session: Session,
  account: Account,
  markets: readonly string[],
  readAtMs: number,
): Promise<readonly Opening[]> {
  const ledger = session.openLedger();
  const { name } = account;
  const found: Entry[] = [];
  const startMs = readAtMs - longestSearchMs;
  for await (const entry of listEntries(ledger, { account: name, startMs })) found.push(entry);
  // The list of an account may lag on AWS. These are read consistently, and they have what is older.
  found.push(...(await session.openExecutions().followed(name, mostFollowed)));
  const ofMarkets = await Promise.all(
    markets.map(async (market) => {
      // First those that wait: one that is sent between the two readings is in the second.
      const waiting = await ledger.waiting(name, market, mostBelieved);
      return [...waiting, ...(await ledger.openOrders(name, market, mostBelieved))];
    }),
  );
  found.push(...ofMarkets.flat());
  const entries = new Map(found.map((entry) => [entry.signalId, entry]));
  // The records are made of all: what a cancellation found tells of a fill, too.
  return listRecords([...entries.values()]).flatMap((record): readonly Opening[] => {
    const signal = entries.get(record.signalId)?.signal ?? null;
    if (signal === null || !mayOpen(signal, account) || !markets.includes(record.market)) return [];
    const isUnseen = isUnderWay(record) || isLately(record, readAtMs);
    if (!isUnseen && !record.orderOpen) return [];
    return [{ market: record.market, positionSide: record.positionSide ?? 'BOTH', isUnseen }];
  });
}

function isUnderWay({ status }: OrderRecord): boolean {
  return status === 'accepted' || status === 'sending' || status === 'unknown';
}

/** A time ahead of this clock counts, too: the machine that stored it may have another one. */
function isLately(record: OrderRecord, readAtMs: number): boolean {
  const { status, sentAtMs, updatedAtMs, sightings, followed, cancelled } = record;
  // One that was withdrawn before it was sent has opened nothing.
  if (sentAtMs === null || (status !== 'placed' && status !== 'cancelled')) return false;
  const fills = sightings.filter(({ filled }) => filled.gt(zero));
  const toldAtMs = [
    ...(isUnfilled(record) ? [] : [updatedAtMs]),
    ...fills.flatMap(({ atMs, exchangeMs }) => [atMs, exchangeMs ?? atMs]),
    ...(followed?.filledAtMs === undefined ? [] : [followed.filledAtMs]),
    // The order was gone, and may have filled.
    ...(cancelled?.filled === null ? [cancelled.atMs] : []),
  ];
  return toldAtMs.some((atMs) => readAtMs - atMs < longestPositionLagMs + clockToleranceMs);
}
