import { type Decimal, maximum, minimum, parseDecimal, zero } from '../../lib/base/decimal.ts';
import type { Entry } from '../../lib/ledger/entry.ts';
import { isOfExit } from '../../lib/model/execution.ts';
import { isSpotOrder } from '../../lib/paper/engine/exchange-state.ts';
import { marketNamed } from '../../lib/paper/engine/markets.ts';
import type { TrueExit } from './guarded-positions.ts';
import { isCreate, keyText } from './history.ts';
import type { Facts, Violation } from './invariants.ts';
import { handPrefix } from './own-orders.ts';
import { type PositionChange, type TruePosition, truePositions } from './true-positions.ts';

/** Finds positions that an exit has turned and that stay so in silence, and orders that close more of them than that. */
export function findWrongTurns(facts: Facts, exits: readonly TrueExit[]): readonly Violation[] {
  return [
    ...findTurned(facts, exits),
    ...findLargeCorrections(facts),
    ...findLeftTurned(facts),
    ...findUntoldTurns(facts, exits),
  ];
}

function broken(entry: Entry, text: string): Violation {
  return { invariant: 'I43', harm: 'other', text: `${keyText(entry)} ${text}` };
}

/** Until then, lists and what follows them may not have seen what changed a position. */
const noticedAfterMs = 5 * 60_000;

/** Faults in which nothing is out of order at the relay. */
const harmless = ['owner: ', 'price: ', 'hazard: list_lag', 'hazard: odd_'];

function isTroubled({ history }: Facts, fromMs: number, untilMs: number): boolean {
  return history.timeline.some(
    ({ fault, atMs }) =>
      fault !== null && atMs > fromMs && atMs <= untilMs && !harmless.some((name) => fault.startsWith(name)),
  );
}

/** What was placed to close a position does not open one that nobody asked for. */
function findTurned(facts: Facts, exits: readonly TrueExit[]): readonly Violation[] {
  const { exchange, history } = facts;
  const positionOf = truePositions(exchange);
  return exits.flatMap(({ order, of }) => {
    if (order.positionSide !== 'BOTH' || isSpotOrder(order)) return [];
    const { changes } = positionOf(order.account, order.market);
    const turned = changes.find(
      (change) => change.order.orderId === order.orderId && opensAgainst(change.before, change.after),
    );
    if (turned === undefined || isTroubled(facts, turned.atMs - noticedAfterMs, turned.atMs)) return [];
    const others = changes.filter(
      (change) => change.order.orderId !== order.orderId && change.atMs <= turned.atMs,
    );
    const changedAtMs = others.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
    const isNew = changedAtMs > turned.atMs - noticedAfterMs;
    const isTold = history.alarms.some(
      ({ atMs, facts: told }) =>
        atMs >= changedAtMs && atMs <= turned.atMs && told['account'] === order.account,
    );
    return isNew || isTold
      ? []
      : [
          broken(
            of,
            `has an exit ${order.orderId} that led from ${turned.before.toFixed()} to ${turned.after.toFixed()}`,
          ),
        ];
  });
}

function opensAgainst(before: Decimal, after: Decimal): boolean {
  return after.abs().gt(zero) && (before.eq(zero) || before.times(after).lt(zero));
}

/** What exits have opened beyond what they were to close, and when the last of them did. */
interface Surplus {
  /** In base units; above zero where they bought. */
  readonly amount: Decimal;
  readonly atMs: number;
}

