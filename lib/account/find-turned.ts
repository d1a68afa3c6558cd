import { type Decimal, formatDecimal, maximum, minimum, parseDecimal, zero } from '../base/decimal.ts';
import { longestPositionLagMs } from '../exchange/lag.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Told } from '../ledger/tell-once.ts';
import { type Fill, isOfExit, isOfSignal } from '../model/execution.ts';
import type { OpenPosition } from '../model/holdings.ts';
import type { PositionSide, Side } from '../model/order.ts';
import { protectionNamedBy } from '../model/protect-id.ts';
import type { PositionTarget } from '../model/signal.ts';

/** What is left of what the exits that the exchange made of entries filled beyond the position that they were to close. */
export interface TurnedPosition {
  /** The newest fill of an exit that opened a part of the position. */
  readonly fill: TracedFill;
  /** In base units, and at most the position: what the owner or another order has bought or sold back since is not in it. */
  readonly surplus: Decimal;
}

/** A fill of one market. */
export type TracedFill = Pick<
  Fill,
  'market' | 'dealId' | 'orderId' | 'signalId' | 'role' | 'side' | 'amount' | 'atMs' | 'onSpot'
>;

type TurnablePosition = Pick<
  OpenPosition,
  'market' | 'amount' | 'positionSide' | 'openedAtMs' | 'modifiedAtMs'
>;

/** Clocks of the matching and of the lists may differ by so much. */
export const sameTimeMs = 1000;

/**
 * Finds what exits have made of a position beyond closing it: what would not be there if they only reduced. The exchange does
 * not mark the exits that it makes of an entry as orders that only reduce: one that fires when its position was reduced or
 * closed a moment before turns it. What any other order opened or enlarged is never counted, and what has reduced the
 * position since is counted against this first, so that it is rather too little than too much.
 *
 * @param fills of the account as far back as it is looked at, those of no signal among them, oldest first
 * @returns null also while the fills do not show the last change of the position, or show one that the position does not
 */
export function findTurned(position: TurnablePosition, fills: readonly TracedFill[]): TurnedPosition | null {
  return findOpened(position, fills, isOfExit);
}

/** An order by hand that fills within this time of an exit was most likely a stop that the same move of the price triggered. */
const besideMs = 5000;

/**
 * Finds an order by hand that turned a position right after an exit had filled in the same direction: the two together were
 * more than was held. Positions and fills as of {@link findTurned}.
 */
export function findTurnedByHand(
  position: TurnablePosition,
  fills: readonly TracedFill[],
): TracedFill | null {
  const isExit = (fill: TracedFill) => isOfExit(fill) || protectionNamedBy(fill.signalId) !== null;
  const exits = fills.filter((fill) => fill.market === position.market && isExit(fill));
  const isTurning = (fill: TracedFill, held: Decimal) =>
    !isOfSignal(fill) &&
    !held.minus(signed(fill)).times(signed(fill)).gt(zero) &&
    exits.some(({ side, atMs }) => side === fill.side && Math.abs(fill.atMs - atMs) <= besideMs);
  return findOpened(position, fills, isTurning)?.fill ?? null;
}

/** @param isUnwanted whether a fill, after which so much is held, is of an order that was to close and not to open */
function findOpened(
  position: TurnablePosition,
  fills: readonly TracedFill[],
  isUnwanted: (fill: TracedFill, held: Decimal) => boolean,
): TurnedPosition | null {
  const { market, amount, positionSide, openedAtMs, modifiedAtMs } = position;
  // In hedge mode an exit names the side that it closes.
  if (positionSide !== 'BOTH' || amount.eq(zero)) return null;
  // What was before the position was opened is not in it.
  const sinceMs = (openedAtMs ?? 0) - sameTimeMs;
  const own = fills.filter((fill) => fill.market === market && fill.onSpot !== true && fill.atMs >= sinceMs);
  const newest = own.at(-1);
  if (newest === undefined) return null;
  if (modifiedAtMs !== null && Math.abs(newest.atMs - modifiedAtMs) > sameTimeMs) return null;
  let held = own.reduce((before, fill) => before.minus(signed(fill)), amount);
  let opened: Opened | null = null;
  for (const fill of own) {
    held = held.plus(signed(fill));
    opened = afterFill(opened, fill, held, isUnwanted(fill, held));
  }
  if (opened === null || opened.left.eq(zero)) return null;
  return signed(opened.fill).times(amount).gt(zero)
    ? { fill: opened.fill, surplus: minimum(opened.left, amount.abs()) }
    : null;
}

interface Opened {
  readonly fill: TracedFill;
  /** In base units. */
  readonly left: Decimal;
}

/** @param held the position after the fill */
function afterFill(
  opened: Opened | null,
  fill: TracedFill,
  held: Decimal,
  isUnwanted: boolean,
): Opened | null {
  const traded = parseDecimal(fill.amount);
  const isBack = opened !== null && opened.fill.side !== fill.side;
  if (isUnwanted && held.times(signed(fill)).gt(zero)) {
    const before = opened === null || isBack ? zero : opened.left;
    return { fill, left: before.plus(minimum(held.abs(), traded)) };
  }
  return isBack ? { ...opened, left: maximum(opened.left.minus(traded), zero) } : opened;
}

function signed({ side, amount }: TracedFill): Decimal {
  const traded = parseDecimal(amount);
  return side === 'buy' ? traded : traded.neg();
}

/** Lists show every fill of a position whose last change is older than this. */
export const settledAfterMs = longestPositionLagMs + sameTimeMs;

