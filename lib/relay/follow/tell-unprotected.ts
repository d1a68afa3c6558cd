import { type Decimal, formatDecimal, hundred, parseDecimal, one as whole } from '../../base/decimal.ts';
import type { Teller } from '../../ledger/tell-once.ts';
import type { Order } from '../../model/order.ts';
import { readAskedPrice } from './asked-stops.ts';
import type { FollowServices } from './follow-services.ts';
import type { FollowedEntry } from './followed-entry.ts';
import type { MarketSight } from './market-sight.ts';
import { adviseOn } from './stop-command.ts';
import type { Naked } from './uncovered.ts';

/** What an entry lacks. */
interface Lack {
  /** Null: the position could not be read. */
  readonly held: Naked | null;
  /** Whether a stop-loss stands for a part of it. */
  readonly isPart: boolean;
  /** The stops that were triggered, and rest in the book since, its own first. */
  readonly resting: readonly RestingStop[];
  readonly sight: MarketSight;
}

export interface RestingStop extends Pick<Order, 'orderId' | 'activationPrice'> {
  /** Whether the exchange, or the relay, made it for this entry. */
  readonly isOwn: boolean;
}

/**
 * Tells that a position stands without its stop-loss. The alarm is raised before its time is stored: an alarm too many is
 * better than one that is lost in a crash.
 */
export async function tellUnprotected(
  services: Pick<FollowServices, 'alarms' | 'facts' | 'settings' | 'commandOptions'>,
  one: FollowedEntry,
  { held, isPart, resting, sight }: Lack,
  nowMs: number,
): Promise<void> {
  const { signal, market, own, entry } = one;
  const { account } = entry;
  const amount = held?.uncovered ?? one.held;
  // A store that fails must not hold the alarm back.
  const planned = stopPriceOf(one);
  const stopPrice = await readAskedPrice(services.facts, account, one, planned).catch(() => planned);
  const missing = {
    settings: services.settings,
    account,
    signal,
    amount,
    stopPrice,
    orderId: own?.orderId ?? 0,
    nowMs,
    options: services.commandOptions,
  };
  const position = `${signal.side === 'buy' ? 'long' : 'short'} ${formatDecimal(amount)} in ${market}`;
  const state =
    held === null
      ? 'may have no stop-loss (the position could not be read)'
      : held.isSure
        ? 'has no stop-loss'
        : 'may have no stop-loss (a record of the open orders could not be read)';
  const [first] = resting;
  const advice = adviseOn(
    missing,
    {
      isSpot: one.isSpot,
      position: held?.position ?? null,
      hasResting: first !== undefined,
      others: resting.filter(({ isOwn }) => !isOwn),
    },
    sight,
  );
  const missed = `the stop-loss of order ${own?.orderId} at ${formatDecimal(stopPrice)}`;
  const why =
    first === undefined
      ? `${missed} ${isPart ? 'covers less than it should' : 'is not among the open orders of the exchange'}${advice.why}`
      : `${first.isOwn ? missed : describeStop(first)} was triggered, and has not filled whole: it rests at its limit price`;
  services.alarms.raise(
    {
      name: 'position_unprotected',
      message: `the position ${position} ${state}: ${why}`,
    },
    {
      account,
      signalId: entry.signalId,
      market,
      orderId: own?.orderId ?? null,
      position: signal.side === 'buy' ? 'long' : 'short',
      amount: formatDecimal(amount),
      stopPrice: formatDecimal(stopPrice),
      isPositionRead: held !== null,
      whatToDo: advice.whatToDo,
    },
  );
  one.watched = { ...one.watched, unprotectedAtMs: nowMs };
}

function describeStop({ orderId, activationPrice }: RestingStop): string {
  return `stop order ${orderId}${activationPrice === undefined ? '' : ` at ${formatDecimal(activationPrice)}`}`;
}

/** Tells once that exits which nothing has ever shown may stand, although their position is gone. */
export async function tellUnseen(teller: Teller, one: FollowedEntry): Promise<void> {
  const { market, own, entry } = one;
  const { account, signalId } = entry;
  await teller.tell(account, {
    key: `unseen exits ${signalId} ${own?.filled}`,
    alarm: {
      name: 'orders_left_open',
      message: `the position of order ${own?.orderId} in ${market} is gone, and nothing has ever shown the stop-loss or take-profit that the exchange was to make of it: if it stands, it could open a position`,
    },
    facts: {
      signalId,
      market,
      orderId: own?.orderId ?? null,
      whatToDo: 'look at the open orders on the website of the exchange, and cancel it there',
    },
    everyMs: null,
  });
}

/** Enough for every price; an average has no end. */
const pricePlaces = 8;

/** Where the stop-loss should be. A distance counts from the average price of the fills when no response told the price. */
function stopPriceOf(one: FollowedEntry): Decimal {
  const seen = one.exits('stop_loss')[0]?.price;
  if (seen !== undefined) return parseDecimal(seen);
  const wanted = one.wanted.find(({ role }) => role === 'stop_loss')?.price ?? null;
  if (wanted !== null) return wanted;
  const { filled = '1', filledNotional = '0' } = one.own ?? {};
  const average = parseDecimal(filledNotional).div(parseDecimal(filled));
  const distance = parseDecimal(one.signal.stopLoss?.replace('%', '') ?? '0').div(hundred);
  const rate = one.signal.side === 'buy' ? whole.minus(distance) : whole.plus(distance);
  return average.times(rate).round(pricePlaces);
}
