import { type Decimal, zero } from '../base/decimal.ts';
import type { ExchangeClient, SendOptions } from '../exchange/client.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import { listPositionsIn } from '../exchange/list-positions.ts';
import type { Entry } from '../ledger/entry.ts';
import { listPages, mostBelieved } from '../ledger/ledger.ts';
import { type AttachedExits, positionAt } from '../model/holdings.ts';
import type { PositionSide } from '../model/order.ts';
import type { Denial, Status } from '../model/outcome.ts';
import type { ProtectSignal } from '../model/signal.ts';
import { attachedIds } from './exits.ts';
import { type FreshMove, findFreshMoves, wasClosedSince } from './fresh-moves.ts';
import type { AccountServices } from './read-exposure.ts';
import { choosePosition } from './seen-position.ts';
import {
  type DatedPosition,
  entriesOfSide,
  findLastMoves,
  findMissed,
  isHedged,
  isOfOtherSide,
  isTrusted,
  type LastOrder,
} from './trust-reading.ts';

/** The position of a market, or the reason why nothing may be sized on it now. */
export type PositionReading =
  | ({
      readonly kind: 'seen';
      /** The ids of the exits that the list shows beside it. */
      readonly attached: readonly number[];
      readonly tpsl: AttachedExits | null;
      /** When the position was opened, on the exchange's clock; null when there is none. */
      readonly openedAtMs: number | null;
      /** The entries that it was judged by, oldest first. */
      readonly entries: readonly Entry[];
      /** The average entry price in the quote currency; null when the exchange does not say it. */
      readonly basePrice: Decimal | null;
      /** Of a query that closes all: why anything else would still wait for an order of unknown outcome; null: it would not. */
      readonly passed: WaitingReading | null;
    } & DatedPosition)
  | WaitingReading
  | { readonly kind: 'denied'; readonly denial: Denial };

/** A reading that does not count yet. */
export interface WaitingReading {
  readonly kind: 'waits';
  readonly reason: string;
  /** Whether another reading in a moment may do. */
  readonly mayPassSoon: boolean;
  /** Since when the outcome of an order that it waits for is not known; absent: it waits for a list. */
  readonly unknownSinceMs?: number;
}

/** Which position is read, and for which signal. */
export interface PositionQuery {
  readonly account: string;
  readonly market: string;
  readonly signalId: string;
  readonly positionSide: PositionSide | undefined;
  /** What the signal is to protect; absent: it protects nothing. */
  readonly guard?: Guarded;
  /** Whether known fills say that nothing is left of it: a list without the position is believed then. Absent: not asked. */
  readonly isSoldOut?: (entries: readonly Entry[]) => boolean;
  /** Whether it wants nothing open, by an order that only reduces; absent: no. */
  readonly closesAll?: boolean;
  /** Whether it is for an alert, which is sized on it or says what it must be; absent: no. */
  readonly isOfAlert?: boolean;
  /** Whether the order of a signal was just cancelled for it, so that `found` tells what it filled; absent: none was. */
  readonly isCancelled?: (signalId: string) => boolean;
}

/** When the list of positions is read, and for what. */
type ReadFor = Pick<PositionQuery, 'guard' | 'closesAll'> & { readonly nowMs: number };

type Guarded = Pick<ProtectSignal, 'of' | 'role' | 'part'>;

/** The most entries of an account read at once in search of the last order of a market. */
export const recentPageSize = 25;
/** Orders of older signals were answered long before any list that lags. */
const longestSearchMs = 15 * 60_000;
const mostPages = 20;

/**
 * Reads the position that a signal depends on. Nothing is sized on it while an earlier order of the market is being sent
 * or has an unknown outcome, nor while the list may lag behind this relay's own last order. What closes all of it, or protects
 * it, waits for an unknown outcome no longer than the list may lag.
 *
 * @param found fills that the ledger does not tell yet: the reading must show them, too
 * @throws ExchangeError when the exchange cannot be read; RelayError `store_unavailable`
 */
