import { fieldsOf, type Json, textIn } from '../base/json.ts';
import { type OrderStatus, orderStatuses } from '../model/order.ts';
import type { Step } from './entry.ts';

/**
 * The order as the exchange reported it, in the evidence of a step or of an outcome; null when none was reported. Where
 * the rest of an order that must not rest had to be cancelled, the evidence holds it as it was placed and as it ended; this
 * is the order as it was placed.
 */
export function reportedOrderIn(evidence: Json | undefined): Readonly<Record<string, Json>> | null {
  const facts = fieldsOf(evidence);
  const order = fieldsOf(facts['order'] ?? fieldsOf(facts['placed'])['order']);
  return 'orderId' in order ? order : null;
}

/** The order as the exchange reported it last in this evidence; empty when none was reported. */
export function finalReportIn(evidence: Json | undefined): Readonly<Record<string, Json>> {
  const ended = fieldsOf(fieldsOf(evidence)['ended']);
  return 'orderId' in ended ? ended : (reportedOrderIn(evidence) ?? {});
}

/** The status in a report of an order; undefined when it has none that is known. */
export function statusIn({ status }: Readonly<Record<string, Json>>): OrderStatus | undefined {
  return orderStatuses.find((one) => one === status);
}

/** The trigger prices of stop-loss and take-profit, in plain notation. */
export interface ExitPrices {
  readonly stopLoss: string | null;
  readonly takeProfit: string | null;
}

/** The exits that were sent with the order of an entry, as the exchange reported them where it did. */
export function exitPricesIn(steps: readonly Step[]): ExitPrices {
  const reports = steps.map(({ evidence }) => fieldsOf(reportedOrderIn(evidence)?.['oto'])).reverse();
  const sent = steps.map(({ evidence }) => fieldsOf(fieldsOf(evidence)['exits'])).reverse();
  const priceOf = (name: keyof ExitPrices) =>
    [...reports, ...sent].map((exits) => textIn(exits[name])).find((price) => price !== null) ?? null;
  return { stopLoss: priceOf('stopLoss'), takeProfit: priceOf('takeProfit') };
}
