import type { Decimal } from '../../lib/base/decimal.ts';
import { openPositions } from '../../lib/exchange/endpoints/open-positions.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import type { History } from './history.ts';
import type { Facts } from './invariants.ts';
import { longestPositionLagMs } from './network.ts';
import { handPrefix } from './own-orders.ts';
import type { Invocation } from './process.ts';
import { type PositionChange, type TruePosition, truePositions } from './true-positions.ts';

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

export type ViewOf = (entry: Pick<Entry, 'account' | 'signal'>, decided: Decided) => PositionView;

/** When something was decided, and in which invocation. */
export interface Decided {
  readonly atMs: number;
  readonly invocation: Invocation | null;
}

export function createViews({ history, exchange }: Pick<Facts, 'history' | 'exchange'>): ViewOf {
  const positionOf = truePositions(exchange);
  return ({ account, signal }, decided) => {
    const truth = positionOf(account, signal?.market ?? '');
    const readAtMs = readingBefore(history, account, decided);
    if (readAtMs === null) return { truth, believable: [], readAtMs };
    const startedAtMs = decided.invocation?.startedAtMs ?? Number.NEGATIVE_INFINITY;
    const isStored = (dealId: number) => (history.storedDeals.get(dealId) ?? startedAtMs) < startedAtMs;
    const lastKnownMs = truth.lastKnownFill(decided.atMs, isStored);
    const earliestMs = readAtMs - longestPositionLagMs;
    // Where the owner traded meanwhile, an old position may by chance be what the relay's own last fill must have made.
    const isByChance = truth.changes.some(
      (change) => isByHand(change) && change.atMs > earliestMs && change.atMs <= decided.atMs,
    );
    const fromMs = isByChance ? earliestMs : Math.max(earliestMs, lastKnownMs);
    return { truth, believable: truth.within(fromMs, decided.atMs), readAtMs };
  };
}

function isByHand({ order }: PositionChange): boolean {
  return (
    order.clientOrderId.startsWith(handPrefix) || (order.clientOrderId === '' && order.parentId === null)
  );
}

/**
 * How long before a decision its reading may have been sent: the relay uses it for 5 s, on a clock that may be set. The process
 * may have stood still before it stored what it had decided.
 */
const longestReadingMs = 30_000;

/** The last list of positions that the invocation asked for and got before it decided. */
function readingBefore(
  { sends, freezes }: History,
  account: string,
  { atMs, invocation }: Decided,
): number | null {
  const around = freezes.filter(
    ({ fromMs, untilMs }) => fromMs <= atMs && untilMs >= atMs - longestReadingMs,
  );
  const earliestMs = Math.min(atMs, ...around.map(({ fromMs }) => fromMs)) - longestReadingMs;
  const reading = sends.findLast(
    (send) =>
      send.path === openPositions.path.live &&
      send.signer === account &&
      send.invocation === invocation &&
      send.atMs <= atMs &&
      send.atMs >= earliestMs &&
      send.outcome?.kind === 'answered' &&
      send.outcome.status === 200,
  );
  return reading?.atMs ?? null;
}

/** Whether an account has a long and a short position in a market. */
export function isHedged({ exchange }: Pick<Facts, 'exchange'>, { account, signal }: Entry): boolean {
  const isPerpetual = marketNamed(signal?.market ?? '').settlement === 'perpetual';
  return isPerpetual && exchange.accounts.get(account)?.collateral.isHedged === true;
}