export async function readPosition(
  services: AccountServices,
  client: ExchangeClient,
  query: PositionQuery,
  limits: SendOptions,
  found: readonly LastOrder[] = [],
): Promise<PositionReading> {
  const {
    account,
    market,
    positionSide,
    guard,
    closesAll = false,
    isOfAlert = false,
    isCancelled = () => false,
  } = query;
  const at = { nowMs: services.clock.nowMs(), ...(guard === undefined ? {} : { guard }) };
  const unsettled = (await listUnsettled(services, query)).filter((entry) => !isAsStanding(entry, at));
  const isOther = (entry: Entry) => isOfOtherSide(entry, positionSide);
  const blocking = unsettled.filter((entry) => !isAsStanding(entry, { ...at, closesAll }));
  const ofThisSide = blocking.find((entry) => !isOther(entry));
  if (ofThisSide !== undefined) return waitFor(ofThisSide, closesAll);
  const first = unsettled.find((entry) => !isOther(entry));
  const passed = first === undefined ? null : waitFor(first, closesAll);
  // Before the reading: an order that is answered meanwhile counts as one that the list need not show.
  const { entries } = await listRecent(services, account, market, positionSide);
  const readAtMs = services.clock.nowMs();
  const [positions, fresh] = await Promise.all([
    listPositionsIn(client, market, readAtMs, limits),
    isOfAlert ? findFreshMoves(services, client, market, entries, readAtMs, limits) : [],
  ]);
  const ofOtherSide = blocking.find(isOther);
  if (ofOtherSide !== undefined && !isHedged(positions)) return waitFor(ofOtherSide, closesAll);
  const chosen = choosePosition(market, positions, positionSide);
  if (!chosen.ok) return { kind: 'denied', denial: chosen.denial };
  const { position } = chosen;
  const listed = positionAt(positions, { market, side: position.side });
  const { modifiedAtMs = null, openedAtMs = null, basePrice = null, tpsl = null } = listed ?? {};
  const own = entriesOfSide(entries, positionSide, positions);
  const moves = [...findLastMoves(own, market), ...found];
  const isShown = (move: LastOrder) => isTrusted({ position, readAtMs, modifiedAtMs }, move);
  const shownToMs = Math.max(...moves.filter(isShown).map(({ endedAtMs }) => endedAtMs ?? 0));
  const isNew = ({ signalId, endedAtMs, reduces }: FreshMove) =>
    !(endedAtMs === null && (isCancelled(signalId) || (reduces && position.amount.eq(zero)))) &&
    (endedAtMs === null || endedAtMs > shownToMs) &&
    own.some((entry) => entry.signalId === signalId);
  // What is there is closed at once, whatever has just filled: the exchange cuts the order.
  const told = closesAll && !position.amount.eq(zero) ? moves : [...moves, ...fresh.filter(isNew)];
  const isGone = position.amount.eq(zero) && query.isSoldOut?.(entries) === true;
  const unseen = isGone ? undefined : told.find((move) => !isShown(move));
  const missed = isGone ? undefined : findMissed({ position, readAtMs, modifiedAtMs }, moves);
  const isMissed = missed !== undefined && !(await wasClosedSince(client, market, missed, own, limits));
  const late = unseen ?? (isMissed ? missed : undefined);
  const attached = attachedIds(tpsl);
  if (late === undefined)
    return {
      kind: 'seen',
      ...{ position, readAtMs, modifiedAtMs, openedAtMs, basePrice, attached, tpsl, entries, passed },
    };
  const reason = `the list of positions may not show yet what signal "${late.signalId}" did`;
  return { kind: 'waits', reason, mayPassSoon: true };
}

function waitFor({ signalId, status, updatedAtMs }: Entry, closesAll: boolean): WaitingReading {
  const reason = `the outcome of signal "${signalId}" is not known yet (${status}), and it may change the position`;
  return {
    kind: 'waits',
    reason,
    mayPassSoon: closesAll && status === 'unknown',
    unknownSinceMs: updatedAtMs,
  };
}

