import { quoteInName } from '../lib/model/market.ts';
import type { CancelScope, OrderSignal, Signal } from '../lib/model/signal.ts';
import { kindNamed } from '../lib/orders/order-kinds.ts';

const scopeNotes: Readonly<Record<CancelScope, string>> = { own: '', market: ', whoever placed it' };

/** A short description of a signal, for a table. */
export function summariseSignal(signal: Signal): string {
  switch (signal.action) {
    case 'order':
      return `${signal.side} ${describeSize(signal)} ${kindNamed(signal.orderType).summarise(signal)}`;
    case 'cancel':
      return `cancel ${describeTarget(signal)}`;
    case 'cancel_all':
      return `cancel all${scopeNotes[signal.scope ?? 'own']}`;
  }
}

/** A full description of a signal. */
export function describeSignal(signal: Signal): string {
  switch (signal.action) {
    case 'order':
      return describeOrder(signal);
    case 'cancel':
      return `cancel ${describeTarget(signal)} of ${signal.market}`;
    case 'cancel_all':
      return `cancel ${openOrders(signal.scope ?? 'own', signal.market)}`;
  }
}

function openOrders(scope: CancelScope, market: string): string {
  return scope === 'own'
    ? `the open orders of ${market} that this relay placed`
    : `every open order of ${market}, whoever placed it`;
}

function describeOrder(signal: OrderSignal): string {
  const { side, size, market, stopLoss, takeProfit, positionSide, reduceOnly, stp, referencePrice } = signal;
  const parts = [
    `${side} ${describeSize(signal)}${size.unit === 'percent' ? ' on' : ' of'} ${market}`,
    ...kindNamed(signal.orderType).describePrices(signal),
    ...(stopLoss === undefined ? [] : [`stop loss ${stopLoss}`]),
    ...(takeProfit === undefined ? [] : [`take profit ${takeProfit}`]),
    ...(positionSide === undefined ? [] : [`position side ${positionSide}`]),
    ...(reduceOnly === true ? ['reduce-only'] : []),
    ...(stp === undefined ? [] : [`self-trade prevention ${stp}`]),
    ...(referencePrice === undefined ? [] : [`fills compared with ${referencePrice}`]),
  ];
  return parts.join(', ');
}

/** `for 100 USDT` is an amount in the quote currency of the market, `5% of the balance` a share. */
function describeSize({ size, market }: OrderSignal): string {
  switch (size.unit) {
    case 'base':
      return size.quantity;
    case 'quote':
      return `for ${size.quoteQuantity} ${quoteInName(market) ?? 'of the quote currency'}`;
    case 'percent':
      return `${size.quantityPercent} of the ${size.of}`;
  }
}

function describeTarget({ target }: Extract<Signal, { action: 'cancel' }>): string {
  switch (target.by) {
    case 'orderId':
      return `order ${target.orderId}`;
    case 'clientOrderId':
      return `order ${target.clientOrderId}`;
    case 'signalId':
      return `signal ${target.signalId}`;
  }
}
