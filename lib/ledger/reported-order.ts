import { fieldsOf, type Json } from '../base/json.ts';

/**
 * The order as the exchange reported it, in the evidence of a step or of an outcome; null when none was reported. Where
 * the rest of a market order had to be cancelled, the evidence holds the order as it was placed and as it ended; this is the
 * first.
 */
export function reportedOrderIn(evidence: Json | undefined): Readonly<Record<string, Json>> | null {
  const facts = fieldsOf(evidence);
  const order = fieldsOf(facts['order'] ?? fieldsOf(facts['placed'])['order']);
  return 'orderId' in order ? order : null;
}
