import type { OrderSignal, OrderSize, Signal } from '../lib/model/signal.ts';
import { kindNamed } from '../lib/orders/order-kinds.ts';

/** A short description of a signal, for a table. */
export function summariseSignal(signal: Signal): string {
  switch (signal.action) {
    case 'order':
      return `${signal.side} ${describeSize(signal.size)} ${kindNamed(signal.orderType).summarise(signal)}`;
    case 'cancel':
      return `cancel ${describeTarget(signal)}`;
    case 'cancel_all':
      return 'cancel all';
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
      return `cancel every open order of ${signal.market}`;
  }
}

function describeOrder(signal: OrderSignal): string {
  const { side, size, market, stopLoss, takeProfit, positionSide } = signal;
  const parts = [
    `${side} ${describeSize(size)} of ${market}`,
    ...kindNamed(signal.orderType).describePrices(signal),
    ...(stopLoss === undefined ? [] : [`stop loss ${stopLoss}`]),
    ...(takeProfit === undefined ? [] : [`take profit ${takeProfit}`]),
    ...(positionSide === undefined ? [] : [`position side ${positionSide}`]),
  ];
  return parts.join(', ');
}

/** `for 100` is an amount in the quote currency of the market. */
function describeSize(size: OrderSize): string {
  return size.unit === 'base' ? size.quantity : `for ${size.quoteQuantity}`;
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
