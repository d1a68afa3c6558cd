import { type Alarm, joinAlarms } from '../../base/alarms.ts';
import { toJson } from '../../base/json.ts';
import type { FoundOrder, ListedOrder } from '../../exchange/find-order.ts';
import type { OrderSignal } from '../../model/signal.ts';
import { reportOf } from '../../model/step-facts.ts';
import type { Outcome } from '../execute/action.ts';
import { judgeTrigger } from '../execute/judge-trigger.ts';

/**
 * The outcome of an order that a list shows.
 *
 * @param signal that asked for the order
 */
export function foundOutcome({ order, isOpen, others }: FoundOrder, signal: OrderSignal): Outcome {
  const found = `found at the exchange as order ${order.orderId}, ${describeState(order)}`;
  const trigger = judgeTrigger(signal, order);
  const double: Alarm | undefined =
    others === 0
      ? undefined
      : {
          name: 'order_contradicted',
          message: `the exchange lists ${others + 1} orders with client order id "${order.clientOrderId}": check them at once`,
        };
  const alarm = joinAlarms([double, trigger.alarm]);
  return {
    status: 'placed',
    note: [found, double?.message, trigger.note].filter((text) => typeof text === 'string').join('; '),
    evidence: toJson({ order, others }),
    facts: { report: reportOf(order) },
    orderId: order.orderId,
    orderOpen: isOpen,
    ...(alarm === undefined ? {} : { alarm }),
  };
}

function describeState({ status, endReason, filled, amount }: ListedOrder): string {
  const state = endReason ?? status.replace('_', ' ');
  return `${state} (${filled.toFixed()} of ${amount.toFixed()} filled)`;
}
