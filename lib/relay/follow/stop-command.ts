import { type Decimal, formatDecimal } from '../../base/decimal.ts';
import { type Order, oppositeOf, usualTriggerSides } from '../../model/order.ts';
import { missingStopIdOf } from '../../model/protect-id.ts';
import { findAccount, type Settings } from '../../model/settings.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { limitBeyond } from '../../orders/stop-limit.ts';

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

/**
 * The command that closes what a stop-loss has left which rests at its limit price. On spot there is no position to close.
 *
 * @param others the stops that rest there and that no sale of the relay cancels: they hold on spot what is to be sold
 */
export function composeCloseCommand(
  { account, signal, amount, options }: MissingStop,
  isSpot: boolean,
  others: readonly Pick<Order, 'orderId'>[],
): string {
  const { market, ticker, positionSide = 'BOTH' } = signal;
  const side = positionSide === 'BOTH' ? '' : ` --side ${positionSide.toLowerCase()}`;
  if (!isSpot) return `npx relay close ${market}${side} --account ${account}${options}`;
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
export function composeStopCommand(missing: MissingStop): string {
  const { settings, account: name, signal, amount, stopPrice, orderId, nowMs, options } = missing;
  const side = oppositeOf(signal.side);
  const account = findAccount(settings, name);
  if (account?.markets[signal.market]?.sides.includes(side) !== true)
    return `the account may not ${side} in ${signal.market}: place a reduce-only stop order of ${formatDecimal(amount)} at ${formatDecimal(stopPrice)} on the exchange, or close the position there`;
  const limitPrice = limitBeyond(stopPrice, side, account);
  const prices = account.allowUnguardedMarket
    ? { orderType: 'stop_market', stopPrice: formatDecimal(stopPrice) }
    : { orderType: 'stop_limit', stopPrice: formatDecimal(stopPrice), limitPrice: formatDecimal(limitPrice) };
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
