import type { Decimal } from '../../lib/base/decimal.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import type { Entry, EntryKey } from '../../lib/ledger/entry.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import { type History, keyText } from './history.ts';
import type { Facts } from './invariants.ts';
import { longestPositionLagMs } from './network.ts';
import { handPrefix } from './own-orders.ts';
import type { Invocation } from './process.ts';
import { isByOthers, type PositionChange, type TruePosition, truePositions } from './true-positions.ts';

/** What a relay could have seen of a position when it decided. */
export interface PositionView {
  readonly truth: TruePosition;
  /**
   * The positions that the reading may have shown: those between the lag of its list before the reading and the decision,
   * but none from before the last fill that it knew. Empty when nothing was read.
   */
  readonly believable: readonly Decimal[];
  /** When the reading was sent; null when nothing was read. */
  readonly readAtMs: number | null;
}

export type ViewOf = (
  entry: Pick<Entry, 'account' | 'signalId' | 'signal'>,
  decided: Decided,
) => PositionView;

/** When something was decided, and in which invocation. */
export interface Decided {
  readonly atMs: number;
  readonly invocation: Invocation | null;
}

export function createViews(facts: Pick<Facts, 'history' | 'exchange' | 'entries'>): ViewOf {
  const { history, exchange } = facts;
  const positionOf = truePositions(exchange);
  const overtakes = createOvertaking(facts);
  return (entry, decided) => {
    const { account, signal } = entry;
    const truth = positionOf(account, signal?.market ?? '');
    const readAtMs = readingBefore(history, account, decided);
    if (readAtMs === null) return { truth, believable: [], readAtMs };
    const startedAtMs = decided.invocation?.startedAtMs ?? Number.NEGATIVE_INFINITY;
    const isStored = (dealId: number) => (history.storedDeals.get(dealId) ?? startedAtMs) < startedAtMs;
    const lastKnownMs = truth.lastKnownFill(
      decided.atMs,
      (change) => (!isByOthers(change) || isStored(change.dealId)) && !overtakes(change, entry),
    );
    const earliestMs = readAtMs - longestPositionLagMs;
    // Where others traded meanwhile, an old position may by chance be what the relay's own last fill must have made.
    const isByChance = truth.changes.some(
      (change) =>
        (isByHand(change) || opensByExit(change)) && change.atMs > earliestMs && change.atMs <= decided.atMs,
    );
    const fromMs = isByChance ? earliestMs : Math.max(earliestMs, lastKnownMs);
    return { truth, believable: truth.within(fromMs, decided.atMs), readAtMs };
  };
}

/**
 * Whether a fill came between two attempts to send an order, and is of a signal that was stored later: its message was delivered
 * twice. The order still leads from the position that was read to the one that it is to make; the later signal comes on top.
 */
function createOvertaking({ history, entries }: Pick<Facts, 'history' | 'entries'>) {
  const byOrder = new Map(entries.map((entry) => [`${entry.account} ${entry.clientOrderId}`, entry]));
  const placeOf = (entry: EntryKey) => history.stored.get(keyText(entry)) ?? 0;
  return ({ atMs, order: { account, clientOrderId } }: PositionChange, entry: EntryKey): boolean => {
    const other = byOrder.get(`${account} ${clientOrderId}`);
    const started = history.started.get(keyText(entry));
    return (
      other !== undefined && started !== undefined && atMs > started.atMs && placeOf(other) > placeOf(entry)
    );
  };
}

function isByHand({ order }: PositionChange): boolean {
  return (
    order.clientOrderId.startsWith(handPrefix) || (order.clientOrderId === '' && order.parentId === null)
  );
}

/** The owner has closed the position that it protected. */
function opensByExit({ order, before, after }: PositionChange): boolean {
  return order.parentId !== null && after.abs().gt(before.abs());
}

/**
 * How long before a decision its reading may have been sent: the relay uses it for 5 s, on a clock that may be set. The process
 * may have stood still before it stored what it had decided.
 */
const longestReadingMs = 30_000;

/**
 * How much earlier than the last list of positions the one may have been read that the order is sized on: what is at stake is read
 * after it, with tries that fail.
 */
const longestSizedMs = 5_000;

/** When the list of positions was asked for that an order can be sized on: of the lists that the invocation got before it decided. */
function readingBefore(
  { sends, freezes }: History,
  account: string,
  { atMs, invocation }: Decided,
): number | null {
  const around = freezes.filter(
    ({ fromMs, untilMs }) => fromMs <= atMs && untilMs >= atMs - longestReadingMs,
  );
  const earliestMs = Math.min(atMs, ...around.map(({ fromMs }) => fromMs)) - longestReadingMs;
  const readings = sends.filter(
    (send) =>
      send.path === openPositions.path.live &&
      send.signer === account &&
      send.invocation === invocation &&
      send.atMs <= atMs &&
      send.atMs >= earliestMs &&
      send.outcome?.kind === 'answered' &&
      send.outcome.status === 200,
  );
  const lastMs = readings.at(-1)?.atMs ?? 0;
  return readings.find((one) => one.atMs >= lastMs - longestSizedMs)?.atMs ?? null;
}

/** Whether an account has a long and a short position in a market. */
export function isHedged({ exchange }: Pick<Facts, 'exchange'>, { account, signal }: Entry): boolean {
  const isPerpetual = marketNamed(signal?.market ?? '').settlement === 'perpetual';
  return isPerpetual && exchange.accounts.get(account)?.collateral.isHedged === true;
}
