import { findUnsettled } from '../../lib/account/read-position.ts';
import { type Decimal, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { listRecords } from '../../lib/ledger/order-record.ts';
import type { Account } from '../../lib/model/account.ts';
import { type OpenPosition, placeOf } from '../../lib/model/holdings.ts';
import { exitPriceOf, type Order } from '../../lib/model/order.ts';
import type { ExitRole, Signal } from '../../lib/model/signal.ts';
import { type Guard, guardPosition } from '../../lib/protection/guards.ts';
import { judgeGuard } from '../../lib/protection/judge-guard.ts';
import type { StandingExit } from '../../lib/protection/known-exits.ts';
import { asListed } from '../../lib/protection/left-of.ts';
import { type GuardedPosition, shareOut } from '../../lib/protection/shares.ts';
import { releasedGuards, type WantedGuard } from '../../lib/protection/wanted.ts';
import { parseSight, parseWishes, sightFactOf, wishFactOf } from '../../lib/protection/wishes.ts';
import { readTaken } from '../../lib/relay/protect/taken-stops.ts';
import { timeoutMs } from '../session/exchange.ts';
import type { Session } from '../session/session.ts';

/**
 * What became of a stop-loss or take-profit that a position should have. `standing`: its order fits. `missing`: no order
 * stands. `changing`: one stands that does not fit, and the relay replaces or cancels it. `ended`: the owner has ended it by
 * hand, and it is not placed again. `unread`: nobody knows what stands. `by_hand`: a stop of somebody else takes its place.
 */
export type GuardState = 'standing' | 'missing' | 'changing' | 'ended' | 'unread' | 'by_hand';

/** What should protect a part of a position, beside what does. */
export interface ShownGuard {
  /** The signal that asked for it. */
  readonly of: string;
  readonly role: ExitRole;
  /** Which one of several take-profits, from 1; absent: the only one. */
  readonly part?: number;
  /** Null when nobody knows it. */
  readonly price: Decimal | null;
  /** Of the position, in base units; zero: nothing is wanted any more of what stands. */
  readonly amount: Decimal;
  /** How far behind the best price a stop-loss stays that follows it, for example `1.5%`; absent: it stays where it is. */
  readonly trailing?: string;
  readonly state: GuardState;
  readonly standing: readonly {
    readonly orderId: number;
    readonly price: Decimal | null;
    /** In base units; null: the whole position. */
    readonly amount: Decimal | null;
  }[];
}

/** What the relay keeps for a position. */
export interface PositionProtection {
  readonly guards: readonly ShownGuard[];
  /** How much of it stops of others protect, in base units. */
  readonly byHand: Decimal;
  /** The signal of unknown outcome whose stop-loss may be among those; null: there is none. */
  readonly unsettled: string | null;
}

/** The open orders of each market with a position; null for one whose orders cannot be read whole. */
export async function readOpenIn(
  client: ExchangeClient,
  positions: readonly OpenPosition[],
): Promise<ReadonlyMap<string, readonly Order[] | null>> {
  const open = new Map<string, readonly Order[] | null>();
  for (const market of new Set(positions.map((position) => position.market))) {
    const { orders, isWhole } = await listOpenOrders(client, market, { timeoutMs });
    open.set(market, isWhole ? orders : null);
  }
  return open;
}

/**
 * Compares what should protect a position with what does, as following does.
 *
 * @param followed of the account
 * @param open orders of its market
 */
export async function readProtection(
  session: Session,
  account: Account,
  shown: OpenPosition,
  followed: readonly Entry[],
  open: readonly Order[],
): Promise<PositionProtection> {
  const position = guardedOf(shown);
  const { market } = position;
  const facts = session.openFacts();
  const [wishes, sight, taken, unsettled] = await Promise.all([
    facts.read(account.name, wishFactOf(position)).then(parseWishes),
    facts.read(account.name, sightFactOf(position)).then(parseSight),
    readTaken(facts, account.name, market),
    findUnsettled({ ledger: session.openLedger() }, { account: account.name, market, signalId: '' }, null),
  ]);
  const entries = followed.filter(({ signal }) => signal?.market === market);
  const nowMs = session.clock.nowMs();
  const { stopKind } = account;
  const view = { entries, open, nowMs, wishes, sight, taken, stopKind };
  const { guards, byHand } = guardPosition(position, view);
  const records = asListed(listRecords(entries), open);
  const present = guards.filter((guard) => guard.amount.gt(zero) || guard.standing.length > 0);
  const ended = releasedGuards(position, { records, wishes, sight }).filter(({ amount: left }) =>
    left.gt(zero),
  );
  const trails = new Map([
    ...records.map(({ signalId, asked }) => [signalId, asked?.trailing] as const),
    ...wishes.map(({ signalId, trailing }) => [signalId, trailing] as const),
  ]);
  const trailOf = ({ of, role }: WantedGuard) => {
    const trailing = role === 'stop_loss' ? trails.get(of) : undefined;
    return trailing === undefined ? {} : { trailing };
  };
  return {
    guards: [
      ...present.map((guard) => ({ ...showGuard(guard, open), ...trailOf(guard) })),
      ...ended.map((guard) => ({ ...nameAndSize(guard), state: 'ended' as const, standing: [] })),
    ],
    byHand,
    unsettled: asksForStop(unsettled?.signal) ? (unsettled?.signalId ?? null) : null,
  };
}

function asksForStop(signal: Signal | null | undefined): boolean {
  if (signal?.action === 'protect') return signal.role === 'stop_loss';
  return Object.hasOwn(signal ?? {}, 'stopLoss');
}

/**
 * The strategies of whose orders something is left of a position.
 *
 * @param followed of the account
 * @param open orders of its market; none while they cannot be read
 */
export function findStrategies(
  position: OpenPosition,
  followed: readonly Entry[],
  open: readonly Order[],
): readonly string[] {
  const shares = shareOut(asListed(listRecords(followed), open), guardedOf(position));
  const left = shares.filter(({ amount }) => amount.gt(zero)).map(({ record }) => record);
  return [...new Set(left.reverse().flatMap(({ strategy }) => strategy ?? []))];
}

function guardedOf(position: OpenPosition): GuardedPosition {
  const { amount, openedAtMs, tpsl } = position;
  return { ...placeOf(position), amount, openedAtMs, tpsl };
}

/** The rules of the market are not read here: sizes are compared as they are. */
const anySteps = { amountStep: parseDecimal('0.00000001'), minAmount: zero };

function showGuard(guard: Guard, open: readonly Order[]): ShownGuard {
  return {
    ...nameAndSize(guard),
    state: stateOf(guard),
    standing: guard.standing.map((exit) => ({
      orderId: exit.orderId,
      price: listedPrice(exit, open),
      amount: exit.remaining,
    })),
  };
}

function nameAndSize({
  of,
  role,
  part,
  price,
  amount,
}: WantedGuard): Pick<ShownGuard, 'of' | 'role' | 'part' | 'price' | 'amount'> {
  return { of, role, ...(part === undefined ? {} : { part }), price, amount };
}

/** The exchange rounds what the relay asked for: an owner looks for the price that the exchange shows. */
function listedPrice({ orderId, price }: StandingExit, open: readonly Order[]): Decimal | null {
  const listed = open.find((order) => order.orderId === orderId);
  return listed === undefined ? price : exitPriceOf(listed);
}

function stateOf(guard: Guard): GuardState {
  const verdict = judgeGuard(guard, anySteps);
  if (verdict.kind !== 'fits') return guard.standing.length === 0 ? 'missing' : 'changing';
  if (guard.doubt === 'paired') return 'changing';
  if (guard.doubt !== null) return 'unread';
  if (guard.standing.length > 0) return 'standing';
  if (guard.isReleased) return 'ended';
  return guard.price === null ? 'unread' : 'by_hand';
}
