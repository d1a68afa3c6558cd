import { closeCommand } from '../../account/find-turned.ts';
import { type Decimal, floorToStep, formatDecimal, maximum, one as whole, zero } from '../../base/decimal.ts';
import type { Account } from '../../model/account.ts';
import { type Order, oppositeOf, usualTriggerSides } from '../../model/order.ts';
import { missingStopIdOf } from '../../model/protect-id.ts';
import { findAccount, type Settings } from '../../model/settings.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { limitBeyond } from '../../orders/stop-limit.ts';
import type { MarketSight } from './market-sight.ts';

/** The stop-loss that is missing. */
export interface MissingStop {
  readonly settings: Settings;
  readonly account: string;
  /** The signal whose order filled. */
  readonly signal: OrderSignal;
  /** In base units. */
  readonly amount: Decimal;
  readonly stopPrice: Decimal;
  /** The order that filled; it makes the id of the alert, so that a command that is run twice places one order. */
  readonly orderId: number;
  readonly nowMs: number;
  /** The options with which a command finds the relay. */
  readonly options: string;
}

/** What would be closed instead of stopped out. */
interface Closable {
  readonly isSpot: boolean;
  /** The size of the position, in base units; null: not known. */
  readonly position: Decimal | null;
  /** Whether its stop was triggered, and rests in the book since. */
  readonly hasResting: boolean;
  /** Those that rest there and that no sale of the relay cancels: they hold on spot what is to be sold. */
  readonly others: readonly Pick<Order, 'orderId'>[];
}

/**
 * What the owner should do about a missing stop-loss: place it, or close, where it has rested in vain, or where the relay would
 * deny it.
 *
 * @returns why: what the alarm says of that besides, or nothing
 */
export function adviseOn(
  missing: MissingStop,
  closable: Closable,
  { last, rules }: MarketSight,
): { readonly why: string; readonly whatToDo: string } {
  const { settings, account: name, signal, amount, stopPrice } = missing;
  const account = findAccount(settings, name);
  const isSale = signal.side === 'buy';
  const isPassed = last !== null && (isSale ? last.lte(stopPrice) : last.gte(stopPrice));
  const limitPrice = limitOf(missing, account);
  const isSmall = isTooSmall(amount, limitPrice ?? stopPrice, rules);
  const passed = isPassed ? `, and the last price of ${formatDecimal(last)} has reached it` : '';
  const small = isSmall ? ', and so little is below the minimum of the market' : '';
  const why = closable.hasResting ? '' : `${passed}${small}`;
  if (!closable.hasResting && !isPassed && !isSmall) return { why, whatToDo: composeStopCommand(missing) };
  const closed = closable.isSpot ? amount : maximum(closable.position ?? amount, amount);
  // A sale at market goes out with the worst price that it may have.
  const worst = isSale ? last?.times(whole.minus(account?.maxSlippageRate ?? zero)) : last;
  if (worst != null && isTooSmall(closed, worst, rules))
    return { why, whatToDo: describeSmall(closed, missing, closable) };
  return { why, whatToDo: composeCloseCommand(missing, closable) };
}

/** The limit price of the missing stop-loss; null where the account may send it at market. */
function limitOf({ signal, stopPrice }: MissingStop, account: Account | null): Decimal | null {
  if (account?.allowUnguardedMarket === true) return null;
  return limitBeyond(stopPrice, oppositeOf(signal.side), account ?? {});
}

function isTooSmall(amount: Decimal, price: Decimal, rules: MarketSight['rules']): boolean {
  if (rules === null) return false;
  const rounded = floorToStep(amount, rules.amountStep);
  return rounded.lt(rules.minAmount) || rounded.times(price).lt(rules.minTotal);
}

function describeSmall(amount: Decimal, { signal }: MissingStop, { isSpot }: Closable): string {
  const size = `${formatDecimal(amount)} in ${signal.market} is too small for an order`;
  return isSpot
    ? `${size}: sell it together with more of the same, or keep it`
    : `${size}: close the position on the website of the exchange`;
}

/** The command that closes what no stop-loss stops out. On spot there is no position to close. */
function composeCloseCommand(
  { account, signal, amount, options }: MissingStop,
  { isSpot, others }: Closable,
): string {
  const { market, ticker, positionSide } = signal;
  if (!isSpot) return `${closeCommand(market, account, positionSide)}${options}`;
  const sale = {
    ticker,
    action: oppositeOf(signal.side),
    orderType: 'market',
    quantity: formatDecimal(amount),
  };
  const cancels = others.map(
    ({ orderId }) => `npx relay cancel ${market} --order-id ${orderId} --account ${account}${options}; `,
  );
  return `${cancels.join('')}echo '${JSON.stringify(sale)}' | npx relay send - --account ${account}${options}`;
}

/**
 * The command that places the missing stop-loss: an order that only reduces, and only if its trigger still lies on the
 * side where it protects. The exchange would trigger any other one on the wrong move of the price.
 */
function composeStopCommand(missing: MissingStop): string {
  const { settings, account: name, signal, amount, stopPrice, orderId, nowMs, options } = missing;
  const side = oppositeOf(signal.side);
  const account = findAccount(settings, name);
  if (account?.markets[signal.market]?.sides.includes(side) !== true)
    return `the account may not ${side} in ${signal.market}: place a reduce-only stop order of ${formatDecimal(amount)} at ${formatDecimal(stopPrice)} on the exchange, or close the position there`;
  const limitPrice = limitOf(missing, account);
  const prices =
    limitPrice === null
      ? { orderType: 'stop_market', stopPrice: formatDecimal(stopPrice) }
      : {
          orderType: 'stop_limit',
          stopPrice: formatDecimal(stopPrice),
          limitPrice: formatDecimal(limitPrice),
        };
  const { positionSide } = signal;
  const alert = {
    id: missingStopIdOf(orderId, nowMs),
    ticker: signal.ticker,
    action: side,
    ...prices,
    quantity: formatDecimal(amount),
    reduceOnly: true,
    expectTrigger: usualTriggerSides[side],
    ...(positionSide === undefined ? {} : { positionSide }),
    comment: `stop-loss of order ${orderId}`,
  };
  const text = JSON.stringify(alert).replaceAll("'", String.raw`'\''`);
  return `echo '${text}' | npx relay send - --account ${name}${options}`;
}