/**
 * Another order of the market that may change the position: it is being sent, or its outcome is not known.
 *
 * @param at when the list of positions is read, and for what; null: every such order counts, as on spot, where it holds a
 *   part of the balance
 */
export async function findUnsettled(
  services: Pick<AccountServices, 'ledger'>,
  query: Pick<PositionQuery, 'account' | 'market' | 'signalId'> &
    Partial<Pick<PositionQuery, 'positionSide'>>,
  at: ReadFor | null,
): Promise<Entry | undefined> {
  const unsettled = await listUnsettled(services, query);
  return unsettled.find(
    (entry) => !(at !== null && isAsStanding(entry, at)) && !isOfOtherSide(entry, query.positionSide),
  );
}

async function listUnsettled(
  { ledger }: Pick<AccountServices, 'ledger'>,
  { account, market, signalId }: Pick<PositionQuery, 'account' | 'market' | 'signalId'>,
): Promise<readonly Entry[]> {
  const open = await ledger.openOrders(account, market, mostBelieved);
  return open.filter(
    (entry) => entry.signalId !== signalId && (entry.status === 'unknown' || entry.status === 'sending'),
  );
}

/**
 * Whether a reading counts beside an order of unknown outcome. What that filled at once the list of positions shows by now.
 * What it may fill later does no harm where one of the two only reduces: the unknown order protects a position, or the reading
 * is for an order that protects one, closes what an exit has turned, or closes all of it. Another order for the same part of a position still waits.
 */
function isAsStanding(
  { status, signal, steps }: Entry,
  { nowMs, guard, closesAll = false }: ReadFor,
): boolean {
  if (status !== 'unknown') return false;
  const isHarmless = closesAll || guard !== undefined;
  if (signal?.action !== 'protect')
    return isHarmless && nowMs - lastAtMs(steps, 'unknown', nowMs) > longestPositionLagMs;
  const { of, role, part } = signal;
  const isSamePart = guard?.of === of && guard.role === role && guard.part === part;
  return !isSamePart && nowMs - lastAtMs(steps, 'sending', nowMs) > longestPositionLagMs;
}

function lastAtMs(steps: Entry['steps'], of: Status, orElseMs: number): number {
  return steps.findLast(({ status }) => status === of)?.atMs ?? orElseMs;
}

/**
 * Entries among which the last order of the market is, oldest first. Those that are followed are read consistently; a list by
 * account, which has the others, may lag behind. Beyond `mostBelieved` followed entries, the newest may be missing among those.
 *
 * @param side of hedge mode, of which the last order is among them, too; absent: of any
 */
export async function listRecent(
  { ledger, executions, clock }: AccountServices,
  account: string,
  market: string,
  side?: PositionSide,
): Promise<{ readonly entries: readonly Entry[]; readonly isWhole: boolean }> {
  const followed = await executions.followed(account, mostBelieved);
  const listed: Entry[] = [];
  const earliestMs = clock.nowMs() - longestSearchMs;
  for await (const { entries } of listPages(ledger, { account, limit: recentPageSize }, mostPages)) {
    listed.push(...entries);
    const ofSide = entries.filter((entry) => !isOfOtherSide(entry, side));
    if (findLastMoves(ofSide, market).length > 0 || (entries.at(-1)?.createdAtMs ?? 0) < earliestMs) break;
  }
  // Of an entry that was read twice, the followed version counts: the list of an account may lag behind.
  const entries = new Map([...listed.reverse(), ...followed].map((entry) => [entry.signalId, entry]));
  // The followed ones may be older than every page, or too young for a list that lags.
  const oldestFirst = [...entries.values()].sort((one, other) => one.createdAtMs - other.createdAtMs);
  return { entries: oldestFirst, isWhole: followed.length < mostBelieved };
}