/** What is left of it: whatever was bought or sold back since counts against it first. */
function surplusOf(changes: readonly PositionChange[]): Surplus {
  let [amount, atMs] = [zero, Number.NEGATIVE_INFINITY];
  for (const { before, after, order, atMs: changedAtMs } of changes) {
    const moved = after.minus(before);
    const opened = after.times(moved).gt(zero) ? minimum(after.abs(), moved.abs()) : zero;
    const along = moved.gt(zero) ? amount : amount.neg();
    if (along.lt(zero)) {
      const left = maximum(amount.abs().minus(moved.abs()), zero);
      amount = amount.gt(zero) ? left : left.neg();
    }
    // Only what the exchange made of an entry does not say that it only reduces.
    if (order.parentId !== null && opened.gt(zero)) {
      amount = (along.lt(zero) ? zero : amount).plus(moved.gt(zero) ? opened : opened.neg());
      atMs = changedAtMs;
    }
  }
  return { amount, atMs };
}

/** For so long a reading counts, on a clock that may be set. */
const longestReadingMs = 30_000;

/** What closes a turned position only reduces it, and is at most what an exit has opened beyond. */
function findLargeCorrections({ entries, exchange, history }: Facts): readonly Violation[] {
  const positionOf = truePositions(exchange);
  const byKey = new Map(entries.map((entry) => [keyText(entry), entry]));
  return history.sends.flatMap(({ key, path, body, atMs }) => {
    const entry = key === null || !isCreate(path) ? undefined : byKey.get(keyText(key));
    if (entry?.signal?.action !== 'protect' || entry.signal.turnedBy === undefined) return [];
    const sent = JSON.parse(body) as CorrectionBody;
    if (sent.reduceOnly !== true) return [broken(entry, 'closes what was turned without "reduceOnly"')];
    const isTold = history.alarms.some(
      ({ name, atMs: toldAtMs, facts: told }) =>
        name === 'position_turned' &&
        toldAtMs <= atMs &&
        told['account'] === entry.account &&
        told['market'] === sent.market,
    );
    if (!isTold) return [broken(entry, 'closes what was turned, and nobody was told')];
    const most = mostSurplus(positionOf(entry.account, sent.market), sent.side, atMs);
    if (parseDecimal(sent.amount).lte(most)) return [];
    return [broken(entry, `closes ${sent.amount}, and exits had opened ${most.toFixed()}`)];
  });
}

interface CorrectionBody {
  readonly market: string;
  readonly side: 'buy' | 'sell';
  readonly amount: string;
  readonly reduceOnly?: boolean;
}

/** The most that there was to close while the reading may have been made. */
function mostSurplus({ changes }: TruePosition, side: 'buy' | 'sell', atMs: number): Decimal {
  const known = changes.filter((change) => change.atMs <= atMs);
  const recent = known.filter((change) => change.atMs > atMs - longestReadingMs).length;
  const views = Array.from({ length: recent + 1 }, (_, late) =>
    surplusOf(known.slice(0, known.length - late)),
  );
  return views
    .map(({ amount }) => (side === 'buy' ? amount.neg() : amount))
    .reduce((most, amount) => maximum(most, amount), zero);
}

/** Two runs of the watch, the lag of the lists, and a third run where the line of the market was busy. */
const closedAfterMs = 5 * 60_000;
/** So long ago the watch no longer looks. */
const lookedForMs = 15 * 60_000;

/** A position that was turned is closed, or an order is under way, or an alarm says that it must be closed by hand. */
function findLeftTurned(facts: Facts): readonly Violation[] {
  const { entries, exchange, settings } = facts;
  const positionOf = truePositions(exchange);
  const markets = new Map(
    entries.flatMap((entry) =>
      entry.signal === null ? [] : [[`${entry.account} ${entry.signal.market}`, entry] as const],
    ),
  );
  return [...markets.values()].flatMap((entry) => {
    const { account, signal } = entry;
    const market = signal?.market ?? '';
    if (settings.accounts[account]?.mode !== 'live') return [];
    const { changes } = positionOf(account, market);
    const left = listStanding(facts, changes).find(
      (standing) =>
        standing.amount.abs().gte(marketNamed(market).minAmount) &&
        !isExcused(facts, { account, market }, standing),
    );
    return left === undefined
      ? []
      : [broken(entry, `left ${left.amount.toFixed()} of ${market} that an exit had opened`)];
  });
}