/** How far back fills are looked at, beyond a time that nobody has read. */
export const turnedWithinMs = 15 * 60_000;

/**
 * A signal that has said since what the position is to be, or what is to protect it. Whether it means what the exit
 * has opened, or was written for the position before, nobody knows: so it is not closed, and the owner is told.
 *
 * A `protect` that was written before the exit filled meant another position, and a target of the other side none of this.
 *
 * @returns null while there is none
 */
export function findAdopter(
  { fill: { atMs, market, side } }: TurnedPosition,
  entries: readonly AdoptingEntry[],
): string | null {
  const adopter = entries.find(({ signal, status, createdAtMs, updatedAtMs }) => {
    if (signal?.market !== market || !adoptingStatuses.has(status) || updatedAtMs < atMs) return false;
    if (signal.action === 'target') return sideOfTarget(signal.target) === side;
    return signal.action === 'protect_position' && Math.min(signal.timeMs ?? createdAtMs, createdAtMs) > atMs;
  });
  return adopter?.signalId ?? null;
}

type AdoptingEntry = Pick<Entry, 'signalId' | 'signal' | 'status' | 'createdAtMs' | 'updatedAtMs'>;

function sideOfTarget(target: PositionTarget): Side | null {
  if (target.unit === 'flat') return null;
  const { quantity = '', quoteQuantity = '', percentOfEquity = '' }: Partial<Record<string, string>> = target;
  return `${quantity}${quoteQuantity}${percentOfEquity}`.startsWith('-') ? 'sell' : 'buy';
}

const adoptingStatuses: ReadonlySet<string> = new Set(['satisfied', 'placed', 'sending', 'unknown']);

const stillKey = ' still';
const bare = ', and nothing protects it';

/** What an account is told of a turned position. */
interface TurnedNews {
  readonly turned: TurnedPosition;
  /** The position now: signed, in base units. */
  readonly held: Decimal;
  readonly account: string;
}

/** @param positionSide absent: of an account in one-way mode */
export function closeCommand(market: string, account: string, positionSide: PositionSide = 'BOTH'): string {
  const side = positionSide === 'BOTH' ? '' : ` --side ${positionSide.toLowerCase()}`;
  return `npx relay close ${market}${side} --account ${account}`;
}

/** That the relay closes a turned position. @param amount that it closes, in base units */
export function closingNews(news: TurnedNews, amount: Decimal): Told {
  const closes = formatDecimal(amount);
  return tellingOf(news, '', `${bare}; the relay closes ${closes} of it`, { closes });
}

/** That the owner must close a turned position. @param reason why the relay does not; null: it never does for this account */
export function openNews(news: TurnedNews, reason: string | null): Told {
  const { turned, account } = news;
  const command = closeCommand(turned.fill.market, account);
  const told = reason === null ? '' : `the relay could not close it (${reason}); `;
  const key = reason === null ? '' : stillKey;
  return tellingOf(news, key, `${bare}; ${told}close it with \`${command}\``, { whatToDo: command });
}

/**
 * That an order by hand has turned a position: the relay never closes what the owner has opened.
 *
 * @param held the position now: signed, in base units
 */
export function byHandNews({ market, dealId, orderId }: TracedFill, held: Decimal, account: string): Told {
  const amount = formatDecimal(held);
  const command = closeCommand(market, account);
  return {
    key: `turned ${market} ${dealId}`,
    alarm: {
      name: 'position_turned',
      message: `order ${orderId}, which is none of the relay's, filled within seconds of a stop-loss or take-profit: the two were more than the position, and the order has opened the opposite one, which is ${amount} now${bare}; if you do not want it, close it with \`${command}\``,
    },
    facts: { market, orderId, amount, whatToDo: command },
    everyMs: null,
  };
}

/**
 * That a turned position is left to a signal that came after it. An owner who was told that it still stands has answered
 * with that signal, and is not told again.
 *
 * @param closes whether the relay closes turned positions of this account
 */
export function adoptedNews(news: TurnedNews, adoptedBy: string, closes: boolean): Told {
  const { turned, account } = news;
  const command = closeCommand(turned.fill.market, account);
  const left = closes ? ', so the relay does not close it' : '';
  const rest = `; signal "${adoptedBy}" has asked for it or for what protects it since${left}: if that was meant for the position before, close it with \`${command}\``;
  return tellingOf(news, closes ? stillKey : '', rest, { adoptedBy, whatToDo: command });
}

/** That nothing closes a turned position during a pause, not even the command. */
export function pausedNews(news: TurnedNews): Told {
  const { turned, account } = news;
  const commands = [`npx relay resume ${account}`, closeCommand(turned.fill.market, account)];
  return tellingOf(
    news,
    ' paused',
    `${bare}; nothing is closed, because the account is paused with everything; close it on the website of the exchange, or end the pause and close it: ${commands.map((command) => `\`${command}\``).join(', then ')}`,
    { whatToDo: commands.join('; ') },
  );
}

function tellingOf(
  { turned, held }: TurnedNews,
  key: string,
  rest: string,
  more: Record<string, string>,
): Told {
  const { market, dealId, signalId, orderId } = turned.fill;
  const [opened, amount] = [formatDecimal(turned.surplus), formatDecimal(held)];
  return {
    key: `turned ${market} ${dealId}${key}`,
    alarm: {
      name: 'position_turned',
      message: `a stop-loss or take-profit of signal "${signalId}" filled for more than was left of its position, and opened the opposite one, which is ${amount} now: no alert had asked for it${rest}`,
    },
    facts: { market, signalId, orderId, opened, amount, ...more },
    everyMs: null,
  };
}