/** An order by hand that fills so soon after an exit was triggered by the same jump of the price. */
const besideMs = 1000;
/** Two runs of the watch, and the lag of the lists. */
const toldAfterMs = 3 * 60_000;

/** What an order by hand opens beside an exit that has closed the position is told, where it stands for a while. */
function findUntoldTurns(facts: Facts, exits: readonly TrueExit[]): readonly Violation[] {
  const { exchange, history, settings } = facts;
  const positionOf = truePositions(exchange);
  const endMs = history.timeline.at(-1)?.atMs ?? 0;
  return exits.flatMap(({ order: { account, market, orderId }, of }) => {
    if (settings.accounts[account]?.mode !== 'live') return [];
    const { changes } = positionOf(account, market);
    const last = changes.findLast(({ order }) => order.orderId === orderId);
    const place = changes.findIndex(
      ({ atMs, order, before, after }) =>
        last !== undefined &&
        order.side === last.order.side &&
        order.clientOrderId.startsWith(handPrefix) &&
        atMs >= last.atMs &&
        atMs - last.atMs <= besideMs &&
        opensAgainst(before, after),
    );
    const turning = changes[place];
    if (turning === undefined) return [];
    const untilMs = turning.atMs + toldAfterMs;
    if ((changes[place + 1]?.atMs ?? endMs) < untilMs) return [];
    if (isTroubled(facts, turning.atMs - besideMs, untilMs)) return [];
    const isTold = history.alarms.some(
      ({ name, atMs, facts: told }) =>
        name === 'position_turned' &&
        atMs >= turning.atMs &&
        atMs <= untilMs &&
        told['account'] === account &&
        told['market'] === market,
    );
    return isTold
      ? []
      : [
          broken(
            of,
            `fired beside order ${turning.order.orderId}, which opened ${turning.after.toFixed()} untold`,
          ),
        ];
  });
}

/** A surplus that stood for a while, in which nothing changed its position. */
interface Standing extends Surplus {
  readonly untilMs: number;
}

function listStanding({ history }: Facts, changes: readonly PositionChange[]): readonly Standing[] {
  const endMs = history.timeline.at(-1)?.atMs ?? 0;
  return changes.flatMap(({ atMs: changedAtMs }, place) => {
    const nextMs = changes[place + 1]?.atMs ?? endMs;
    const untilMs = changedAtMs + closedAfterMs;
    if (nextMs < untilMs) return [];
    const surplus = surplusOf(changes.slice(0, place + 1));
    const isLookedFor = untilMs - surplus.atMs <= lookedForMs;
    return surplus.amount.eq(zero) || !isLookedFor ? [] : [{ ...surplus, untilMs }];
  });
}

function isExcused(
  facts: Facts,
  { account, market }: { readonly account: string; readonly market: string },
  { atMs, untilMs }: Standing,
): boolean {
  const { entries, history, fills } = facts;
  const isKnown = fills.some((fill) => fill.market === market && fill.atMs === atMs && isOfExit(fill));
  if (!isKnown || isTroubled(facts, atMs - noticedAfterMs, untilMs)) return true;
  const isTold = history.alarms.some(
    ({ name, atMs: toldAtMs, facts: told }) =>
      name === 'position_turned' &&
      toldAtMs >= atMs &&
      toldAtMs <= untilMs &&
      told['account'] === account &&
      told['market'] === market &&
      told['whatToDo'] !== undefined,
  );
  const isTreated = entries.some(({ signal, status, ...other }) => {
    if (other.account !== account || signal?.market !== market || other.updatedAtMs < atMs) return false;
    const isCorrection = signal.action === 'protect' && signal.turnedBy !== undefined;
    return isCorrection && (unfinished.has(status) || other.updatedAtMs > untilMs);
  });
  return isTold || isTreated;
}

const unfinished: ReadonlySet<string> = new Set(['accepted', 'sending', 'unknown']);
